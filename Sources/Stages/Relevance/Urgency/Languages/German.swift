extension UrgencyLexicon {
  static let german = UrgencyLexicon(
    marks: """
      der/die/das/ein/eine/einen/ist/ich/du/er/sie/es/wir/ihr/und/oder/nicht/mit/auf/im/in/am/zu/von/für/den/dem/des/mir/dir/mich/dich/uns/bin/bist/hat/habe/hab/haben/wir/kann/kannst/wo/was/wie/wann/mal/bitte/nach/hier/noch/schon/ja/nein/aber/wenn/dass/mein/meine/dein/deine/kein/keine/gleich/jetzt/alle/aus/bei/steht/weg/zum/zur/raus/ans/geh/komm/wird/werden
      """,
    classes: [
      "who": """
      ich/er/sie/wir/mir/mich/ihn/ihm/ihr/uns/mama/mami/mutter/mutti/papa/papi/vater/oma/opa/kind/kinder/kleine/kleiner/baby/sohn/tochter/mann/frau/
      bruder/schwester/freund/freundin/hund/katze/jemand/nachbar*/leute/junge/madchen/kollege/kollegin/tante/onkel/patient*/schuler*/hat/ist
      """,
      "kid": """
      kind/kinder/kleine/kleiner/kleinen/baby/sohn/tochter/junge/madchen/mama/mutter/papa/vater/oma/opa/hund/katze/mann/frau/bruder/schwester/ihn/sie/hat/jungs
      """,
      "place": """
      haus/wohnung/kuche/keller/garage/dach/dachstuhl/gebaude/buro/zimmer/bad/badezimmer/schlafzimmer/wohnzimmer/flur/treppenhaus/laden/stall/scheune/auto/bus/ofen/herd/
      balkon/garten/motor/wand/decke/lager/halle/werkstatt/serverraum/hutte/boden/nachbarhaus/schuppen/adventskranz/weihnachtsbaum/vorhang/akku/fritteuse/pfanne
      """,
      "system": """
      server/website/webseite/seite/shop/onlineshop/webshop/datenbank/system/systeme/netzwerk/netz/prod/produktion/produktivsystem/api/app/backend/zahlung*/kasse/kassen/cluster/
      mailserver/internet/dienst/dienste/plattform/login/anlage/strom/telefonanlage/rechenzentrum
      """,
      "vehicle":
        "zug/flug/flieger/flugzeug/bus/fahre/schiff/taxi/bahn/ice/gate/boarding/straßenbahn/reisebus/schalter/check_in",
      "soon": """
      in_#_min/in_#_minute*/in_#_minuten/in_funf/in_zehn/in_zwanzig/in_funfzehn/in_dreißig/in_vierzig/in_einer_halben/in_wenigen_minuten/in_einer_viertelstunde/gleich/ohne_dich/jetzt/in_ner_halben/in_drei_minuten/in_zwei_minuten
      """,
    ],
    alarm: """
      alles/haus/wohnung/strasse/straße/ganze unter_wasser, steht_unter_wasser, stehen_unter_wasser, wasser & decke/keller & tropft/lauft/kommt,
      ist/sind/bin schwer/schlimm verletzt, ist/sind/bin verletzt, panikattacke, rattengift, gift/schokolade gefressen, giftkoder, boot sinkt, um_hilfe ruf*/schrei*, hilferufe, produktionsausfall, serverausfall, systemausfall, totalausfall, netzausfall, bremsen versag*/gehen_nicht/funktionieren_nicht, von_der_straße abgekommen, balkon gefallen/gesturzt, fenster gefallen/gesturzt, auto & eingeschlossen & kind/baby/hund, geht_nicht_ans & nachbarn/sorgen/angst, blutuberstromt,
      bei_uns brennt, brennts & uns/haus/kuche,
      keinen_puls, kein_puls, verschlossener_tur, vor_der_tur & schlussel/grad/kalt/friert, schlussel & ausgesperrt/drinnen & kalt/kind, explodieren, geht_gleich_hoch, herz & steht/stehen_geblieben, $system steht$, produktion steht, band steht,
      kaum luft, kaum_noch luft, funken & riecht/steckdose/kabel, fenster/tur eingeschlagen, steckt fest & aufzug/lift, feuerwehr/polizei/krankenwagen unterwegs/auf_dem_weg/kommt/ist_da, herd & angelassen,
      verschluckt, erwurg*, sinkt & boot/schiff/wir, eingesunken, komme_nicht & raus & moor/wasser/loch/grube, doppelt abgebucht, alle_tabletten, tur_auf & aufgebrochen, aufgebrochen & tur/wohnung/haus/auto, ins_wasser gefallen, rast auf, geht_unter & boot,
      jemand & in_unserer/in_meiner/in_unserem/im_haus/in_der_wohnung, ich_blute, geht_auf_mich_los, schlagt_mich, verfolgt_mich, klopft & polizei/tur/randal*,
      es_brennt, $place brennt/brennen, brennt $place/im/bei/das/lichterloh, brennt_es, steht/stehen in_flammen, in_flammen, feuer in/im/auf & $place/haus, hat_feuer_gefangen, feuer_ausgebrochen, feuer & gebrochen, rauch aus/in/im/kommt/uberall, qualm*, riecht gas/rauch/verbrannt/brand*/angebrannt, gasgeruch, gasleck, gas tritt_aus/austritt, nach_gas,
      explodiert, explosion in/im/bei, wasserrohrbruch, rohrbruch, rohr geplatzt/gebrochen/platzt, wasser lauft/kommt/tropft/steht/stromt/dringt/spritzt/schießt, lauft wasser, $place unter_wasser, unter_wasser & $place, vollgelaufen, lauft_voll, $place uberflutet/uberschwemmt/lauft, uberschwemm* & $place, hochwasser & haus/keller/kommt/evakuier*, decke kommt_runter/sturzt/einsturz*, eingesturzt,
      atmet_nicht, atmet_nicht_mehr, atmet_kaum, nicht_mehr_atmen, keine_luft, krieg keine luft, bekomme keine luft, nicht_atmen, atemnot, bewusstlos*, ohnmachtig, nicht_ansprechbar, reagiert_nicht, ruhrt_sich_nicht, bewegt_sich_nicht, wacht_nicht, nicht_aufwach*, zusammengebrochen, umgekippt & $who, umgefallen & $who, kollabiert, ertrink*, erstick*, verschluckt, stirbt, verblut*, 
      blutet & stark/nicht/heftig/sehr/uberall/viel/kopf/aufhoren, blutet_und, blute stark/sehr/heftig/nicht, viel_blut, uberall_blut, hort_nicht_auf bluten, herzinfarkt, herzstillstand, schlaganfall, krampfanfall, epileptisch*, krampft, brustschmerz*, schmerzen_in_der_brust, allergisch* reagier*/schock/reaktion, allergieschock, uberdosis, vergift*, zu_viele_tabletten, tabletten geschluckt/genommen & zu/viele/alle, geschluckt batterie/putzmittel/gift/munze/knopf/magnet*, batterie/munze/knopf/magnet*/gift/reiniger/spulmittel/waschmittel/putzmittel verschluckt/geschluckt/getrunken/gegessen, fruchtblase, wehen & haben/hat/eingesetzt/krankenhaus/alle/losgegangen, das_baby_kommt,
      gebrochen arm/bein/hufte/fuß/hand/nase, arm/bein/hufte/fuß/hand/knochel/handgelenk gebrochen, gestuerzt, gesturzt & $who, gefallen & $kid & leiter/treppe/blut*/nicht/aufstehen/kopf, von_der_leiter, die_treppe_runter, treppe heruntergefallen/runtergefallen/hinuntergefallen, nicht_mehr_aufstehen, kann_nicht_aufstehen, nicht_mehr_bewegen, kann_mich_nicht_bewegen, angefahren & $who/wurde/worden, uberfahren & $who/wurde, stromschlag, angeschossen, niedergestochen, messerstich*, schusse & gefallen/gehort, schießerei, amok*, bombe & im/gefunden/drohung, bombendrohung, bewaffnet*, mit_einem_messer, mit_messer, hat_ein_messer, hat_eine_waffe,
      nicht_mehr_leben, umbringen & mich/will/er/sie, selbstmord & $who, das_leben_nehmen, krankenwagen, rettungswagen & ruf*/kommt/unterwegs/brauch*, notarzt, ruf*_den_notarzt, ruf* polizei/feuerwehr/krankenwagen/notarzt/112/rettung, brauch* arzt/notarzt/krankenwagen/rettungswagen, arzt & schnell/sofort, polizei ist_da/steht_vor/ist_hier, ins_krankenhaus & $kid/fahren/gebracht/komm*/eingeliefert, im_krankenhaus & komm*/ruf*/meld*/sofort/schnell, in_der_notaufnahme, intensivstation & $kid/komm*, eingeliefert, hohes_fieber, fieber & 40/41/kind/baby/kleine,
      unfall & gehabt/hatten/hatte/gebaut/komm*/schwer*/passiert/autobahn/hilfe & wir/ich/er/sie/mama/papa/schwer*, autounfall, einbrech* & jemand/versucht/gerade/da, einbrecher*, eingebrochen, bricht_ein, versucht einzubrechen, jemand_im_haus, jemand in der wohnung, jemand ist_im, jemand versucht & tur/haus/wohnung/rein, verfolgt & mich/jemand/werde, folgt_mir, uberfallen, bedroht & $who, angegriffen & $who, greift & $who/an, verprugelt, zusammengeschlagen, entfuhrt, vergewaltigt, ausgeraubt, 
      ausgesperrt, eingesperrt, eingeschlossen & $who/aufzug/bin/sind, steck* fest aufzug/lift, fest/stecken/stecke/hange/feststeck*/festgesteckt & aufzug/fahrstuhl/lift/schnee/tunnel/schlamm/auto, im_aufzug & fest/stecke/stecken/eingesperrt, aufzug stecken/fest*, liegengeblieben & auto/autobahn/panne/wir/bin, panne & autobahn/tunnel/liegen, verirrt & wald/berg*/dunkel/wir, 
      verschwunden & $kid/such*/hilf/polizei, $kid vermisst/weg/verschwunden/weggelaufen/abgehauen/verloren, weggelaufen, finde/finden $kid nicht/nirgends, finde_ihn_nicht, finde_sie_nicht, nicht_mehr_finden & $kid, vermiss* & polizei/seit/kind/$kid & polizei/seit/such*, aus_den_augen_verloren, nicht_nach_hause_gekommen, nirgends & $kid & such*/finde*,
      $vehicle fahrt/geht/startet/legt/hebt/schließt/wartet/ist $soon, fahrt/geht/startet/hebt/legt $soon & $vehicle, letzter_aufruf, gate schließt, 
      $system ist/sind/lauft/geht/komplett down/ausgefallen/offline/tot/weg/kaputt/nicht_erreichbar/abgesturzt/gehackt/lahm, $system down/ausgefallen/abgesturzt/offline/tot, $system nicht_mehr_erreichbar, $system nicht_erreichbar/gehackt, $system geht_nicht & kunden/niemand/alle, $system steht & kunden/komplett/alles/still, nichts_geht_mehr, geht_nichts_mehr, nichts_mehr_geht, ausgefallen & $system, ausfall $system/komplett*/produktion, liegt_flach & $system, kunden & nicht/keine & bezahlen/bestellen/einloggen/kaufen/anmelden, verlieren bestellungen/daten/umsatz, daten geloscht/weg/verloren & alle/kunden/datenbank/prod*, datenbank geloscht, gehackt_worden, wurden_gehackt, hackerangriff, cyberangriff, datenleck, verschlusselt & alle/daten/trojaner,
      erdbeben & gerade/raus/hier/schnell, lawine & $who/abgegangen/verschuttet, verschuttet, evakuier*, sturmflut, tornado, waldbrand & evakuier*/nah/kommt, alle_raus, raus_hier, raus_da, raus_aus_dem, sofort_raus, bringt_euch_in_sicherheit, lebensgefahr, in_lebensgefahr, abgeschleppt & auto/dein/wird, 
      nicht_abgeholt, abgeholt & niemand/keiner, sos, lawinen*ungluck, ruf mich sofort/schnell/bitte/dringend, geh_ran, geht_ran, geh_ans_telefon, bitte_geh_ans, nimm_ab, heb_ab, gestorben & $kid & komm*/ruf*/gerade/eben, tot_aufgefunden, liegt_im_sterben, reanimier*, wiederbeleb*, hilfe_holen, hol* hilfe, zeckenbiss_no, schlange gebissen, gebissen & hund/schlange & blut*/arzt/bein/hand, ins_eis eingebrochen, strom weg/ausgefallen & beatmung*/sauerstoff/baby, insulin & kein*/brauch*/leer/vergessen, sauerstoff & leer/brauch*/kein, verbruht, verbrannt & hand/gesicht/kind/arm/baby, stark/tief geschnitten, abgeschnitten & finger/hand, finger abgeschnitten/eingeklemmt/ab, eingeklemmt & $who/finger/hand
      """,
    urgent: """
      dringend, dringende, dringender, sehr_dringend, superdringend, eilig, eilt, notfall, ein_notfall, notfalle, akut, lebenswichtig, uberlebenswichtig, brandeilig, hochste_eisenbahn, duldet_keinen_aufschub, kann_nicht_warten, nicht_bis_morgen, unverzuglich, schnellstmoglich melden/ruf*/komm*/zuruck*, so_schnell_wie_moglich & ruf*/komm*/meld*/zuruck/brauch*, leben_und_tod, alarmstufe_rot
      """,
    danger: """
      $vehicle $soon,
      geht_um & mama/papa/oma/opa/leben,
      geht_es sehr_schlecht/gar_nicht/ganz_schlecht, geht_mir sehr_schlecht/gar_nicht/ganz_schlecht,
      feuer, brand, brennt, rauch, unfall, crash, verletzt*, blut, blutet, blute, krankenhaus, notaufnahme, polizei, feuerwehr, gefallen & $kid, gesturzt, ohnmacht, schwindlig, schwindelig, schmerzen & starke/schlimme/heftige/unertragliche, verloren & $kid, weg & $kid, angst, gefahr, in_gefahr, gefahrlich, allein, panik, schlimm* & passiert, etwas_passiert, was_passiert, ist_was_passiert, passiert & schreckliches/schlimmes, einbruch, gestohlen, geklaut, uberfall, messer, waffe, gift, vermisst, festgehalten, in_not, down & $system, ausfall, ausgefallen, ausgesperrt, gehackt, panne, erfrier*, minusgrade, eiskalt, explosion, evakuierung, bombe, erdbeben, kotzt & blut/nur, erbricht, fieber, wasser & keller/decke/wohnung, undicht, tot & $kid, stirbt, geht_nicht_gut & gar, uberhaupt_nicht_gut, wartet_auf_dich, warten_auf_dich, warten_alle, fahrt $soon, beginnt $soon, fangt $soon, schließt $soon, frist & $soon/heute/stunde*, verbluten
      """,
    help: """
      hilf_mir schnell/bitte/sofort, helft schnell,
      ^hilfe$, ^hilfe_hilfe$, hilf_mir$, helft_mir$, hilf_uns, helft_uns, ^bitte_hilf, bitte_helft, brauche_hilfe, brauchen_hilfe, brauch_hilfe, hilf_mir_bitte, zu_hilfe, um_hilfe, helft_mir_suchen, hilf_mir_suchen, hilfe_schnell, ^hilfe
      """,
    ask: """
      du_bist_nicht_da, du_bist_noch_nicht, bist_noch_nicht_da,
      rangehen, drangehen, geh_dran, schau_nach & bitte/sofort, sieh_nach,
      ruf_mich, ruf_an, ruft_mich, ruf_zuruck, ruf_bitte, ruf_sofort, rufe_mich, anrufen & bitte/kannst/sofort, ruckruf, melde_dich, meld_dich, meldet_euch, melde_dich_bitte, geh_ran, komm, kommt & bitte/schnell/sofort/her/alle, komm_her, komm_heim, komm_nach, komm_bitte, kommen & kannst/kann/bitte & schnell/sofort/jetzt/jemand, kannst_du_kommen, wo_bist_du, wo_bleibst_du, wo_seid_ihr, wo_bleibt_ihr, wo_steckst_du, brauche_dich, brauchen_dich, brauche_jemanden, brauchen_jemanden, wir_brauchen, ich_brauche, brauche_sofort, kann_jemand, kann_wer, mach_auf, mach_die_tur, lass_mich_rein, was_soll_ich_tun, was_sollen_wir, was_mach_ich, was_tun, was_soll_ich_machen, raus, hol_mich, holt_mich, abholen & kannst/kann/sofort, schick*, beeil_dich, beeilt_euch, antworte, antwortet, wach_auf, nach_hause & komm*, sucht, such
      """,
    haste: """
      sofort, schnell, ganz_schnell, so_schnell, schnellstens, schnellstmoglich, umgehend, augenblicklich, jetzt$, jetzt_bitte, bitte_jetzt, jetzt_gleich, gleich_jetzt, jetzt_sofort, asap, dringend, eilt, beeil*, keine_zeit, jede_minute, jede_sekunde, hopp, los
      """,
    idiom: """
      im_notfall, fur_den_notfall, fur_notfalle,
      herz_blutet, mein_herz,
      bin_sofort_dabei, sofort_dabei, sofort_verliebt, komme_sofort, bin_sofort, bin_sofort_zuruck, gleich_zuruck, sofort_los, notausgang, notausgange, notfallkontakt*, notfallnummer*, notfallplan, notfallkoffer, notfalls, notfallubung, erste_hilfe, erste-hilfe, hilfe_kurs, hilfe_kasten, hilfe_von, hilfe_bei, deine_hilfe, eure_hilfe, mit_hilfe, nachhilfe, haushaltshilfe, feueralarm_ubung, brandschutz*, feuerwehrfest, feuerwehrauto, freiwillige_feuerwehr, feuerwehr_hat_tag, bei_der_feuerwehr, bei_der_polizei, lagerfeuer, feuerwerk, feuerzeug, feuerloscher, feuer_und_flamme, brennt_darauf, brennt_mir_unter, sonnenbrand, brandneu, rauchmelder, rauchverbot, wasserkocher, wasserfall, schnell_mal, mal_schnell, schnell_noch, kurz_und_schnell, auf_die_schnelle, lach*_mich_tot, totgelacht, tot_gelacht, totlach*, ich_sterbe, sterbe_vor, zum_totlachen, verliebt, kein_unfall, unfallfrei, unfallversicherung, jetzt_um, um_drei, komm_gut, komm_schon, bitte_bitte_album, alarm_stufe, wecker, notlosung, note, notiz*, notwendig, dringend_mal, dringend_mal_wieder, mal_wieder_dringend, fast_fertig, blutdruck, blutspende*, bluttest, blutwurst, angsthase, keine_angst, tolle_hilfe, auf_los, was_ist_los, gehts_los, geht_es_los, geht_los, arbeitslos, wann_gehts_los, fahren_los, losgehen, ich_brauche_noch, wir_brauchen_noch, kann_jemand_noch
      """,
    calm: """
      nicht_dringend, nicht_so_dringend, uberhaupt_nicht_dringend, nichts_dringendes, nicht_eilig, nicht_so_eilig, eilt_nicht, hat_keine_eile, keine_eile, keine_hektik, kein_stress, ohne_stress, kein_notfall, kein_ding, in_ruhe, lass_dir_zeit, lasst_euch_zeit, hat_zeit, hat_noch_zeit, wenn_du_zeit, wenn_du_mal_zeit, wenn_ihr_zeit, wenn_es_passt, wann_immer, irgendwann_mal, bei_gelegenheit, kann_warten, kann_bis, nicht_wichtig, nichts_wichtiges, nichts_schlimmes, nicht_schlimm, halb_so_wild, nichts_passiert, keine_sorge, keine_panik, mach_dir_keine, keine_angst, alles_gut, alles_ok, alles_okay, alles_in_ordnung, alles_klar, alles_bestens, schon_erledigt, hat_sich_erledigt, erledigt, wieder_da, wieder_gut, wieder_online, lauft_wieder, geht_wieder, funktioniert_wieder, wieder_erreichbar, ist_gelost, behoben, gefunden & wieder/haben/hab, fehlalarm, falscher_alarm, blinder_alarm, nur_spaß, nur_spass, war_nur, war_nur_ein, scherz, witz, spaß, hihi, gluck_gehabt, nichts_ernstes, geht_mir_gut, geht_ihm_gut, geht_ihr_gut, geht_uns_gut, geht_es_gut, geht_wieder_gut, mir_gehts_gut, uns_gehts_gut
      """,
    unreal: """
      kinderbuch, bilderbuch, sagte, meinte, behauptet*, angeblich, stellte_sich_heraus, im_jahr_##, in_##,
      verschoben, abgesagt, verlegt_auf, findet_statt, hast_du_gehort, vertagt,
      gestern, vorgestern, letzte_woche, letzten_monat, letztes_jahr, letzten_sommer, letztes_mal, neulich, vor_jahren, vor_#_jahren, vor_#_wochen, vor_#_monaten, vor_#_tagen, damals, fruher, als_kind, einmal & war, film, filme, doku, serie, folge, buch, roman, krimi, tatort, song, lied, album, band, konzert, spiel, videospiel, podcast, nachrichten, zeitung, artikel, schlagzeile, geschichte, getraumt, traum, albtraum, meme, zitat, ubung, probealarm, training, schulung, kurs, seminar, vortrag, versicherung, theater, museum, ausstellung, tag_der_offenen, arbeitet_bei, arbeitet_als, arbeitet_in, arbeitet_im, arbeite_bei, meinte & dringend, sagte & dringend, was_heißt, was_bedeutet, bedeutet, was_ist_ein, danke_fur, dank_deiner, vielen_dank, stell_dir_vor, angenommen, ware, wurde_mich_freuen, hatte_fast, beinahe, alles_gute_zum, gluckwunsch, geplant*, wartung*, geil, rezept, prufung, hausaufgabe*, nachstes_jahr
      """,
    trifle: """
      kaffee, schokolade, pizza, bier, wein, urlaub, friseur, nickerchen, schlaf, eis, kuchen, snack*, kino, outfit, kleid, schuhe, netflix, party, einkaufen, shoppen, massage, wellness, fitnessstudio, mittag*, abendessen, feierabend, wochenende, umarmung, keks*, milch, brot, geschenk, termin_beim_friseur
      """,
    later: """
      morgen, ubermorgen, spater, nachher, irgendwann, nachste_woche, am_montag, am_dienstag, am_mittwoch, am_donnerstag, am_freitag, am_samstag, am_sonntag, am_wochenende, heute_abend, nach_der_arbeit, nach_feierabend, wenn_du_da, wenn_du_zu, wenn_du, wenn_ihr, sobald_du, falls_du, bei_zeiten, gelegentlich, demnachst, mal_wieder, bis_freitag, bis_montag, einfach_an
      """,
    suppose: "falls, wenn, sollte, ob, fast, beinahe, hoffentlich, gegen, vor_lauter",
    not: "nicht, kein, keine, keinen, keiner, nichts, nie, niemals, ohne, weder",
    notBefore: "nicht, nicht_mehr, keineswegs"
  )
}
