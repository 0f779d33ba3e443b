extension UrgencyLexicon {
  static let italian = UrgencyLexicon(
    marks: """
      il/lo/la/gli/di/che/non/per/una/un/e/sono/mi/ti/ci/del/della/nel/nella/con/sta/ho/ha/hai/piu/anche/ma/questo/questa/al/alla/dal/tra/fra/ore/ora/dove/sei/abbiamo/mio/mia/tuo/tua/si/ne/era/cosa/come/quando/dei/delle/le/in/a/i/da/tutti
      """,
    classes: [
      "kid": """
      bambino/bambina/bambini/figlio/figlia/figli/bimbo/bimba/mamma/papa/madre/padre/nonna/nonno/marito/moglie/fratello/sorella/cane/gatto/amico/amica/vicin*/qualcuno/ragazzo/ragazza/uomo/donna/signora/signore/zia/zio/collega/piccolo/piccola/lui/lei/e/ha/si/mi/ci
      """,
      "place": """
      casa/cucina/cantina/garage/tetto/palazzo/edificio/ufficio/stanza/camera/bagno/appartamento/negozio/magazzino/macchina/auto/autobus/forno/balcone/giardino/motore/muro/soffitto/condominio/scale/taverna/salotto/bosco/scuola/fabbrica/fienile/tenda/piano/seminterrato
      """,
      "system": """
      server/sito/pagina/negozio/database/sistema/sistemi/rete/produzione/prod/api/app/applicazione/piattaforma/pagament*/cassa/casse/servizio/servizi/cluster/backend/internet/posta/corrente/luce
      """,
      "vehicle": "volo/aereo/treno/autobus/bus/pullman/traghetto/nave/taxi/metro/imbarco/gate/corriera/aliscafo",
      "soon": """
      tra_#_min/tra_#_minut*/fra_#_min/fra_#_minut*/tra_cinque/tra_dieci/tra_venti/tra_quindici/tra_trenta/tra_quaranta/fra_cinque/fra_dieci/fra_venti/fra_quaranta/tra_mezz_ora/fra_mezz_ora/tra_un_quarto/tra_poco/fra_poco/adesso/ora/senza_di_te/tra_pochi_minuti/in_#_minut*/fra_quindici/tra_due/tra_tre
      """,
    ],
    alarm: """
      non_reagisce, c_e_stato_un_incidente, cade_acqua, acqua & soffitto, $system non_va, perdiamo ordini/clienti/dati,
      e/sono ferit*, attacco_di_panico, uscita_di_strada, uscito_di_strada, senza_freni, freni & funzion*/rotti, principio incendio, veleno_per, mangiato veleno, cadut* balcone/finestra/tetto/scala/albero, barca affonda, chiuso & macchina & bambino/chiavi, non_risponde & ore/preoccupat*/porta, grida aiuto, chiede_aiuto, sito manomesso,
      $system cancellat*/corrott*,
      non_ha_polso, senza_polso, non_c_e_polso, sta_per_esplodere, produzione ferma/bloccata, fuori_casa & chiav*/freddo/gel*, cuore & fermato,
      svaligiat*, serve_aiuto, aiuto & piano/qui & serve, polizia/pompieri/ambulanza sta_arrivando/arrivando/in_arrivo, rotto & finestra/porta & ladri/entra*, lasciato & gas/forno/fornello & acceso,
      affondando, sta_affondando, barca affonda, soffocando, ingoi* & pila/moneta, picchiat* & aiut*/paura, ha_preso_tutte_le,
      a_fuoco, in_fiamme, $place brucia/bruciando, bruciando $place, sta_bruciando, c_e_un_incendio, un_incendio & $place/in/al, ha_preso_fuoco, prende_fuoco, fumo & c_e/esce/nel/tanto/pieno/dal, perdita_di_gas, fuga_di_gas, odore gas/bruciato, puzza gas/bruciato, sento gas/puzza, e_esplos*, esploso, esplosa, esplosione & $place/c_e/sentito,
      allag*, acqua entra/entrando/esce/uscendo/scende/sale/salendo/cola/gocciola/dappertutto/ovunque, sott_acqua & $place, tubo rotto/scoppiato/esploso, scoppiat* tubo/tubatura/caldaia, si_e_rotto & tubo, crolla*, e_crollat*, sta_crollando,
      non_respira, non_riesce_a_respirare, non_riesco_a_respirare, non_riesco_piu_a_respirare, respira_a_fatica, fatica_a_respirare, manca_il_respiro, manca_l_aria, soffoc*, privo_di_sensi, priva_di_sensi, incoscient*, svenut*, sviene, non_risponde & caduta/caduto/$kid & cad*/mal*/nonn*, non_si_muove, non_si_sveglia, perso_i_sensi, perso_conoscenza, si_e_accasciat*, collass*, convulsion*, infarto, ictus, attacco cardiaco/di_cuore/epilettico/asma/d_asma, crisi epilettica/respiratoria, annegando, affogando, annega, sanguina & molto/tanto/testa/non/ferma, sanguinando, sanguin*_molto, perdendo sangue, perde sangue, molto_sangue, tanto_sangue, pieno_di_sangue, dissangu*, dolore petto, male_al_petto, reazione_allergica, shock_anafilattico, anafila*, overdose, avvelenat*, intossicat*, troppe_pillole, troppe_pastiglie, ingoiato pila/moneta/batteria/bottone/magnet*/pillole/detersivo, ingerito, bevuto detersivo/candeggina/varechina, rotte_le_acque, rotto_le_acque, contrazioni & ha/ho/ospedale, sta_per_partorire, sta_partorendo, travaglio,
      rotto gamba/braccio/anca/caviglia/polso/piede/femore/naso, rotta gamba/caviglia, cadut* & muove/alza*/sangu*/testa/scale/scala/balcone/tetto/rialza*, non_riesce_ad_alzarsi, non_riesco_ad_alzarmi, non_riesco_a_muovermi, non_riesce_a_muoversi, non_si_rialza, investit* & $kid/macchina/auto/e/stato, folgorat*, accoltellat*, spari, sparato & $kid/hanno, sparatoria, con_un_coltello, con_una_pistola, armat* & uomo/c_e, bomba & allarme/c_e/minaccia, suicid* & $kid/vuole/voglio, non_voglio_piu_vivere, voglio_morire, farla_finita, togliermi_la_vita,
      ambulanza, chiam* polizia/carabinieri/pompieri/vigili/112/118/113/115/ambulanza/medico/dottore/soccorsi, serve medico/dottore/ambulanza, bisogno medico/dottore/ambulanza, al_pronto_soccorso & $kid/vieni/corri/portando, in_ospedale & $kid & rispond*/vieni/chiam*/corri/grave/portat*/portando, in_ospedale & rispondi/vieni/corri/portat*, in_rianimazione, terapia_intensiva, ricoverat* & $kid & grave/urgen*/rianim*, febbre & 40/41/altissima/alta & bambin*/bimb*/figli*/40/41,
      incidente & abbiamo/avuto/ho/fatto/grave/brutto/autostrada/macchina/vieni/corri, rapinat*, hanno_rapinat*, rapina & in_corso/banca/negozio/stanno, entrare & cercando/prova*/tentando/forz* & casa/porta/negozio, ladri & casa/ci/sono/in, ladro & casa/c_e/dentro, c_e_qualcuno in_casa, stanno_rubando, forzando porta/serratura, mi_sta_seguendo, mi_stanno_seguendo, mi_segue, mi_insegue, aggredit*, aggression* & ora/qui, minacci* & coltello/pistola/mi/sta, mi_ha_picchiat*, mi_picchia, rapit*, scippat*, 
      chius* & fuori & casa/chiav*/freddo/sono, chius* & ascensore/dentro/bagno/macchina & sono/rimast*/bambin*, bloccat* & ascensore/neve/tunnel/galleria/metro/macchina/fango, intrappolat*, incastrat* & $kid/ascensore/braccio/mano, in_panne & autostrada/galleria/notte, macchina_ferma & autostrada, pers* & bosco/montagna/neve & siamo/sono,
      non_trov* & figlio/figlia/bambin*/bimb*/nonn*/cane/mamma, perso & figlio/figlia/bambin*/bimb* & spiaggia/cerc*/parco/folla/centro/ho, scompars* & $kid, e_scappat* & cane/gatto/bambin*/figli*, spari* & figlio/figlia/bambin* & e, non_e_tornat* & casa & polizia/preoccup*, 
      $vehicle parte/decolla/chiude/se_ne_va/sta_per $soon/partire/chiudere, parte/decolla/chiude $soon & $vehicle, ultima_chiamata, sta_per_partire,
      $system giu/down/offline/bloccat*/non_funziona/crashat*/crollat*/cadut*/hackerat*/irraggiungibil*/a_terra/fuori_uso/non_risponde, giu $system, e_caduto $system, e_andato_giu, clienti non_riescono/non_possono & pagare/comprare/entrare/accedere/ordinare, nessuno_riesce a_pagare/a_entrare/ad_accedere/a_comprare, perdendo ordini/dati/clienti, perdita_di_dati, ci_hanno_hackerat*, attacco_hacker, attacco_informatico, ransomware, cancellato database/produzione, violazione dati/sicurezza,
      terremoto & uscite/forte/fuori/adesso/sentit*, evacu*, uscite & tutti/subito/fuori/palazzo, uscite_subito, esci_subito, esci_di_li, scappa$, scappate, tsunami, tornado, valanga, frana & $place/sotto/arriv*, mettetevi_in_salvo, pericolo_di_vita, rimozione & macchina/carro, carro_attrezzi & portando/macchina/tua,
      rispondi_al_telefono, rispondi & telefono/subito/urgente, nessuno & prendere/preso & scuola/asilo/bambin*, e_morto & $kid & vieni/chiam*, e_morta & $kid & vieni/chiam*, sta_morendo & $kid & aiut*/vieni/cane/nonn*/papa/mamma, morso & vipera/serpente/cane & sangu*/gamba/mano, ustion*, bruciat* & mano/viso/bambin*/acqua, tagliat* & dito/mano/sangu*/profond*, insulina & senza/finit*/serve, inalatore & senza/finit*/serve, sos
      """,
    urgent: """
      urgente, urgentemente, urgenza, e_urgente, urgentissimo, urgenti, emergenza, un_emergenza, con_urgenza, d_urgenza, non_puo_aspettare, non_possiamo_aspettare, vita_o_morte, questione_di_vita, codice_rosso, massima_urgenza
      """,
    danger: """
      $vehicle $soon,
      fuoco, incendio, fiamme, fumo, incidente, ferit*, sangue, ospedale, pronto_soccorso, polizia, carabinieri, pompieri, cadut* & $kid, svenut*, gira_la_testa, vertigini, dolore & forte/terribile/insopportabile, dolori, paura, pericolo, in_pericolo, sola, da_sola, bloccat*, chius*_dentro, chius*_fuori, grave, successo & qualcosa/brutto, successo_qualcosa, qualcosa_di_brutto, furto, rubat*, coltello, pistola, veleno, perdita, esplosione, bomba, terremoto, giu & $system, guasto, bloccato & $system, gelo, congel*, molto_male, sta_male, sto_male, vomita & sangue/continua, febbre, ti_stanno_aspettando, ti_stiamo_aspettando, ti_aspettiamo & tutti, inizia $soon, comincia $soon, parte $soon, chiude $soon, morto & $kid
      """,
    help: """
      aiutami presto/subito/ora,
      serve_aiuto, aiuto$, ci_serve_aiuto,
      ^aiuto, ^aiutami$, ^aiutatemi, ^aiutateci, ^soccorso, aiutatemi, aiutateci, ho_bisogno_di_aiuto, bisogno_d_aiuto, bisogno_di_aiuto, aiuto_aiuto, aiutami_ti_prego, aiutami_a_cercar*, aiutatemi_a_cercar*, chiedi_aiuto, aiuto_per_favore
      """,
    ask: """
      non_ci_sei, non_arrivi, non_sei_qui,
      puoi_passare, passa_da, vai_a_vedere, puoi_andare,
      chiamami, chiamatemi, richiamami, chiama & subito/mamma/papa/casa, telefonami, rispondi, rispondete, rispondimi, vieni, venite, torna, tornate, corri, correte, dove_sei, dove_siete, dove_cavolo, ho_bisogno_di_te, abbiamo_bisogno, ho_bisogno, serve_qualcuno, ci_serve, mi_serve, qualcuno_puo, puoi_venire, manda, mandate, apri, aprite, aprimi, cosa_faccio, che_faccio, che_facciamo, cosa_devo_fare, esci, uscite, sbrigati, sbrigatevi, muoviti, cerca_di_venire, vienimi_a_prendere, collegati, passa_a_prendermi
      """,
    haste: """
      subito, adesso$, ora$, immediatamente, presto$, vieni_presto, in_fretta, veloce, velocemente, il_prima_possibile, al_piu_presto, prima_possibile, di_corsa, asap, urgente, urgentemente, all_istante, sbrigati, sbrigatevi, non_c_e_tempo, ogni_minuto, presto_per_favore, emergenza, fate_presto, fai_presto
      """,
    idiom: """
      uscita* di_emergenza, uscite_di_emergenza, di_emergenza, numero* emergenza, pronto_soccorso_dove_lavora, primo_soccorso, corso_di_primo, antincendio, vigili_del_fuoco_festa, fuochi_d_artificio, fuoco_lento, cessate_il_fuoco, spegni_il_fuoco, mi_aiuti, aiutarmi, aiutami_a, aiutami_con, il_tuo_aiuto, dell_aiuto, rilevatore_di_fumo, sto_morendo$, muoio_dal, morto_di, morta_di, da_morire, morire_dal_ridere, sto_morendo_dal, esame_del_sangue, analisi_del_sangue, donare_il_sangue, sangue_freddo, per_incidente, prestito, a_presto, presto_o_tardi, ci_vediamo_presto, guarisci_presto, ora_di, a_che_ora, che_ora, un_ora, mezz_ora_libera, vieni_a_cena, vieni_a_mangiare, vieni_alla_festa, torna_sano, niente_di_grave, perdita_di_tempo, che_paura, per_fortuna
      """,
    calm: """
      non_e_urgente, niente_di_urgente, non_urgente, nessuna_urgenza, non_c_e_urgenza, non_e_un_emergenza, nessuna_emergenza, non_e_cosi_urgente, senza_fretta, nessuna_fretta, non_c_e_fretta, non_ho_fretta, con_calma, con_comodo, fai_con_calma, tranquillo$, tranquilla$, tranqui, non_ti_preoccupare, non_preoccuparti, non_preoccupatevi, niente_paura, prenditela_con, prenditi_il_tuo, quando_puoi, quando_vuoi, quando_hai_tempo, quando_hai_un, quando_riesci, se_hai_tempo, puo_aspettare, non_e_importante, niente_di_importante, niente_di_grave, non_e_niente, non_e_successo_niente, falso_allarme, tutto_bene, tutto_ok, tutto_a_posto, tutto_apposto, sto_bene, sta_bene, stiamo_bene, ora_va_bene, va_meglio, e_risolto, risolto, sistemato, riparato, funziona_di_nuovo, e_tornato_su, e_di_nuovo_online, trovato & abbiamo/l_ho/per_fortuna, scherzo, scherzavo, sto_scherzando, ahah*, haha*, lol, era_solo, era_soltanto
      """,
    unreal: """
      ha_detto, diceva, nel_##, alla_fine_era,
      rinviat*, spostat*, rimandat*, annullat*, finita, hai_sentito, hai_visto,
      ieri, l_altro_ieri, la_settimana_scorsa, il_mese_scorso, l_anno_scorso, l_estate_scorsa, l_ultima_volta, # anni_fa/giorni_fa/mesi_fa/settimane_fa, anni_fa, tempo_fa, una_volta & era, quando_ero, l_altro_giorno, film, serie, documentario, libro, romanzo, episodio, puntata, canzone, album, disco, concerto, gioco, partita, podcast, telegiornale, notizie, giornale, articolo, museo, mostra, teatro, sogno, sognato, incubo, meme, esercitazione, simulazione, corso, assicurazione, porte_aperte, lavora_al, lavora_in, lavora_come, lavora_per, significa, che_vuol_dire, grazie_per, grazie_di, grazie_dell, grazie, immagina, quasi, buon_compleanno, auguri, congratulazioni, ricetta, programmat*, manutenzione, bellissim*, ha_detto_che_era, diceva_che_era, compiti, un_giorno, prossimo_anno
      """,
    trifle: """
      caffe, cioccolat*, pizza, birra, birre, vino, aperitivo, vacanza, vacanze, parrucchier*, pisolino, gelato, torta, vestito, scarpe, netflix, festa, shopping, massaggio, pranzo, cena, weekend, abbraccio, abbracci, pane, latte, sushi, regalo, spritz
      """,
    later: """
      domani, dopodomani, piu_tardi, dopo, stasera, la_prossima_settimana, lunedi, martedi, mercoledi, giovedi, venerdi, sabato, domenica, nel_weekend, quando_torni, quando_arrivi, quando_esci, quando_sei, quando_finisci, quando, appena_puoi, se_vuoi, se_puoi, un_giorno
      """,
    suppose:
      "se_c_e, se_ci, se_succede, se_dovesse, se_qualcuno, se_hai, se_un, se_una, se_la, se_il, se_mai, in_caso, nel_caso, in_caso_di, quasi, come_se, contro, a_meno_che, speriamo",
    not: "non, niente, nessun, nessuna, nessuno, senza, ne, mai, neanche"
  )
}
