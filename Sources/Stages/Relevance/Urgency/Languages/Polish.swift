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
      "vehicle": "lot/samolot/pociag/autobus/prom/statek/taksowka/bramka/tramwaj/metro/boarding/odlot",
      "soon":
        "za_#_min*/za_piec/za_dziesiec/za_dwadziescia/za_pietnascie/za_czterdziesci/za_pol/za_chwile/zaraz/bez_ciebie/teraz/za_kilka",
    ],
    alarm: """
      nie_reaguje, byl_wypadek, stal_sie_wypadek,
      jest rann*, atak_paniki, trutk*, hamulce & nie_dzialaja, spadl* balkon*/okn*, lodz tonie,
      nie_ma_pulsu, wybuchnie, produkcja stoi,
      $place pali/plonie/w_ogniu, pali_sie, pozar & $place/w/jest/u_nas, w_plomieniach, plonie, dym & $place/leci/wszedzie/na/z/jest, czuc gaz/dym/spaleniz*, smierdzi gazem, ulatnia gaz, ulatniajacy gaz, wyciek_gazu, zapach gazu, wybuchl*, wybuch & w/gazu,
      zalewa, zalalo, zalane & $place, woda leje/leci/zalewa/wchodzi/tryska/kapie & $place/sufit*/do/z, pekla rura, rura pekla, sufit spad*/zawal*, zawalil*,
      nie_oddycha, nie_moze_oddychac, nie_moge_oddychac, dusi_sie, dusze_sie, nieprzytomn*, stracil* przytomnosc, zemdlal*, nie_reaguje, nie_rusza_sie, nie_budzi_sie, zaslabl*, zawal & serca/ma/mial/tata/mama/dziad*, udar & ma/mial*/$kid, drgawki, padaczk* & atak/ma, tonie & $kid, topi_sie, krwawi, krwawie, krwotok, duzo_krwi, pelno_krwi, bol_w_klatce, reakcja alergiczn*, wstrzas, przedawkowa*, zatrul*, otrul*, polknal*, polknela, napil* & plyn*/wybielacz*, odeszly_wody, skurcze & ma/mam, rodzi & zona/juz/szpital*, zaczela_rodzic,
      zlamal* & reke/noge/biodro/kostk*, spadl* & drabin*/schod*/dach*/balkon*, nie_moze_wstac, nie_moge_wstac, potracil* & samochod/auto, potracony, porazil* & prad, dzgnal*, ranny & nozem, z_nozem, z_bronia, strzelaja, strzelanina, strzaly, bomba, samoboj*, nie_chce_zyc, nie_chce_mi_sie_zyc, chce_umrzec, zabic_sie,
      karetk* & wezwij/dzwon*/jedzie/wzywaj*/potrzebn*/wezwal*/zabral*, pogotowie & wezwij/dzwon*/jedzie, wezwij*, wzywaj*, dzwon* policj*/straz/112/999/karetk*/pogotowi*, lekarz* & potrzeb*/szybko, w_szpitalu & $kid & odbierz/przyjed*/dzwon*/zadzwon, do_szpitala & $kid & wioz*/jedz*/zabral*/przyjed*, na_sor, oiom, goraczk* & 40/41/wysok* & dzieck*/40/41,
      wypadek & mielismy/mialem/mialam/mial/miala/byl/powazny/samochod*, wlamuj*, wlamal*, wlamani* & teraz/u_nas, zlodziej* & w/jest/domu, ktos & probuje/wszedl/wlam*/drzwi & dom*/drzwi/mieszk*/wejsc, sledzi_mnie, idzie_za_mna, napad*, okradl* & mnie/nas/teraz, zaatakowal*, grozi & mi/nozem, bije_mnie, pobil*, porwal*,
      zatrzasn* & drzwi/klucz*/auto, zamkniet* & wind*/na_zewnatrz/w, utkn* & wind*/snieg*/tunel*, uwiezi*, zablokowan* & wind*, zepsul* & autostrad*/tras*, zgubil* & las*/gor*/dzieck*/syn*/cork*, zginal & syn/pies, zginela & corka, zaginal, zaginela, zaginiec*, nie_moge_znalezc & dzieck*/syn*/cork*/mam*/psa/babci*, nie_ma_nigdzie, uciekl & pies/syn/kot, nie_wrocil* & dom*/policj*,
      $vehicle odjezdza/odlatuje/odchodzi/startuje/zamyka/odplywa $soon, odjezdza/odlatuje $soon & $vehicle, ostatnie_wezwanie,
      $system lezy/leza/padl*/nie_dziala/down/zhakowan*/niedostepn*/awari*, padl* $system, nie_dziala & klien*/produkcj*/nikt, awaria $system/produkcj*, klienci nie_moga, nikt_nie_moze, tracimy zamowieni*/dane/klient*, utrata_danych, wyciek_danych, zhakowal*, ransomware, 
      trzesienie_ziemi, ewaku*, uciekaj*, wychodzcie, wyjdzcie, wszyscy_na_zewnatrz, lawina, tsunami, tornado, holuj* & auto/samochod,
      odbierz_telefon, odbierz$, odbierz_prosze, zmarl* & $kid & przyjed*/zadzwon, umiera & $kid, ugryzl* & pies/waz & krw*/rek*/nog*, poparzyl*, insulin* & nie_ma/brak/potrzeb*, ratunku, ratuj*, sos
      """,
    urgent:
      "pilne, pilnie, pilna, pilny, bardzo_pilne, nagly_wypadek, nagla_sytuacja, nagly_przypadek, awaryjn* sytuacja, nie_moze_czekac, sprawa_zycia, na_wczoraj, jak_najszybciej & zadzwon*/przyjed*/potrzeb*/oddzwon*",
    danger: """
      $vehicle $soon,
      ogien, pozar, pali, dym, wypadek, rann*, krew, szpital*, policj*, straz, spadl* & $kid, upadl*, slabo & mi, kreci_mi_sie, boli & bardzo/strasznie, zgubil*, zaginal, boje_sie, niebezpiecz*, sama & boje, stalo_sie, cos_sie_stalo, zlego, wlaman*, ukradl*, noz, bron, trucizn*, wyciek, powodz, awari*, padl* & $system, lezy & $system, zamarz*, mroz, wymiotuj* & krw*, goraczk*, czekaja_na_ciebie, czekamy_na_ciebie, zaczyna & $soon, zamykaja & $soon
      """,
    help:
      "^pomocy, ^pomoz$, ^pomozcie, pomozcie, potrzebuje_pomocy, potrzebna_pomoc, potrzebujemy_pomocy, pomoz_mi_szukac, pomoz_szukac, ratunku",
    ask: """
      zadzwon, zadzwoncie, oddzwon, dzwon, odbierz, odpisz, odpowiedz, przyjedz, przyjedzcie, przyjdz, przyjdzcie, wracaj, wroc, chodz, gdzie_jestes, gdzie_jestescie, gdzie_ty, potrzebuje_cie, potrzebujemy, potrzebuje, czy_ktos, moze_ktos, przyslij*, wyslij*_kogos, otworz, wpusc, co_robic, co_mam_robic, wyjdz, uciekaj, zabierz_mnie, szukaj*, obudz_sie
      """,
    haste:
      "natychmiast, szybko, szybciej, teraz$, zaraz$, w_tej_chwili, od_razu, niezwlocznie, jak_najszybciej, pospiesz*, pilnie, pilne, asap, nie_ma_czasu, kazda_minuta, biegiem",
    idiom: """
      wyjscie_awaryjn*, wyjscia_awaryjn*, numer* alarmow*, pierwsza_pomoc, pierwszej_pomocy, alarm_probny, probny_alarm, straz_pozarna_ma, fajerwerk*, sztuczne_ognie, ognisko, czujnik_dymu, za_pomoc, twoja_pomoc, pomozesz, pomoc_w, umieram_ze, umieram_z, badanie_krwi, oddac_krew, cisnienie_krwi, do_zobaczenia, szybkie_pytanie, szybko_mija, przyjdz_na_kolacj*, przyjdz_na, chodz_na, boli_glowa_od
      """,
    calm: """
      nie_jest_pilne, niepilne, to_niepilne, nic_pilnego, nie_pilne, nie_ma_pospiechu, bez_pospiechu, nie_spiesz_sie, nie_musisz_sie_spieszyc, na_spokojnie, spokojnie, jak_bedziesz_miec, jak_bedziesz_mial*, jak_znajdziesz, kiedy_bedziesz_mogl*, w_wolnej_chwili, jak_masz_czas, moze_poczekac, poczeka, niewazne, nic_waznego, nic_powaznego, nic_sie_nie_stalo, nie_martw_sie, bez_paniki, bez_obaw, wszystko_ok, wszystko_dobrze, wszystko_w_porzadku, juz_dobrze, juz_ok, nic_mi_nie_jest, juz_dziala, naprawion*, rozwiazan*, znalazl*_sie, juz_znalaz*, falszywy_alarm, zart*, zartuje, haha*, hehe*, hihi*, nie_jest_to_pilne
      """,
    unreal: """
      powiedzial*, mowil*, w_##, okazalo_sie,
      przesuni*, przeniesi*, odwolan*, przelozon*, slyszal*,
      wczoraj, przedwczoraj, w_zeszlym, zeszlego_roku, ostatnio, # lat_temu/dni_temu/miesiecy_temu/tygodni_temu, lata_temu, kiedys, jak_bylem, jak_bylam, film, filmie, filmy, serial, dokument, ksiazk*, powiesc, odcinek, piosenk*, album, koncert, gra, gre, mecz, podcast, wiadomosci, wiadomosciach, gazet*, artykul, muzeum, teatr, sen, snil*, koszmar, mem, cwiczeni*, szkoleni*, kurs, ubezpieczeni*, dzien_otwarty, pracuje_w, pracuje_jako, co_znaczy, znaczy, co_to_jest, dzieki_za, dziekuje, dzieki, wyobraz, prawie, o_malo, wszystkiego_najlepszego, gratulacj*, przepis, planowan*, konserwacj*, mowil*_ze, zadanie_domowe, w_przyszlym
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
