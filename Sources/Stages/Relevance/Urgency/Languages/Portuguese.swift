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
      em_#_min/em_#_minut*/daqui_a_#/em_cinco/em_dez/em_vinte/em_quinze/em_trinta/em_quarenta/em_meia/em_meia_hora/em_poucos/daqui_a_pouco/daqui_a_dez/daqui_a_cinco/agora/ja/sem_voce/em_dois/em_tres/em_instantes
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
      atende & telefone/celular/por_favor/urgente, ninguem & buscou/buscar & escola/filh*/crianca*, morreu & $kid & vem/liga/agora, faleceu & $kid & vem/liga/agora, esta_morrendo & $kid & ajuda/cachorro/mae/pai/vo, picad* & cobra/escorpiao, mordeu & cobra/cachorro & sangr*/mao/perna, queimou & mao/rosto/agua/bebe, cortou & dedo/mao/sangr*, insulina & sem/acabou/precis*, bombinha & sem/acabou/precis*, sos
      """,
    urgent: """
      urgente, urgentemente, e_urgente, urgencia, com_urgencia, muito_urgente, urgentissimo, emergencia, uma_emergencia, nao_pode_esperar, nao_da_pra_esperar, vida_ou_morte, caso_de_vida, codigo_vermelho
      """,
    danger: """
      $vehicle $soon,
      fogo, incendio, chamas, fumaca, acidente, ferid*, machucad*, sangue, hospital, pronto_socorro, policia, bombeiros, caiu & $kid, desmaio, tontura, tonto, tonta, dor & forte/muita/insuportavel, dores, perdid*, sumiu, medo, perigo, em_perigo, sozinh*, pres*, trancad*, grave, aconteceu & algo/alguma/ruim, aconteceu_alguma_coisa, algo_ruim, roubo, roubaram, faca, arma, revolver, veneno, vazamento, alagando, alagado, inundando, enchente, explosao, bomba, terremoto, caiu & $system, fora_do_ar, hackead*, pane, congelando, muito_mal, passando_mal, passou_mal, vomitando & sangue/para, febre, te_esperando, esperando_voce, comeca $soon, sai $soon, fecha $soon, morto & $kid
      """,
    help: """
      me_ajuda rapido/agora/ja/logo, me_ajude,
      ^socorro, ^ajuda$, ^me_ajuda$, ^me_ajudem, ^ajudem, socorro, me_ajudem, nos_ajudem, me_ajuda_por_favor, preciso_de_ajuda, precisamos_de_ajuda, ajuda_por_favor, pede_ajuda, me_ajuda_a_procurar, ajudem_a_procurar, me_ajuda_a_achar, ajuda_a_encontrar
      """,
    ask: """
      voce_nao_chegou, nao_chegou, nao_ta_aqui,
      chama, chama_ajuda, vai_la, passa_la, da_uma_olhada,
      me_liga, liga_pra, liga_para, me_ligue, ligue, me_telefona, liga_me, liga & ja/agora/mae/pai, atende, atendam, responde, me_responde, respondam, vem, venha, venham, volta, volte, voltem, corre, corram, cade_voce, onde_voce*, onde_esta*, onde_estas, onde_ce, cade_vc, onde_vc, preciso_de_voce, preciso_de_ti, preciso_que, precisamos, preciso_de, alguem_pode, alguem_consegue, pode_vir, manda_alguem, mandem, chama_alguem, chamem, abre, abram, o_que_eu_faco, o_que_faco, que_faco, sai_dai, saiam, me_busca, vem_me_buscar, procurem, entra_na_call
      """,
    haste: """
      agora$, agora_mesmo, ja$, imediatamente, rapido, depressa, correndo, o_mais_rapido, quanto_antes, o_quanto_antes, urgente, urgentemente, logo$, asap, na_hora, neste_momento, agora_por_favor, nao_ha_tempo, cada_minuto, corre$, emergencia, pra_ontem, ja_ja_no
      """,
    idiom: """
      saida* de_emergencia, de_emergencia, numero* emergencia, contato* emergencia, primeiros_socorros, simulado_de, simulacro, fogos_de_artificio, fogo_baixo, cessar_fogo, sua_ajuda, tua_ajuda, pela_ajuda, me_ajuda_a, me_ajuda_com, me_ajuda_amanha, ajudar, ajudas, me_ajuda_nisso, detector_de_fumaca, morrendo_de, morto_de, morta_de, morri$, to_morta$, to_morto$, estou_morto, exame_de_sangue, doar_sangue, doacao_de_sangue, sangue_frio, por_acidente, ate_logo, ate_ja, vejo_agora, agora_nao, agora_sim, agora_as, ja_volto, ja_vou, ja_fui, ja_ja, sai_fora, que_medo, bem_rapido_o_tempo, passou_rapido, passa_rapido, uma_pergunta_rapida, vem_jantar, vem_almocar, vem_pra_festa, volta_as_aulas, nada_grave, presente, caiu_bem, cai_bem, caiu_a_ficha
      """,
    calm: """
      nao_e_urgente, nada_urgente, sem_urgencia, nao_tem_urgencia, nao_e_tao_urgente, nao_e_emergencia, nao_e_uma_emergencia, nenhuma_emergencia, sem_pressa, nao_tem_pressa, nao_ha_pressa, com_calma, tranquilo$, fica_tranquil*, fique_tranquil*, relaxa, nao_se_preocup*, nao_te_preocup*, sem_problema, sem_stress, sem_estresse, no_seu_tempo, quando_puder, quando_der, quando_quiser, quando_tiver, se_tiver_tempo, se_der, pode_esperar, da_pra_esperar, pode_ser_amanha, nao_e_importante, nada_importante, nada_demais, nao_foi_nada, nada_grave, nao_aconteceu_nada, alarme_falso, tudo_bem, tudo_certo, tudo_ok, ta_tudo_bem, esta_tudo_bem, ja_estou_bem, estou_bem, to_bem, ele_esta_bem, ela_esta_bem, ta_bem_agora, ja_passou, ja_voltou, voltou_ao_ar, voltou_a_funcionar, resolvido, ja_resolv*, consertado, achei & gracas, ja_achei, ja_achamos, brincadeira, to_brincando, zoeira, zueira, kkk*, rsrs*, haha*, era_so, foi_so, ninguem_se_machucou
      """,
    unreal: """
      disse, dizia, em_##, no_fim,
      adiad*, remarcad*, cancelad*, mudou_para, ja_passou, viu_o, viu_a, ficou_sabendo,
      ontem, anteontem, semana_passada, mes_passado, ano_passado, verao_passado, ultima_vez, ha_#_anos, # anos_atras/dias_atras/meses_atras/semanas_atras, anos_atras, faz_tempo, naquela_epoca, quando_eu_era, outro_dia, filme, filmes, serie, documentario, livro, romance, episodio, musica, album, disco, show, jogo, podcast, noticia, noticias, jornal, artigo, museu, exposicao, teatro, novela, sonho, sonhei, pesadelo, meme, piada, simulado, simulacao, treinamento, curso, seguro_de, portas_abertas, trabalha_no, trabalha_na, trabalha_como, trabalha_em, significa, o_que_e_um, obrigad*, valeu_pela, imagina, quase, feliz_aniversario, parabens, receita, programad*, manutencao, disse_que_era, dizia_que_era, dever_de_casa, licao_de_casa, um_dia_desses, ano_que_vem
      """,
    trifle: """
      cafe, chocolate, pizza, cerveja*, vinho, ferias, cabeleireir*, soneca, sorvete, bolo, vestido, sapato*, netflix, festa, compras, massagem, almoco, jantar, abraco*, fofoca, pao, leite, sushi, presente, churrasco, acai
      """,
    later: """
      amanha, depois_de_amanha, mais_tarde, depois, hoje_a_noite, semana_que_vem, segunda, terca, quarta, quinta, sexta, sabado, domingo, fim_de_semana, quando_chegar, quando_sair, quando_voce, quando_estiver, quando, se_quiser, se_puder, qualquer_dia
      """,
    suppose:
      "se_tiver, se_houver, se_acontecer, se_for, se_voce, se_algo, se_um, se_uma, se_algum*, caso, em_caso, em_caso_de, quase, como_se, contra, a_menos_que, tomara",
    not: "nao, nada, nenhum, nenhuma, sem, nem, nunca, jamais"
  )
}
