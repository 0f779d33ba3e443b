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
      in_#_min/in_#_minute*/in_#_minuten/in_funf/in_zehn/in_zwanzig/in_funfzehn/in_dreißig/in_vierzig/in_einer_halben/in_wenigen_minuten/in_einer_viertelstunde/gleich/ohne_dich/jetzt/in_ner_halben/in_drei_minuten/in_zwei_minuten/
      in_zwei_minuten/in_drei_minuten/in_vier_minuten/in_fuenf_minuten/in_fünf_minuten/in_sechs_minuten/in_sieben_minuten/in_acht_minuten/in_neun_minuten/in_zehn_minuten/in_zwoelf_minuten/in_zwölf_minuten/in_einer_minute/in_fuenfzehn_minuten/in_fünfzehn_minuten/in_zwanzig_minuten/in_dreissig_minuten
      """,
      "flow": """
      lauf*/laeuft/läuft/tropf*/fliess*/fließ*/kommt/stroem*/ström*/spritz*/steig*/schiess*/schieß*/sickert/flut*/rinn*
      """,
      "wspot": """
      tuer/tür/decke/boden/wand/waende/wände/unter/treppe/keller/kueche/küche/bad/flur/ueberall/überall/rohr/hahn/klo/teppich/lampe/wohnung/haus/auto
      """,
      "water": """
      wasser/abwasser
      """,
      "hit": """
      tritt/treten/trat/schlaegt/schlägt/schlagen/haemmert/hämmert/pruegel*/prügel*/ruettelt/rüttelt/bricht/wirft/greift/wuergt/würgt/sticht/zerrt/stoesst/stößt
      """,
      "door": """
      tuer/tür/fenster/tor/schloss/mich/uns/mama/papa/schwester/bruder/scheibe
      """,
      "who2": """
      ex/draussen/draußen/mann/maenner/männer/jemand/fremder/nachbar/typ/typen/er/freund/besoffen*/betrunken*
      """,
      "gone": """
      weggelaufen/abgehauen/ausgebuext/ausgebüxt/verschwunden/entwischt/ist_weg/nicht_mehr_da/vermisst/fehlt
      """,
      "care": """
      kita/kindergarten/schule/hort/spielplatz/krankenhaus/heim/altenheim/pflegeheim/park/zoo/kaufhaus/strand/garten/station
      """,
      "sys2": """
      datenbank/produktion/prod/server/checkout/zahlung*/bezahl*/api/login/seite/webseite/shop/backend/cluster/kasse/kassen/bestell*/system/systeme
      """,
      "broke2": """
      kaputt/korrupt/beschaedigt/beschädigt/weg/geloescht/gelöscht/tot/abgestuerzt/abgestürzt/haengt/hängt/steht/stehen/down/offline/leer/fehler/nicht_erreichbar/geht_nicht/gehen_nicht/ausgefallen/blockiert
      """,
      "crisis": """
      alles/keiner/niemand/alle/kunden/nutzer/sofort/call/jetzt/hilf*/dringend/prod
      """,
      "detector": """
      melder/co_melder/rauchmelder/alarm/sensor/kohlenmonoxid*/brandmelder
      """,
      "beep": """
      piept/piepst/schrillt/klingelt/geht_los/losgegangen/schlaegt_an/schlägt_an/hoert_nicht_auf/hört_nicht_auf/heult
      """,
      "symptom": """
      schwindlig/schwindelig/uebel/übel/kopfschmerzen/muede/müde/rauch/gas/feuer/geruch/riecht
      """,
      "board": """
      boarding/boarden/steigen_ein/gate/einstieg/tueren_schliessen/türen_schließen/bahnsteig/gleis/check_in
      """,
      "mins": """
      zwei_minuten/drei_minuten/fuenf_minuten/fünf_minuten/eine_minute/zehn_minuten/#_minuten/#_min/gleich/jetzt/letzter
      """,
      "you": """
      du_hast/wo_bist/wo_bleibst/beeil*/lauf/warten_auf_dich/hast_du_noch
      """,
      "burn": """
      brenn*/qualm*/rauch*/flammen/kokelt/schmort/funken/lodert
      """,
      "thing": """
      trockner/waeschetrockner/wäschetrockner/waschmaschine/spuelmaschine/spülmaschine/toaster/ofen/herd/pfanne/mikrowelle/kuehlschrank/kühlschrank/fernseher/ladegeraet/ladegerät/akku/laptop/steckdose/kabel/vorhang/sofa/bett/matratze/muelleimer/mülleimer/auto/motor/lkw/bus/garage/schuppen/dachboden/dach/kueche/küche/scheune/lager/kamin/teppich/kerze/zelt/balkon/haus/wohnung/gebaeude/gebäude/buero/büro/schule/hotel/wald/feld/keller
      """,
      "med": """
      rettungswagen/krankenwagen/notarzt/sanitaeter/sanitäter/intensivstation/notaufnahme/reanim*/wiederbeleb*/defi
      """,
      "crash": """
      massenkarambolage/karambolage/zusammenstoss/zusammenstoß/unfall/auffahrunfall/ueberschlagen/überschlagen/gegen_den_baum/von_der_strasse/von_der_straße
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
      nicht_abgeholt, abgeholt & niemand/keiner, sos, lawinen*ungluck, ruf mich sofort/schnell/bitte/dringend, geh_ran, geht_ran, geh_ans_telefon, bitte_geh_ans, nimm_ab, heb_ab, gestorben & $kid & komm*/ruf*/gerade/eben, tot_aufgefunden, liegt_im_sterben, reanimier*, wiederbeleb*, hilfe_holen, hol* hilfe, zeckenbiss_no, schlange gebissen, gebissen & hund/schlange & blut*/arzt/bein/hand, ins_eis eingebrochen, strom weg/ausgefallen & beatmung*/sauerstoff/baby, insulin & kein*/brauch*/leer/vergessen, sauerstoff & leer/brauch*/kein, verbruht, verbrannt & hand/gesicht/kind/arm/baby, stark/tief geschnitten, abgeschnitten & finger/hand, finger abgeschnitten/eingeklemmt/ab, eingeklemmt & $who/finger/hand, 
      finde*/finden & nicht_mehr/nirgends/nicht & karussell/spielplatz/schaukel/rutsche/sandkasten/zoo/gedraenge/gedränge/menschenmenge/jahrmarkt/kirmes/schulhof, eingestiegen & jemand/uns/haus/wohnung, einsteigen & jemand/fenster/haus, jemand & tuer/tür/fenster & bricht/aufbrechen/tritt/eingetreten/aufhebeln/hebelt, eingetreten & tuer/tür, schritte_unten, brauch*_dich hier/jetzt/sofort !morgen/spaeter/später, brauchen_dich hier/jetzt/sofort, ausgesperrt & herd/baby/kind/ofen/topf/drin, baby & drin & schluessel/schlüssel/ausgesperrt/tuer/tür, bringt_mich_um & hilf/hilfe/polizei/sagt, tut_mir_was_an, tut_mir_etwas_an, will_mich umbringen/schlagen/toeten/töten, umbringen & droht/sagt_er/will_mich, angefahren & hund/katze/kind/ich/wurde, ueberfahren/überfahren & hund/katze/wurde/ich, wird/werden evakuiert & schule/gebaeude/gebäude/kita/buero/büro/wir/alle, sauerstoff*/beatmung*/dialyse* aus/ausgefallen/geht_nicht/stromausfall, stromausfall & sauerstoff*/beatmung*/dialyse*, auf_der_bruecke & springen/springt, auf_der_brücke & springen/springt, will_springen, springt_gleich, bestellungen/zahlungen/buchungen/logins schlagen_fehl/fehlschlagen/gehen_nicht, schlagen & fehl & bestellungen/zahlungen/alle, produktionsdatenbank weg/geloescht/gelöscht/leer/verschwunden, datenbank weg/geloescht/gelöscht/leer/verschwunden !alte/test*, saege/säge/messer/axt/kettensaege/kettensäge & hand/finger/bein/arm & geschnitten/gesaegt/gesägt/tief/blut*, geklaut/gestohlen/entrissen & tasche/handy/geldbeutel/portemonnaie & allein/ran/hilf/bitte/bahnhof, 
      faehrt/fährt/legt_ab $soon & nicht_da/wo_bist/wo_bleibst/fehlt, herzinfarkt & habe/hab/glaube/hat, 
      hals/kehle/rachen/gesicht/zunge/lippen schwillt/schwellen/geschwollen/zu, gestochen & hals/kehle/schwillt/luft/atmen, schwillt_zu, zu_viele tabletten/pillen/schlaftabletten, alle tabletten/pillen & genommen/geschluckt, bremsen & nicht/versagt/versagen/ausgefallen/kaputt, schleicht & haus/garten/jemand/einer, jemand/einer/mann & garten/am_fenster/vor_der_tuer/vor_der_tür/ums_haus/auf_der_terrasse & angst/taschenlampe/polizei/messer/versteck*, versteck_mich, verstecke_mich, verstecken_uns, keine zahlungen/bestellungen/logins & durch/mehr/rein, zahlungen/bestellungen & mehr & keine, sofort_zurueckrollen, sofort_zurückrollen, rollback & sofort/jetzt/bitte, kopf blutet, blutet & kopf, ausgerutscht & blut*/kopf/bewusst*, verwirrt & kopf/gestuerzt/gestürzt/blut*, lallt & ploetzlich/plötzlich/arm/gesicht, mundwinkel haengt/hängt, umgestuerzt/umgestürzt & darunter/unter/auf, baum & drunter/darunter/zelt/auto & liegt/gefallen/gestuerzt/gestürzt, liegt_darunter, liegt_drunter, aus_dem_bett_gefallen & hoch/auf/mehr, kommt_nicht_mehr_hoch, kommt_nicht_hoch, qualm/rauch/funken & steckdose/kabel/waschmaschine/trockner/sicherung*, waschmaschine laeuft_aus/läuft_aus, klo/toilette laeuft_ueber/läuft_über, uebergelaufen/übergelaufen & bad/wohnung/wanne, verpruegelt/verprügelt, schlaegt_sie/schlägt_sie & hilf/polizei/er, klaut/klauen & gerade/dein/euer/unser & rad/fahrrad/auto, alle_warten_auf_dich, warten_alle_auf_dich, verschluckt & batterie/knopfbatterie/muenze/münze/magnet*/teil/murmel, sprit/benzin alle/leer & stecken/fest/autobahn/schnee, 
      heizungsrohr*/wasserrohr*/leitung*/rohr*/schlauch/boiler/heizung geplatzt/gebrochen/undicht, geplatzt & nass/wasser/rohr*/keller/alles, ohne schluessel/schlüssel & tuer/tür/draussen/draußen/steh*/kalt, schluessel/schlüssel vergessen/verloren/drin/steckt & tuer/tür/draussen/draußen/kalt/rein, komm*_nicht_rein, tuer/tür zugefallen/zugeschlagen/ins_schloss, nicht/noch_nicht abgeholt & schule/kita/kindergarten/sohn/tochter/kind, niemand abgeholt, auffahrunfall, ueberschlagen/überschlagen & auto/wagen/wir, gegen & baum/wand/leitplanke & gefahren/gekracht/geknallt, im_graben & auto/wir/liegen, flammen & kueche/küche/dach/haus/schlagen/aus, gas & ausgetreten/austritt/tritt/stroemt/strömt/zischt/kopfschmerzen, gasgeruch, gasleck, wasserschaden & gerade/jetzt/decke/komm, einbrecher*, diebe & haus/wohnung/gerade/da, scheibe/fenster/tuer/tür eingeschlagen/eingetreten/aufgebrochen, weggelaufen & kind/kleine/kleiner/hund/sohn/tochter/mia, polizei & tuer/tür/da/klingelt/sucht/festgenommen, festgenommen & polizei/mich/wurde/sohn, stromausfall & aufzug/baby/sauerstoff/heizung/krankenhaus/allein/dunkel, strom_ist_weg & aufzug/baby/heizung/allein/dunkel/server*, kein_strom & sauerstoff/baby/heizung/aufzug, alles_dunkel & strom/aufzug/allein, 
      vorhang/sofa/bett/pfanne/oel/öl/fett/muelleimer/mülleimer/kerze/adventskranz/weihnachtsbaum/trockner/toaster/ofen/backofen brennt/brennen/feuer/flammen/kokelt/qualmt/raucht, kokelt, riecht/stinkt nach gas/rauch/verbrannt/brand/verschmort, blaue lippen, lippen & blau, bleiche/reiniger/spuelmittel/spülmittel/rohrreiniger/gift/benzin & getrunken/verschluckt/geschluckt, fremder/unbekannter/fremde & tuer/tür/treppenhaus/fenster/garten/haus, ruettelt/rüttelt/haemmert/hämmert & tuer/tür/fenster, abgedraengt/abgedrängt, liegen_auf_der_seite, auf_dem_dach & auto/wir/wagen & liegen/liegt/ueberschlagen/überschlagen, kita/kindergarten/schule ruft/angerufen/rief & weg/verschwunden/verletzt/komm/fehlt, ist_weg & kita/kindergarten/schule/lina/kind, zusammengesackt, zusammengeklappt, umgekippt & reagiert/bewusst*/papa/mama/oma/opa, impfstoff*/insulin/medikamente & kuehlung/kühlung/kuehlschrank/kühlschrank/strom, stock/balkon/fenster & gefallen/gestuerzt/gestürzt & katze/kind/hund/er/sie, schlaegt_mich/schlägt_mich/schlaegt_mich_tot & kommt/schreibt/droht/gleich/jetzt, kommt/schreibt & schlägt_mich/schlaegt_mich/bringt_mich_um/umbringen, zahlungssystem/kasse/kassen haengt/hängt/steht/stehen/ausgefallen/down/geht_nicht, aquarium geplatzt/gesprungen/kaputt & wasser/scherben/glas, scherben & blut/ueberall/überall, 
      find*/finden nicht_mehr/nirgends & karussell/spielplatz/schaukel/rutsche/zoo/kirmes/gedränge/schulhof, eben_noch_am, eben_noch_auf & find*/weg, 
      haben/hab/wir & verloren & markt/kaufhaus/strand/park/bahnhof/flughafen/zoo/messe/gedränge !spiel/gegen/geld/schluessel/schlüssel, messer/pistole/waffe/axt & tür/tuer/draussen/draußen/steht/verfolgt, jemand im_haus/in_der_wohnung/im_keller/im_garten !hat/ass/isst, glaub*_da_ist_jemand, da_ist_jemand im_haus/in_der_wohnung/unten, schritte/geraeusche/geräusche & unten/keller/dachboden/haus & hoer*/hör*, 
      api/backend/seite/server/dienst liefert/gibt/wirft/antwortet & 500/502/503/504/fehler, 500/502/503/504 & alle/jeden/kunden/nutzer/nur, motorradunfall, autounfall, fahrradunfall, verkehrsunfall, rollerunfall, arbeitsunfall, wohnungsbrand, zimmerbrand, dachstuhlbrand, fenster/scheibe/tuer/tür eingeschlagen/eingetreten/kaputt & offen/rein/trau/angst/gestohlen, eingesperrt & bad/klo/keller/zimmer/auto/aufzug & hoert/hört/keiner/hilf/niemand, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      brust eng/druck/schmerz*/enge/drueckt/drückt, eng_in_der_brust, druck_auf_der_brust, arm/gesicht/bein/seite taub/kribbelt/gelaehmt/gelähmt & brust/gesicht/ploetzlich/plötzlich/sprechen/arm, auto/fahrrad/boot & fluss/see/kanal/graben/wasser & liegt/gefallen/gerutscht/versunken, schlauch/rohr/hahn ab/geplatzt/gebrochen/gerissen & wasser/boden/haupthahn, boden/teppich & unter_wasser, haupthahn, tuer/tür/haustür/haustuer & aufbrechen/aufzubrechen/eintreten/einzutreten, betrunken* & tür/tuer/haustuer/haustür/verfolgt/schlaegt/schlägt, meldet_sich_nicht & fluss/unfall/auto/sorge*/polizei, kaputt & alle & login/nutzer/kunden, 
      strom weg/ausgefallen/aus & ganzen/ganze/komplett/kompletten/haus/gefriertruhe/truhe/kuehlschrank/kühlschrank/gefrierschrank, kein_strom & ganzen/ganze/haus/gefrier*/truhe, stromausfall & ganzen/ganze/haus/strasse/straße, nirgends & finde*/finden & $kid/ihn/sie, nirgends_zu_finden, verfolgt_mich, verfolgt_uns, laeuft_mir_nach, läuft_mir_nach
      """,
    urgent: """
      dringend, dringende, dringender, sehr_dringend, superdringend, eilig, eilt, notfall, ein_notfall, notfalle, akut, lebenswichtig, uberlebenswichtig, brandeilig, hochste_eisenbahn, duldet_keinen_aufschub, kann_nicht_warten, nicht_bis_morgen, unverzuglich, schnellstmoglich melden/ruf*/komm*/zuruck*, so_schnell_wie_moglich & ruf*/komm*/meld*/zuruck/brauch*, leben_und_tod, alarmstufe_rot
      """,
    danger: """
      $vehicle $soon,
      geht_um & mama/papa/oma/opa/leben,
      geht_es sehr_schlecht/gar_nicht/ganz_schlecht, geht_mir sehr_schlecht/gar_nicht/ganz_schlecht,
      feuer, brand, brennt, rauch, unfall, crash, verletzt*, blut, blutet, blute, krankenhaus, notaufnahme, polizei, feuerwehr, gefallen & $kid, gesturzt, ohnmacht, schwindlig, schwindelig, schmerzen & starke/schlimme/heftige/unertragliche, verloren & $kid, weg & $kid, angst, gefahr, in_gefahr, gefahrlich, allein, panik, schlimm* & passiert, etwas_passiert, was_passiert, ist_was_passiert, passiert & schreckliches/schlimmes, einbruch, gestohlen, geklaut, uberfall, messer, waffe, gift, vermisst, festgehalten, in_not, down & $system, ausfall, ausgefallen, ausgesperrt, gehackt, panne, erfrier*, minusgrade, eiskalt, explosion, evakuierung, bombe, erdbeben, kotzt & blut/nur, erbricht, fieber, wasser & keller/decke/wohnung, undicht, tot & $kid, stirbt, geht_nicht_gut & gar, uberhaupt_nicht_gut, wartet_auf_dich, warten_auf_dich, warten_alle, fahrt $soon, beginnt $soon, fangt $soon, schließt $soon, frist & $soon/heute/stunde*, verbluten, 
      gestochen, gebissen, geschwollen, schwillt, ausgerutscht, tabletten, bremsen, funken, laeuft_aus, läuft_aus, 
      verpassen flug/zug/bus/flieger/faehre/fähre, verpasse flug/zug/bus/flieger, den_flug_verpassen, flug verpassen, stromausfall, strom_ist_weg, kein_strom, drohung, droht, bedroht, humpelt, schliessen_gleich, schließen_gleich, taxi_wartet, tierarzt, 
      bleiche, fehler_500, nacken & weh/schmerz*, ueberall_wasser, überall_wasser, boarding & endet/schliesst/schließt, ohne_strom
      """,
    help: """
      hilf_mir schnell/bitte/sofort, helft schnell,
      ^hilfe$, ^hilfe_hilfe$, hilf_mir$, helft_mir$, hilf_uns, helft_uns, ^bitte_hilf, bitte_helft, brauche_hilfe, brauchen_hilfe, brauch_hilfe, hilf_mir_bitte, zu_hilfe, um_hilfe, helft_mir_suchen, hilf_mir_suchen, hilfe_schnell, ^hilfe, 
      hilf_mir_bitte, hilf_mir_schnell, helft_mir_bitte
      """,
    ask: """
      du_bist_nicht_da, du_bist_noch_nicht, bist_noch_nicht_da,
      rangehen, drangehen, geh_dran, schau_nach & bitte/sofort, sieh_nach,
      ruf_mich, ruf_an, ruft_mich, ruf_zuruck, ruf_bitte, ruf_sofort, rufe_mich, anrufen & bitte/kannst/sofort, ruckruf, melde_dich, meld_dich, meldet_euch, melde_dich_bitte, geh_ran, komm, kommt & bitte/schnell/sofort/her/alle, komm_her, komm_heim, komm_nach, komm_bitte, kommen & kannst/kann/bitte & schnell/sofort/jetzt/jemand, kannst_du_kommen, wo_bist_du, wo_bleibst_du, wo_seid_ihr, wo_bleibt_ihr, wo_steckst_du, brauche_dich, brauchen_dich, brauche_jemanden, brauchen_jemanden, wir_brauchen, ich_brauche, brauche_sofort, kann_jemand, kann_wer, mach_auf, mach_die_tur, lass_mich_rein, was_soll_ich_tun, was_sollen_wir, was_mach_ich, was_tun, was_soll_ich_machen, raus, hol_mich, holt_mich, abholen & kannst/kann/sofort, schick*, beeil_dich, beeilt_euch, antworte, antwortet, wach_auf, nach_hause & komm*, sucht_mit, sucht_ihn, sucht_sie, such, 
      hab_angst, habe_angst, ich_hab_angst, hab_solche_angst, was_soll_ich_machen, was_mach_ich, was_mache_ich, was_machen_wir, was_soll_ich_tun, lauf$, lauft, renn$, zurueckrollen, zurückrollen, rollback, 
      komm_nach_hause, komm_heim, komm_zurueck, komm_zurück, komm_rueber, komm_rüber, beeil_dich, beeilt_euch, geh_ran, geht_ran, bleib_am_telefon, bleib_dran, leg_nicht_auf, mach_auf, lass_mich_rein, kann_jemand, kann_einer, schick*_jemanden, wer_hat, wo_ist_der, wo_ist_die, ist_jemand_da, brauche_dich, brauch_dich, brauchen_dich, brauche_hilfe, brauchen_hilfe, raus_hier, raus_da, 
      hilf_mir, helft_mir, helft_uns, wer_kann_helfen, wer_hilft, was_jetzt, was_nun, wer_hat_bereitschaft, wo_steckst_du, wo_steckt_ihr, kannst_du_kommen, wie_dreh*, 
      ich_flehe, flehe_dich, ich_bitte_dich, komm_runter, komm_raus
      """,
    haste: """
      sofort, schnell, ganz_schnell, so_schnell, schnellstens, schnellstmoglich, umgehend, augenblicklich, jetzt$, jetzt_bitte, bitte_jetzt, jetzt_gleich, gleich_jetzt, jetzt_sofort, asap, dringend, eilt, beeil*, keine_zeit, jede_minute, jede_sekunde, hopp, los, 
      schnell, sofort, gleich, jetzt_sofort, umgehend, auf_der_stelle, so_schnell_wie, so_schnell_es, sobald_du_kannst_nicht, ganz_schnell
      """,
    idiom: """
      im_notfall, fur_den_notfall, fur_notfalle,
      herz_blutet, mein_herz,
      bin_sofort_dabei, sofort_dabei, sofort_verliebt, komme_sofort, bin_sofort, bin_sofort_zuruck, gleich_zuruck, sofort_los, notausgang, notausgange, notfallkontakt*, notfallnummer*, notfallplan, notfallkoffer, notfalls, notfallubung, erste_hilfe, erste-hilfe, hilfe_kurs, hilfe_kasten, hilfe_von, hilfe_bei, deine_hilfe, eure_hilfe, mit_hilfe, nachhilfe, haushaltshilfe, feueralarm_ubung, brandschutz*, feuerwehrfest, feuerwehrauto, freiwillige_feuerwehr, feuerwehr_hat_tag, bei_der_feuerwehr, bei_der_polizei, lagerfeuer, feuerwerk, feuerzeug, feuerloscher, feuer_und_flamme, brennt_darauf, brennt_mir_unter, sonnenbrand, brandneu, rauchmelder, rauchverbot, wasserkocher, wasserfall, schnell_mal, mal_schnell, schnell_noch, kurz_und_schnell, auf_die_schnelle, lach*_mich_tot, totgelacht, tot_gelacht, totlach*, ich_sterbe, sterbe_vor, zum_totlachen, verliebt, kein_unfall, unfallfrei, unfallversicherung, jetzt_um, um_drei, komm_gut, komm_schon, bitte_bitte_album, alarm_stufe, wecker, notlosung, note, notiz*, notwendig, dringend_mal, dringend_mal_wieder, mal_wieder_dringend, fast_fertig, blutdruck, blutspende*, bluttest, blutwurst, angsthase, keine_angst, tolle_hilfe, auf_los, was_ist_los, gehts_los, geht_es_los, geht_los, arbeitslos, wann_gehts_los, fahren_los, losgehen, ich_brauche_noch, wir_brauchen_noch, kann_jemand_noch, 
      notfallliste*, notfallkontakt*, notfallplan*, notfallnummer*, notrufnummer*, notfallkoffer, notfallset, akku stirbt, handy_stirbt, akku_stirbt, verhunger*, sterbe_vor, sterb_vor, totgelacht, lach_mich_tot, bombe$, die_bombe_schlechthin, badebombe*, 
      feueruebung*, feuerübung*, brandschutzuebung*, brandschutzübung*, evakuierungsuebung*, evakuierungsübung*, probealarm*, raeumungsuebung, räumungsübung, 
      fuer_mich_gestorben, für_mich_gestorben, umgebracht & pruefung/prüfung/training/arbeit/klausur, 
      feuerloescherpruefung, feuerlöscherprüfung, chef & schlaegt/schlägt/bringt_mich_um/killt, langweilig & sterbe, 
      boarding_ging, boarding_war, das_einsteigen_ging, gleich_in_der_luft, wir_heben_gleich, wir_starten_gleich
      """,
    calm: """
      nicht_dringend, nicht_so_dringend, uberhaupt_nicht_dringend, nichts_dringendes, nicht_eilig, nicht_so_eilig, eilt_nicht, hat_keine_eile, keine_eile, keine_hektik, kein_stress, ohne_stress, kein_notfall, kein_ding, in_ruhe, lass_dir_zeit, lasst_euch_zeit, hat_zeit, hat_noch_zeit, wenn_du_zeit, wenn_du_mal_zeit, wenn_ihr_zeit, wenn_es_passt, wann_immer, irgendwann_mal, bei_gelegenheit, kann_warten, kann_bis, nicht_wichtig, nichts_wichtiges, nichts_schlimmes, nicht_schlimm, halb_so_wild, nichts_passiert, keine_sorge, keine_panik, mach_dir_keine, keine_angst, alles_gut, alles_ok, alles_okay, alles_in_ordnung, alles_klar, alles_bestens, schon_erledigt, hat_sich_erledigt, erledigt, wieder_da, wieder_gut, wieder_online, lauft_wieder, geht_wieder, funktioniert_wieder, wieder_erreichbar, ist_gelost, behoben, gefunden & wieder/haben/hab, fehlalarm, falscher_alarm, blinder_alarm, nur_spaß, nur_spass, war_nur, war_nur_ein, scherz, witz, spaß, hihi, gluck_gehabt, nichts_ernstes, geht_mir_gut, geht_ihm_gut, geht_ihr_gut, geht_uns_gut, geht_es_gut, geht_wieder_gut, mir_gehts_gut, uns_gehts_gut, 
      geht_ihr_wieder_gut, geht_ihm_wieder_gut, geht_wieder_gut, wieder_gut, wieder_zu_hause, wieder_daheim, aus_dem_krankenhaus_heim, durfte_aus, durfte_nach_hause, entlassen, laeuft_wieder, läuft_wieder, geht_wieder, entwarnung, 
      das_sagt_er_immer, das_sagt_sie_immer, sagt_er_immer, sagt_sie_immer, ist_immer_dringend, immer_dringend, ist_bei_ihm_immer, ist_bei_ihr_immer, alles_dringend, 
      strom_ist_wieder, wieder_strom, wieder_da, 
      sieht_alles_super, alles_super, ist_gefunden, wurde_gefunden, kein_notfall, gehts_gut
      """,
    unreal: """
      kinderbuch, bilderbuch, sagte, meinte, behauptet*, angeblich, stellte_sich_heraus, im_jahr_##, in_##,
      verschoben, abgesagt, verlegt_auf, findet_statt, hast_du_gehort, vertagt,
      gestern, vorgestern, letzte_woche, letzten_monat, letztes_jahr, letzten_sommer, letztes_mal, neulich, vor_jahren, vor_#_jahren, vor_#_wochen, vor_#_monaten, vor_#_tagen, damals, fruher, als_kind, einmal & war, film, filme, doku, serie, folge, buch, roman, krimi, tatort, song, lied, album, band, konzert, spiel, videospiel, podcast, nachrichten, zeitung, artikel, schlagzeile, geschichte, getraumt, traum, albtraum, meme, zitat, ubung, probealarm, training, schulung, kurs, seminar, vortrag, versicherung, theater, museum, ausstellung, tag_der_offenen, arbeitet_bei, arbeitet_als, arbeitet_in, arbeitet_im, arbeite_bei, meinte & dringend, sagte & dringend, was_heißt, was_bedeutet, bedeutet, was_ist_ein, danke_fur, dank_deiner, vielen_dank, stell_dir_vor, angenommen, ware, wurde_mich_freuen, hatte_fast, beinahe, alles_gute_zum, gluckwunsch, geplant*, wartung*, geil, rezept, prufung, hausaufgabe*, nachstes_jahr, 
      weisst_du_noch, weißt_du_noch, erinnerst_du_dich, wisst_ihr_noch, erinnert_ihr_euch, 
      samstags, sonntags, am_wochenende_frei, umsonst, gelesen, hab_grad_was_ueber, 
      spoiler*, zwei_jahren, drei_jahren, in_der_serie, taeter, täter, moerder, mörder, 
      als_kind, aus_versehen_mal, mal_aus_versehen, sucht_nachwuchs, sucht_leute, stellt_ein, frueher_mal, früher_mal
      """,
    trifle: """
      kaffee, schokolade, pizza, bier, wein, urlaub, friseur, nickerchen, schlaf, eis, kuchen, snack*, kino, outfit, kleid, schuhe, netflix, party, einkaufen, shoppen, massage, wellness, fitnessstudio, mittag*, abendessen, feierabend, wochenende, umarmung, keks*, milch, brot, geschenk, termin_beim_friseur
      """,
    later: """
      morgen, ubermorgen, spater, nachher, irgendwann, nachste_woche, am_montag, am_dienstag, am_mittwoch, am_donnerstag, am_freitag, am_samstag, am_sonntag, am_wochenende, heute_abend, nach_der_arbeit, nach_feierabend, wenn_du_da, wenn_du_zu, wenn_du, wenn_ihr, sobald_du, falls_du, bei_zeiten, gelegentlich, demnachst, mal_wieder, bis_freitag, bis_montag, einfach_an
      """,
    suppose: "falls, wenn, sollte, ob, fast, beinahe, hoffentlich, gegen, vor_lauter, wenn_ich_wieder, wenn_ich_noch",
    not: "nicht, kein, keine, keinen, keiner, nichts, nie, niemals, ohne, weder",
    notBefore: "nicht, nicht_mehr, keineswegs"
  )
}
