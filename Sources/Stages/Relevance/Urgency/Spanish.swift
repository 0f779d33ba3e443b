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
      en_#_min/en_#_minuto*/en_cinco/en_diez/en_veinte/en_quince/en_treinta/en_cuarenta/en_media/en_media_hora/en_un_minuto/en_nada/dentro_de_#/sin_ti/ya/ahora/en_unos_minutos/en_dos/en_tres/
      en_dos_minutos/en_tres_minutos/en_cuatro_minutos/en_seis_minutos/en_siete_minutos/en_ocho_minutos/en_nueve_minutos/en_doce_minutos/en_un_minuto
      """,
      "flow": """
      sale/saliendo/gotea*/inund*/cae/cayendo/entra*/brota/desbord*/sube/pierde/chorrea*/filtra*
      """,
      "wspot": """
      puerta/techo/suelo/pared/paredes/debajo/escalera/sotano/cocina/bano/pasillo/partes/tuberia/grifo/vater/alfombra/lampara/piso/casa/coche
      """,
      "water": """
      agua/aguas
      """,
      "hit": """
      patada*/pega*/golpe*/rompe*/forz*/tira*/ataca*/estrangul*/apunal*/empuj*/zarandea*/aporrea*/arrastra*
      """,
      "door": """
      puerta/ventana/portal/cerradura/me/nos/mama/papa/hermana/hermano/cristal
      """,
      "who2": """
      ex/fuera/hombre/hombres/alguien/desconocido/vecino/tipo/tipos/novio/marido/borracho
      """,
      "gone": """
      escapado/escapo/desaparecido/desaparecio/perdido/fugado/no_esta/se_ha_ido
      """,
      "care": """
      guarderia/colegio/escuela/parque/columpios/hospital/residencia/zoo/centro_comercial/playa/jardin
      """,
      "sys2": """
      base_de_datos/produccion/prod/servidor*/pago/pagos/api/login/web/pagina/backend/cluster/caja/cajas/pedidos/tienda/sistema/sistemas
      """,
      "broke2": """
      corrupta/corrupto/caido/caida/caidos/caidas/borrada/borrado/muerto/colgado/colgada/parado/parada/paradas/roto/rota/bloquead*/fuera_de_servicio/inaccesible/vacia/error/errores/fallan/fallando
      """,
      "crisis": """
      todo/nadie/todos/clientes/usuarios/llamada/ahora/ya/urgente/ayuda*/entra
      """,
      "detector": """
      detector/alarma/sensor/monoxido
      """,
      "beep": """
      pita/pitando/suena/sonando/salta/saltado/no_para
      """,
      "symptom": """
      maread*/nauseas/dolor_de_cabeza/humo/gas/fuego/olor/huele
      """,
      "board": """
      embarcando/embarque/puerta/anden/ultima_llamada/cierran_puertas/facturacion
      """,
      "mins": """
      dos_minutos/tres_minutos/cinco_minutos/un_minuto/diez_minutos/#_minutos/#_min/cierra/ya/ultimo
      """,
      "you": """
      te_quedan/donde_estas/corre/te_espera*/date_prisa/tienes
      """,
      "burn": """
      arde/ardiendo/quema*/en_llamas/llamas/fuego/humo/humea/prende/chispas
      """,
      "thing": """
      secadora/lavadora/lavavajillas/tostadora/horno/sarten/microondas/nevera/tele/cargador/bateria/portatil/enchufe/cable/cortina*/sofa/cama/colchon/basura/coche/motor/camion/bus/garaje/caseta/atico/tejado/cocina/granero/almacen/chimenea/alfombra/vela/tienda/balcon/casa/piso/edificio/oficina/colegio/hotel/bosque/campo/sotano
      """,
      "med": """
      ambulancia/urgencias/uci/cuidados_intensivos/samur/reanim*/bomberos
      """,
      "crash": """
      accidente/choque/colision/vuelco/volcado/fuera_de_la_carretera/contra_un_arbol
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
      contesta & telefono/ya/por_favor/urgente/rapido, contestame, coge_el_telefono, atiende & telefono/ya, nadie & recogio/recogido & escuela/colegio/nino*/nina*/hijo*, murio & $kid & ven/llama*/acaba, fallecio & $kid & ven/llama*/acaba, se_esta_muriendo, se_muere & $kid & ayuda/perro/papa/mama, picadura, mordio & serpiente/perro & sangr*/pierna/mano, quemo & mano/cara/agua/nino/nina, se_corto & dedo/mano/sangr*, insulina & sin/necesit*/no, inhalador & sin/necesit*/no, sos, 
      no_encontramos/no_encuentro/no_aparece & columpios/tobogan/parque_infantil/tiovivo/carrusel/feria/zoo/multitud/arenero/patio, forz*/reventando/reventar/tirando puerta/ventana/cerradura & alguien/estan, te_necesito aqui/ahora/ya, te_necesitamos aqui/ahora/ya, fuera & bebe/nino/nina/horno/fuego & dentro & llaves/quedado, me_va_a_matar & ayuda*/policia/dice, quiere_matarme, me_quiere_matar, me_amenaza, me_esta_amenazando, atropella* & perro/gato/nino/me/a, evacua* & colegio/escuela/edificio/hospital/guarderia, maquina & oxigeno/respir* & apagad*/parad*/luz, sin_luz & oxigeno/respirador/dialisis, en_el_puente & saltar/tirarse/salta, va_a_saltar, quiere_saltar, pedidos/pagos/transacciones fallando/fallan/fallado, fallando & pedidos/pagos/compras, base_de_datos & produccion/clientes & desaparecido/borrada/vacia/perdida, cortado & sierra/cuchillo/hacha/cristal & mano/dedo/pierna/brazo, robado & bolso/movil/cartera & sola/solo/contesta/estacion/ayuda*, 
      reventado/roto/estallado tuberia/caneria, tuberia/caneria reventada/rota/reventado, 
      garganta/cara/lengua/labios/cuello hincha/hinchada/hinchando/hinchado/cierra, picado & garganta/hincha/abeja/avispa/respir*, demasiadas pastillas/tabletas, tomado todas/demasiadas & pastillas, frenos & no/fallan/fallado/rotos, sin_frenos, rondando, merodea*, alguien/hombre & jardin/fuera/ventana/alrededor & miedo/cuchillo/policia/escond*, estoy_escondid*, estamos_escondid*, ningun pago/pedido & entra/pasa/funciona, no_entra ningun/pago*/pedido*, pagos/pedidos no_pasan/no_entran/rechazados/bloqueados, rollback ya/urgente/ahora, volved_atras, cabeza sangra*, sangra & cabeza, resbalado & cabeza/sangr*/inconsciente, confund* & cabeza/caido, boca_torcida, no_puede_hablar, debajo & arbol/muro/coche/caido, ha_caido_encima, caido de_la_cama & levantar*/mover*, no_puede_levantarse, no_se_puede_levantar, humo/chispas/quema* & enchufe/cable/lavadora/secadora/cuadro, lavadora & desborda*/pierde/inunda*, vater/retrete desborda*, pegando_le, la_esta_pegando, le_esta_pegando, se_pelean & cuchillo*/navaja*/sangre, estan_robando, te_estan_robando, todos_te_esperan, te_esperan_todos, tragado pila/moneda/iman*/bateria/boton/canica, atrapados/atascados & nieve/barro/gasolina, sin_gasolina & autopista/nieve/noche/atrapados, 
      tubo/tuberia/caneria/manguera/caldera/calefaccion/radiador & reventado/roto/explotado/estallado/pierde, sin llave/llaves & puerta/fuera/calle/frio, llave/llaves olvidado/olvide/perdido/dentro & puerta/fuera/frio, se_me_ha_cerrado & puerta/llaves, no_puedo_entrar & casa/piso/coche, nadie recogido/recoger/recogio & hijo/hija/nino*/colegio/guarderia, no_ha_recogido, choque_multiple, volcado & coche/camion/hemos, contra & arbol/muro/camion & chocado/estrellado, en_la_cuneta, llamas & cocina/casa/techo/salen, gas & fuga/silba/cabeza/abre/sal, ladrones, ventana/puerta/cerradura forzad*/rota/reventad*, se_ha_escapado, escapado & nino/nina/perro/hijo, policia & puerta/deten*/busc*/pregunt*, detenido & policia/mi/han, me_han_detenido, apagon & ascensor/bebe/oxigeno/hospital/solo/sola, se_ha_ido_la_luz & ascensor/bebe/oxigeno/sola/solo/servidor*, sin_luz & ascensor/bebe/oxigeno, 
      cortina/sofa/cama/sarten/aceite/basura/vela/arbol/freidora/secadora/tostadora fuego/llamas/quemando/humo/ardiendo/arde, apesta_a gas/humo/quemado, huele_a gas/humo/quemado, labios azules/morados, desconocido/hombre/tipos/tio & puerta/garaje/ventana/rellano/escalera & forcej*/abrir/entrar/golpe*, nadie_lo_ha_visto, nadie_la_ha_visto, bebido/bebi & lejia/detergente/producto/gasolina, lejia & bebido/tragado, echado de_la_carretera, volcados, guarderia/colegio/escuela llaman/llama/llamado & no_esta/desaparecido/perdido/herido, no_esta & guarderia/colegio, vacunas/insulina/medicinas & nevera/frio/luz, caido & piso/balcon/ventana & gato/perro/nino/nina, viene & pegarme/matarme, a_pegarme, sistema_de_pago colgado/caido/bloqueado, cajas paradas/bloqueadas, acuario roto/reventado/estallado, policia llevar*/llevan & quiere/ven/comisaria, clientes error & 500/502/503, error_500, 
      no funcionan/van/responden/me_funcionan frenos, no_me_funcionan_los_frenos, 
      perdido a/de & mercado/playa/parque/estacion/aeropuerto/feria/centro_comercial/multitud/super, cuchillo/pistola/arma/hacha/navaja & puerta/fuera/sigue/persigue, hay_alguien en_casa/dentro/en_el_piso/en_la_casa/abajo/arriba !en_casa_hoy, alguien_dentro, oigo & pasos/ruidos/alguien & abajo/arriba/casa, quedado_fuera & copia/llave/frio/casa/otra_vez, 
      api/backend/web/servidor devuelve/responde/da & 500/502/503/504, 500/502/503/504 & todo_el_mundo/todos/clientes/usuarios, accidente_de moto/bici/patinete/trafico/coche, roto/rota ventana/puerta/cristal & abierta/entrar/llevado/robado, encerrad* & bano/sotano/ascensor/aseo & oye/nadie/ayuda*, respira_mal, no_puede_respirar_bien, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      pecho presion/opresion/duele/dolor/aprieta & brazo/aire/respir*/noto/siento, presion_en_el_pecho, opresion_en_el, brazo/cara/pierna dormido/dormida/duerme/paralizad* & pecho/hablar/repente, coche/bici/barco & rio/lago/canal/cuneta & en/caido, manguera/tuberia/grifo soltado/roto/reventado & agua/suelo, suelo/alfombra empapad*/inundad*, llave_de_paso, cortar_el_agua, borracho & puerta/forzar/persigue/pega, falla/roto & todos & login/usuarios/clientes, 
      luz/electricidad & fue/ido/cortado/cortaron & toda/todo/entera/entero/congelador/nevera, sin_luz & toda/todo/congelador/nevera/edificio, apagon & toda/todo/casa/edificio/calle, encontramos/encuentro & ningun & lado/parte/sitio/lugar, no_aparece & $kid/ningun, me_esta_siguiendo, esta_siguiendome, nos_esta_siguiendo, nos_siguen, 
      no_para_de_sangrar, no_deja_de_sangrar, no_dejo_de_sangrar, no_paro_de_sangrar
      """,
    urgent: """
      urgente, urgentemente, es_urgente, muy_urgente, emergencia, una_emergencia, con_urgencia, urge, me_urge, nos_urge, no_puede_esperar, no_puedo_esperar_mas, vida_o_muerte, cuestion_de_vida, alerta_roja, cuanto_antes & llam*/ven/necesit*/contesta, lo_antes_posible & llam*/ven/necesit*/contesta
      """,
    danger: """
      $vehicle $soon,
      fuego, incendio, llamas, humo, accidente, herido*, herida*, sangre, hospital, urgencias, policia, bomberos, cayo & $kid, desmayo, mareado, mareada, mareo, dolor & fuerte/mucho/terrible/insoportable, perdido & $kid, desaparecid*, miedo, peligro, en_peligro, sola, encerrad*, atascad*, atrapad*, grave, algo_malo, algo_terrible, paso_algo, algo_paso, robo, robaron, cuchillo, pistola, arma, veneno, inundacion, inundando, fuga, explosion, bomba, terremoto, caido & $system, caida & $system, hackea*, averia, helando, congelando, muy_mal, muy_grave, vomitando & sangre/para, fiebre, te_estamos_esperando, esperandote, te_espera* & todos, empieza $soon, sale $soon, cierra $soon, muerto & $kid, 
      picado, hincha, pastillas, frenos, chispas, resbalado, 
      perder vuelo/tren/avion/autobus, perdemos vuelo/tren/avion/autobus, apagon, se_ha_ido_la_luz, sin_luz, amenaza*, cojea & perro/gato, van_a_cerrar, vamos_a_cerrar, taxi_espera, veterinario, 
      error_500, duele & cuello/pecho/barriga, agua_por_todas, cristales, embarque & termina/cierra/acaba
      """,
    help: """
      ayudame rapido/ya/pronto/ahora, ayudenme,
      ^ayuda$, ^ayudame$, ^ayudenme, ^ayudanos, ^socorro, ^auxilio, socorro, auxilio, ayudenme, ayudanos, ayuda_por_favor, necesito_ayuda, necesitamos_ayuda, pide_ayuda, pidan_ayuda, ayudame_por_favor, ayudame_a_buscar*, ^ayuda_ayuda
      """,
    ask: """
      no_estas, no_llegas, no_has_llegado,
      ve_ya, ve_a_ver, pasa_por, pasa_a_ver,
      llamame, llamanos, llama & ya/rapido/mama/papa/casa, llamen, llamenme, marcame, hablame & ya/urgente/rapido, contesta, contestame, contesten, responde, respondeme, ven, vengan, venid, vuelve, regresa, que_vengas, donde_estas, donde_andas, donde_estan, donde_estais, te_necesito, te_necesitamos, necesito_que, necesitamos_a, necesitamos_que, necesitamos, alguien_puede, puede_alguien, manda, manden, envia, envien, abre, abreme, abran, que_hago, que_hacemos, sal, salgan, apurate, apurense, date_prisa, corre, corran, busquen, recogeme, ven_por_mi, conectate, 
      tengo_miedo !de, tengo_mucho_miedo, que_hago, que_hacemos, corre$, corred, rollback, 
      ven_a_casa, vuelve_a_casa, daos_prisa, date_prisa, no_cuelgues, quedate_al, abreme, dejame_entrar, alguien_puede, hay_alguien, manda_a_alguien, quien_tiene, donde_esta, donde_estan, necesito_ayuda, necesitamos_ayuda, te_necesito, sal_de_ahi, salid_de, llamame, 
      quien_puede_ayudar, ayudame, ayudadme, puedes_venir, y_ahora_que, donde_te_metes, donde_te_has, quien_esta_de, como_se_corta, como_cierro, ven_a, 
      te_lo_suplico, te_lo_ruego, te_suplico, baja$, bajad
      """,
    haste: """
      ya$, ya_mismo, ahora$, ahora_mismo, inmediatamente, de_inmediato, rapido, rapidisimo, cuanto_antes, lo_antes_posible, pronto$, urgente, urgentemente, deprisa, apurate, asap, enseguida, en_este_momento, por_favor_ya, no_hay_tiempo, sin_perder_tiempo, cada_minuto, corre$, emergencia, 
      cuanto_antes, lo_antes_posible, ahora_mismo, ya_mismo, enseguida, corriendo, rapido, rapidamente, urgente, de_inmediato, 
      en_este_momento, este_mismo, este_minuto, ya$
      """,
    idiom: """
      salida* de_emergencia, salida* emergencia, de_emergencia, numero* emergencia*, contacto* emergencia, sala_de_urgencias_es, primeros_auxilios, simulacro*, estacion_de_bomberos, fuegos_artificiales, alto_el_fuego, a_fuego_lento, fuego_lento, jugar_con_fuego, que_fuego, me_muero, muero_de, muerto_de, muerta_de, estoy_muert*, muertos_de, ayuda_con, tu_ayuda, su_ayuda, me_ayudas, me_ayuda, ayudame_a, ayudame_con, ayudar, ayudarme, detector_de_humo, me_cayo_bien, cae_bien, cayo_mal, cayo_el, ven_a_la_fiesta, ven_a_cenar, ven_a_comer, viene, que_miedo, sin_miedo, por_accidente, analisis_de_sangre, donar_sangre, sangre_fria, sale_bien, ya_esta, ya_voy, ya_llegue, ya_se, hasta_pronto, nos_vemos_pronto, mejorate_pronto, ahora_en, no_pasa_nada, sal_y_pimienta, la_sal, te_llamo_ya, ahora_no, importante_ahora, 
      la_bomba, es_la_bomba, contacto*_de_emergencia, lista_de_emergencia, lista_de_contactos, numero*_de_emergencia*, bateria & muere/muriendo, me_muero_de, muero_de_hambre, muerto_de_hambre, 
      simulacro*, prueba_de_alarma, 
      urgencias_del_veterinario, me_ha_matado, para_mi_esta_muerto, esta_muerto_para, 
      mi_jefe_me_mata, me_aburro, revision_de_extintores, 
      embarque_fue, pronto_despegamos, despegamos_pronto, ya_despegamos
      """,
    calm: """
      no_es_urgente, no_urge, nada_urgente, no_es_nada_urgente, no_tan_urgente, no_es_tan_urgente, no_es_una_emergencia, no_es_emergencia, ninguna_emergencia, sin_prisa, sin_prisas, no_hay_prisa, no_hay_apuro, sin_apuro, no_corre_prisa, con_calma, tranquilo$, tranquila$, tranqui, no_te_preocupes, no_se_preocupen, no_os_preocupeis, no_hay_problema, tomate_tu_tiempo, tomate_el_tiempo, cuando_puedas, cuando_pueda, cuando_puedan, cuando_quieras, cuando_tengas, si_tienes_tiempo, puede_esperar, no_es_importante, nada_importante, no_es_nada, nada_grave, no_es_grave, no_paso_nada, no_pasa_nada, falsa_alarma, todo_bien, todo_esta_bien, todo_ok, todo_en_orden, ya_estoy_bien, estoy_bien, esta_bien_ahora, ya_esta_bien, ya_paso, ya_funciona, ya_se_arreglo, ya_se_soluciono, solucionado, resuelto, arreglado, ya_aparecio, ya_lo_encontr*, ya_la_encontr*, es_broma, era_broma, es_una_broma, bromeo, jaja*, jeje*, jiji*, ajaj*, xd, mejor_ya, fue_solo, era_solo, nadie_resulto, 
      ya_esta_bien, mandado_a_casa, le_han_dado_el_alta, dado_el_alta, ya_esta_en_casa, ya_funciona, vuelve_a_funcionar, 
      siempre_lo_es, siempre_es_urgente, todo_es_urgente, siempre_dice, siempre_igual, siempre_esta_igual, 
      ha_vuelto_la_luz, ya_ha_vuelto, volvio_la_luz, 
      todo_va_estupendo, han_encontrado, lo_han_encontrado, ninguna_emergencia
      """,
    unreal: """
      dijo, decia, dicen_que, en_##, resulto,
      aplaz*, pospu*, se_movio, cambio_de_fecha, cancel*, paso_al, supiste, viste_el, viste_la,
      ayer, anteayer, anoche_vi, la_semana_pasada, el_mes_pasado, el_ano_pasado, el_verano_pasado, la_ultima_vez, hace_anos, hace_#_anos, hace_#_dias, hace_#_semanas, hace_#_meses, hace_mucho, aquella_vez, en_aquel, antes & era, cuando_era, el_otro_dia, pelicula, peliculas, peli, serie, documental, libro, novela, episodio, capitulo, cancion, disco, album, concierto, juego, partido, podcast, noticias, noticiero, periodico, articulo, museo, teatro, sueno, sone, pesadilla, meme, chiste, simulacro, entrenamiento, curso, taller_de, seguro_de, poliza, puertas_abiertas, trabaja_en, trabaja_como, trabajo_en_urgencias, significa, que_es_una, gracias_por, gracias, imagina*, casi, feliz_cumpleanos, felicidades, receta, programad*, mantenimiento, buenisim*, decia_que_era, dijo_que_era, tarea, proximo_ano, algun_dia, 
      te_acuerdas, os_acordais, recuerdas, se_acuerdan, me_acuerdo, 
      los_domingos, los_sabados, gratis, acabo_de_leer, he_leido, 
      spoiler*, hace_dos_anos, hace_tres, hace_anos, asesino, la_proxima_vez, 
      por_error, de_nino, de_nina, de_pequeno, de_pequena, una_vez, buscan_gente, contratan
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
