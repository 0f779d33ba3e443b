extension UrgencyLexicon {
  static let spanish = UrgencyLexicon(
    marks: """
      el/la/los/las/un/una/de/del/que/no/en/y/a/es/esta/estoy/estan/se/me/te/lo/le/nos/por/para/con/mi/tu/su/mis/ya/muy/mas/hay/al/este/esa/ese/como/cuando/donde/si/pero/todo/todos/yo/ella/estas/aqui/ahora/sin/fue/son/mucho/alguien
      """,
    classes: [
      "kid": """
      nino/nina/ninos/ninas/hijo/hija/hijos/bebe/mama/papa/madre/padre/abuela/abuelo/marido/esposo/esposa/mujer/hermano/hermana/perro/perra/gato/gata/amigo/amiga/vecino/vecina/alguien/chico/chica/hombre/senor/senora/tia/tio/novio/novia/companer*/peque/el/ella/se/me/nos/ha/esta
      """,
      "place": """
      casa/cocina/sotano/garaje/techo/edificio/oficina/cuarto/habitacion/sala/bano/piso/apartamento/departamento/depa/tienda/almacen/coche/carro/auto/bus/horno/balcon/jardin/motor/pared/bodega/taller/pasillo/escalera/monte/bosque/camion/fabrica/local/ascensor/terraza/cortina*/colegio/escuela/planta
      """,
      "system": """
      servidor*/pagina/web/sitio/tienda/base_de_datos/base/sistema*/red/produccion/prod/api/app/aplicacion/plataforma/pago*/caja*/servicio*/cluster/backend/internet/correo/pasarela/luz
      """,
      "vehicle": "vuelo/avion/tren/bus/autobus/ferry/barco/taxi/uber/embarque/puerta/metro/camion/colectivo/micro/ave",
      "soon": """
      en_#_min/en_#_minuto*/en_cinco/en_diez/en_veinte/en_quince/en_treinta/en_cuarenta/en_media/en_media_hora/en_un_minuto/en_nada/dentro_de_#/sin_ti/ya/ahora/en_unos_minutos/en_dos/en_tres
      """,
    ],
    alarm: """
      cae_agua, cayendo_agua, agua & techo & cae/sale/gotea, hubo_un_accidente,
      esta/estoy/estan herid*/grave/graves, ataque_de_panico, ataque_de_ansiedad, sin_frenos, frenos & fallaron/funcionan, veneno_para, comio veneno, se_salio_de_la_carretera, se_cayo balcon/techo/ventana/arbol/escalera*, cayo balcon/ventana/techo, gritando auxilio/ayuda, pide_auxilio, encerrado en_el_coche, nino/bebe & encerrad* & coche/carro, no_contesta & puerta/preocup*/horas, ve_ya,
      $system borrad*/eliminad*,
      no_tiene_pulso, sin_pulso, fuera & llave*/frio & quede/casa, va_a_explotar, produccion parada/detenida, corazon & paro,
      mareando & sola/solo/mucho, metieron robar/casa, entraron robar/casa, policia/bomberos/ambulancia en_camino/viene*, rompieron ventana/puerta/vidrio, deje & estufa/plancha/gas & prendid*/encendid*,
      atragant*, hombre con_pistola/con_una_pistola/con_un_arma/con_cuchillo/armado, sin_luz & oxigeno/bebe, no_funciona $system, $system no_funcionan, se_tomo_todas, hundiendo, se_esta_hundiendo, cobrando & doble/dos_veces,
      alguien & dentro_de/en_mi/en_la & casa/habitacion/cuarto, me_robaron, nos_robaron, me_asaltaron, nos_asaltaron,
      $place quemando/quema/incendiando/ardiendo/arde/en_llamas, quemando & $place/se/esta, se_esta_quemando, esta_ardiendo, se_quema & $place/la, en_llamas, hay_un_incendio, hay_fuego, incendio en & $place/hay, fuego en & $place/hay, prendio_fuego, se_incendio, incendiando, humo & hay/sale/mucho/por/lleno, fuga gas, huele gas/quemado/humo, olor gas/quemado, escape_de_gas, exploto, explosion & en/hubo/casa/edificio,
      inund* & $place/se/nos/agua, agua entrando/saliendo/sale/cae/entra/sube/chorro*/por_todas/por_todos/goteando/brotando, esta_entrando agua, entra_agua, sale_agua, tuberia* rota/revento/rompio/reventada, revento & tubo/caneria/tuberia, se_rompio & tuberia/caneria/tubo, techo se_cae/cayo/derrumb*/hundi*, derrumbe, derrumbo,
      no respira, no_puede_respirar, no_puedo_respirar, no_respira, dejo_de_respirar, me_falta_el_aire, falta_aire & ascensor/encerrad*, ahogando & $kid, se_esta_ahogando, se_ahoga, me_ahogo, inconsciente, desmay*, no_reacciona, no_responde & $kid & cayo/desmay*/mama/papa/abuel*/nino, no_se_mueve, no_despierta, perdio_el_conocimiento, se_desplomo, colapso & $kid, convuls*, infarto, ataque corazon/cardiaco/epilep*/asma, derrame, ictus, sangra & mucho/no/cabeza/para, sangrando, desangra*, mucha_sangre, pierde_sangre, perdiendo sangre, sangre_por_todos, dolor pecho, duele_el_pecho, reaccion_alergica, anafila*, sobredosis, intoxic*, envenen*, demasiadas_pastillas, trago & moneda/pila/pastilla*/lejia/boton/iman*/cloro, tomo & lejia/cloro/veneno/pastillas, rompio_aguas, rompi_aguas, rompio_fuente, contracciones & tiene/tengo/hospital/ya, esta_de_parto, va_a_nacer, parto & hospital/ya/rumbo,
      rompio/roto/quebro/fractur* pierna/brazo/cadera/tobillo/muneca/pie/nariz, se_cayo & mueve/levanta*/sangr*/golpe*/cabeza/escalera*/balcon/techo & no/de/por/se, cayo_por_las, cayo_de_la escalera, no_puede_levantar*, no_se_puede_levantar, no_puedo_moverme, no_puede_moverse, no_puedo_levantarme, atropell*, electrocut*, apunal*, disparos, tiroteo, balacera, le_dispararon, baleado, con_un_cuchillo, con_una_pistola, armado* & hombre/hay/tipo/entro*, bomba & amenaza/hay/aviso, suicid* & $kid/voy/quiere, no_quiero_vivir, no_quiero_seguir, quitarme_la_vida, quiero_morir,
      ambulancia, llam* policia/bomberos/911/112/ambulancia/emergencias/medico, necesit* medico/doctor/ambulancia, un_medico & rapido/urgente/ya, en_urgencias & $kid & ven/estamos/llam*, en_el_hospital & contesta/ven/llam*/grave/ya/rapido, al_hospital & llev*/vamos/ven/camino/rumbo, en_la_uci, en_terapia_intensiva, ingresad* & $kid & uci/grave/hospital, fiebre & 40/41/alt*/baja & bebe/nino/nina/no/40/41,
      accidente & tuvimos/tuve/tuvo/hubo/grave/sufri*/acabamos/acabo/ven/coche/carro/carretera, choque & tuvimos/tuve/acabo/ven, chocamos, choque_fuerte, entr* robar/ladron*/casa & estan/esta/alguien/quieren/tienda/casa & robar/ladron*/alguien/forz*, ladrones, ladron & casa/hay/dentro, estan_robando, intentando/tratando entrar/abrir/forzar, forzando, asalt*, me_robaron & ahora/todo/acaban/ayuda/celular/bolso/pistola, nos_robaron, me_estan_siguiendo, me_siguen, me_sigue, me_persigue, persiguiendo, amenaz* & $kid & cuchillo/pistola/matar/con, atac* & $kid & perro/hombre/cuchillo, me_pego, me_esta_pegando, secuestr*, violar,
      encerrad* & ascensor/elevador/bano/fuera/afuera/dentro/coche/carro, atrapad*, atascad* & ascensor/nieve/barro/tunel/elevador, atorad* & elevador/ascensor/nieve, me_quede_fuera & llave*/frio/casa, fuera & sin_llaves, tirad* & carretera/autopista, averi* & autopista/carretera/tunel/noche, perdid* & monte/bosque/montana/nieve & estamos/estoy,
      no_encuentr* & hijo/hija/nino/nina/bebe/perro/mama/abuel*, perdi a hijo/hija/mi_hijo/mi_hija/nino/nina, perdi_a, se_perdio & hijo/hija/nino/nina/perro/abuel*, desaparec* & $kid, no_aparece & hijo/hija/nino/nina/abuel*/desde, se_escapo & perro/gato/nino, no_ha_vuelto & casa & policia/desde, 
      $vehicle sale/parte/despega/cierra/se_va/arranca/esta_por $soon, sale/parte/despega/cierra $soon & $vehicle, ultima_llamada, ultimo_aviso, cierra_la_puerta,
      $system caid*/cayo/down/no_funciona/bloquead*/hackead*/colgad*/muert*/no_responde, se_cayo $system/produccion, se_cayo & $system, cayo $system, esta_caid*, estan_caid*, nadie_puede pagar/comprar/entrar/acceder, clientes no_pueden & pagar/comprar/entrar/acceder, caida $system/total/general, perdiendo pedidos/datos/ventas/clientes/dinero, perdida_de_datos, hackearon, nos_hackearon, ciberataque, ransomware, borro & base/produccion, filtracion_de_datos,
      terremoto & salgan/fuerte/ahora/hay/sal/temblando, temblor fuerte & salgan/sal, esta_temblando, evacu*, salgan & todos/ya/rapido/edificio, salid & todos/ya/rapido, sal_de_ahi, salgan_de_ahi, tsunami, tornado, huracan & evacu*/llega, incendio_forestal & acerca/evacu*/cerca, pongan*_a_salvo, avalancha, peligro_de_muerte, grua & llevando/coche/carro/tu,
      contesta & telefono/ya/por_favor/urgente/rapido, contestame, coge_el_telefono, atiende & telefono/ya, nadie & recogio/recogido & escuela/colegio/nino*/nina*/hijo*, murio & $kid & ven/llama*/acaba, fallecio & $kid & ven/llama*/acaba, se_esta_muriendo, se_muere & $kid & ayuda/perro/papa/mama, picadura, mordio & serpiente/perro & sangr*/pierna/mano, quemo & mano/cara/agua/nino/nina, se_corto & dedo/mano/sangr*, insulina & sin/necesit*/no, inhalador & sin/necesit*/no, sos
      """,
    urgent: """
      urgente, urgentemente, es_urgente, muy_urgente, emergencia, una_emergencia, con_urgencia, urge, me_urge, nos_urge, no_puede_esperar, no_puedo_esperar_mas, vida_o_muerte, cuestion_de_vida, alerta_roja, cuanto_antes & llam*/ven/necesit*/contesta, lo_antes_posible & llam*/ven/necesit*/contesta
      """,
    danger: """
      $vehicle $soon,
      fuego, incendio, llamas, humo, accidente, herido*, herida*, sangre, hospital, urgencias, policia, bomberos, cayo & $kid, desmayo, mareado, mareada, mareo, dolor & fuerte/mucho/terrible/insoportable, perdido & $kid, desaparecid*, miedo, peligro, en_peligro, sola, encerrad*, atascad*, atrapad*, grave, algo_malo, algo_terrible, paso_algo, algo_paso, robo, robaron, cuchillo, pistola, arma, veneno, inundacion, inundando, fuga, explosion, bomba, terremoto, caido & $system, caida & $system, hackea*, averia, helando, congelando, muy_mal, muy_grave, vomitando & sangre/para, fiebre, te_estamos_esperando, esperandote, te_espera* & todos, empieza $soon, sale $soon, cierra $soon, muerto & $kid
      """,
    help: """
      ayudame rapido/ya/pronto/ahora, ayudenme,
      ^ayuda$, ^ayudame$, ^ayudenme, ^ayudanos, ^socorro, ^auxilio, socorro, auxilio, ayudenme, ayudanos, ayuda_por_favor, necesito_ayuda, necesitamos_ayuda, pide_ayuda, pidan_ayuda, ayudame_por_favor, ayudame_a_buscar*, ^ayuda_ayuda
      """,
    ask: """
      no_estas, no_llegas, no_has_llegado,
      ve_ya, ve_a_ver, pasa_por, pasa_a_ver,
      llamame, llamanos, llama & ya/rapido/mama/papa/casa, llamen, llamenme, marcame, hablame & ya/urgente/rapido, contesta, contestame, contesten, responde, respondeme, ven, vengan, venid, vuelve, regresa, que_vengas, donde_estas, donde_andas, donde_estan, donde_estais, te_necesito, te_necesitamos, necesito_que, necesitamos_a, necesitamos_que, necesitamos, alguien_puede, puede_alguien, manda, manden, envia, envien, abre, abreme, abran, que_hago, que_hacemos, sal, salgan, apurate, apurense, date_prisa, corre, corran, busquen, recogeme, ven_por_mi, conectate
      """,
    haste: """
      ya$, ya_mismo, ahora$, ahora_mismo, inmediatamente, de_inmediato, rapido, rapidisimo, cuanto_antes, lo_antes_posible, pronto$, urgente, urgentemente, deprisa, apurate, asap, enseguida, en_este_momento, por_favor_ya, no_hay_tiempo, sin_perder_tiempo, cada_minuto, corre$, emergencia
      """,
    idiom: """
      salida* de_emergencia, salida* emergencia, de_emergencia, numero* emergencia*, contacto* emergencia, sala_de_urgencias_es, primeros_auxilios, simulacro*, estacion_de_bomberos, fuegos_artificiales, alto_el_fuego, a_fuego_lento, fuego_lento, jugar_con_fuego, que_fuego, me_muero, muero_de, muerto_de, muerta_de, estoy_muert*, muertos_de, ayuda_con, tu_ayuda, su_ayuda, me_ayudas, me_ayuda, ayudame_a, ayudame_con, ayudar, ayudarme, detector_de_humo, me_cayo_bien, cae_bien, cayo_mal, cayo_el, ven_a_la_fiesta, ven_a_cenar, ven_a_comer, viene, que_miedo, sin_miedo, por_accidente, analisis_de_sangre, donar_sangre, sangre_fria, sale_bien, ya_esta, ya_voy, ya_llegue, ya_se, hasta_pronto, nos_vemos_pronto, mejorate_pronto, ahora_en, no_pasa_nada, sal_y_pimienta, la_sal, te_llamo_ya, ahora_no, importante_ahora
      """,
    calm: """
      no_es_urgente, no_urge, nada_urgente, no_es_nada_urgente, no_tan_urgente, no_es_tan_urgente, no_es_una_emergencia, no_es_emergencia, ninguna_emergencia, sin_prisa, sin_prisas, no_hay_prisa, no_hay_apuro, sin_apuro, no_corre_prisa, con_calma, tranquilo$, tranquila$, tranqui, no_te_preocupes, no_se_preocupen, no_os_preocupeis, no_hay_problema, tomate_tu_tiempo, tomate_el_tiempo, cuando_puedas, cuando_pueda, cuando_puedan, cuando_quieras, cuando_tengas, si_tienes_tiempo, puede_esperar, no_es_importante, nada_importante, no_es_nada, nada_grave, no_es_grave, no_paso_nada, no_pasa_nada, falsa_alarma, todo_bien, todo_esta_bien, todo_ok, todo_en_orden, ya_estoy_bien, estoy_bien, esta_bien_ahora, ya_esta_bien, ya_paso, ya_funciona, ya_se_arreglo, ya_se_soluciono, solucionado, resuelto, arreglado, ya_aparecio, ya_lo_encontr*, ya_la_encontr*, es_broma, era_broma, es_una_broma, bromeo, jaja*, jeje*, jiji*, ajaj*, xd, mejor_ya, fue_solo, era_solo, nadie_resulto
      """,
    unreal: """
      dijo, decia, dicen_que, en_##, resulto,
      aplaz*, pospu*, se_movio, cambio_de_fecha, cancel*, paso_al, supiste, viste_el, viste_la,
      ayer, anteayer, anoche_vi, la_semana_pasada, el_mes_pasado, el_ano_pasado, el_verano_pasado, la_ultima_vez, hace_anos, hace_#_anos, hace_#_dias, hace_#_semanas, hace_#_meses, hace_mucho, aquella_vez, en_aquel, antes & era, cuando_era, el_otro_dia, pelicula, peliculas, peli, serie, documental, libro, novela, episodio, capitulo, cancion, disco, album, concierto, juego, partido, podcast, noticias, noticiero, periodico, articulo, museo, teatro, sueno, sone, pesadilla, meme, chiste, simulacro, entrenamiento, curso, taller_de, seguro_de, poliza, puertas_abiertas, trabaja_en, trabaja_como, trabajo_en_urgencias, significa, que_es_una, gracias_por, gracias, imagina*, casi, feliz_cumpleanos, felicidades, receta, programad*, mantenimiento, buenisim*, decia_que_era, dijo_que_era, tarea, proximo_ano, algun_dia
      """,
    trifle: """
      cafe, chocolate, pizza, cerveza*, vino, vacaciones, peluquer*, siesta, helado, pastel, vestido, zapatos, netflix, fiesta, compras, masaje, almuerzo, cena, finde, abrazo*, chisme, pan, leche, tacos, sushi, regalo
      """,
    later: """
      manana, pasado_manana, mas_tarde, luego, despues, esta_noche, la_proxima_semana, el_lunes, el_martes, el_miercoles, el_jueves, el_viernes, el_sabado, el_domingo, este_finde, cuando_llegues, cuando_salgas, cuando_estes, cuando_termines, cuando_vengas, cuando_vuelvas, cuando, si_quieres, si_puedes, algun_dia, un_dia_de_estos
      """,
    suppose: "si, por_si, en_caso, en_caso_de, casi, como_si, ojala, contra, a_menos_que",
    not: "no, nada, ningun, ninguna, sin, ni, nunca, jamas, tampoco",
    notBefore: ""
  )
}
