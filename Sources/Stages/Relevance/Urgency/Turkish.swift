extension UrgencyLexicon {
  static let turkish = UrgencyLexicon(
    marks: """
      bir/ve/bu/cok/icin/ne/mi/mu/de/da/ben/sen/biz/var/yok/degil/ama/gibi/daha/en/beni/bana/sana/seni/her/simdi/sonra/olur/olsun/evet/hayir/nerede/neredesin/benim/senin/mi/et/dakika/su/eve/yarin/lutfen/oldu/icin
      """,
    classes: [
      "kid": """
      cocuk*/oglum/oglu/oglan/kizim/kizi/kiz/bebek/bebegim/anne*/annem/baba*/babam/babaanne*/anneanne*/dede*/nine*/esim/kocam/karim/kardes*/abi*/abla*/kopek*/kedi*/arkadas*/komsu*/biri/birisi/adam/kadin/o/teyze*/amca*/sevgilim
      """,
      "place": """
      ev/evi/evde/evimiz/mutfak*/bodrum*/garaj*/cati*/bina*/ofis*/oda*/banyo*/daire*/dukkan*/magaza*/araba*/otobus*/firin*/balkon*/bahce*/motor*/duvar*/tavan*/depo*/koridor*/apartman*/merdiven*/okul*/fabrika*/orman*/salon*
      """,
      "system": """
      sunucu*/site/sitemiz/websitesi/veritaban*/sistem*/ag/uretim/prod/canli/api/uygulama*/platform/odeme*/kasa*/servis*/internet/server/elektrik*
      """,
      "vehicle":
        "ucak/ucagin/ucagi/ucagimiz/ucus*/tren*/otobus*/otobusun/vapur*/feribot*/gemi*/taksi*/metro*/kapi/servis*",
      "soon": """
      #_dakika*/#_dk/bes_dakika*/on_dakika*/yirmi_dakika*/yarim_saat*/kirk_dakika*/on_bes_dakika*/birazdan/simdi/hemen/sensiz/#_dakikaya/#_dk_ya/az_sonra/dakikaya/
      iki_dakika*/uc_dakika*/dort_dakika*/alti_dakika*/yedi_dakika*/sekiz_dakika*/dokuz_dakika*/bir_dakikaya
      """,
      "flow": """
      akiyor/aktigi*/sizdiriyor/damliyor/fiskiriyor/doluyor/geliyor/tasiyor/yukseliyor/basti/basiyor
      """,
      "wspot": """
      kapi*/tavan*/yer*/duvar*/altindan/merdiven*/bodrum*/mutfak*/banyo*/koridor*/her_yer*/boru*/musluk*/tuvalet*/hali*/lamba*/daire*/ev*/araba*
      """,
      "water": """
      su/sular/suyu
      """,
      "hit": """
      tekmeliyor/vuruyor/dovuyor/kiriyor/zorluyor/sarsiyor/saldiriyor/boguyor/bicakliyor/itiyor/surukluyor/yumrukluyor
      """,
      "door": """
      kapi*/pencere*/kilit*/bana/bizi/beni/annemi/babami/kardesimi/camlari/cami
      """,
      "who2": """
      sevgilim/disarida/adam/adamlar/biri/yabanci/komsu/herif/kocam/sarhos/eski
      """,
      "gone": """
      kacmis/kacti/kayboldu/yok/kayip/gitmis
      """,
      "care": """
      kres*/anaokul*/okul*/park*/hastane*/huzurevi*/avm*/plaj*/bahce*
      """,
      "sys2": """
      veritabani/uretim/prod/sunucu*/odeme*/api*/giris/site*/backend/kasa*/siparis*/magaza/sistem*
      """,
      "broke2": """
      bozuldu/coktu/silindi/durdu/dondu/kapali/erisilemiyor/bos/hata/calismiyor/kilitlendi
      """,
      "crisis": """
      her_sey/kimse/herkes/musteri*/toplanti*/simdi/hemen/acil/yardim
      """,
      "detector": """
      alarm*/dedektor*/sensor*/karbonmonoksit
      """,
      "beep": """
      otuyor/caliyor/susmuyor/bipliyor
      """,
      "symptom": """
      basim_donuyor/midem/bas_agrisi/duman/gaz/yangin/koku
      """,
      "board": """
      biniyoruz/binis/kapi/peron/son_cagri/kapilar_kapaniyor/check_in
      """,
      "mins": """
      iki_dakika*/uc_dakika*/bes_dakika*/bir_dakika*/on_dakika*/#_dakika*/kapaniyor/simdi/son
      """,
      "you": """
      neredesin/kos/seni_bekliyoruz/dakikan/cabuk
      """,
      "burn": """
      yaniyor/tutustu/alev*/duman*/yangin/kivilcim*
      """,
      "thing": """
      kurutma/camasir_makinesi/bulasik_makinesi/tost*/firin/tava/mikrodalga/buzdolabi/televizyon/sarj*/pil/laptop/priz*/kablo/perde*/koltuk/yatak/cop/araba/motor/kamyon/otobus/garaj/kulube/cati*/mutfak/depo/baca/hali/mum/cadir/balkon/ev*/daire/bina*/ofis*/okul*/otel*/orman*/bodrum*
      """,
      "med": """
      ambulans*/acil_servis*/yogun_bakim*/itfaiye*/kalp_masaji
      """,
      "crash": """
      zincirleme_kaza/carpisma/kaza/takla/agaca/yoldan_cikt*
      """,
    ],
    alarm: """
      duman koku*, tepki_vermiyor, kaza_oldu,
      yaralandi*, yarali var, panik_atak, fare_zehiri, frenler tutmuyor, balkondan dustu, imdat_diye,
      nabzi_yok, nabiz_yok, patlayacak, uretim durdu, kapida_kaldim, anahtar & iceride & soguk/kaldi,
      polis/itfaiye/ambulans yolda/geliyor, cam/kapi kirildi/kirilmis,
      $place yaniyor/alev*/tutustu/tutustu/yangin, yaniyor & $place/imdat/ev, yangin var/cikti, alev_aldi, alevler & $place/var, duman var/geliyor/cikiyor/dolu/doldu, gaz kokusu/kacagi/sizintisi/kokuyor, yanik_kokusu, patladi & $place/boru/kazan/tup/su, patlama & oldu/var,
      su_basti, su_basmis, su_basiyor, sel & basti/geliyor/aldi, su akiyor/geliyor/doluyor/fiskiriyor/sizdiriyor/sizyor & $place/tavan*/her, boru patladi, tavan coktu/cokuyor/akiyor, bina coktu/cokuyor/yikildi, yikildi & bina/tavan/duvar, cokuyor & bina/tavan,
      nefes almiyor/alamiyor*/alamiyorum, nefes_almiyor, bogul*, boguluyor, boguluyorum, bilinci kapali/yok, bilincini_kaybet*, suursuz, baygin, bayildi, bayilmis, tepki_vermiyor, kipirdamiyor, hareket_etmiyor, uyanmiyor, yere_yigildi, kalp_krizi, felc, inme_gecir*, nobet geciriyor/gecirdi, havale, kanamasi durmuyor/var, kanama & durmuyor/cok, kaniyor & cok/durmuyor/basi, kanamam, cok_kan, kan_kaybediyor*, kan_icinde, gogsu*_agriyor, gogus_agrisi, gogsumde_agri, alerjik_reaksiyon, zehirlendi*, zehirlen*, asiri_doz, hap_icti, haplari_icti, pil yuttu, para yuttu, yuttu & pil/para/ilac/miknatis/dugme, deterjan icti, camasir_suyu icti, suyu_geldi, dogum & basladi/yapiyor/sancisi, sancilari,
      kolu*/bacag*/ayag*/kalca*/bileg* kirildi, kirildi & kol*/bacak/bacag*/ayag*, dustu & kalkamiyor/merdiven*/kipirdamiyor/kan*/kafa*/basi/catidan/balkondan, kalkamiyor, kalkamiyorum, yerinden_kalkamiyor, araba_carpti, carpti & araba/kamyon, elektrik_carpti, bicakla*, vuruldu, silah & sesi/var/sesleri, silahli, silah_sesleri, bicakli, bomba & var/ihbari, intihar & edecek/etmek/ediyor/etti, yasamak_istemiyorum, olmek_istiyorum,
      ambulans, polis cagir*/ara/kapida, polisi_ara, itfaiye* cagir*/ara/geliyor, 112_yi ara*, 112 ara*, doktor & lazim/cagir*/acil/cabuk, hastaneye & goturuyor*/kaldir*/gidiyoruz/gel/yetis*, hastanede & $kid & gel/ara/ac/cabuk, hastanede & telefon*/ac, yogun_bakim*, acil_serviste, acile & kaldir*/gotur*/gel, atesi & 40/41/cok/dusmuyor,
      kaza yaptik/yapti/gecirdi/gecirdik/yaptim/oldu/gecirdim, trafik_kazasi, hirsiz var/girdi/evde/icerde, hirsizlar, eve_girmeye & calisiyor*, girmeye_calisiyor*, kapiyi_zorluyor*, kapiyi_kirmaya, takip & ediyor* & beni/biri, beni_takip, pesimde, saldir* & ugradi*/var/bana/kopek*, soyuldu*, soydular, gasp_edil*, bicak_cekti, tehdit & ediyor*, beni_dovuyor, kacirildi, kacirdilar,
      asansorde kaldi*/mahsur/sikis*, mahsur, disarida_kaldi* & anahtar/kilit*/soguk, kilitli_kaldi*, kilitli_kald*, kapida_kaldi*, yolda_kaldi* & araba/otoban/gece, kayboldu* & orman/dag/karanlik/$kid, kayboldu & $kid, kayip & $kid, bulamiyorum & $kid/oglumu/kizimi, bulamiyoruz & $kid, kacti & kopek*/cocuk*, eve_donmedi & polis/merak*,
      $vehicle $soon kalkiyor/kalkacak/kalkacak/kapaniyor/hareket, $vehicle kalkiyor/kaciyor/gidiyor, kalkiyor & $vehicle & $soon, son_cagri, $vehicle & $soon & kalkiyor/neredesin, ucagi_kacir*, kapi_kapaniyor,
      $system coktu/cokmus/kapali/calismiyor/yok/durdu/gitti/down/hacklendi/cevap_vermiyor/erisilemiyor, coktu & $system, odeme_yapamiyor*, musteri* & yapamiyor*/giremiyor*/alamiyor*, kimse_giremiyor, veri_kaybi, veriler_silindi, veritabani silindi, hacklendi*, siber_saldiri, 
      deprem oluyor/oldu/var & cik*/disari/hemen/su/simdi/oluyor, deprem_oluyor, tahliye, disari_cik*, herkes_disari, hemen_cik*, kacin$, canini_kurtar, can_guvenligi, cig_dustu, orman_yangini, cekici & araba*/cekiyor,
      telefonu_ac, telefona_bak, ac_telefonu, ac_su_telefonu, kimse_almadi & okul*/cocu*, oldu_olacak_no, vefat & $kid & gel/ara, yilan_soktu, isirdi & kopek/yilan & kan*/bacak/el, haslandi, yandi & eli/yuzu/bebek, parmagi* kesti/koptu, insulin & bitti/yok/lazim, sos, 
      bulamiyor* & parkta*/salincak*/kaydirak*/atlikarinca*/hayvanat*/kalabalik*/lunapark*, kapiyi_zorluyor*, kapi* & kiriyor*/kirmaya/zorluyor*, eve_giriyor*, iceride & bebek/cocuk/ocak & kaldim/kilit*/kapi*, disarida_kaldim, dustu cevap_vermiyor/kipirdamiyor/hareket_etmiyor/konusmuyor, dustu & cevap_vermiyor, sana & ihtiyacim_var & simdi/burada/hemen, gelmen_lazim & hemen/simdi/cabuk/toplanti*, oldurecek & beni, oldurecek & yardim*/polis, beni & tehdit, ezdi & kopek/kedi/araba, bosalt* & okul*/bina*/hastane*, oksijen & kapandi/durdu/calismiyor, elektrik_yok & oksijen/solunum, koprude & atla*, atlayacag*, siparis*/odeme* gecmiyor*/basarisiz/alinamiyor, veritabani/veriler silindi/gitti/yok, kesti & testere*/bicak*/balta & el*/parmag*/kol*/bacag*, calindi/caldilar & canta*/telefon*/cuzdan* & yalniz*/lutfen/gar*/ac, 
      bogazi/yuzu/dili/dudagi/boynu sis*, sisiyor & bogaz*/yuz*/dil*, soktu & bogaz*/sis*/nefes*/ari, fazla hap/ilac & icti*/ictim/aldi*, butun_haplari, fren* & tutmuyor*/calismiyor*/bozuldu/yok, dolasiyor & evin/bahce*/biri, biri/adam & bahce*/pencere*/disarida/etrafinda & korkuyorum/bicak/polis/saklan*, saklaniyorum, saklandim, odeme*/siparis* & gecmiyor*/gitmiyor*, hemen_geri_al*, geri_alin, basi kaniyor/kanadi, kafasi kaniyor, kaydi & kafa*/kan*, agzi_egildi, konusamiyor & birden/kol*, altinda_kaldi, agac & altinda/devrildi, devrildi & altinda, yataktan_dustu & kalk*, kalkamiyor, duman/kivilcim & priz*/kablo*/camasir_makinesi, camasir_makinesi tasti/su_akitiyor, onu_dovuyor, dovuyorlar, kavga & bicak/kan, caliyorlar & simdi/araba*/bisiklet*, herkes_seni_bekliyor, yuttu, karda & mahsur/kaldik, benzin_bitti & yol*/kar*/mahsur, kapaniyor & $soon & kos/kapi, 
      boru/borusu/kombi/kalorifer*/hortum & patladi/patlamis/kirildi/islak/sizdiriyor, anahtarsiz & kapi*/disari*/kal*, anahtar* & unuttum/kaybettim/iceride & kapi*/disari*/soguk, giremiyorum & ev*/kapi*, kapi & kapandi & anahtar*/disari*, kimse_almadi & ogl*/kiz*/cocu*/okul*, zincirleme_kaza, takla_atti*, agaca/duvara carptik/carptim/carpti, hendek* & araba/dustuk, alevler, gaz & sizinti/tislama/kacak/basim, hirsizlar, cam/kapi/kilit kirilmis/zorlanmis, kayip & cocuk/kopek, kacti & cocuk/kopek, polis & kapi*/tutukla*/ariyor/soruyor, tutukla*, gozaltina, elektrik* & kesildi & asansor/bebek/oksijen/yalniz/sunucu*, elektrik_yok & asansor/bebek/oksijen, 
      perde/koltuk/yatak/tava/yag/mum/agac/kurutma*/tost* yaniyor/tutustu/duman/alev, dudaklari & mor/mavi, yabanci/adam & kapi*/garaj*/pencere* & zorluyor/acmaya/girmeye, kimse_gormemis/kimse_gormedi, icti/ictim camasir_suyu/deterjan/tiner/benzin, camasir_suyu & icti/ictim, kamyon & carpti/devirdi/devrildi, araba_devrildi, devrildi & araba/kamyon, kresten/okuldan/anaokulundan & aradi*/ariyor* & yok/kayip/yarali, asi/insulin/ilac* & dolab*/elektrik*/bozul*, kattan/balkondan/pencereden dustu, gelip & dovecek/oldurecek, dovecegini, odeme_sistemi & dondu/coktu/calismiyor, kasalar & durdu/calismiyor, akvaryum & kirildi/patladi, musteri* & hata & 500/502/503, hata_500, polis & goturmek/goturuyor, 
      kaybettik & pazar*/plaj*/park*/gar*/havaliman*/kalabalik*/avm*, bicak/bicagi/silah/silahi/balta & kapi*/disarida/takip, evde_biri, evde & biri_var, ayak_sesi/ayak_sesleri/ses & asagi*/yukari*/duy*, 
      api*/sunucu*/site* & donuyor/veriyor & 500/502/503/504, 500/502/503/504 & herkes*/tum/musteri*, motosiklet_kazasi, bisiklet_kazasi, trafik_kazasi, cami/cam/kapiyi kirmis*/kirmislar & acik/girmeye/korkuyorum, banyoda/tuvalette/asansorde kilitli/kaldim & duymuyor/kimse/yardim, nefesi & zor/kesil*, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      tekmeliyor & kapi*, kapiyi_tekmeliyor, 
      gogsum sikisiyor/agriyor/daraliyor, gogsum & kol*/nefes, kolum/yuzum/bacagim uyustu & gogs*/konus*/birden, araba*/bisiklet*/tekne* & nehirde/golde/kanalda/hendekte, hortum*/boru/musluk cikti/koptu/patladi & su/yer, yer/hali sirilsiklam, ana_vana, vana & nerede & su/yer/hortum*, sarhos & kapi*/takip/dovuyor, kimse & giris_yapamiyor*/odeyemiyor*, 
      elektrik* kesildi/yok/gitti & butun/tum/apartman*/mahalle*/buzluk/buzdolab*, hicbir_yerde & bul*/yok/bulam*, kayboldu & bulam*, takip_ediyor & beni/bizi, pesimde, pesimizde & biri/adam, 
      kan durmuyor, kanama durmuyor, kani durmuyor
      """,
    urgent: """
      acil, cok_acil, acilen, acil_durum, aciliyet, ivedi, bekleyemez, hayati, olum_kalim, hayat_memat
      """,
    danger: """
      yangin, ates & $place, alev*, duman, kaza, yarali, yaralandi, yaralandim, kan, hastane*, polis, itfaiye, dustu & $kid, bayil*, basim_donuyor, agri & cok/siddetli, agriyor & cok, kayboldu*, kayip & $kid, korkuyorum, korkuyoruz, tehlike*, yalnizim, mahsur, ciddi & durum, bir_sey_oldu, kotu_bir_sey, hirsiz*, calindi, bicak, silah, zehir*, su_kacagi, sel, patlama, bomba, deprem, coktu, ariza & $system, donuyorum, cok_kotu & $kid, fenalasti, fenalastim, kusuyor & kan/surekli, ates & yuksek, bekliyoruz_seni, seni_bekliyor*, kalkiyor & $soon, basliyor & $soon, kapaniyor & $soon, oldu & $kid & kaza, 
      soktu, sisiyor, fren*, kivilcim, 
      kacirac* & ucag*/tren*/otobus*, kacirac*, elektrikler_kesildi, elektrik_kesildi, tehdit, topalliyor & kopek/kedi, kapatiyoruz, taksi_bekliyor, veteriner*, 
      hata_500, boyn* & agriyor, her_yer_su, her_yer & su/cam, binis & kapaniyor/bitiyor, elektriksiz
      """,
    help: """
      ^imdat, ^yardim$, ^yardim_edin, yardim_edin, yardim_et$, ^yardim_et, yardima_ihtiyac*, yardim_lazim, yardim_gonder*, yardim_cagir*, kurtarin, beni_kurtar*, bulmama_yardim, yetisin, yetis, 
      ^imdat, imdat
      """,
    ask: """
      beni ara, hemen ara, ara_beni, bizi ara, bizi_ara, arayin, geri_ara, geri_don, telefonu_ac, ac_su, cevap_ver, yaz_bana, gel, gelin, eve_gel, buraya_gel, geri_gel, don$, neredesin, nerdesin, neredesiniz, nerede_kaldin, nerdesiniz, sana_ihtiyac*, lazimsin, ihtiyacim_var, ihtiyacimiz_var, lazim, birini_gonder*, gonder*, cagir*, kapiyi_ac*, ac_kapiyi, ne_yapayim, ne_yapacagim, ne_yapmaliyim, cik, cikin, kos$, kosun, acele_et, alsin_beni, gelip_al*, arayin_onu, gelebilir_misin, biri_gelebilir, 
      korkuyorum, cok_korkuyorum, ne_yapayim, ne_yapacagim, ne_yapalim, kos$, geri_alin, 
      eve_gel, cabuk_gel, geri_ara, kapatma$, telefonu_kapatma, hatta_kal, kapiyi_ac, kimse_var_mi, birini_yolla, kimde_var, nerede_kaldi, yardima_ihtiyacim, cik_disari, disari_cik, 
      kim_yardim_edebilir, yardim_et, gelebilir_misin, simdi_ne, kim_nobetci, nasil_kapat*, karakola_gel, 
      yalvaririm, ne_olur_gel, in_asagi, asagi_in
      """,
    haste: """
      hemen, simdi$, derhal, cabuk, acele, acele_et*, bir_an_once, en_kisa_surede, cok_hizli, hizlica, acil, acilen, vakit_yok, zaman_yok, suan$, su_an$, asap, lutfen_hemen, simdi_lutfen, 
      bir_an_evvel, vakit_kaybetmeden, ivedilikle, cabucak, 
      su_dakika, tam_su_an, bu_dakika, 
      simdi_gel, simdi_gelin
      """,
    idiom: """
      acil_cikis*, acil_numara*, acil_servis_doktoru, acil_eylem, ilk_yardim, yardim_eder_misin, yardim_edebilir, yardim_ettigin, yardimin, yardiminiz, yardimci, yangin_tatbikati, yangin_merdiven*, yangin_sondur*, itfaiyeci, havai_fisek*, gulmekten, oldum_gulmekten, aciktim, acliktan, gozlerim_doldu, kan_tahlili, kan_bagisi, kanka, kanki, ates_pahasi, ateskes, bomba_gibi, kaza_ile, kazara, simdilik, simdi_saat, gel_bakalim, gel_keyfim, gelince, gelecek, alev_alev_sarki, can_kirik, 
      acil_durum_liste*, acil_durum_plan*, acil_durum_canta*, acil_durum_numara*, acil_numara, acil_durum_kisi*, sarjim_bit*, acliktan_ol*, icin_olurum, bomba_gibi, bu_grup_bomba, 
      tatbikat*, 
      beni_oldurdu, benim_icin_oldu, 
      acil_inis*, acil_iniş*, 
      patron_beni_oldurur, yangin_tupu, sikintidan_ol*, 
      binis_hizli, birazdan_kalkiyoruz
      """,
    calm: """
      acil_degil, cok_acil_degil, o_kadar_acil_degil, acil_bir_sey_yok, acil_bir_durum_yok, acelesi_yok, acele_yok, aceleye_gerek_yok, acele_etme, acele_etmene, acil_durum_yok, rahat_ol, musait_olunca, musait_oldugunda, vaktin_olunca, zamanin_olunca, zamanin_varsa, bos_vaktin*, ne_zaman_istersen, bekleyebilir, sonra_da_olur, yarin_da_olur, onemli_degil, onemli_bir_sey, merak_etme, merak_etmeyin, endiselenme, sorun_yok, sorun_degil, bir_sey_yok, bir_sey_olmadi, yanlis_alarm, her_sey_yolunda, hersey_yolunda, iyiyim, iyiyiz, iyi_simdi, simdi_iyi, duzeldi, cozuldu, halledildi, hallettim, hallettik, calisiyor_artik, geri_geldi, bulundu, bulduk, saka, sakaydi, saka_yapiyorum, hahah*, haha*, ahah*, asdf*, sadece_bir, 
      taburcu, simdi_daha_iyi, eve_cikti, yeniden_calisiyor, tekrar_calisiyor, beri_calisiyor, 
      hep_oyle, hep_acil, her_sey_acil, hep_ayni, 
      elektrik_geldi, elektrikler_geldi, 
      bulundu, harika_oldugunu, acil_bir_sey_yok
      """,
    unreal: """
      dedi, demis, demisti, degilmis, ## yilinda,
      ertelen*, iptal, duydun_mu, gordun_mu, tasindi,
      dun, dunku, gecen_hafta, gecen_ay, gecen_yil, gecen_sene, gecen_yaz, # yil_once/gun_once/ay_once/hafta_once, yillar_once, eskiden, cocukken, gecenlerde, gecen_gun, film, filmi, filmler, dizi, belgesel, kitap, roman, bolum, sarki, album, konser, oyun, mac, podcast, haber, haberler*, gazete, makale, muze, sergi, tiyatro, ruya*, kabus, meme, fikra, tatbikat*, egitim*, kurs*, sigorta*, acik_kapi, calisiyor_itfaiyede, ne_demek, nedir, tesekkur*, sag_ol, hayal_et, neredeyse, az_kalsin, dogum_gunu*, tebrikler, tarif, planli, bakim_calismasi, demisti, odev*, seneye, 
      hatirliyor_mu*, hatirliyor_musun, hatirlar_misin, hatirla*, 
      pazarlari, cumartesileri, bedava, okudum, 
      filmdeki, gercek_degil, 
      spoiler, iki_yil_once, uc_yil_once, katil, bir_dahaki, 
      yanlislikla_112, cocukken, bir_kere, eleman_ariyor
      """,
    trifle: """
      kahve, cikolata, pizza, bira, sarap, tatil*, kuafor*, uyku*, dondurma, pasta, elbise, ayakkabi, netflix, parti, alisveris, masaj, yemek, hafta_sonu, sarilma, ekmek, sut, hediye, cay, doner
      """,
    later: """
      yarin, oburgun, sonra, daha_sonra, aksam, bu_aksam, haftaya, pazartesi, sali, carsamba, persembe, cuma, cumartesi, pazar, hafta_sonu, gelince, varinca, bitince, cikinca, musait, istersen, bir_ara, bir_gun
      """,
    suppose: "eger, olursa, varsa, neredeyse, sanki, karsi, umarim, durumunda",
    not: "hic",
    notBefore: "degil, yok, olmadi, degildi, olmaz, icin, olursa, varsa, durumunda"
  )
}
