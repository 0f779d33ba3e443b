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
      tra_#_min/tra_#_minut*/fra_#_min/fra_#_minut*/tra_cinque/tra_dieci/tra_venti/tra_quindici/tra_trenta/tra_quaranta/fra_cinque/fra_dieci/fra_venti/fra_quaranta/tra_mezz_ora/fra_mezz_ora/tra_un_quarto/tra_poco/fra_poco/adesso/ora/senza_di_te/tra_pochi_minuti/in_#_minut*/fra_quindici/tra_due/tra_tre/
      tra_quattro/tra_sei/tra_sette/tra_otto/tra_nove/tra_dodici/tra_un_minuto/fra_due/fra_tre/fra_quattro
      """,
      "flow": """
      esce/uscendo/perde/gocciola*/allag*/scende/cola/entra*/sgorga/trabocca/sale/spruzza/filtra
      """,
      "wspot": """
      porta/soffitto/pavimento/muro/muri/sotto/scale/cantina/cucina/bagno/corridoio/dappertutto/tubo/rubinetto/water/tappeto/lampada/appartamento/casa/macchina
      """,
      "water": """
      acqua/acque
      """,
      "hit": """
      calci/pugni/picchia*/colpisce/rompe*/forza*/scuote/tira*/aggred*/strangol*/accoltell*/spinge/sbatte/trascina*/sfonda*
      """,
      "door": """
      porta/finestra/cancello/serratura/mi/ci/mamma/papa/sorella/fratello/vetro
      """,
      "who2": """
      ex/fuori/uomo/uomini/qualcuno/sconosciuto/vicino/tizio/tizi/ragazzo/marito/ubriaco
      """,
      "gone": """
      scappat*/fuggit*/scompars*/sparit*/pers*/non_c_e/non_si_trova
      """,
      "care": """
      asilo/scuola/parco/giostre/ospedale/casa_di_riposo/zoo/centro_commerciale/spiaggia/giardino
      """,
      "sys2": """
      database/produzione/prod/server/pagament*/api/login/sito/backend/cluster/cassa/casse/ordini/negozio/sistema/sistemi
      """,
      "broke2": """
      corrott*/giu/cancellat*/morto/bloccat*/ferm*/rott*/fuori_uso/irraggiungibil*/vuoto/errore/errori/falliscono/crashat*/caduto/caduti
      """,
      "crisis": """
      tutto/nessuno/tutti/clienti/utenti/call/adesso/subito/urgente/aiut*
      """,
      "detector": """
      rilevatore/allarme/sensore/monossido
      """,
      "beep": """
      suona/suonando/fischia/scattato/non_smette
      """,
      "symptom": """
      gira_la_testa/nausea/mal_di_testa/fumo/gas/fuoco/odore/puzza
      """,
      "board": """
      imbarcando/imbarco/gate/binario/ultima_chiamata/chiudono_le_porte/check_in
      """,
      "mins": """
      due_minuti/tre_minuti/cinque_minuti/un_minuto/dieci_minuti/#_minuti/#_min/chiude/adesso/ultimo
      """,
      "you": """
      hai/dove_sei/corri/ti_aspett*/sbrigati
      """,
      "burn": """
      brucia*/a_fuoco/in_fiamme/fiamme/fuoco/fuma/fumo/scintille/arde
      """,
      "thing": """
      asciugatrice/lavatrice/lavastoviglie/tostapane/forno/padella/microonde/frigo/tele/caricatore/batteria/portatile/presa/cavo/tenda/tende/divano/letto/materasso/cestino/macchina/motore/camion/autobus/garage/capanno/soffitta/tetto/cucina/fienile/magazzino/camino/tappeto/candela/balcone/casa/appartamento/palazzo/ufficio/scuola/hotel/bosco/campo/cantina
      """,
      "med": """
      ambulanza/pronto_soccorso/rianimazione/terapia_intensiva/pompieri/soccorsi/massaggio_cardiaco
      """,
      "crash": """
      incidente/tamponamento/scontro/ribaltat*/fuori_strada/contro_un_albero
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
      rispondi_al_telefono, rispondi & telefono/subito/urgente, nessuno & prendere/preso & scuola/asilo/bambin*, e_morto & $kid & vieni/chiam*, e_morta & $kid & vieni/chiam*, sta_morendo & $kid & aiut*/vieni/cane/nonn*/papa/mamma, morso & vipera/serpente/cane & sangu*/gamba/mano, ustion*, bruciat* & mano/viso/bambin*/acqua, tagliat* & dito/mano/sangu*/profond*, insulina & senza/finit*/serve, inalatore & senza/finit*/serve, sos, 
      non_troviamo/non_trovo & giostr*/altalen*/scivolo/parco_giochi/zoo/folla/fiera/sabbiera/cortile, forz*/sfond*/scassin* & porta/finestra/serratura & qualcuno/stanno, ho_bisogno_di_te qui/adesso/ora, bisogno_di_te_qui, fuori & bimbo/bambino/bambina/neonato/forno & dentro & chius*/chiav*, mi_ammazza & aiut*/polizia/dice, vuole_ammazzarmi, vuole_uccidermi, mi_minaccia, investito & cane/gatto/bambin*, hanno_investito, evacu* & scuola/palazzo/ospedale/asilo, macchina & ossigeno & spenta/ferma, al_buio & ossigeno/respiratore, sul_ponte & butta/buttarsi/salta/saltare, vuole_buttarsi, si_butta_giu, ordini/pagamenti/transazioni falliscono/fallendo/falliti, falliscono & ordini/pagamenti, database & produzione & sparit*/cancellat*/vuoto, tagliat* & sega/coltello/ascia/vetro & mano/dito/gamba/braccio, scippat*/rubat* & borsa/telefono/portafoglio & sola/solo/rispondi/stazione/aiut*, 
      gola/viso/lingua/labbra/collo gonfia/gonfi*/chiude, gonfia & gola/ape/vespa/punto/punta, punto/punta & gola/ape/vespa/respir*, troppe pastiglie/pillole/compresse, preso troppe/tutte & pastiglie/pillole/compresse, freni & non/rotti/andati, senza_freni, gira_intorno & casa, aggira & casa/giardino, qualcuno/uomo & giardino/fuori/finestra/intorno & paura/coltello/polizia/nascost*, sono_nascost*, mi_nascondo, nessun pagamento/ordine & passa/va, non_passa & pagamento/pagamenti/ordini, pagamenti/ordini non_passano/bloccati/rifiutati, rollback subito/adesso/ora, testa sanguina, sanguina & testa, scivolat* & testa/sangu*/svenut*, confus* & testa/cadut*, bocca_storta, non_riesce_a_parlare, sotto & albero/muro/macchina & cadut*, e_caduto_addosso, caduto/caduta dal_letto & alzars*/muov*, fumo/scintille & presa/cavo/lavatrice/quadro, lavatrice perde/allaga*, water/gabinetto trabocca, la_sta_picchiando, lo_stanno_picchiando, litigano & coltell*/sangue, stanno_rubando, vi_stanno_rubando, ti_aspettano_tutti, tutti_ti_aspettano, ingoiato/inghiottito pila/moneta/calamita/batteria/biglia, bloccati & neve/fango/benzina, senza_benzina & autostrada/neve/notte/bloccati, gate chiude $soon, 
      tubo/tubatura/caldaia/termosifone/riscaldamento/scaldabagno & scoppiat*/rott*/esplos*/perde, senza chiave/chiavi & porta/fuori/freddo, chiave/chiavi dimenticat*/pers*/dentro & porta/fuori/freddo, mi_si_e_chiusa & porta, non_riesco_a_entrare & casa/macchina, nessuno prendere/ritirat* & figlio/figlia/bambin*/scuola/asilo, tamponamento, ribaltat* & macchina/auto/siamo, contro & albero/muro/guardrail & finit*/andat*, nel_fosso, fiamme & cucina/casa/tetto/escono, gas & fuga/fischia/testa/apri/esci, ladri, vetro/finestra/porta/serratura sfondat*/forzat*/rott*/scassinat*, scappat* & bambin*/cane/figli*, polizia/carabinieri & porta/arrestat*/cercano/cerca/chiedono, arrestat* & polizia/hanno/mi, blackout & ascensore/bambin*/ossigeno/ospedale/sola/solo, e_andata_via_la_luce & ascensore/bambin*/ossigeno/sola/solo/server, senza_corrente & ascensore/ossigeno/bambin*, 
      tenda/divano/letto/padella/olio/candela/albero/friggitrice/asciugatrice/tostapane fuoco/fiamme/brucia/fuma/fumo, puzza_di gas/bruciato/fumo, puzza/odore di_bruciato, labbra blu/viola, sconosciuto/uomo/tipi/uno & porta/garage/finestra/scale & scuot*/aprire/entrare/forz*, nessuno_l_ha_vist*, bevuto candeggina/detersivo/acido/benzina, candeggina & bevuto/ingoiato, buttati_fuori_strada, fuori_strada & camion/macchina/auto/siamo, ribaltati, asilo/scuola chiamano/chiama/chiamato & non_c_e/scompars*/pers*/ferit*, vaccini/insulina/medicine & frigo/corrente/freddo, cadut* & piano/balcone/finestra & gatto/cane/bambin*, viene & picchiarmi/ammazzarmi, a_picchiarmi, sistema_di_pagamento bloccato/giu/fermo, casse ferme/bloccate, acquario rotto/scoppiato/esploso, polizia portare/portano & vuole/via/vieni/questura, clienti errore & 500/502/503, errore_500, 
      non funzionano/rispondono/vanno freni, non_c_e_piu & asilo/scuola/parco/letto & chiam*/dove/bimb*/bambin*/lina, 
      perso !il/la/le/i/lo/mio/mia/tempo/contro/col & mercato/spiaggia/parco/stazione/aeroporto/fiera/centro/folla/supermercato, coltello/pistola/ascia/arma & porta/fuori/segue/insegue, qualcuno in_casa/dentro/di_sotto/in_cantina & credo/penso/sento/sia/c_e, sento passi/rumori/qualcuno & sotto/sopra/casa, 
      api/backend/sito/server risponde/restituisce/da & 500/502/503/504, 500/502/503/504 & tutti/clienti/utenti, incidente in_moto/in_bici/in_scooter/stradale/d_auto, rotto/rotta finestra/porta/vetro & aperta/entrare/preso/rubato, chius* & bagno/cantina/ascensore & sente/nessuno/aiut*, respira male/a_fatica/malissimo, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      petto stringe*/oppress*/dolore/pressione/peso & braccio/fiato/respir*/sento, stringere_il_petto, braccio/faccia/viso/gamba intorpidit*/paralizzat*/formicola & petto/parlare/colpo, macchina/bici/barca & fiume/lago/canale/fosso & nel/finit*/cadut*, tubo/rubinetto staccato/rotto/saltato & acqua/pavimento, staccato & tubo & pavimento/acqua/allag*, pavimento/tappeto zuppo/allagat*, rubinetto_generale, chiudere_l_acqua, ubriaco & porta/forzare/segue/picchia, rotto/giu & tutti & login/utenti/clienti, 
      corrente/luce saltata/andata/mancata/staccata & tutta/tutto/intera/intero/congelatore/frigo, saltata & corrente/luce & tutta/tutto/intero/congelatore/frigo, andata_via & luce/corrente & tutta/tutto/congelatore/frigo/palazzo, senza_corrente & tutta/tutto/congelatore/frigo, blackout & tutta/tutto/casa/palazzo, troviamo/trovo & nessuna_parte, mi_sta_seguendo, mi_segue, mi_seguono, ci_segue, ci_stanno_seguendo, 
      non_la_troviamo & sparita/scomparsa/fiera, non_lo_troviamo & sparito/scomparso/fiera
      """,
    urgent: """
      urgente, urgentemente, urgenza, e_urgente, urgentissimo, urgenti, emergenza, un_emergenza, con_urgenza, d_urgenza, non_puo_aspettare, non_possiamo_aspettare, vita_o_morte, questione_di_vita, codice_rosso, massima_urgenza
      """,
    danger: """
      $vehicle $soon,
      fuoco, incendio, fiamme, fumo, incidente, ferit*, sangue, ospedale, pronto_soccorso, polizia, carabinieri, pompieri, cadut* & $kid, svenut*, gira_la_testa, vertigini, dolore & forte/terribile/insopportabile, dolori, paura, pericolo, in_pericolo, sola, da_sola, bloccat*, chius*_dentro, chius*_fuori, grave, successo & qualcosa/brutto, successo_qualcosa, qualcosa_di_brutto, furto, rubat*, coltello, pistola, veleno, perdita, esplosione, bomba, terremoto, giu & $system, guasto, bloccato & $system, gelo, congel*, molto_male, sta_male, sto_male, vomita & sangue/continua, febbre, ti_stanno_aspettando, ti_stiamo_aspettando, ti_aspettiamo & tutti, inizia $soon, comincia $soon, parte $soon, chiude $soon, morto & $kid, 
      punto & ape/vespa, gonfia, pastiglie, freni, scintille, scivolat*, 
      perdere volo/treno/aereo/autobus, perdiamo volo/treno/aereo/autobus, blackout, andata_via_la_luce, senza_corrente, minaccia*, zoppica & cane/gatto, sta_per_chiudere, taxi_aspetta, veterinario, 
      errore_500, male & collo/petto/pancia, acqua_dappertutto, vetri, imbarco & chiude/finisce/termina
      """,
    help: """
      aiutami presto/subito/ora,
      serve_aiuto, aiuto$, ci_serve_aiuto,
      ^aiuto, ^aiutami$, ^aiutatemi, ^aiutateci, ^soccorso, aiutatemi, aiutateci, ho_bisogno_di_aiuto, bisogno_d_aiuto, bisogno_di_aiuto, aiuto_aiuto, aiutami_ti_prego, aiutami_a_cercar*, aiutatemi_a_cercar*, chiedi_aiuto, aiuto_per_favore
      """,
    ask: """
      non_ci_sei, non_arrivi, non_sei_qui,
      puoi_passare, passa_da, vai_a_vedere, puoi_andare,
      chiamami, chiamatemi, richiamami, chiama & subito/mamma/papa/casa, telefonami, rispondi, rispondete, rispondimi, vieni, venite, torna, tornate, corri, correte, dove_sei, dove_siete, dove_cavolo, ho_bisogno_di_te, abbiamo_bisogno, ho_bisogno, serve_qualcuno, ci_serve, mi_serve, qualcuno_puo, puoi_venire, manda, mandate, apri, aprite, aprimi, cosa_faccio, che_faccio, che_facciamo, cosa_devo_fare, esci, uscite, sbrigati, sbrigatevi, muoviti, cerca_di_venire, vienimi_a_prendere, collegati, passa_a_prendermi, 
      ho_paura !di/che, ho_tanta_paura, cosa_faccio, che_faccio, che_facciamo, corri$, correte, rollback, 
      vieni_a_casa, torna_a_casa, resta_al_telefono, non_riattaccare, fammi_entrare, c_e_qualcuno, manda_qualcuno, chi_ha, dov_e, dove_sono_le, ho_bisogno_d, esci_da, uscite_da, 
      chi_puo_aiutare, aiutami, puoi_venire, e_adesso, dove_ti_sei, chi_e_di, come_si_chiude, vieni_in, 
      ti_supplico, ti_scongiuro, ti_imploro, scendi, scendete
      """,
    haste: """
      subito, adesso$, ora$, immediatamente, presto$, vieni_presto, in_fretta, veloce, velocemente, il_prima_possibile, al_piu_presto, prima_possibile, di_corsa, asap, urgente, urgentemente, all_istante, sbrigati, sbrigatevi, non_c_e_tempo, ogni_minuto, presto_per_favore, emergenza, fate_presto, fai_presto, 
      quanto_prima, appena_puoi_subito, immediatamente, al_volo, in_fretta, alla_svelta, 
      in_questo_minuto, in_questo_momento, all_istante
      """,
    idiom: """
      uscita* di_emergenza, uscite_di_emergenza, di_emergenza, numero* emergenza, pronto_soccorso_dove_lavora, primo_soccorso, corso_di_primo, antincendio, vigili_del_fuoco_festa, fuochi_d_artificio, fuoco_lento, cessate_il_fuoco, spegni_il_fuoco, mi_aiuti, aiutarmi, aiutami_a, aiutami_con, il_tuo_aiuto, dell_aiuto, rilevatore_di_fumo, sto_morendo$, muoio_dal, morto_di, morta_di, da_morire, morire_dal_ridere, sto_morendo_dal, esame_del_sangue, analisi_del_sangue, donare_il_sangue, sangue_freddo, per_incidente, prestito, a_presto, presto_o_tardi, ci_vediamo_presto, guarisci_presto, ora_di, a_che_ora, che_ora, un_ora, mezz_ora_libera, vieni_a_cena, vieni_a_mangiare, vieni_alla_festa, torna_sano, niente_di_grave, perdita_di_tempo, che_paura, per_fortuna, 
      contatti_di_emergenza, lista_di_contatti, lista_di_emergenza, numero_di_emergenza, la_fine_del_mondo, e_una_bomba, una_bomba$, batteria & morendo/muore, morendo_di_fame, muoio_di_fame, 
      prova_di_evacuazione, prova_antincendio, prove_di_evacuazione, simulazione, 
      mi_ha_ucciso, per_me_e_morto, pronto_soccorso_veterinario, 
      mio_capo_mi_ammazza, revisione_degli_estintori, mi_annoio, 
      imbarco_e_stato, si_parte, decolliamo
      """,
    calm: """
      non_e_urgente, niente_di_urgente, non_urgente, nessuna_urgenza, non_c_e_urgenza, non_e_un_emergenza, nessuna_emergenza, non_e_cosi_urgente, senza_fretta, nessuna_fretta, non_c_e_fretta, non_ho_fretta, con_calma, con_comodo, fai_con_calma, tranquillo$, tranquilla$, tranqui, non_ti_preoccupare, non_preoccuparti, non_preoccupatevi, niente_paura, prenditela_con, prenditi_il_tuo, quando_puoi, quando_vuoi, quando_hai_tempo, quando_hai_un, quando_riesci, se_hai_tempo, puo_aspettare, non_e_importante, niente_di_importante, niente_di_grave, non_e_niente, non_e_successo_niente, falso_allarme, tutto_bene, tutto_ok, tutto_a_posto, tutto_apposto, sto_bene, sta_bene, stiamo_bene, ora_va_bene, va_meglio, e_risolto, risolto, sistemato, riparato, funziona_di_nuovo, e_tornato_su, e_di_nuovo_online, trovato & abbiamo/l_ho/per_fortuna, scherzo, scherzavo, sto_scherzando, ahah*, haha*, lol, era_solo, era_soltanto, 
      adesso_sta_bene, mandata_a_casa, mandato_a_casa, dimess*, e_a_casa, e_tornato_su, tornato_online, funziona_di, 
      e_sempre_cosi, sempre_cosi, sempre_urgente, tutto_e_urgente, dice_sempre, 
      e_tornata_la_luce, tornata_la_luce, e_tornata_la_corrente, 
      va_tutto_benissimo, hanno_ritrovato, e_stato_ritrovato, nessuna_emergenza
      """,
    unreal: """
      ha_detto, diceva, nel_##, alla_fine_era,
      rinviat*, spostat*, rimandat*, annullat*, finita, hai_sentito, hai_visto,
      ieri, l_altro_ieri, la_settimana_scorsa, il_mese_scorso, l_anno_scorso, l_estate_scorsa, l_ultima_volta, # anni_fa/giorni_fa/mesi_fa/settimane_fa, anni_fa, tempo_fa, una_volta & era, quando_ero, l_altro_giorno, film, serie, documentario, libro, romanzo, episodio, puntata, canzone, album, disco, concerto, gioco, partita, podcast, telegiornale, notizie, giornale, articolo, museo, mostra, teatro, sogno, sognato, incubo, meme, esercitazione, simulazione, corso, assicurazione, porte_aperte, lavora_al, lavora_in, lavora_come, lavora_per, significa, che_vuol_dire, grazie_per, grazie_di, grazie_dell, grazie, immagina, quasi, buon_compleanno, auguri, congratulazioni, ricetta, programmat*, manutenzione, bellissim*, ha_detto_che_era, diceva_che_era, compiti, un_giorno, prossimo_anno, 
      ti_ricordi, vi_ricordate, ricordi_quando, mi_ricordo, 
      la_domenica, il_sabato, e_gratis, appena_letto, ho_letto, 
      spoiler*, due_anni_fa, tre_anni_fa, assassino, la_prossima_volta, 
      per_sbaglio_una, da_piccolo, da_piccola, da_bambino, una_volta_ho, assumono, cercano_personale, 
      il_112_per_sbaglio
      """,
    trifle: """
      caffe, cioccolat*, pizza, birra, birre, vino, aperitivo, vacanza, vacanze, parrucchier*, pisolino, gelato, torta, vestito, scarpe, netflix, festa, shopping, massaggio, pranzo, cena, weekend, abbraccio, abbracci, pane, latte, sushi, regalo, spritz
      """,
    later: """
      domani, dopodomani, piu_tardi, dopo, stasera, la_prossima_settimana, lunedi, martedi, mercoledi, giovedi, venerdi, sabato, domenica, nel_weekend, quando_torni, quando_arrivi, quando_esci, quando_sei, quando_finisci, quando, appena_puoi, se_vuoi, se_puoi, un_giorno, 
      appena_hai
      """,
    suppose:
      "se_c_e, se_ci, se_succede, se_dovesse, se_qualcuno, se_hai, se_un, se_una, se_la, se_il, se_mai, in_caso, nel_caso, in_caso_di, quasi, come_se, contro, a_meno_che, speriamo",
    not: "non, niente, nessun, nessuna, nessuno, senza, ne, mai, neanche"
  )
}
