extension UrgencyLexicon {
  static let dutch = UrgencyLexicon(
    marks: """
      de/het/een/en/van/ik/je/niet/dat/die/is/zijn/wij/we/hij/zij/ze/naar/op/met/voor/er/maar/om/ook/nog/wel/aan/bij/als/mijn/jouw/jullie/ben/heb/heeft/hebben/wat/waar/dit/nu/kun/kunnen/kan/geen/te/over/uit/in/hoor/meer/moet/gaat/loopt/echt
      """,
    classes: [
      "kid": """
      kind/kinderen/baby/zoon/zoontje/dochter/dochtertje/mama/mam/papa/pap/moeder/vader/oma/opa/man/vrouw/broer/zus/zusje/broertje/hond/kat/poes/vriend/vriendin/buurman/buurvrouw/iemand/jongen/meisje/collega/tante/oom/hij/ze/zij/ik/me/mij/hem/haar/is/heeft
      """,
      "place": """
      huis/keuken/kelder/garage/dak/gebouw/kantoor/kamer/badkamer/slaapkamer/appartement/flat/winkel/schuur/auto/bus/oven/fornuis/balkon/tuin/motor/muur/plafond/trappenhuis/gang/zolder/magazijn/loods/school/fabriek/bos/woonkamer/woning/buren/serverruimte
      """,
      "system": """
      server*/site/website/webshop/winkel/database/systeem/systemen/netwerk/productie/prod/api/app/platform/betaling*/kassa*/dienst/diensten/cluster/backend/internet/mail/ideal/alles/stroom
      """,
      "vehicle": "vlucht/vliegtuig/trein/bus/boot/veerboot/ferry/taxi/metro/tram/gate/boarding/schip",
      "soon": """
      over_#_min/over_#_minu*/over_vijf/over_tien/over_twintig/over_vijftien/over_dertig/over_veertig/over_een_half/over_een_kwartier/over_een_paar/zo_meteen/binnen_#/nu/zonder_jou/over_een_minuut/over_twee/over_drie/over_half_uur
      """,
    ],
    alarm: """
      reageert_niet_meer, er_is_een_ongeluk, ongeluk_gebeurd, water & plafond,
      is/zijn/ben gewond, paniekaanval, rattengif, remmen & doen/weigeren, van_de_weg geraakt, van_het_balkon gevallen, roept_om_hulp, boot zinkt,
      geen_pols, geen_hartslag, zonder_sleutel & buiten/vriest/koud, gaat_ontploffen, productie ligt_stil,
      politie/brandweer/ambulance onderweg/komt_eraan/is_er, raam/deur ingeslagen/geforceerd,
      zinkt & boot, verslikt, gebroken_in, aangevallen, dubbel & afgeschreven,
      $place brandt, in_brand, staat_in_brand, staat_in_de_fik, in_lichterlaaie, er_is_brand, brand & $place/in/uitgebroken & er/is/in, vlamm* & $place/slaan, rook & komt/uit/in/er/overal, ruik gas/brand/rook, ruikt gas/brand*, gaslucht, gaslek, ontploft, ontploffing, explosie & $place/in/er,
      onder_water, loopt_vol, lopen_vol, water & stroomt/komt/spuit/gutst/loopt/lekt/druipt/overal, overstroomd, overstroming & $place, overstroomt, leiding gesprongen/geknapt/kapot, waterleiding gesprongen/kapot/lek, plafond naar_beneden/stort/ingestort, ingestort, stort_in,
      ademt_niet, ademt_niet_meer, niet_ademen, geen_lucht, stikt, stikken & $kid/ik, verslikt & $kid & lucht/blauw, bewusteloos, flauwgevallen, flauw_gevallen, buiten_bewustzijn, reageert_niet, beweegt_niet, wordt_niet_wakker, in_elkaar_gezakt, ineengezakt, in_elkaar gezakt, hartaanval, hartstilstand, hartinfarct, beroerte, toeval & $kid, epileptisch*, stuipen, verdrinkt, verdrinken, aan_het_verdrinken, bloedt & hevig/erg/veel/hoofd/stopt/heel, bloed_heel, bloed hevig/erg, veel_bloed, overal_bloed, onder_het_bloed, pijn_op_de_borst, pijn_op_zijn_borst, allergische_reactie, overdosis, vergiftigd, te_veel_pillen, pillen geslikt, ingeslikt & batterij/munt/knoop/pil*/magneet, gedronken & bleek/chloor/schoonmaak*/gif/afwasmiddel, vliezen gebroken, weeen, aan_het_bevallen,
      gebroken been/arm/heup/enkel/pols/voet/neus, been/arm/heup/enkel/pols/voet gebroken, gevallen & $kid & opstaan/trap/ladder/dak/bloed*/hoofd/bewe*/fiets & niet/van/bloed*/hoofd, kan_niet_opstaan, kan_niet_meer_opstaan, kan_niet_bewegen, kan_me_niet_bewegen, aangereden, overreden & $kid, geelektrocuteerd, neergestoken, gestoken & mes/$kid, neergeschoten, schoten & gehoord/er, schietpartij, met_een_mes, heeft_een_mes, heeft_een_wapen, gewapend*, bom & er/gevonden, bommelding, zelfmoord & $kid, wil_niet_meer_leven, niet_meer_leven, wil_dood, er_een_eind_aan,
      ambulance, ziekenauto, bel politie/brandweer/112/ambulance/dokter/huisarts, dokter nodig, arts nodig, naar_het_ziekenhuis & $kid/kom/onderweg/rijden/gebracht, in_het_ziekenhuis & $kid & kom/bel/neem/snel, ligt_in_het_ziekenhuis & neem/bel/kom, spoedeisende, op_de_ic, intensive_care, eerste_hulp & $kid & kom/rijden/naar, hoge_koorts, koorts & 40/41,
      ongeluk & gehad/kom/ernstig/gebeurd/snelweg/we & gehad/kom/ernstig/net, aanrijding & gehad/net, inbrek*, inbraak & nu/bezig/bij, ingebroken & er/bij/net, breekt_in, probeert & binnen/inbreken/in_te_breken, iemand_in_huis, achtervolgd, volgt_me, volgt_mij, overvallen & $kid/word/ben/zijn, beroofd, aangevallen, bedreigd & $kid, mishandeld, slaat_me, ontvoerd,
      buitengesloten, opgesloten, vast & lift/sneeuw/tunnel/modder/auto/trein & zit/zitten/ik/we, vast_in_de_lift, panne & snelweg/tunnel, autopech & snelweg, verdwaald & bos/bergen/donker,
      kwijt & zoon*/dochter*/kind/oma/opa/hond/mijn_zoontje & zoek*/winkel/strand/park/help, vermist & $kid, verdwenen & $kid, weggelopen & $kid, kan $kid niet_vinden, nergens & $kid & vinden/zoek*, weg & nergens, iemand & in_huis/in_mijn/in_ons, niet_vinden & zoon*/dochter*/kind/oma/opa/hond, niet_thuisgekomen, 
      $vehicle vertrekt/gaat/sluit/vliegt/stijgt/rijdt $soon, vertrekt/sluit/gaat $soon & $vehicle, laatste_oproep, gate sluit,
      $system plat/down/eruit/offline/gecrasht/kapot/gehackt/onbereikbaar/uitgevallen, ligt_plat, liggen_plat, ligt_eruit, plat & $system, $system doet_het_niet & klant*/niemand/iedereen, klanten kunnen_niet, niets_werkt & meer/klanten/alles, storing & grote/productie/totale/hele, verliezen bestellingen/data/klanten, dataverlies, datalek, gehackt & we/zijn/worden/server, ransomware, cyberaanval, database verwijderd/weg/gewist,
      aardbeving & buiten/nu/snel/voel*, evacu*, ontruim*, iedereen naar_buiten/eruit, naar_buiten_nu, ga_naar_buiten & gas/brand/nu, eruit_nu, wegwezen$, levensgevaar, lawine, bosbrand, weggesleept & auto,
      neem_op, neem_je_telefoon, pak_je_telefoon, telefoon_op, niet_opgehaald & school/kind*, overleden & $kid & kom/bel/net, ligt_op_sterven, gaat_dood & $kid, gebeten & slang/hond & bloed*/hand/been, verbrand & hand/gezicht/water/baby, gesneden & diep/vinger/bloed*, insuline & geen/op/nodig, sos
      """,
    urgent: """
      dringend, heel_dringend, urgent, spoed, met_spoed, spoedgeval, noodgeval, noodsituatie, haast & is/er_is, kan_niet_wachten, levensbelang, van_levensbelang, zo_snel_mogelijk & bel/kom/nodig/bellen/neem, zsm, leven_en_dood, code_rood
      """,
    danger: """
      $vehicle $soon,
      brand, vuur, vlammen, rook, ongeluk, gewond, bloed, bloedt, ziekenhuis, politie, brandweer, gevallen & $kid, flauw, duizelig, pijn & veel/erge/vreselijke, kwijt & $kid, bang, gevaar, in_gevaar, gevaarlijk, alleen & bang, opgesloten, ernstig, gebeurd & iets/ergs/vreselijks, er_is_iets, mis & er/iets, inbraak, gestolen, mes, wapen, gif, vermist, lek, lekkage, overstroming, explosie, bom, aardbeving, plat, down & $system, storing, gehackt, panne, bevriezen, ijskoud, vriest, heel_slecht & $kid, koorts, wacht_op_je, wachten_op_je, begint $soon, sluit $soon, vertrekt $soon, dood & $kid
      """,
    help: """
      ^help, ^help_me$, ^help_ons, help_mij, ^hulp, hulp_nodig, heb_hulp_nodig, nu_hulp_nodig, hebben_hulp, help_zoeken, help_me_zoeken, om_hulp, help_alsjeblieft, help_aub
      """,
    ask: """
      bel_me, bel_mij, bel_terug, bel & nu/meteen/direct, bel_naar, neem_op, neem_je, reageer, antwoord, kom, kom_hier, kom_naar, kom_thuis, kom_terug, waar_ben_je, waar_blijf_je, waar_zijn_jullie, waar_zit_je, heb_je_nodig, hebben_je_nodig, nodig, kan_iemand, kun_je_komen, kan_je_komen, stuur_iemand, stuur, doe_open, doe_de_deur, laat_me_binnen, laat_me_erin, wat_moet_ik, wat_moeten_we, ga_weg, eruit, schiet_op, haal_me, kom_me_halen, zoek, word_wakker, log_in
      """,
    haste: """
      meteen, direct, nu$, nu_meteen, onmiddellijk, snel, zo_snel_mogelijk, zsm, asap, gelijk$, vlug, gauw$, schiet_op, dringend, spoed, haast_je, geen_tijd, nu_hulp, nu_aub, elke_minuut, nu_alsjeblieft
      """,
    idiom: """
      nooduitgang*, noodnummer*, noodplan, brandoefening*, brandalarm_oefening, brandblusser*, brandweerman, brandweer_open, bij_de_brandweer, kampvuur, vuurwerk, rookmelder*, eerste_hulp_cursus, ehbo, je_hulp, jouw_hulp, jullie_hulp, help_je, helpen, help_me_even, help_me_met, hulp_bij, ga_stuk, ik_ga_stuk, lach_me_dood, lig_dubbel, sterf_van, doodmoe, bloedtest, bloed_geven, bloedmooi, geen_pijn, tot_gauw, tot_snel, snel_beter, beterschap, nu_om, heel_snel_gegaan, kom_op, kom_eten, kom_je, direct_naar_huis_na, per_ongeluk, ongelukkig, alleen_maar
      """,
    calm: """
      niet_dringend, niet_zo_dringend, helemaal_niet_dringend, niks_dringends, niets_dringends, niet_urgent, geen_spoed, geen_haast, geen_noodgeval, heeft_geen_haast, haast_je_niet, rustig_aan, op_je_gemak, neem_je_tijd, neem_de_tijd, geen_stress, geen_paniek, wanneer_je_tijd, als_je_tijd, als_je_even_tijd, als_het_uitkomt, kan_wachten, kan_tot, niet_belangrijk, niks_belangrijks, niks_ergs, niets_ergs, niet_erg, geen_zorgen, maak_je_geen, geen_probleem, niks_aan_de_hand, niets_aan_de_hand, loos_alarm, vals_alarm, alles_goed, alles_ok, alles_oke, alles_in_orde, het_gaat_goed, gaat_goed, gaat_weer_goed, gaat_beter, is_opgelost, opgelost, gefixt, gemaakt, werkt_weer, weer_online, weer_in_de_lucht, gevonden & weer/gelukkig, terecht, grapje, geintje, haha*, het_was_maar, was_maar, gelukkig_niet
      """,
    unreal: """
      zei, zeiden, in_##, bleek, viel_mee,
      verschoven, verzet, uitgesteld, afgelast, geannuleerd, heb_je_gehoord, heb_je_gezien,
      gisteren, eergisteren, vorige_week, vorige_maand, vorig_jaar, vorige_zomer, laatst, # jaar_geleden/dagen_geleden/weken_geleden/maanden_geleden, jaren_geleden, lang_geleden, vroeger, toen_ik, film, films, serie, documentaire, boek, roman, aflevering, liedje, nummer_van, album, concert, spel, game, wedstrijd, podcast, nieuws, krant, artikel, museum, tentoonstelling, theater, droom, gedroomd, nachtmerrie, meme, mop, oefening, training, cursus, verzekering, open_dag, werkt_bij, werkt_op, werkt_als, betekent, wat_is_een, bedankt_voor, dank_je_voor, dankjewel, bedankt, stel_je_voor, bijna, gefeliciteerd, recept, gepland*, onderhoud, zei_dat_het, huiswerk, ooit, volgend_jaar
      """,
    trifle: """
      koffie, chocola*, pizza, bier*, biertje, wijn, vakantie, kapper, dutje, ijsje, taart, jurk, schoenen, netflix, feest, feestje, shoppen, massage, lunch, borrel, weekend, knuffel*, brood, melk, cadeau, patat, friet
      """,
    later: """
      morgen, overmorgen, later, straks, vanavond, volgende_week, maandag, dinsdag, woensdag, donderdag, vrijdag, zaterdag, zondag, dit_weekend, na_het_werk, als_je_thuis, als_je, wanneer_je, zodra_je, een_keer, ooit, maar_als, gerust
      """,
    suppose: "als, mocht, stel, indien, bijna, alsof, tegen, hopelijk, in_geval",
    not: "niet, geen, niks, niets, nooit, zonder, niemand, noch",
    notBefore: "niet"
  )
}
