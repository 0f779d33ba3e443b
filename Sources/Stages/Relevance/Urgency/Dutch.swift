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
      over_#_min/over_#_minu*/over_vijf/over_tien/over_twintig/over_vijftien/over_dertig/over_veertig/over_een_half/over_een_kwartier/over_een_paar/zo_meteen/binnen_#/nu/zonder_jou/over_een_minuut/over_twee/over_drie/over_half_uur/
      over_twee_minuten/over_drie_minuten/over_vier_minuten/over_vijf_minuten/over_zes_minuten/over_zeven_minuten/over_acht_minuten/over_negen_minuten/over_tien_minuten/over_een_minuut/over_vijftien_minuten/over_twintig_minuten
      """,
      "flow": """
      loopt/stroomt/lekt/druppelt/komt/spuit/stijgt/gutst/sijpelt/overstroomt/staat
      """,
      "wspot": """
      deur/plafond/vloer/muur/muren/onder/trap/kelder/keuken/badkamer/gang/overal/leiding/kraan/wc/tapijt/lamp/appartement/huis/auto
      """,
      "water": """
      water/rioolwater
      """,
      "hit": """
      trapt/trappen/schopt/slaat/slaan/beukt/bonkt/rammelt/breekt/gooit/wurgt/steekt/duwt/sleurt/valt_aan
      """,
      "door": """
      deur/raam/poort/slot/mij/me/ons/mama/papa/zus/broer/ruit
      """,
      "who2": """
      ex/buiten/man/mannen/iemand/vreemde/buurman/kerel/kerels/hij/vriend/dronken
      """,
      "gone": """
      weggelopen/ontsnapt/verdwenen/kwijt/is_weg/vermist/weg
      """,
      "care": """
      creche/opvang/school/speeltuin/ziekenhuis/verzorgingshuis/park/dierentuin/winkelcentrum/strand/tuin
      """,
      "sys2": """
      database/productie/prod/server/servers/betaling*/api/login/site/website/backend/cluster/kassa/kassas/bestellingen/webshop/systeem/systemen
      """,
      "broke2": """
      corrupt/plat/weg/gewist/dood/gecrasht/hangt/stil/vast/offline/kapot/onbereikbaar/leeg/fout/fouten/mislukt/mislukken/down/eruit
      """,
      "crisis": """
      alles/niemand/iedereen/klanten/gebruikers/call/nu/meteen/dringend/help
      """,
      "detector": """
      melder/rookmelder/koolmonoxidemelder/alarm/sensor
      """,
      "beep": """
      piept/loeit/gaat_af/afgegaan/rinkelt/stopt_niet
      """,
      "symptom": """
      duizelig/misselijk/hoofdpijn/rook/gas/brand/vuur/lucht
      """,
      "board": """
      boarden/boarding/gate/perron/spoor/laatste_oproep/deuren_sluiten/incheck*
      """,
      "mins": """
      twee_minuten/drie_minuten/vijf_minuten/een_minuut/tien_minuten/#_minuten/#_min/sluit/nu/laatste
      """,
      "you": """
      je_hebt/waar_ben/ren/wachten_op_je/schiet_op/jij_hebt
      """,
      "burn": """
      brandt/in_brand/fikt/rookt/vlammen/smeult/vonken/brand
      """,
      "thing": """
      droger/wasdroger/wasmachine/vaatwasser/broodrooster/oven/pan/magnetron/koelkast/tv/oplader/accu/laptop/stopcontact/kabel/gordijn*/bank/bed/matras/prullenbak/auto/motor/vrachtwagen/bus/garage/schuur/zolder/dak/keuken/loods/schoorsteen/tapijt/kaars/tent/balkon/huis/flat/appartement/gebouw/kantoor/school/hotel/bos/kelder
      """,
      "med": """
      ambulance/spoedeisende/intensive_care/ziekenwagen/brandweer/reanim*
      """,
      "crash": """
      kettingbotsing/botsing/ongeluk/aanrijding/over_de_kop/tegen_een_boom/van_de_weg
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
      ongeluk & gehad/kom/ernstig/gebeurd/snelweg/we & gehad/kom/ernstig/net, aanrijding & gehad/net, inbrek*, inbraak & nu/bezig/bij, ingebroken & er/bij/net, breekt_in, probeert & binnen/inbreken/in_te_breken, iemand_in_huis !heeft/hebben/wil/weet/nam/at, achtervolgd, volgt_me, volgt_mij, overvallen & $kid/word/ben/zijn, beroofd, aangevallen, bedreigd & $kid, mishandeld, slaat_me, ontvoerd,
      buitengesloten, opgesloten, vast & lift/sneeuw/tunnel/modder/auto/trein & zit/zitten/ik/we, vast_in_de_lift, panne & snelweg/tunnel, autopech & snelweg, verdwaald & bos/bergen/donker,
      kwijt & zoon*/dochter*/kind/oma/opa/hond/mijn_zoontje & zoek*/winkel/strand/park/help, vermist & $kid, verdwenen & $kid, weggelopen & $kid, kan $kid niet_vinden, nergens & $kid & vinden/zoek*, weg & nergens, iemand & in_huis/in_mijn/in_ons & denk/hoor/bang/is/zit/loopt/politie !heeft/hebben, niet_vinden & zoon*/dochter*/kind/oma/opa/hond, niet_thuisgekomen, 
      $vehicle vertrekt/gaat/sluit/vliegt/stijgt/rijdt $soon, vertrekt/sluit/gaat $soon & $vehicle, laatste_oproep, gate sluit,
      $system plat/down/eruit/offline/gecrasht/kapot/gehackt/onbereikbaar/uitgevallen, ligt_plat, liggen_plat, ligt_eruit, plat & $system, $system doet_het_niet & klant*/niemand/iedereen, klanten kunnen_niet, niets_werkt & meer/klanten/alles, storing & grote/productie/totale/hele, verliezen bestellingen/data/klanten, dataverlies, datalek, gehackt & we/zijn/worden/server, ransomware, cyberaanval, database verwijderd/weg/gewist,
      aardbeving & buiten/nu/snel/voel*, evacu*, ontruim*, iedereen naar_buiten/eruit, naar_buiten_nu, ga_naar_buiten & gas/brand/nu, eruit_nu, wegwezen$, levensgevaar, lawine, bosbrand, weggesleept & auto,
      neem_op, neem_je_telefoon, pak_je_telefoon, telefoon_op, niet_opgehaald & school/kind*, overleden & $kid & kom/bel/net, ligt_op_sterven, gaat_dood & $kid, gebeten & slang/hond & bloed*/hand/been, verbrand & hand/gezicht/water/baby, gesneden & diep/vinger/bloed*, insuline & geen/op/nodig, sos, 
      niet_vinden/nergens & glijbaan/schommel/speeltuin/draaimolen/zandbak/dierentuin/menigte/kermis/schoolplein, kunnen/kan & niet_vinden & glijbaan/schommel/speeltuin/draaimolen/zandbak/dierentuin/menigte/kermis, inbreken & iemand/probeert/proberen, trapt/trappen/forceert/breekt deur/raam & iemand/in, heb_je hier/nu nodig, hebben_je hier/nu nodig, je_hier_nu, buitengesloten & baby/kind/fornuis/oven/binnen, vermoord* & me/mij & help/politie/zegt, maakt_me_af, aangereden & hond/kat/kind/ik/is, overreden, evacueren & school/gebouw/ziekenhuis/we/ze, zuurstof*/beademing* uit/stuk/gestopt, zonder_stroom & zuurstof*/beademing*/dialyse, op_de_brug & springt/springen, wil_springen, gaat_springen, bestellingen/betalingen/transacties mislukken/falen, productiedatabase weg/leeg/gewist, database_is_weg, gezaagd/gesneden & hand/vinger/been/arm & diep/zaag/mes/bloed*, gestolen & tas/telefoon/portemonnee & alleen/neem_op/station/help, gesprongen & leiding/buis/waterleiding, 
      vertrekt/rijdt/gaat $soon & niet_er/er_niet/waar_ben/waar_blijf, zit_vast lift/auto/modder/sneeuw, vast_in lift/auto/trein/tunnel, 
      keel/gezicht/tong/lippen/nek zwelt/zwellen/opgezet/dicht, gestoken & keel/zwelt/adem*/wesp/bij & keel/zwelt/adem*, te_veel pillen/tabletten, alle pillen/tabletten & genomen/geslikt, remmen & niet/kapot/geen/weigeren, sluipt & huis/tuin/iemand, iemand/man & tuin/buiten/raam/om_het_huis & bang/mes/politie/verstop*, zit_verstopt, heb_me_verstopt, geen betaling/betalingen/bestelling*/logins & door/binnen, betaling*/bestelling* & geen & meer, draai_nu_terug, rollback nu/direct, hoofd bloedt, bloedt & hoofd, uitgegleden & bloed*/hoofd, verward & hoofd/gevallen, mond_hangt, kan_niet_praten & ineens/arm, eronder & boom/muur/auto & ligt/gevallen, op_de_tent & boom, uit_bed_gevallen & opstaan/overeind, kan_niet_meer_opstaan, kan_niet_opstaan, rook/vonken & stopcontact/kabel/wasmachine/droger/meterkast, wasmachine lekt/overstroom*, wc overstroom*, slaat_haar, wordt_geslagen, vechten & mes*/bloed, stelen & nu/je_fiets/je_auto, wordt_gestolen, iedereen_wacht_op_je, ingeslikt & batterij/knoopcel*/munt/magneet, zitten_vast & sneeuw/modder/benzine, benzine_is_op & sneeuw/snelweg/vast, geen_benzine & snelweg/sneeuw, gate sluit $soon, 
      leiding*/buis/waterleiding/verwarmingsbuis/slang/ketel/boiler gesprongen/kapot/lek/gebarsten, gesprongen & nat/water/buis/leiding/alles, zonder sleutel/sleutels & deur/buiten/koud, sleutel/sleutels vergeten/kwijt/binnen & deur/buiten/koud, deur dichtgevallen/dichtgeslagen/in_het_slot, kan_niet_naar_binnen, kom_er_niet_in, niemand opgehaald & zoon/dochter/kind*/school/creche, niet_opgehaald, kettingbotsing, over_de_kop & auto/we/gevlogen/geslagen, tegen & boom/muur/vangrail & gereden/geknald, in_de_sloot, vlammen & keuken/huis/dak/slaan, gas & lek/sist/hoofdpijn/ramen/eruit, inbrekers, dieven & huis/binnen, raam/deur/slot ingeslagen/ingetrapt/opengebroken/geforceerd, weggelopen & kind/hond/zoon/dochter/kleine, politie & deur/arrest*/zoek*/vraagt, gearresteerd, opgepakt & politie, stroomstoring & lift/baby/zuurstof/ziekenhuis/alleen, stroom_is_uitgevallen & lift/baby/zuurstof/alleen/server*, geen_stroom & lift/baby/zuurstof, 
      gordijn/bank/bed/pan/olie/kaars/kerstboom/frituurpan/droger/broodrooster/prullenbak brand/vlam/vlammen/rookt/rook/fikt, ruikt/stinkt naar gas/brand/rook, blauwe_lippen, lippen & blauw, vreemde/onbekende/man/kerels & deur/garage/raam/trappenhuis & rammel*/openen/binnen/open, niemand_heeft_hem, niemand_heeft_haar, gedronken & bleek/schoonmaakmiddel/chloor/gootsteenontstopper, bleek gedronken, van_de_weg & gedrukt/gereden/geduwd, liggen_op_onze_kant, op_zijn_kant & auto/vrachtwagen, creche/school/opvang belt/belde & weg/kwijt/gewond, is_weg & creche/school/opvang, in_elkaar_gezakt, in_elkaar_slaan, in_elkaar & slaat/slaan, vaccins/insuline/medicijnen & koeling/koelkast/stroom, gevallen & verdieping/balkon/raam & kat/hond/kind, betaalsysteem hangt/plat/down/ligt_eruit, kassas & stil/plat/down, kassa & stil/plat, aquarium kapot/gesprongen & water/glas, politie meenemen & wil/kom/bureau, klanten fout & 500/502/503, fout_500, 
      boarding/boarden/gate sluit/eindigt & waar/ren/schiet_op/kom, krijg & lucht & vast/lift/bijna, 
      kwijt !mijn/onze/sleutel*/telefoon & markt/strand/park/station/vliegveld/beurs/menigte/winkelcentrum/dierentuin, mes/pistool/bijl/wapen & deur/buiten/achtervolg*/staat, denk & iemand & in_huis/binnen/beneden, hoor voetstappen/geluiden/iemand & beneden/boven/huis, 
      api/backend/site/server geeft/stuurt/antwoordt & 500/502/503/504, 500/502/503/504 & iedereen/alle/klanten/gebruikers, motorongeluk, auto_ongeluk, autoongeluk, fietsongeluk, verkeersongeluk, woningbrand, raam/ruit/deur ingeslagen/ingetrapt/kapot & open/binnen/durf/gestolen, opgesloten & badkamer/wc/kelder/lift & hoort/niemand/help, moeilijk ademen/ademt, ademt moeilijk/slecht/zwaar, 
      bijna_geen_lucht, geen_lucht, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      tegen_de_deur & trappen/bonken/slaan/beuken, 
      borst druk/pijn/beklemd/drukkend & arm/adem/heb/voel, druk_op_mijn_borst, arm/gezicht/been gevoelloos/verlamd/tintelt & borst/praten/ineens, auto/fiets/boot & rivier/meer/kanaal/sloot & ligt/gereden/in, slang/leiding/kraan los/kapot/gesprongen & water/vloer/nat, vloer/tapijt kletsnat/onder_water, hoofdkraan, dronken & deur/voordeur/forceren/achtervolgt/slaat, voordeur/deur forceren/openbreken/intrappen, kapot & alle & login/gebruikers/klanten, 
      stroom uitgevallen/weg/eruit & hele/heel/huis/vriezer/koelkast, geen_stroom & hele/heel/huis/vriezer/koelkast, stroomstoring & hele/huis/straat, nergens & vinden/vind, nergens_te_vinden, volgt_me, achtervolgt_me, achtervolgt_ons
      """,
    urgent: """
      dringend, heel_dringend, urgent, spoed, met_spoed, spoedgeval, noodgeval, noodsituatie, haast & is/er_is, kan_niet_wachten, levensbelang, van_levensbelang, zo_snel_mogelijk & bel/kom/nodig/bellen/neem, zsm, leven_en_dood, code_rood
      """,
    danger: """
      $vehicle $soon,
      brand, vuur, vlammen, rook, ongeluk, gewond, bloed, bloedt, ziekenhuis, politie, brandweer, gevallen & $kid, flauw, duizelig, pijn & veel/erge/vreselijke, kwijt & $kid, bang, gevaar, in_gevaar, gevaarlijk, alleen & bang, opgesloten, ernstig, gebeurd & iets/ergs/vreselijks, er_is_iets, mis & er/iets, inbraak, gestolen, mes, wapen, gif, vermist, lek, lekkage, overstroming, explosie, bom, aardbeving, plat, down & $system, storing, gehackt, panne, bevriezen, ijskoud, vriest, heel_slecht & $kid, koorts, wacht_op_je, wachten_op_je, begint $soon, sluit $soon, vertrekt $soon, dood & $kid, 
      gestoken, zwelt, pillen, remmen, vonken, uitgegleden, 
      missen vlucht/trein/vliegtuig/bus, stroomstoring, stroom_is_uitgevallen, geen_stroom, dreigt, bedreig*, hinkt & hond/kat, gaat_sluiten, taxi_wacht, dierenarts, 
      fout_500, pijn & nek/borst/buik, overal_water, overal_glas, boarding & sluit/eindigt, zonder_stroom, 
      boarden
      """,
    help: """
      ^help, ^help_me$, ^help_ons, help_mij, ^hulp, hulp_nodig, heb_hulp_nodig, nu_hulp_nodig, hebben_hulp, help_zoeken, help_me_zoeken, om_hulp, help_alsjeblieft, help_aub
      """,
    ask: """
      bel_me, bel_mij, bel_terug, bel & nu/meteen/direct, bel_naar, neem_op, neem_je, reageer, antwoord, kom, kom_hier, kom_naar, kom_thuis, kom_terug, waar_ben_je, waar_blijf_je, waar_zijn_jullie, waar_zit_je, heb_je_nodig, hebben_je_nodig, nodig, kan_iemand, kun_je_komen, kan_je_komen, stuur_iemand, stuur, doe_open, doe_de_deur, laat_me_binnen, laat_me_erin, wat_moet_ik, wat_moeten_we, ga_weg, eruit, schiet_op, haal_me, kom_me_halen, zoek, word_wakker, log_in, 
      ben_bang !voor/dat, ik_ben_zo_bang, wat_nu, wat_moet_ik_doen, wat_moeten_we, ren$, rennen, rollback, 
      kom_naar_huis, kom_gauw, blijf_aan_de_lijn, hang_niet_op, niet_ophangen, laat_me_binnen, is_er_iemand, wie_heeft, waar_is, hulp_nodig, ga_eruit, ga_naar_buiten, haast_je, 
      wie_kan_helpen, help_me, help_mij, kun_je_komen, kan_je_komen, wat_nu, waar_zit_je, wie_heeft_dienst, hoe_draai, kom_naar_het, 
      ik_smeek, smeek_je, kom_naar_beneden, kom_eruit
      """,
    haste: """
      meteen, direct, nu$, nu_meteen, onmiddellijk, snel, zo_snel_mogelijk, zsm, asap, gelijk$, vlug, gauw$, schiet_op, dringend, spoed, haast_je, geen_tijd, nu_hulp, nu_aub, elke_minuut, nu_alsjeblieft, 
      zo_spoedig_mogelijk, zo_snel_je_kan, direct_nu, razendsnel, vlug, per_direct, 
      op_dit_moment_nu, deze_minuut, nu_direct
      """,
    idiom: """
      nooduitgang*, noodnummer*, noodplan, brandoefening*, brandalarm_oefening, brandblusser*, brandweerman, brandweer_open, bij_de_brandweer, kampvuur, vuurwerk, rookmelder*, eerste_hulp_cursus, ehbo, je_hulp, jouw_hulp, jullie_hulp, help_je, helpen, help_me_even, help_me_met, hulp_bij, ga_stuk, ik_ga_stuk, lach_me_dood, lig_dubbel, sterf_van, doodmoe, bloedtest, bloed_geven, bloedmooi, geen_pijn, tot_gauw, tot_snel, snel_beter, beterschap, nu_om, heel_snel_gegaan, kom_op, kom_eten, kom_je, direct_naar_huis_na, per_ongeluk, ongelukkig, alleen_maar, 
      noodcontact*, noodlijst*, alarmnummer*, noodnummers, de_bom$, echt_de_bom, batterij & dood, telefoon_gaat_dood, gaat_dood$, sterf_van_de_honger, verga_van, moord_doen, 
      ontruimingsoefening*, brandoefening*, evacuatieoefening*, proefalarm*, 
      spoeddierenarts, was_mijn_dood, dood_voor_mij, 
      mijn_baas_vermoordt, brandblusser*, verveel_me_dood, 
      is_mijn_dood, mijn_dood, 
      boarden_ging, boarding_ging, we_vertrekken, we_stijgen_zo
      """,
    calm: """
      niet_dringend, niet_zo_dringend, helemaal_niet_dringend, niks_dringends, niets_dringends, niet_urgent, geen_spoed, geen_haast, geen_noodgeval, heeft_geen_haast, haast_je_niet, rustig_aan, op_je_gemak, neem_je_tijd, neem_de_tijd, geen_stress, geen_paniek, wanneer_je_tijd, als_je_tijd, als_je_even_tijd, als_het_uitkomt, kan_wachten, kan_tot, niet_belangrijk, niks_belangrijks, niks_ergs, niets_ergs, niet_erg, geen_zorgen, maak_je_geen, geen_probleem, niks_aan_de_hand, niets_aan_de_hand, loos_alarm, vals_alarm, alles_goed, alles_ok, alles_oke, alles_in_orde, het_gaat_goed, gaat_goed, gaat_weer_goed, gaat_beter, is_opgelost, opgelost, gefixt, gemaakt, werkt_weer, weer_online, weer_in_de_lucht, gevonden & weer/gelukkig, terecht, grapje, geintje, haha*, het_was_maar, was_maar, gelukkig_niet, 
      gaat_weer_goed, gaat_goed_met, mocht_naar_huis, weer_thuis, uit_het_ziekenhuis, draait_weer, doet_het_weer, 
      is_het_altijd, altijd_dringend, altijd_zo, alles_is_dringend, zegt_hij_altijd, zegt_ze_altijd, 
      stroom_is_er_weer, weer_stroom, is_terug, 
      ziet_er_prima, is_gevonden, geen_noodgeval
      """,
    unreal: """
      zei, zeiden, in_##, bleek_dat, bleek_het, viel_mee,
      verschoven, verzet, uitgesteld, afgelast, geannuleerd, heb_je_gehoord, heb_je_gezien,
      gisteren, eergisteren, vorige_week, vorige_maand, vorig_jaar, vorige_zomer, laatst, # jaar_geleden/dagen_geleden/weken_geleden/maanden_geleden, jaren_geleden, lang_geleden, vroeger, toen_ik, film, films, serie, documentaire, boek, roman, aflevering, liedje, album, concert, spel, game, wedstrijd, podcast, nieuws, krant, artikel, museum, tentoonstelling, theater, droom, gedroomd, nachtmerrie, meme, mop, oefening, training, cursus, verzekering, open_dag, werkt_bij, werkt_op, werkt_als, betekent, wat_is_een, bedankt_voor, dank_je_voor, dankjewel, bedankt, stel_je_voor, bijna_was, bijna_had, bijna_gevallen, gefeliciteerd, recept, gepland*, onderhoud, zei_dat_het, huiswerk, ooit, volgend_jaar, 
      weet_je_nog, herinner_je, weten_jullie_nog, 
      op_zondag, op_zaterdag, is_gratis, las_net, 
      spoiler*, twee_jaar_geleden, drie_jaar_geleden, moordenaar, dader, volgende_keer, 
      als_kind, per_ongeluk_112, ooit_eens, zoekt_mensen, eens_per_ongeluk
      """,
    trifle: """
      koffie, chocola*, pizza, bier*, biertje, wijn, vakantie, kapper, dutje, ijsje, taart, jurk, schoenen, netflix, feest, feestje, shoppen, massage, lunch, borrel, weekend, knuffel*, brood, melk, cadeau, patat, friet
      """,
    later: """
      morgen, overmorgen, later, straks, vanavond, volgende_week, maandag, dinsdag, woensdag, donderdag, vrijdag, zaterdag, zondag, dit_weekend, na_het_werk, als_je_thuis, als_je, wanneer_je, zodra_je, een_keer, ooit, maar_als, gerust
      """,
    suppose: "als, mocht, stel, indien, bijna_was, bijna_had, bijna_gevallen, alsof, tegen, hopelijk, in_geval",
    not: "niet, geen, niks, niets, nooit, zonder, niemand, noch",
    notBefore: "niet"
  )
}
