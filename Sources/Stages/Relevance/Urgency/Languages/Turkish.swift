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
      #_dakika*/#_dk/bes_dakika*/on_dakika*/yirmi_dakika*/yarim_saat*/kirk_dakika*/on_bes_dakika*/birazdan/simdi/hemen/sensiz/#_dakikaya/#_dk_ya/az_sonra/dakikaya
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
      telefonu_ac, telefona_bak, ac_telefonu, ac_su_telefonu, kimse_almadi & okul*/cocu*, oldu_olacak_no, vefat & $kid & gel/ara, yilan_soktu, isirdi & kopek/yilan & kan*/bacak/el, haslandi, yandi & eli/yuzu/bebek, parmagi* kesti/koptu, insulin & bitti/yok/lazim, imdat, sos
      """,
    urgent: """
      acil, cok_acil, acilen, acil_durum, aciliyet, ivedi, bekleyemez, hayati, olum_kalim, hayat_memat
      """,
    danger: """
      yangin, ates & $place, alev*, duman, kaza, yarali, yaralandi, yaralandim, kan, hastane*, polis, itfaiye, dustu & $kid, bayil*, basim_donuyor, agri & cok/siddetli, agriyor & cok, kayboldu*, kayip & $kid, korkuyorum, korkuyoruz, tehlike*, yalnizim, mahsur, ciddi & durum, bir_sey_oldu, kotu_bir_sey, hirsiz*, calindi, bicak, silah, zehir*, su_kacagi, sel, patlama, bomba, deprem, coktu, ariza & $system, donuyorum, cok_kotu & $kid, fenalasti, fenalastim, kusuyor & kan/surekli, ates & yuksek, bekliyoruz_seni, seni_bekliyor*, kalkiyor & $soon, basliyor & $soon, kapaniyor & $soon, oldu & $kid & kaza
      """,
    help: """
      ^imdat, ^yardim$, ^yardim_edin, yardim_edin, yardim_et$, ^yardim_et, yardima_ihtiyac*, yardim_lazim, yardim_gonder*, yardim_cagir*, kurtarin, beni_kurtar*, bulmama_yardim, yetisin, yetis
      """,
    ask: """
      beni ara, hemen ara, ara_beni, bizi ara, bizi_ara, arayin, geri_ara, geri_don, telefonu_ac, ac_su, cevap_ver, yaz_bana, gel, gelin, eve_gel, buraya_gel, geri_gel, don$, neredesin, nerdesin, neredesiniz, nerede_kaldin, nerdesiniz, sana_ihtiyac*, lazimsin, ihtiyacim_var, ihtiyacimiz_var, lazim, birini_gonder*, gonder*, cagir*, kapiyi_ac*, ac_kapiyi, ne_yapayim, ne_yapacagim, ne_yapmaliyim, cik, cikin, kos$, kosun, acele_et, alsin_beni, gelip_al*, arayin_onu, gelebilir_misin, biri_gelebilir
      """,
    haste: """
      hemen, simdi$, derhal, cabuk, acele, acele_et*, bir_an_once, en_kisa_surede, cok_hizli, hizlica, acil, acilen, vakit_yok, zaman_yok, suan$, su_an$, asap, lutfen_hemen, simdi_lutfen
      """,
    idiom: """
      acil_cikis*, acil_numara*, acil_servis_doktoru, acil_eylem, ilk_yardim, yardim_eder_misin, yardim_edebilir, yardim_ettigin, yardimin, yardiminiz, yardimci, yangin_tatbikati, yangin_merdiven*, yangin_sondur*, itfaiyeci, havai_fisek*, gulmekten, oldum_gulmekten, aciktim, acliktan, gozlerim_doldu, kan_tahlili, kan_bagisi, kanka, kanki, ates_pahasi, ateskes, bomba_gibi, kaza_ile, kazara, simdilik, simdi_saat, gel_bakalim, gel_keyfim, gelince, gelecek, alev_alev_sarki, can_kirik
      """,
    calm: """
      acil_degil, cok_acil_degil, o_kadar_acil_degil, acil_bir_sey_yok, acil_bir_durum_yok, acelesi_yok, acele_yok, aceleye_gerek_yok, acele_etme, acele_etmene, acil_durum_yok, rahat_ol, musait_olunca, musait_oldugunda, vaktin_olunca, zamanin_olunca, zamanin_varsa, bos_vaktin*, ne_zaman_istersen, bekleyebilir, sonra_da_olur, yarin_da_olur, onemli_degil, onemli_bir_sey, merak_etme, merak_etmeyin, endiselenme, sorun_yok, sorun_degil, bir_sey_yok, bir_sey_olmadi, yanlis_alarm, her_sey_yolunda, hersey_yolunda, iyiyim, iyiyiz, iyi_simdi, simdi_iyi, duzeldi, cozuldu, halledildi, hallettim, hallettik, calisiyor_artik, geri_geldi, bulundu, bulduk, saka, sakaydi, saka_yapiyorum, hahah*, haha*, ahah*, asdf*, sadece_bir
      """,
    unreal: """
      dedi, demis, demisti, degilmis, ## yilinda,
      ertelen*, iptal, duydun_mu, gordun_mu, tasindi,
      dun, dunku, gecen_hafta, gecen_ay, gecen_yil, gecen_sene, gecen_yaz, # yil_once/gun_once/ay_once/hafta_once, yillar_once, eskiden, cocukken, gecenlerde, gecen_gun, film, filmi, filmler, dizi, belgesel, kitap, roman, bolum, sarki, album, konser, oyun, mac, podcast, haber, haberler*, gazete, makale, muze, sergi, tiyatro, ruya*, kabus, meme, fikra, tatbikat*, egitim*, kurs*, sigorta*, acik_kapi, calisiyor_itfaiyede, ne_demek, nedir, tesekkur*, sag_ol, hayal_et, neredeyse, az_kalsin, dogum_gunu*, tebrikler, tarif, planli, bakim_calismasi, demisti, odev*, seneye
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
