extension UrgencyLexicon {
  static let portuguese = UrgencyLexicon(
    marks: """
      o/os/as/um/uma/que/nao/para/pra/pro/com/em/do/da/dos/das/no/na/nos/nas/se/eu/voce/ele/ela/meu/minha/seu/sua/mas/ta/esta/estou/to/foi/muito/mais/por/ao/aos/tem/ter/aqui/agora/ja/onde/cade/gente/tudo/bem/isso/esse/essa/era/sao/seu/me/e/a/de
      """,
    classes: [
      "kid": """
      crianca/criancas/filho/filha/filhos/bebe/nenem/menino/menina/mae/pai/mamae/papai/vo/vovo/avo/marido/esposa/mulher/irmao/irma/cachorro/cao/gato/amigo/amiga/vizinh*/alguem/homem/senhora/senhor/tia/tio/colega/namorad*/ele/ela/se/me/foi/ta/esta
      """,
      "place": """
      casa/cozinha/porao/garagem/telhado/predio/escritorio/quarto/sala/banheiro/apartamento/ape/loja/armazem/carro/onibus/autocarro/forno/fogao/varanda/jardim/motor/parede/teto/cave/corredor/escada/galpao/escola/fabrica/mato/cortina/cabana/andar/subsolo
      """,
      "system": """
      servidor*/site/pagina/loja/banco_de_dados/base_de_dados/banco/sistema*/rede/producao/prod/api/app/aplicativo/plataforma/pagamento*/caixa/caixas/servico*/cluster/backend/internet/email/pix/checkout/luz
      """,
      "vehicle":
        "voo/aviao/trem/comboio/onibus/autocarro/barco/balsa/ferry/taxi/uber/embarque/portao/metro/navio/barca",
      "soon": """
      em_#_min/em_#_minut*/daqui_a_#/em_cinco/em_dez/em_vinte/em_quinze/em_trinta/em_quarenta/em_meia/em_meia_hora/em_poucos/daqui_a_pouco/daqui_a_dez/daqui_a_cinco/agora/ja/sem_voce/em_dois/em_tres/em_instantes/
      em_quatro/em_seis/em_sete/em_oito/em_nove/em_doze/em_um_minuto/daqui_a_tres
      """,
      "flow": """
      sai/saindo/vaza*/pinga*/alag*/inund*/cai/caindo/entra*/jorra*/transbord*/sobe/escorre*
      """,
      "wspot": """
      porta/teto/chao/parede/paredes/baixo/embaixo/escada/porao/cozinha/banheiro/corredor/lado/cano/torneira/vaso/tapete/lampada/apartamento/casa/carro
      """,
      "water": """
      agua/aguas
      """,
      "hit": """
      chut*/bate*/batendo/soco*/quebr*/forc*/sacud*/jog*/atac*/estrangul*/esfaque*/empurr*/arrast*/arromb*
      """,
      "door": """
      porta/janela/portao/fechadura/me/nos/mae/pai/irma/irmao/vidro/mim
      """,
      "who2": """
      ex/fora/homem/homens/alguem/desconhecido/vizinho/cara/caras/namorado/marido/bebado
      """,
      "gone": """
      fugiu/escapou/sumiu/desapareceu/perdid*/nao_esta
      """,
      "care": """
      creche/escola/colegio/parquinho/hospital/asilo/zoologico/shopping/praia/jardim/parque
      """,
      "sys2": """
      banco/producao/prod/servidor*/pagamento*/api/login/site/backend/cluster/caixa/caixas/pedidos/loja/sistema/sistemas
      """,
      "broke2": """
      corromp*/caiu/cairam/apagad*/morto/travad*/travou/parad*/parou/quebrad*/fora_do_ar/inacessivel/vazio/erro/erros/falham/falhando
      """,
      "crisis": """
      tudo/ninguem/todos/clientes/usuarios/chamada/agora/ja/urgente/ajud*/entra
      """,
      "detector": """
      detector/alarme/sensor/monoxido
      """,
      "beep": """
      apitando/apita/toca/tocando/disparou/nao_para
      """,
      "symptom": """
      tont*/enjoo/dor_de_cabeca/fumaca/gas/fogo/cheiro
      """,
      "board": """
      embarcando/embarque/portao/plataforma/ultima_chamada/portas_fechando/check_in
      """,
      "mins": """
      dois_minutos/tres_minutos/cinco_minutos/um_minuto/dez_minutos/#_minutos/#_min/fecha/agora/ultimo
      """,
      "you": """
      voce_tem/cade/corre/te_esperando/onde_voce
      """,
      "burn": """
      queim*/pegando_fogo/pegou_fogo/em_chamas/chamas/fogo/fumaca/faiscas/arde*
      """,
      "thing": """
      secadora/maquina_de_lavar/lava_loucas/torradeira/forno/frigideira/microondas/geladeira/tv/carregador/bateria/notebook/tomada/fio/cortina*/sofa/cama/colchao/lixo/carro/motor/caminhao/onibus/garagem/galpao/sotao/telhado/cozinha/celeiro/lareira/tapete/vela/barraca/varanda/casa/apartamento/predio/escritorio/escola/hotel/floresta/mato/porao
      """,
      "med": """
      ambulancia/pronto_socorro/uti/samu/bombeiros/reanim*/emergencia_do_hospital
      """,
      "crash": """
      acidente/batida/colisao/capot*/engavetamento/contra_uma_arvore/fora_da_estrada
      """,
    ],
    alarm: """
      nao_reage, houve_um_acidente, teve_um_acidente, caindo_agua, agua & teto, perdendo_pedidos,
      esta/ta/estou/to/foi ferid*/machucad*, ataque_de_panico, crise_de_panico, sem_freio, comeu veneno, caiu varanda/janela/telhado/escada/sacada, passando muito_mal, passando_mal, gritando_socorro, preso & carro & bebe/crianca, nao_atende & preocupad*/porta/horas,
      $system apagad*/corrompid*,
      nao_tem_pulso, sem_pulso, vai_explodir, producao parada/parou, pra_fora & tranc*/chave/frio, coracao & parou,
      represa estourou/rompeu, barragem rompeu, policia/bombeiros/ambulancia a_caminho/chegando/esta_vindo, arrombaram, quebraram & janela/porta, deixei & fogao/ferro/gas & ligado,
      engasg*, afundando, barco afunda*, tomou_todos_os, homem armado, cobrando & duas_vezes,
      pegando_fogo, pegou_fogo, em_chamas, a_arder, $place queimando/ardendo, tem_fogo, incendio & $place/no/na/tem/ha & tem/ha/no/na/comecou, fumaca & tem/saindo/muita/no/na/cheio, fumo & sair/predio/muito, vazamento_de_gas, vazando gas, fuga_de_gas, cheiro gas/queimado, cheirando gas/queimado, explodiu, explosao & $place/teve/houve/no,
      agua entrando/saindo/subindo/escorrendo/caindo/jorrando/por_todo/entra/invadindo, alag* & $place/tudo/esta/ta, inund* & $place/tudo/esta/ta, cano estourou/estourado/rompeu, estourou & cano, teto caindo/caiu/desab*, desabou, desabando, desabamento, enchente & $place/chegando/entrando,
      nao_respira, nao_esta_respirando, nao_ta_respirando, parou_de_respirar, nao_consigo_respirar, nao_consegue_respirar, sem_ar & elevador/preso/presa/estou, falta_de_ar, sufocando, engasg*, desmai*, inconsciente, nao_responde & caiu/desmai*/vo/mae/pai, nao_reage, nao_se_mexe, nao_acorda, perdeu_a_consciencia, perdeu_os_sentidos, convuls*, infart*, ataque cardiaco/do_coracao/epilep*/asma, avc, derrame, se_afogando, afogando, sangrando, sangra & muito/nao, muito_sangue, perdendo sangue, sangue_por_todo, dor_no_peito, dores_no_peito, reacao_alergica, anafila*, overdose, envenen*, intoxic*, muitos_comprimidos, engoliu pilha/moeda/bateria/remedio/botao/ima, bebeu & agua_sanitaria/detergente/veneno/cloro/lixivia, bolsa estourou/rompeu, contracoes & esta/to/hospital, trabalho_de_parto, vai_nascer, esta_nascendo,
      quebrou perna/braco/quadril/tornozelo/pulso/pe/nariz, quebrei perna/braco/tornozelo/pulso/pe, partiu perna/braco, caiu & levantar/mexe*/sangr*/cabeca/escada/telhado/sacada/machuc*/bateu & $kid/nao/da/do, nao_consegue_levantar, nao_consegue_se_levantar, nao_consigo_levantar, nao_consigo_me_mexer, nao_consegue_se_mexer, atropel*, eletrocut*, levou_um_choque, esfaque*, baleado, baleada, tiros & ouvi/tem/rua/muitos, tiroteio, levou_um_tiro, com_uma_faca, com_uma_arma, armado & homem/tem/cara, bomba & ameaca/tem, suicid* & $kid/quer, nao_quero_mais_viver, quero_morrer, tirar_minha_vida, me_matar,
      ambulancia, samu, cham* policia/bombeiros/190/192/193/112/ambulancia/medico/samu, ligu* policia/bombeiros/190/192/193, precis* medico/ambulancia, um_medico & rapido/urgente/agora, no_hospital & atende/vem/liga/grave/corre, pro_hospital & lev*/indo/vamos/corre, para_o_hospital & lev*/indo/vamos, na_uti, internad* & $kid & grave/uti, febre & 40/41/alta & bebe/crianca/filh*/40/41/nao,
      acidente & sofremos/sofri/sofreu/bati/grave/tivemos/teve/estrada/carro/vem/acabamos/acabou, batemos_o_carro, bati_o_carro, batida_de_carro, capotou, capotamos, assaltad*, assalto & agora/aqui/em_andamento, assaltando, entrar & tentando/alguem & casa/porta/aqui, arrombando, arrombar*, invadindo, invadiram, ladrao & casa/dentro/tem, ladroes, roubando, me_seguindo, me_perseguindo, ameac* & $kid & faca/arma/matar, atac* & cachorro/homem/faca & $kid, me_bateu, me_batendo, sequestr*,
      trancad* & fora/dentro/banheiro/carro/elevador, pres* & elevador/carro/lama/tunel/neve/escombros, atolad*, ilhad*, quebrou & carro & estrada/rodovia/tunel, perdid* & mato/mata/floresta/montanha/trilha & estou/estamos/to,
      nao_acho & filho/filha/menin*/crianca/cachorro/mae/vo, nao_encontro & filh*/menin*/crianca/cachorro, nao_consigo_encontrar & filh*/menin*/crianca, sumiu & $kid/no/na/desde & filh*/menin*/cachorro/no/desde, perdi & meu_filho/minha_filha/filho/filha & praia/shopping/parque/no/na, desaparec* & $kid, ele_sumiu, ela_sumiu, fugiu & cachorro/menino/gato, nao_voltou & casa & policia/desde,
      $vehicle sai/parte/decola/fecha/vai_sair/saindo/vai/esta_saindo/esta_para $soon/sair/partir/fechar, sai/parte/decola/fecha $soon & $vehicle, ultima_chamada, embarque encerr*/fecha,
      $system caiu/cairam/fora/fora_do_ar/down/travou/parou/quebrou/hackeado/nao_funciona/nao_responde/em_baixo/em_baixa/indisponivel, fora_do_ar, caiu $system, ninguem_consegue comprar/pagar/entrar/acessar/logar, clientes nao_conseguem & pagar/comprar/entrar/acessar, perdendo pedidos/dados/vendas/clientes/dinheiro, perda_de_dados, fomos_hackeados, hackearam, ataque_hacker, ransomware, apagou & banco/producao/base, apaguei & banco/producao, vazamento_de_dados,
      terremoto & saiam/forte/agora, evacu*, saiam & todos/ja/predio/dai/agora, sai_dai, saia_dai, saiam_dai, corram, tsunami, tornado, deslizamento & $place/terra, perigo_de_vida, guincho & carro/levando, guinchando,
      atende & telefone/celular/por_favor/urgente, ninguem & buscou/buscar & escola/filh*/crianca*, morreu & $kid & vem/liga/agora, faleceu & $kid & vem/liga/agora, esta_morrendo & $kid & ajuda/cachorro/mae/pai/vo, picad* & cobra/escorpiao, mordeu & cobra/cachorro & sangr*/mao/perna, queimou & mao/rosto/agua/bebe, cortou & dedo/mao/sangr*, insulina & sem/acabou/precis*, bombinha & sem/acabou/precis*, sos, 
      cheira/cheirando/cheiro gas/queimado/fumo/fumaca, nao_achamos/nao_acho/nao_encontro/nao_encontramos & parquinho/balanco/escorrega*/carrossel/feira/zoologico/multidao/parque_infantil, arromb*/forcando porta/janela/fechadura, preciso_de_voce aqui/agora/ja, preciso_de_ti aqui/agora/ja, precisamos_de_voce & agora/chamada/ja/aqui, trancad* & fora & bebe/crianca/nenem/fogao/forno, vai_me_matar & ajud*/policia/diz, quer_me_matar, me_ameacando, me_ameaca, atropel* & cachorro/gato/cao/filh*/me, evacuando & escola/predio/hospital, evacuar_a, aparelho & oxigenio & desligou/parou/desligado, sem_luz & oxigenio/respirador/dialise, na_ponte & pular/saltar/pula, vai_pular, quer_pular, vai_saltar, pedidos/pagamentos/transacoes falhando/falham/falhar, falhando & pedidos/pagamentos, banco & producao & sumiu/apagado/vazio, cortou & serra/faca/machado/vidro & mao/dedo/perna/braco, roubaram & bolsa/celular/carteira/telemovel & sozinha/sozinho/atende/estacao/ajuda, 
      garganta/rosto/lingua/labios/pescoco inchando/inchada/inchado/fechando, inchando & garganta/abelha/picad*, picad* & garganta/inch*/abelha/vespa/respir*, comprimidos/remedios/remedio demais, tomei/tomou & demais & comprimidos/remedios/remedio, muitos_comprimidos, freio/freios/travoes & nao/falh*/sem, sem_freio*, rondando, alguem/homem & quintal/jardim/la_fora/janela/rondando & medo/faca/policia/escondid*, estou_escondid*, nenhum pagamento/pedido & passa/entra, pagamentos/pedidos nao_passam/bloqueados/recusados, rollback ja/agora/urgente, volta_a_versao, cabeca sangrando/sangra, sangrando & cabeca, escorreg* & cabeca/sangu*, confus* & cabeca/caiu, boca_torta, nao_consegue_falar, embaixo/debaixo & arvore/muro/carro & caiu, caiu_em_cima, caiu da_cama & levantar/mexer, nao_consegue_levantar, nao_consegue_se_levantar, fumaca/faiscas/fumo/queimando & tomada/fio/maquina/quadro, maquina_de_lavar & vazando/transbord*, vaso transbord*, batendo_nela, esta_batendo, brigando & faca*/sangue, estao_roubando, todo_mundo_te_esperando, todos_a_tua_espera, engoliu pilha/moeda/ima*/bateria/botao, presos/atolados & neve/lama/gasolina, sem_gasolina & estrada/neve/noite/presos, portao fecha $soon, 
      cano/tubo/mangueira/aquecedor/caldeira/encanamento & estourou/rompeu/explodiu/vazando/molhado, sem chave/chaves & porta/fora/rua/frio, chave/chaves esqueci/perdi/dentro & porta/fora/frio, bateu & porta & chave*, nao_consigo_entrar & casa/carro/apartamento, ninguem buscar/pegou/buscou & filho/filha/crianca*/escola/creche, nao_foi_buscado, engavetamento, capotou/capotamos, contra & arvore/muro/poste & batemos/bateu/bati, na_vala, chamas & cozinha/casa/telhado/saindo, gas & vazamento/vazando/chiando/cabeca/abre/sai, ladroes, assaltantes, janela/porta/fechadura arrombad*/forcad*/quebrad*, fugiu & crianca/cachorro/filho/menino, policia & porta/prend*/procur*/pergunt*, preso & policia/meu/foi, fui_preso, apagao & elevador/bebe/oxigenio/hospital/sozinh*, faltou_luz & elevador/bebe/oxigenio/sozinh*/servidor*, acabou_a_luz & elevador/bebe/oxigenio/sozinh*, 
      cortina/sofa/cama/panela/oleo/vela/arvore/fritadeira/secadora/torradeira fogo/chamas/queimando/fumaca/pegou_fogo, cheiro forte/de gas/queimado, labios/boca roxos/azuis/roxa, sem_folego, desconhecido/homem/caras/sujeito & porta/garagem/janela/escada & abrir/entrar/forcando/sacudindo, ninguem_viu ele/ela, ninguem viu & ele/ela/ponto/escola, bebi/bebeu/tomou & agua_sanitaria/lixivia/detergente/produto/gasolina, jogou_a_gente, fora_da_estrada, bateu na_gente/em_nos/em_mim, escola/creche ligou/liga/ligaram & sumiu/desapareceu/nao_esta/machucad*, vacinas/insulina/remedios & geladeira/luz, caiu & andar/varanda/janela & gato/cachorro/crianca, vem & me_bater/me_matar, sistema_de_pagamento travado/caiu/fora, caixas paradas/parados/travados, aquario quebrou/estourou, policia levar/levando & quer/vem/delegacia, clientes erro & 500/502/503, erro_500, 
      perdemos/perdi a/o & feira/praia/parque/estacao/aeroporto/shopping/multidao/mercado, faca/arma/pistola/machado & porta/fora/seguindo/perseguindo, alguem dentro_de_casa/em_casa/la_embaixo/no_quintal & acho/tem/ouvi/escut*, tem_alguem dentro/em_casa/na_casa, ouvi/ouco passos/barulho/alguem & embaixo/casa/sozinh*, 
      api/backend/site/servidor devolve/devolvendo/retorna/retornando/responde & 500/502/503/504, 500/502/503/504 & todo_mundo/todos/clientes/usuarios, acidente_de moto/bicicleta/carro/transito, quebraram janela/porta/vidro & aberta/entrar/levaram, trancad*/pres* & banheiro/porao/elevador & ouve/ninguem/ajuda, falta_de_ar, respirando_mal, respira_mal, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      peito aperto/dor/pressao/apertado & braco/ar/respir*/sinto/estou, aperto_no_peito, dor_no_peito, braco/rosto/perna dormente/paralisad* & peito/falar, carro/bicicleta/barco & rio/lago/canal/vala & no/caiu, mangueira/cano/torneira soltou/quebrou/estourou & agua/chao/encharcado, chao/tapete encharcad*/alagad*, registro_da_agua, registro_geral, fechar_a_agua, bebado & porta/arrombar/seguindo/bate*, quebrado/falhando & todos & login/usuarios/clientes, 
      nao_atende & rio/acidente/preocupad*/policia, 
      luz/energia acabou/caiu/faltou & inteira/inteiro/toda/todo/freezer/geladeira/predio/congelador, acabou/faltou & luz/energia & inteira/inteiro/toda/todo/freezer/geladeira/predio, sem_luz & inteira/inteiro/toda/todo/freezer/geladeira/predio, apagao & inteira/inteiro/todo/toda, encontramos/achamos/acho/encontro & lugar_nenhum/lado_nenhum, em_lugar_nenhum & sumiu/desapareceu, me_seguindo, seguindo_a_gente, nos_seguindo, a_seguir_me, 
      nao_para_de_sangrar, nao_pára_de_sangrar, sangue_nao_para, 
      nao_a_encontramos & sumiu/desapareceu/feira, nao_o_encontramos & sumiu/desapareceu/feira
      """,
    urgent: """
      urgente, urgentemente, e_urgente, urgencia, com_urgencia, muito_urgente, urgentissimo, emergencia, uma_emergencia, nao_pode_esperar, nao_da_pra_esperar, vida_ou_morte, caso_de_vida, codigo_vermelho
      """,
    danger: """
      $vehicle $soon,
      fogo, incendio, chamas, fumaca, acidente, ferid*, machucad*, sangue, hospital, pronto_socorro, policia, bombeiros, caiu & $kid, desmaio, tontura, tonto, tonta, dor & forte/muita/insuportavel, dores, perdid*, sumiu, medo, perigo, em_perigo, sozinh*, pres*, trancad*, grave, aconteceu & algo/alguma/ruim, aconteceu_alguma_coisa, algo_ruim, roubo, roubaram, faca, arma, revolver, veneno, vazamento, alagando, alagado, inundando, enchente, explosao, bomba, terremoto, caiu & $system, fora_do_ar, hackead*, pane, congelando, muito_mal, passando_mal, passou_mal, vomitando & sangue/para, febre, te_esperando, esperando_voce, comeca $soon, sai $soon, fecha $soon, morto & $kid, 
      picado, inchando, comprimidos, freio, faiscas, escorreg*, 
      perder voo/trem/comboio/aviao/onibus, apagao, faltou_luz, acabou_a_luz, sem_luz, ameaca*, mancando & cachorro/gato, vai_fechar, taxi_esperando, veterinario, 
      erro_500, dor & pescoco/peito/barriga, agua_por_toda, embarque & termina/fecha/encerra
      """,
    help: """
      me_ajuda rapido/agora/ja/logo, me_ajude,
      ^socorro, ^ajuda$, ^me_ajuda$, ^me_ajudem, ^ajudem, socorro, me_ajudem, nos_ajudem, me_ajuda_por_favor, preciso_de_ajuda, precisamos_de_ajuda, ajuda_por_favor, pede_ajuda, me_ajuda_a_procurar, ajudem_a_procurar, me_ajuda_a_achar, ajuda_a_encontrar
      """,
    ask: """
      voce_nao_chegou, nao_chegou, nao_ta_aqui,
      chama, chama_ajuda, vai_la, passa_la, da_uma_olhada,
      me_liga, liga_pra, liga_para, me_ligue, ligue, me_telefona, liga_me, liga & ja/agora/mae/pai, atende, atendam, responde, me_responde, respondam, vem, venha, venham, volta, volte, voltem, corre, corram, cade_voce, onde_voce*, onde_esta*, onde_estas, onde_ce, cade_vc, onde_vc, preciso_de_voce, preciso_de_ti, preciso_que, precisamos, preciso_de, alguem_pode, alguem_consegue, pode_vir, manda_alguem, mandem, chama_alguem, chamem, abre, abram, o_que_eu_faco, o_que_faco, que_faco, sai_dai, saiam, me_busca, vem_me_buscar, procurem, entra_na_call, 
      estou_com_medo !de, to_com_medo, tenho_medo !de, o_que_eu_faco, o_que_faco, o_que_fazemos, corre$, rollback, 
      vem_pra_casa, volta_pra_casa, fica_na_linha, nao_desliga, abre_a_porta, me_deixa_entrar, alguem_pode, tem_alguem_ai, manda_alguem, quem_tem, onde_esta, cade_o, cade_a, cade_voce, preciso_de_ajuda, precisamos_de_ajuda, sai_dai, saiam, sai_de, 
      quem_pode_ajudar, me_ajuda, pode_vir, voce_pode_vir, e_agora, onde_voce_se_meteu, quem_esta_de, como_fecha, vem_pra, saimos_de, 
      eu_te_imploro, te_imploro, pelo_amor_de_deus, desce$, descam
      """,
    haste: """
      agora$, agora_mesmo, ja$, imediatamente, rapido, depressa, correndo, o_mais_rapido, quanto_antes, o_quanto_antes, urgente, urgentemente, logo$, asap, na_hora, neste_momento, agora_por_favor, nao_ha_tempo, cada_minuto, corre$, emergencia, pra_ontem, ja_ja_no, 
      o_quanto_antes, o_mais_rapido_possivel, agora_mesmo, ja_ja_nao, imediatamente, rapido, depressa, correndo, com_urgencia, 
      neste_minuto, neste_momento, nesse_minuto, neste_instante
      """,
    idiom: """
      saida* de_emergencia, de_emergencia, numero* emergencia, contato* emergencia, primeiros_socorros, simulado_de, simulacro, fogos_de_artificio, fogo_baixo, cessar_fogo, sua_ajuda, tua_ajuda, pela_ajuda, me_ajuda_a, me_ajuda_com, me_ajuda_amanha, ajudar, ajudas, me_ajuda_nisso, detector_de_fumaca, morrendo_de, morto_de, morta_de, morri$, to_morta$, to_morto$, estou_morto, exame_de_sangue, doar_sangue, doacao_de_sangue, sangue_frio, por_acidente, ate_logo, ate_ja, vejo_agora, agora_nao, agora_sim, agora_as, ja_volto, ja_vou, ja_fui, ja_ja, sai_fora, que_medo, bem_rapido_o_tempo, passou_rapido, passa_rapido, uma_pergunta_rapida, vem_jantar, vem_almocar, vem_pra_festa, volta_as_aulas, nada_grave, presente, caiu_bem, cai_bem, caiu_a_ficha, 
      contatos_de_emergencia, contactos_de_emergencia, lista_de_contatos, lista_de_emergencia, numero_de_emergencia, bomba_de, uma_bomba, bateria & morrendo/morrer, morrendo_de, morri_de, morro_de, 
      simulacro*, simulado_de, 
      emergencia_do, emergencia_da, me_matou, pra_mim_ele_morreu, morreu_pra_mim, 
      meu_chefe_me_mata, revisao_dos_extintores, 
      simulacro_de_incendio, simulacro_de, 
      embarque_foi, ja_decolamos, decolamos
      """,
    calm: """
      nao_e_urgente, nada_urgente, sem_urgencia, nao_tem_urgencia, nao_e_tao_urgente, nao_e_emergencia, nao_e_uma_emergencia, nenhuma_emergencia, sem_pressa, nao_tem_pressa, nao_ha_pressa, com_calma, tranquilo$, fica_tranquil*, fique_tranquil*, relaxa, nao_se_preocup*, nao_te_preocup*, sem_problema, sem_stress, sem_estresse, no_seu_tempo, quando_puder, quando_der, quando_quiser, quando_tiver, se_tiver_tempo, se_der, pode_esperar, da_pra_esperar, pode_ser_amanha, nao_e_importante, nada_importante, nada_demais, nao_foi_nada, nada_grave, nao_aconteceu_nada, alarme_falso, tudo_bem, tudo_certo, tudo_ok, ta_tudo_bem, esta_tudo_bem, ja_estou_bem, estou_bem, to_bem, ele_esta_bem, ela_esta_bem, ta_bem_agora, ja_passou, ja_voltou, voltou_ao_ar, voltou_a_funcionar, resolvido, ja_resolv*, consertado, achei & gracas, ja_achei, ja_achamos, brincadeira, to_brincando, zoeira, zueira, kkk*, rsrs*, haha*, era_so, foi_so, ninguem_se_machucou, 
      ja_esta_bem, mandou_para_casa, teve_alta, recebeu_alta, ja_esta_em_casa, ja_voltou, voltou_a_funcionar, 
      e_sempre_assim, sempre_assim, sempre_urgente, tudo_e_urgente, diz_sempre, sempre_diz, 
      ja_voltou, a_luz_voltou, voltou_a_luz, 
      esta_tudo_otimo, acharam, foi_encontrad*, nenhuma_emergencia
      """,
    unreal: """
      disse, dizia, em_##, no_fim,
      adiad*, remarcad*, cancelad*, mudou_para, ja_passou, viu_o, viu_a, ficou_sabendo,
      ontem, anteontem, semana_passada, mes_passado, ano_passado, verao_passado, ultima_vez, ha_#_anos, # anos_atras/dias_atras/meses_atras/semanas_atras, anos_atras, faz_tempo, naquela_epoca, quando_eu_era, outro_dia, filme, filmes, serie, documentario, livro, romance, episodio, musica, album, disco, show, jogo, podcast, noticia, noticias, jornal, artigo, museu, exposicao, teatro, novela, sonho, sonhei, pesadelo, meme, piada, simulado, simulacao, treinamento, curso, seguro_de, portas_abertas, trabalha_no, trabalha_na, trabalha_como, trabalha_em, significa, o_que_e_um, obrigad*, valeu_pela, imagina, quase, feliz_aniversario, parabens, receita, programad*, manutencao, disse_que_era, dizia_que_era, dever_de_casa, licao_de_casa, um_dia_desses, ano_que_vem, 
      lembra_quando, lembra*_quando, te_lembras, voce_lembra, lembra_da, simulacro*, simulado, 
      aos_domingos, aos_sabados, e_gratis, acabei_de_ler, 
      spoiler*, ha_dois_anos, ha_tres_anos, ha_anos, assassino, da_proxima_vez, no_final, 
      por_engano, quando_crianca, quando_era_crianca, uma_vez, contratando
      """,
    trifle: """
      cafe, chocolate, pizza, cerveja*, vinho, ferias, cabeleireir*, soneca, sorvete, bolo, vestido, sapato*, netflix, festa, compras, massagem, almoco, jantar, abraco*, fofoca, pao, leite, sushi, presente, churrasco, acai
      """,
    later: """
      amanha, depois_de_amanha, mais_tarde, depois, hoje_a_noite, semana_que_vem, segunda, terca, quarta, quinta, sexta, sabado, domingo, fim_de_semana, quando_chegar, quando_sair, quando_voce, quando_estiver, quando, se_quiser, se_puder, qualquer_dia
      """,
    suppose:
      "se_tiver, se_houver, se_acontecer, se_for, se_voce, se_algo, se_um, se_uma, se_algum*, caso, em_caso, em_caso_de, quase, como_se, contra, a_menos_que, tomara, se_tiver, se_tiveres, se_houver",
    not: "nao, nada, nenhum, nenhuma, sem, nem, nunca, jamais"
  )
}
