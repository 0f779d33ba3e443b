extension UrgencyLexicon {
  static let polish = UrgencyLexicon(
    marks: """
      nie/to/jest/sie/na/w/z/do/i/ze/co/jak/ale/czy/mi/mnie/ci/cie/ma/mam/masz/jestem/sa/po/od/za/dla/tak/juz/gdzie/ten/ta/ja/ty/on/ona/my/wy/jutro/teraz/prosze/dzieki/bardzo/tylko/przez/przy/moj/moja/twoj/twoja/nas/pan/dom
      """,
    classes: [
      "kid": """
      dzieck*/dzieci/syn*/cork*/mama/mame/mamy/tata/tate/ojciec/matka/babci*/dziad*/maz/meza/zona/zony/brat*/siostr*/pies/psa/kot/kota/przyjaci*/sasiad*/ktos/czlowiek/chlopak/dziewczyn*/on/ona/ja/mnie/nas/my/mezczyzna/kobieta/kolega
      """,
      "place":
        "dom/domu/kuchni*/piwnic*/garaz*/dach/budyn*/biur*/pokoj*/lazienk*/mieszkan*/sklep*/magazyn*/samochod*/auto/autobus*/piec*/balkon*/ogrod*/silnik*/scian*/sufit*/klatk*/szkol*/las/lasu/blok*/stodol*",
      "system":
        "serwer*/stron*/sklep/baz*/system*/siec/produkcj*/prod/api/aplikacj*/platform*/platnosc*/kas*/uslug*/internet/poczta/prad",
      "vehicle":
        "lot/samolot/pociag/autobus/prom/statek/taksowka/bramka/tramwaj/metro/boarding/odlot/pociag*/autobus*/samolot*/lot*",
      "soon":
        "za_#_min*/za_piec/za_dziesiec/za_dwadziescia/za_pietnascie/za_czterdziesci/za_pol/za_chwile/zaraz/bez_ciebie/teraz/za_kilka/za_dwie/za_trzy/za_cztery/za_szesc/za_siedem/za_osiem/za_dziewiec/za_minute/za_trzydziesci",
      "flow": """
      leci/leje/cieknie/kapie/zalewa/plynie/tryska/wycieka/wlewa/podnosi/sika
      """,
      "wspot": """
      drzwi/sufit*/podlog*/scian*/spod/schod*/piwnic*/kuchni*/lazienk*/korytarz*/wszedzie/rur*/kran*/toalet*/dywan*/lamp*/mieszkani*/dom*/auta
      """,
      "water": """
      woda/wode/scieki
      """,
      "hit": """
      kopie/bije/wali/tlucze/wylamuje/szarpie/rzuca/atakuje/dusi/dzga/pcha/wywaza/wlecze
      """,
      "door": """
      drzwi/okno/brame/zamek/mnie/nas/mame/tate/siostre/brata/szybe
      """,
      "who2": """
      byly/zewnatrz/facet/faceci/ktos/obcy/sasiad/gosc/chlopak/maz/pijany
      """,
      "gone": """
      uciekl*/zniknel*/zniknal/zginela/zginal/nie_ma/zaginel*/zgubil*
      """,
      "care": """
      przedszkol*/szkol*/zlobk*/plac*_zabaw/szpital*/park*/zoo/galerii/plazy/ogrod*
      """,
      "sys2": """
      baza/produkcja/prod/serwer*/platnosc*/api/logowanie/strona/backend/klaster/kasa/kasy/zamowienia/sklep/system*
      """,
      "broke2": """
      uszkodzon*/lezy/leza/usunieta/padl*/stoi/stoja/zawiesil*/wisi/niedostepn*/pusta/blad/bledy/nie_dziala*
      """,
      "crisis": """
      wszystko/nikt/wszyscy/klienci/call*/teraz/natychmiast/pilnie/pomoz*
      """,
      "detector": """
      czujnik/czujka/alarm/czad/czadu
      """,
      "beep": """
      piszczy/wyje/dzwoni/wlaczyl_sie/nie_przestaje
      """,
      "symptom": """
      kreci_mi_sie/mdlosci/niedobrze/boli_mnie_glowa/dym/gaz/ogien/zapach
      """,
      "board": """
      wsiadamy/boarding/bramka/peron/ostatnie_wezwanie/zamykaja_drzwi/odprawa
      """,
      "mins": """
      dwie_minuty/trzy_minuty/piec_minut/minute/dziesiec_minut/#_minut*/#_min/zamykaja/teraz/ostatni
      """,
      "you": """
      gdzie_jestes/biegnij/czekamy_na_ciebie/masz/szybko
      """,
      "burn": """
      pali/plonie/w_ogniu/dymi/plomienie/zapalil*/iskrzy/ogien
      """,
      "thing": """
      suszarka/pralka/zmywarka/toster/piekarnik/patelnia/mikrofalowka/lodowka/telewizor/ladowarka/bateria/laptop/gniazdko/kabel/zaslona/firanka/kanapa/lozko/materac/kosz/auto/samochod/silnik/ciezarowka/autobus/garaz/szopa/strych/dach/kuchnia/stodola/magazyn/komin/dywan/swieca/namiot/balkon/dom/mieszkanie/blok/budynek/biuro/szkola/hotel/las/piwnica
      """,
      "med": """
      karetk*/sor/oiom*/pogotowie/straz/reanim*
      """,
      "crash": """
      karambol/zderzenie/wypadek/dachowal*/w_drzewo/z_drogi
      """,
    ],
    alarm: """
      nie_reaguje, byl_wypadek, stal_sie_wypadek,
      jest rann*, atak_paniki, trutk*, hamulce & nie_dzialaja, spadl* balkon*/okn*, lodz tonie,
      nie_ma_pulsu, wybuchnie, produkcja stoi,
      $place pali/plonie/w_ogniu, pali_sie, pozar & $place/w/jest/u_nas, w_plomieniach, plonie, dym & $place/leci/wszedzie/z/jest, czuc gaz/dym/spaleniz*, smierdzi gazem, ulatnia gaz, ulatniajacy gaz, wyciek_gazu, zapach gazu, wybuchl*, wybuch & w/gazu,
      zalewa, zalalo, zalane & $place, woda leje/leci/zalewa/wchodzi/tryska/kapie & $place/sufit*/do/z, pekla rura, rura pekla, sufit spad*/zawal*, zawalil*,
      nie_oddycha, nie_moze_oddychac, nie_moge_oddychac, dusi_sie, dusze_sie, nieprzytomn*, stracil* przytomnosc, zemdlal*, nie_reaguje, nie_rusza_sie, nie_budzi_sie, zaslabl*, zawal & serca/ma/mial/tata/mama/dziad*, udar & ma/mial*/$kid, drgawki, padaczk* & atak/ma, tonie & $kid, topi_sie, krwawi, krwawie, krwotok, duzo_krwi, pelno_krwi, bol_w_klatce, reakcja alergiczn*, wstrzas, przedawkowa*, zatrul*, otrul*, polknal*, polknela, napil* & plyn*/wybielacz*, odeszly_wody, skurcze & ma/mam, rodzi & zona/juz/szpital*, zaczela_rodzic,
      zlamal* & reke/noge/biodro/kostk*, spadl* & drabin*/schod*/dach*/balkon*, nie_moze_wstac, nie_moge_wstac, potracil* & samochod/auto, potracony, porazil* & prad, dzgnal*, ranny & nozem, z_nozem, z_bronia, strzelaja, strzelanina, strzaly, bomba, samoboj*, nie_chce_zyc, nie_chce_mi_sie_zyc, chce_umrzec, zabic_sie,
      karetk* & wezwij/dzwon*/jedzie/wzywaj*/potrzebn*/wezwal*/zabral*, pogotowie & wezwij/dzwon*/jedzie, wezwij*, wzywaj*, dzwon* policj*/straz/112/999/karetk*/pogotowi*, lekarz* & potrzeb*/szybko, w_szpitalu & $kid & odbierz/przyjed*/dzwon*/zadzwon, do_szpitala & $kid & wioz*/jedz*/zabral*/przyjed*, na_sor, oiom, goraczk* & 40/41/wysok* & dzieck*/40/41,
      wypadek & mielismy/mialem/mialam/mial/miala/byl/powazny/samochod*, wlamuj*, wlamal*, wlamani* & teraz/u_nas, zlodziej* & w/jest/domu, ktos & probuje/wszedl/wlam*/drzwi & dom*/drzwi/mieszk*/wejsc, sledzi_mnie, idzie_za_mna, napad*, okradl* & mnie/nas/teraz, zaatakowal*, grozi & mi/nozem, bije_mnie, pobil*, porwal*,
      zatrzasn* & drzwi/klucz*/auto, zamkniet* & wind*/na_zewnatrz/w, utkn* & wind*/snieg*/tunel*, uwiezi*, zablokowan* & wind*, zepsul* & autostrad*/tras*, zgubil* & las*/gor*/dzieck*/syn*/cork*, zginal & syn/pies, zginela & corka, zaginal, zaginela, zaginiec*, nie_moge_znalezc & dzieck*/syn*/cork*/mam*/psa/babci*, nie_ma_nigdzie, uciekl & pies/syn/kot, nie_wrocil* & dom*/policj*,
      $vehicle odjezdza/odlatuje/odchodzi/startuje/zamyka/odplywa $soon, odjezdza/odlatuje $soon & $vehicle, ostatnie_wezwanie,
      $system lezy/leza/padl*/nie_dziala/down/zhakowan*/niedostepn*/awari*, padl* $system, nie_dziala & klien*/produkcj*/nikt, awaria $system/produkcj*, klienci nie_moga, nikt_nie_moze, tracimy zamowieni*/dane/klient*, utrata_danych, wyciek_danych, zhakowal*, ransomware, 
      trzesienie_ziemi, ewaku*, uciekaj*, wychodzcie, wyjdzcie, wszyscy_na_zewnatrz, lawina, tsunami, tornado, holuj* & auto/samochod,
      odbierz_telefon, odbierz$, odbierz_prosze, zmarl* & $kid & przyjed*/zadzwon, umiera & $kid, ugryzl* & pies/waz & krw*/rek*/nog*, poparzyl*, insulin* & nie_ma/brak/potrzeb*, ratuj*, sos, 
      nie_mozemy_znalezc/nie_moge_znalezc/nie_znajduj* & hustawk*/zjezdzaln*/plac*_zabaw/karuzel*/zoo/tlum*/piaskownic*, wlamac & ktos/probuje/drzwi/nas, wywaza/wywazaja/wyrywa drzwi, zatrzasn* & zewnatrz/dziecko/kluczy/kuchenk*, dziecko_jest_w_srodku, potrzebuje_cie tu/tutaj/teraz/natychmiast, potrzebujemy_cie tu/tutaj/teraz/callu/natychmiast, wpadl*_pod samochod/auto/autobus, pod_samochod & pies/kot/dziecko/wpadl*, zabije_mnie & pomoc*/policj*/mowi, chce_mnie_zabic, grozi_ze, ewakuuj* & szkol*/budyn*/szpital*/przedszkol*, aparat & tlen* & nie_dziala/wylacz*, bez_pradu & tlen*/respirator*, na_moscie & skoczy/skoczyc, chce_skoczyc, ze_skoczy, zamowienia/platnosci nie_przechodza/nie_dzialaja, baza & produkcyjn* & zniknel*/usuniet*/pust*, zniknela & baza, przecial*/ucial*/rozcial* & pila/noz*/reke/palec, ukradli & torebk*/telefon/portfel & sama/sam/odbierz/dworc*, upadl* & nie_reaguje/nie_wstaje/nie_rusza, odebrac_dzieci, jedz_po_dzieci, 
      zawal & mam/mama/serca, odjezdza $soon & gdzie/nie_ma/brakuje, 
      gardlo/twarz/jezyk/usta/szyja puchnie/spuchl*/puchna, puchnie & gardl*/twarz/jezyk, uzadlil*/ugryzl* & gardl*/puchn*/oddych*, za_duzo tabletek/lekow/pigulek, wszystkie tabletki/leki, hamulce & nie/zepsute, nie_mam_hamulcow, kreci_sie & dom*/ogrod*/ktos, skrada & dom*/ktos, ktos & ogrodzie/pod_oknem/kolo_domu/przed_domem & boje/noz*/policj*/chowam*, schowalam_sie, schowalem_sie, ukrywam_sie, nie_przechodzi & platnosc*/zamowieni*, zadna platnosc, cofnijcie natychmiast/teraz/wdrozenie, rollback, glowa krwawi, krwawi & glow*, poslizgnal* & glow*/krw*, betlkocze, belkocze, nie_moze_mowic, pod_drzewem & lezy/przygniot*, przygniot*, spadl* lozk* & wstac, nie_moze_wstac, dym/iskry/iskrzy & gniazd*/kabl*/pralk*, gniazdk* dymi/pali/iskrzy, pralka przecieka/zalewa, bije_ja, bija_go, noz* & bija/walcza, kradna & rower/auto/samochod, wszyscy_na_ciebie_czekaja, polkn* & bateri*/monet*/magnes*, utknelismy & sniegu/blocie, nie_mamy_paliwa, brak_paliwa & autostrad*/snieg*, zamykaja $soon, zamykaja bramk*/drzwi/odprawe & $soon, ugryzl* & gardl*, oiom*, 
      rura/rury/rure/waz/kociol/bojler & pekl*/pekniet*/cieknie/mokre, ogien & budynk*/dom*/mieszkan*/kuchni*/w/na, bez klucza/kluczy & drzwi*/zewnatrz/zimno/stoje, zapomnial*/zgubil* & klucz* & drzwi*/zimno/dom*, nie_moge_wejsc, drzwi_zatrzasnely, drzwi_sie_zatrzasnely, nikt odebral/odbral & syn*/cork*/dzieck*/szkol*/przedszkol*, nie_odebral* & szkol*/dzieck*/syna/corki/przedszkol*, za_mna_idzie, za_mna_chodzi, za_mna & idzie/lezie, karambol, dachowal*, w_drzewo & wjechal*/uderzyl*, w_rowie & auto/samochod/jestesmy, plomienie, gaz & ulatnia/syczy/wyciek, wlamywacz*, zlodzieje, okno/drzwi/zamek wywazon*/wybit*/wylaman*, uciekl* & dzieck*/pies/syn, policja & drzwi*/aresztow*/szuka/pyta, aresztowal*, nie_ma_pradu & wind*/dzieck*/tlen*/sama/sam/serwer*, wylaczyli_prad & wind*/tlen*/dzieck*, 
      zaslona/kanapa/lozko/patelnia/olej/swieczka/choinka/frytkownica/suszarka/toster pali/zapalil*/plonie/dymi, zapalil*_sie, zapalila_sie, smierdzi gaz*/spaleniz*/dym*, sine usta/wargi, zlapac tchu/oddech*, obcy/facet*/mezczyzna & drzwi/garaz/okno/klatk* & szarpie/otworzyc/probuj*/dobij*, nikt_go_nie_widzial, nikt_jej_nie_widzial, wypil* & wybielacz/domestos/plyn/benzyn*, wjechal w_nas/we_mnie, zepchnal* & drogi, lezymy_na_boku, przedszkole/szkola dzwoni/dzwonili & nie_ma/zginel*/rann*, szczepionki/insulina/leki & lodowk*/chlodni*/prad, spadl* & pietra/balkon*/okna & kot/pies/dzieck*, idzie/przyjedzie & pobic/zabic, zeby_mnie_pobic, kasy & stoja/padly, akwarium peklo/rozbilo, policja zabrac/zabiera & chce/przyjedz, klienci blad & 500/502/503, blad_500, nie_ma_na przystanku/miejscu & nikt, 
      znalezc & hustawc*/hustawk*/zjezdzaln*/karuzel* & nie_mozemy/nie_moge, 
      zgubil* & targ*/plazy/parku/dworc*/lotnisk*/tlum*/galerii/markecie !klucz*/telefon*, noz/noza/pistolet/bron/siekier* & drzwi*/stoi/goni, ktos_jest w_domu/w_mieszkaniu/na_dole, slysze & kroki/kogos/halas* & dole/dom*/gorze, 
      api/serwer*/strona zwraca/oddaje/odpowiada & 500/502/503/504, 500/502/503/504 & wszystkim/wszyscy/klient*, wypadek & motor*/motocykl*/rower*/samochod*, wybil* okno/szyb*/drzwi & otwart*/wejsc/boje, zamknieta/zamkniety & lazien*/toalec*/piwnic*/wind* & slyszy/nikt/pomoc*, problem & oddych*, cieknie/leje & zlew*/sufit*/zatrzymac/zakrec*, 
      nie_mozemy_znalezc/nie_moge_znalezc & hustawc*/hustawk*/zjezdzaln*/karuzel*/placu, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      klatce sciska/boli/ucisk, sciska & klatce/piersi*, dretwieje & reka/twarz/noga, auto/samochod/rower & rzece/jeziorze/rowie/kanale, waz/rura/kran odpadl*/pekl*/urwal* & podloga/woda/mokra, podloga/dywan & mokra/zalan*, zawor_glowny, zakrecic_wode, pijany & drzwi/wywaz*/bije/idzie, wywazyc drzwi, nie_odbiera & rzece/wypadek/martwi*/policj*, nie_dziala & wszystkich/wszyscy & logowani*/platnosc*, 
      nie_ma_pradu & calym/calej/dom*/zamrazark*/lodowk*/budynk*, wylaczyli_prad & calym/zamrazark*, brak_pradu & calym/dom*/zamrazark*/szpital*, nigdzie & znalezc/znajduj*, zniknela & znalezc/nigdzie, zniknal & znalezc/nigdzie, sledzi_mnie, mnie_sledzi, nas_sledzi, goni_mnie, mnie_goni
      """,
    urgent:
      "pilne, pilnie, pilna, pilny, bardzo_pilne, nagly_wypadek, nagla_sytuacja, nagly_przypadek, awaryjn* sytuacja, nie_moze_czekac, sprawa_zycia, na_wczoraj, jak_najszybciej & zadzwon*/przyjed*/potrzeb*/oddzwon*",
    danger: """
      $vehicle $soon,
      ogien, pozar, pali, dym, wypadek, rann*, krew, szpital*, policj*, straz, spadl* & $kid, upadl*, slabo & mi, kreci_mi_sie, boli & bardzo/strasznie, zgubil*, zaginal, boje_sie, niebezpiecz*, sama & boje, stalo_sie, cos_sie_stalo, zlego, wlaman*, ukradl*, noz, bron, trucizn*, wyciek, powodz, awari*, padl* & $system, lezy & $system, zamarz*, mroz, wymiotuj* & krw*, goraczk*, czekaja_na_ciebie, czekamy_na_ciebie, zaczyna & $soon, zamykaja & $soon, 
      uzadlil*, puchnie, tabletek, hamulce, iskr*, poslizgn*, 
      spoznimy samolot/pociag/autobus, spoznimy_sie, ucieknie_nam, nie_ma_pradu, grozi, grozby, kuleje & pies/kot, zamykamy, taksowka_czeka, weterynarz*, 
      blad_500, boli & kark/klatk*/brzuch, wszedzie_woda, boarding & konczy/zamyka, 
      cieknie
      """,
    help:
      "^pomocy, ^pomoz$, ^pomozcie, pomozcie, potrzebuje_pomocy, potrzebna_pomoc, potrzebujemy_pomocy, pomoz_mi_szukac, pomoz_szukac, ratunku, ratunku",
    ask: """
      zadzwon, zadzwoncie, oddzwon, dzwon, odbierz, odpisz, odpowiedz, przyjedz, przyjedzcie, przyjdz, przyjdzcie, wracaj, wroc, chodz, gdzie_jestes, gdzie_jestescie, gdzie_ty, potrzebuje_cie, potrzebujemy, potrzebuje, czy_ktos, moze_ktos, przyslij*, wyslij*_kogos, otworz, wpusc, co_robic, co_mam_robic, wyjdz, uciekaj, zabierz_mnie, szukaj*, obudz_sie, 
      boje_sie, tak_sie_boje, co_robic, co_mam_robic, co_robimy, biegnij$, biegnij, uciekaj, rollback, 
      wroc_do_domu, przyjdz_szybko, nie_rozlaczaj, zostan_na_linii, otworz_mi, czy_jest_ktos, jest_tam_kto, przyslij_kogos, kto_ma, gdzie_jest, potrzebuje_pomocy, wychodz, wychodzcie, wyjdz_z, 
      kto_moze_pomoc, pomoz_mi, pomoz, mozesz_przyjechac, co_teraz, gdzie_sie_podziewasz, kto_ma_dyzur, jak_zakrecic, mamy_wyjsc, przyjedz_na, musze_z_toba, 
      blagam, blagam_cie, schodz, zejdz
      """,
    haste:
      "natychmiast, szybko, szybciej, teraz$, zaraz$, w_tej_chwili, od_razu, niezwlocznie, jak_najszybciej, pospiesz*, pilnie, pilne, asap, nie_ma_czasu, kazda_minuta, biegiem, jak_najpredzej, bezzwlocznie, migiem, czym_predzej, juz_teraz, w_tej_minucie, w_tej_chwili, w_tym_momencie",
    idiom: """
      wyjscie_awaryjn*, wyjscia_awaryjn*, numer* alarmow*, pierwsza_pomoc, pierwszej_pomocy, alarm_probny, probny_alarm, straz_pozarna_ma, fajerwerk*, sztuczne_ognie, ognisko, czujnik_dymu, za_pomoc, twoja_pomoc, pomozesz, pomoc_w, umieram_ze, umieram_z, badanie_krwi, oddac_krew, cisnienie_krwi, do_zobaczenia, szybkie_pytanie, szybko_mija, przyjdz_na_kolacj*, przyjdz_na, chodz_na, boli_glowa_od, 
      to_bomba, bomba$, kontakt*_alarmow*, lista_kontaktow, liste_alarmow*, bateria & pada/umiera/padla, umieram_z_glodu, z_glodu, 
      probna_ewakuacja, probnej_ewakuacji, probny_alarm, cwiczenia, 
      mnie_zabil, egzamin_mnie, dla_mnie_umarl, 
      boarding_poszedl, zaraz_startujemy, zaraz_lecimy
      """,
    calm: """
      nie_jest_pilne, niepilne, to_niepilne, nic_pilnego, nie_pilne, nie_ma_pospiechu, bez_pospiechu, nie_spiesz_sie, nie_musisz_sie_spieszyc, na_spokojnie, spokojnie, jak_bedziesz_miec, jak_bedziesz_mial*, jak_znajdziesz, kiedy_bedziesz_mogl*, w_wolnej_chwili, jak_masz_czas, moze_poczekac, poczeka, niewazne, nic_waznego, nic_powaznego, nic_sie_nie_stalo, nie_martw_sie, bez_paniki, bez_obaw, wszystko_ok, wszystko_dobrze, wszystko_w_porzadku, juz_dobrze, juz_ok, nic_mi_nie_jest, juz_dziala, naprawion*, rozwiazan*, znalazl*_sie, juz_znalaz*, falszywy_alarm, zart*, zartuje, haha*, hehe*, hihi*, nie_jest_to_pilne, 
      juz_z_nia, juz_z_nim, wypuscili, wypisali, dziala_znowu, znowu_dziala, dziala_juz, 
      zawsze_tak, zawsze_pilne, wszystko_jest_pilne, zawsze_tak_mowi, 
      prad_wrocil, jest_prad, juz_jest, 
      wyglada_swietnie, sie_znalazl, sie_znalazla, znalazl_sie, nic_mu_nie_jest
      """,
    unreal: """
      powiedzial*, mowil*, w_##, okazalo_sie,
      przesuni*, przeniesi*, odwolan*, przelozon*, slyszal*,
      wczoraj, przedwczoraj, w_zeszlym, zeszlego_roku, ostatnio, # lat_temu/dni_temu/miesiecy_temu/tygodni_temu, lata_temu, kiedys, jak_bylem, jak_bylam, film, filmie, filmy, serial, dokument, ksiazk*, powiesc, odcinek, piosenk*, album, koncert, gra, gre, mecz, podcast, wiadomosci, wiadomosciach, gazet*, artykul, muzeum, teatr, sen, snil*, koszmar, mem, cwiczeni*, szkoleni*, kurs, ubezpieczeni*, dzien_otwarty, pracuje_w, pracuje_jako, co_znaczy, znaczy, co_to_jest, dzieki_za, dziekuje, dzieki, wyobraz, prawie, o_malo, wszystkiego_najlepszego, gratulacj*, przepis, planowan*, konserwacj*, mowil*_ze, zadanie_domowe, w_przyszlym, 
      pamietasz, pamietacie, przypomina_mi, 
      w_soboty, w_niedziele, za_darmo, wlasnie_czytal*, 
      spoiler*, dwa_lata_temu, trzy_lata_temu, lata_temu, morderca, nastepnym_razem, 
      przez_pomylke, w_dziecinstwie, kiedys_raz, szuka_ludzi, zatrudnia
      """,
    trifle:
      "kaw*, czekolad*, pizz*, piwo, piwa, wino, wina, urlop*, fryzjer*, drzemk*, lody, ciast*, sukienk*, buty, netflix, imprez*, zakupy, masaz, obiad, kolacj*, weekend, chleb, mleko, prezent",
    later: """
      jutro, pojutrze, pozniej, wieczorem, w_przyszlym_tygodniu, w_poniedzialek, we_wtorek, w_srode, w_czwartek, w_piatek, w_sobote, w_niedziele, w_weekend, jak_bedziesz, jak_dojedziesz, jak_wrocisz, kiedy, jak_chcesz, jak_mozesz, kiedys
      """,
    suppose: "jesli, jezeli, gdyby, w_razie, na_wypadek, prawie, jakby, przeciw",
    not: "nie, nic, zaden, zadnych, bez, ani, nigdy",
    notBefore: ""
  )
}
