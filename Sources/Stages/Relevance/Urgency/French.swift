extension UrgencyLexicon {
  static let french = UrgencyLexicon(
    marks: """
      le/la/les/un/une/des/du/de/est/et/je/j/tu/il/elle/on/nous/vous/ils/ne/n/pas/que/qu/qui/dans/en/au/aux/pour/avec/sur/ce/c/ca/se/s/me/m/te/t/mon/ma/mes/ton/ta/sa/son/notre/a/ai/as/avons/ont/suis/es/sont/y/plus/tout/tous/ici/moi/toi/quand/ou/l/d/bien/mais/si/trop/bon
      """,
    classes: [
      "kid": """
      enfant/enfants/petit/petite/bebe/fils/fille/maman/papa/mere/pere/mamie/papi/grand_mere/grand_pere/mari/femme/frere/soeur/chien/chat/garcon/ado/copain/copine/ami/amie/voisin*/quelqu_un/quelqu/il/elle/ils/nous/je/j/on/lui/a/est/homme/collegue/tante/oncle
      """,
      "place": """
      maison/appartement/appart/cuisine/cave/sous_sol/garage/toit/immeuble/batiment/bureau/chambre/salle/salon/grenier/couloir/escalier/cage/magasin/grange/voiture/bus/four/balcon/jardin/moteur/mur/plafond/entrepot/atelier/chalet/poele/rideau*/usine/foret/camion/batterie/rez
      """,
      "system": """
      serveur*/site/boutique/base/bdd/systeme*/reseau/prod/production/api/appli/application/plateforme/paiement*/caisse*/service/services/cluster/backend/internet/connexion/messagerie/electricite/courant
      """,
      "vehicle": "train/vol/avion/bus/bateau/ferry/taxi/car/metro/tgv/embarquement/porte/navette/covoiturage",
      "soon": """
      dans_#_min/dans_#_minute*/dans_#mn/dans_cinq/dans_dix/dans_vingt/dans_quinze/dans_trente/dans_quarante/dans_une_demi/dans_quelques_minutes/dans_un_quart/dans_une_minute/sans_toi/maintenant/bientot/dans_deux/dans_trois/
      dans_quatre/dans_six/dans_sept/dans_huit/dans_neuf/dans_douze/dans_une_min
      """,
      "flow": """
      coul*/fuit/fuite/goutte*/inond*/sort/jaillit/debord*/monte/rentre/entre/gicle/suinte
      """,
      "wspot": """
      porte/plafond/sol/mur/murs/sous/escalier/cave/cuisine/salle/couloir/partout/tuyau/robinet/toilettes/tapis/lampe/appartement/maison/voiture
      """,
      "water": """
      eau/eaux
      """,
      "hit": """
      coups/frappe*/tape*/cogne*/casse*/defonce*/force*/secoue*/jette*/attaque*/etrangle*/poignarde*/pousse*/tabasse*/bat/traine*
      """,
      "door": """
      porte/fenetre/portail/serrure/moi/me/nous/maman/papa/soeur/frere/vitre/m_a/m
      """,
      "who2": """
      ex/dehors/homme/hommes/quelqu_un/inconnu/voisin/type/types/il/ils/copain/ivre/bourre
      """,
      "gone": """
      enfui*/echappe*/sauve*/disparu*/parti*/fugue*/perdu*/introuvable/plus_la
      """,
      "care": """
      creche/maternelle/ecole/garderie/aire_de_jeux/hopital/ehpad/maison_de_retraite/parc/zoo/magasin/plage/jardin
      """,
      "sys2": """
      base/production/prod/serveur*/paiement*/api/connexion/site/backend/cluster/caisse/caisses/commandes/boutique/systeme/systemes
      """,
      "broke2": """
      corrompue/down/supprimee/effacee/morte/plante*/tombe*/en_panne/bloque*/fige*/hors_ligne/inaccessible/vide/erreur*/arrete*/hs
      """,
      "crisis": """
      tout/personne/tous/clients/utilisateurs/appel/maintenant/vite/urgent/aide*/tout_de_suite
      """,
      "detector": """
      detecteur/alarme/capteur/monoxyde
      """,
      "beep": """
      sonne/bipe/hurle/declenche*/s_arrete_pas/retentit
      """,
      "symptom": """
      tete_qui_tourne/vertige*/nausee*/mal_a_la_tete/fatigue*/fumee/gaz/feu/odeur
      """,
      "board": """
      embarque/embarquement/on_embarque/porte/portes_ferment/quai/dernier_appel/enregistrement
      """,
      "mins": """
      deux_minutes/trois_minutes/cinq_minutes/une_minute/dix_minutes/#_minutes/#_min/ferme/maintenant/dernier
      """,
      "you": """
      tu_as/tu_es_ou/cours/vite/t_attend/il_te_reste/depeche*
      """,
      "burn": """
      brule*/en_feu/feu/fume/flammes/flambe/prend_feu/etincelles/crame
      """,
      "thing": """
      seche_linge/lave_linge/lave_vaisselle/grille_pain/four/poele/micro_ondes/frigo/tele/chargeur/batterie/ordinateur/prise/cable/rideau*/canape/lit/matelas/poubelle/voiture/moteur/camion/bus/garage/cabane/grenier/toit/cuisine/grange/entrepot/cheminee/tapis/bougie/tente/balcon/maison/appartement/immeuble/bureau/ecole/hotel/foret/champ/cave
      """,
      "med": """
      ambulance/samu/urgences/reanimation/soins_intensifs/pompiers/secours/massage_cardiaque
      """,
      "crash": """
      carambolage/collision/accident/tonneau/sortie_de_route/percute*/rentre_dedans
      """,
    ],
    alarm: """
      ne_reagit_plus, reagit_plus, reagit_pas, y_a_eu_un_accident, eau & plafond,
      est/suis/sont blesse/blessee/blesses/gravement, crise_d_angoisse, crise_de_panique, bateau coule, vole voiture, ont_vole voiture, mort_aux_rats, sortie_de_route, freins & lache*/plus/marche*, odeur_de_brule, tombe* balcon/fenetre/toit/echelle, noie, appelle* a_l_aide, crie* a_l_aide, bebe/enfant & enferme* & voiture,
      plus_de_pouls, pas_de_pouls, a_la_porte & gele/froid/cle*/dehors, va_exploser, a_l_arret & $system, production arretee/a_l_arret, coeur & arrete, dehors & tout_le_monde & feu/gaz/exploser/vite,
      ca_brule & chez/voisin*/immeuble/cuisine, brule chez_les/chez_nous, pompiers/police/ambulance arrive*/en_route/en_chemin/sont_la, vitre/porte cassee/defoncee/forcee, laisse & gaz/four/plaque & allume*,
      $system ne_repond_plus/ne_marche_plus/ne_fonctionne_plus/ne_charge_plus/inaccessible, m_a_frappe*, fait_ecraser, tous_ses_medicaments, tous_ses_cachets, s_est_pendu*, fait_un_avc, a_fait_un_avc, homme_arme, des_hommes_armes, etrangle*,
      $place brule/brulent/en_feu/en_flammes/flambe, il_y_a_le_feu, y_a_le_feu, au_feu, il_y_a_du_feu, le_feu & $place/pris/partout/chez, prend_feu, a_pris_feu, en_flammes, est_en_feu, un_incendie & chez/dans/declare/$place, fumee & partout/dans/sort/monte, sent gaz/brule/fume*, odeur gaz/brule, fuite gaz, explosion & $place/dans/entendu, a_explose,
      eau coule/monte/deborde/inonde/rentre/entre/partout/jaillit/tombe, fuite_d_eau, degat_des_eaux, inondee & $place, inonde & $place, inondation & $place/chez/partout, $place inonde/inondee/sous_l_eau, canalisation* eclate/pete/casse/rompu*, tuyau eclate/pete/casse, a_eclate, plafond effondre/tombe/s_effondre, s_est_effondre*, s_effondre, 
      ne_respire_plus, ne_respire_pas, respire_plus, respire_pas, arrive_pas_a_respirer, arrive_plus_a_respirer, peux_plus_respirer, peux_pas_respirer, du_mal_a_respirer, etouffe & $kid, s_etouffe, m_etouffe, inconscient*, ne_repond_plus & $kid/tombe*, ne_bouge_plus, bouge_plus, ne_se_reveille, se_reveille_pas, perdu_connaissance, evanoui*, s_est_evanoui*, fait_un_malaise, a_fait_un_malaise, un_malaise, fait_une_crise, crise cardiaque/epilepsie/asthme/d_epilepsie/d_asthme, crise_cardiaque, infarctus, avc, convuls*, se_noie, noyade, saigne & beaucoup/partout/tete/trop/pas/plus/arrete/enormement, hemorragie, plein_de_sang, du_sang_partout, perd_du_sang, perds_du_sang, en_sang, douleur* poitrine, mal_a_la_poitrine, reaction_allergique, choc_anaphylactique, overdose, intoxiqu*, empoisonn*, trop_de_medicaments, avale & aiguille/epingle/clou/lame/pile/produit/javel/medicament*/piece/comprime*/bouton/aimant*, bu & javel/produit/lessive, perdu_les_eaux, contractions & elle/j_ai/toutes/hopital, elle_accouche, va_accoucher, accouche & hopital/maternite/maintenant, 
      casse jambe/bras/cheville/hanche/poignet/pied/nez, tombe* & escalier*/echelle/toit/balcon/velo/cheval/fenetre & $kid, tombe* & releve*/bouge*/inconscient*/tete & $kid, n_arrive_pas_a_se_lever, peut_plus_se_lever, peux_plus_bouger, peut_plus_bouger, arrive_plus_a_bouger, s_est_fait_renverser, renverse & voiture/par/camion, percute*, electrocut*, poignard*, coups_de_feu, fusillade, tire_dessus, homme_arme, arme & couteau/homme, avec_un_couteau, a_un_couteau, a_une_arme, bombe & alerte/gare/menace/colis, attentat & en_cours/ici/gare/abri, me_suicider, se_suicider, plus_envie_de_vivre, envie_de_mourir, veux_mourir, en_finir & je/veux,
      ambulance, appelle* pompier*/police/samu/15/18/17/112/ambulance/secours/medecin/urgence*, besoin_d_un_medecin, besoin_d_une_ambulance, un_medecin & vite/besoin/maintenant, aux_urgences & $kid/file/fonce/viens/emmene/part, a_l_hopital & $kid & viens/vite/rappelle/emmene*/transporte*/conduit, transporte* & hopital/urgence*/urgences, hospitalise* & $kid, en_reanimation, tres_forte_fievre, fievre & 40/41/bebe & 40/41/baisse,
      eu_un_accident, un_accident & on/viens/grave/voiture/blesse*/autoroute, accident_de_voiture, cambriol*, essaie d_entrer/de_rentrer/forcer, essaye d_entrer, force/forcer/defonce porte/serrure, quelqu_un_est_entre, quelqu_un dans_la_maison/chez_moi/dans_l_appart !a_mange/a_pris/a_laisse/a_bu/a_oublie/sait/veut, me_suit, me_suivent, suis_suivie, suis_suivi, on_me_suit, agresse*, m_a_agresse, vole & mon/portable/sac/arrache, braque*, braquage, menace & couteau/arme/tuer, me_frappe, il_frappe, attaque & $kid & chien/couteau/homme, kidnapp*, enlev* & enfant/fille/fils/voiture,
      enferme dehors/dedans/ascenseur/toilettes/salle/voiture, enfermee dehors/dedans/ascenseur/toilettes/voiture, enfermes dehors, a_la_porte & enferme*/froid/cle*, coince* & ascenseur/voiture/neige/tunnel/metro/train/sous, bloque* & ascenseur/neige/tunnel/grotte/voiture/eau, en_panne & autoroute/tunnel/route/nuit, tombe*_en_panne, perdu* & foret/montagne/neige & suis/sommes/on, 
      perdu $kid & magasin/plage/parc/foule/gare/cherche*, ai_perdu & fils/fille/enfant/petit*, disparu* & $kid, a_disparu, trouve_plus & $kid/fils/fille/petit*, retrouve_pas & $kid/fils/fille, retrouve_plus & fils/fille/petit*/chien, fugue, pas_rentre* & police/inquiet*, 
      $vehicle part/decolle/ferme/s_en_va/demarre/quitte/va_partir $soon, part/decolle/ferme $soon & $vehicle, dernier_appel, ferme_dans, 
      $system est/a/sont tombe*/down/hs/plante/pirate/mort/plus/inaccessible/casse/en_panne/coupe, $system en_panne/down/hs/plante/pirate*/inaccessible/plantee/tombe, tout_est_tombe, tout_est_plante, plus_rien_ne_marche, rien_ne_marche & clients/prod/plus, panne $system/generale/totale, clients & peuvent/arrivent & plus/pas & payer/commander/acheter/connecter, perd des donnees/commandes, perte_de_donnees, piratage, pirates & on/etes/sommes, fuite_de_donnees, ransomware, rancongiciel, base supprimee/effacee/corrompue, 
      tremblement_de_terre & sortez/vite/fort/ressenti, seisme & sortez/fort/vite, evacu*, sortez & vite/tous/immeuble/maintenant, sors_de_la, sortez_de_la, avalanche & pris/sous/emporte*, tsunami, tornade, feu_de_foret & approche*/evacu*, mettez_vous_a_l_abri, danger_de_mort, fourriere & voiture/embarque*/emmene*, 
      decroche & stp/vite/urgent/s_il/te/ton/telephone/bordel, reponds & telephone/vite/stp/urgent, decroche, decrochez, reponds_moi & vite/urgent, sos, est_en_train_de_mourir, est_mort & $kid & viens/rappelle/vient, il_meurt, elle_meurt, va_mourir & $kid & aide*/vite, morsure & serpent, mordu & serpent/chien & sang/saigne/main/jambe, brulee & main/visage/eau, brule* & bras/visage/bebe/degre, coupe & doigt/profond*/saigne, insuline & plus/besoin, ventoline & plus/besoin, personne_n_est_venu & chercher/ecole, chercher & personne & ecole/creche & enfant*/fils/fille/petit*, 
      trouve*_plus & manege/aire_de_jeux/balancoire*/toboggan/bac_a_sable/zoo/foule/fete_foraine/cour, force/forcer/forcent/defonce/defoncer/crochete & porte/fenetre/serrure & quelqu_un/on, besoin_de_toi ici/maintenant/tout_de_suite, besoin_de_toi_ici, dehors & bebe/enfant/plaque/four & interieur/dedans/enferme*, veut_me tuer/frapper, va_me_tuer & aide*/police/dit, me_menace, menace_de_me, ecrase*/renverse* & chat/chien/voiture, evacue* & ecole/immeuble/batiment/creche/bureau/hopital, appareil & oxygene/respir* & eteint/coupe/arrete, panne_de_courant & oxygene/respirat*/dialyse, sur_le_pont & sauter/saute, va_sauter, veut_sauter, commandes/paiements/transactions echouent/plantent, base & prod/production & disparu/supprimee/effacee/vide, coupe* & scie/couteau/hache/verre & main/doigt/jambe/bras, arrache/vole/vole_mon & sac/telephone/portefeuille & seule/seul/reponds/gare/aide*, 
      gorge/visage/langue/levres/cou gonfle/gonflent/enfle*/gonflee, pique* & gorge/gonfle/respire*/abeille/guepe, trop_de cachets/pilules/comprimes/cachetons/somniferes, avale & cachets/boite, pris tous_ses/toute_la & cachets/boite, plus_de_freins, freins & plus/pas/laches, rode & maison/jardin/autour, quelqu_un/homme & jardin/autour_de_la_maison/dehors/fenetre & peur/couteau/police/cache*, me_suis_cache*, je_me_cache, plus_aucun paiement/achat & passe, aucun paiement/commande & passe, paiements/commandes ne_passent_plus/bloques/refuses, rollback, tete & saigne/sang, glisse & sang/saigne/tete/inconscient*, confus* & tete/tombe*, bouche_de_travers, n_arrive_plus_a_parler, en_dessous & arbre/mur/voiture/tombe*, est_tombe_sur, tombe* du_lit & relever/lever/bouger, n_arrive_plus_a_se_relever, peut_plus_se_relever, fume/fumee/etincelles & prise/cable/lave_linge/machine/compteur, prise fume/brule, machine_a_laver & deborde/fuit, toilettes debordent, la_bat, il_la_frappe, se_battent & couteau*/sang, vole/volent & en_ce_moment/ton_velo/ta_voiture, tout_le_monde_t_attend, on_t_attend_tous, avale & pile/piece/bille/aimant*, bloques & neige/essence, plus_d_essence & autoroute/neige/nuit/bloques, porte/gate/embarquement ferme $soon, ferme $soon & cours/vite/depeche*, 
      tuyau*/canalisation*/radiateur/chauffe_eau/ballon/flexible & eclate/explose/perce/fuit/pete/lache/trempe, sans cle/cles & porte/dehors/froid/enferme*, cles/cle oubliee/oubliees/perdue/perdues/interieur & porte/dehors/froid, porte claquee/s_est_refermee/a_claque & cle*/dehors/bebe/nuit, peux_plus_rentrer, peux_pas_rentrer, personne chercher/recuperer & fils/fille/enfant/ecole/creche, pas_ete_recupere, carambolage, tonneau & voiture/on/fait, rentre_dans & arbre/mur/camion/voiture, dans_le_fosse, flammes & cuisine/toit/maison/partout/sortent, gaz & fuite/sifflement/tete/ouvre*/sors, voleurs, cambrioleurs, vitre/fenetre/porte/serrure brisee/cassee/forcee/defoncee, s_est_sauve*, s_est_enfui*, echappe* & petit*/enfant/chien, police & porte/arrete*/cherche*/sonne*, arrete/arretee par_la_police, garde_a_vue, coupure & ascenseur/bebe/oxygene/chauffage/seul*/noir, plus_de_courant & ascenseur/bebe/oxygene/chauffage/serveur*, plus_d_electricite & bebe/oxygene/chauffage/ascenseur, plonge*_dans_le_noir, 
      rideau/canape/lit/poele/huile/poubelle/bougie/sapin/friteuse/seche_linge/grille_pain feu/flammes/brule/fume, pue/empeste gaz/brule/fume*, ca_pue_le_gaz, levres bleues/violettes, reprendre son_souffle/souffle, type*/gars/hommes/inconnu* & porte/garage/fenetre/maison/escalier & ouvrir/forcer/essai*/secoue*, personne_ne_l_a & vu/vue, ne_l_a_vu & arret/ecole/appelle*, pas_a l_arret/l_ecole & personne/vu, bu & eau_de_javel/javel/detergent/produit, javel, nous_a_percute*, rentre*_dedans, sur_le_flanc, sur_le_toit & voiture, creche/ecole/maternelle appelle/appele & disparu*/parti*/plus/blesse*, vaccins/insuline/medicaments & frigo/froid/courant, tombe* & etage/balcon/fenetre & chat/chien/enfant/petit*, me_tabasser, me_frapper & vient/arrive/ecrit, systeme_de_paiement & plante/bloque/bug, caisses & bloquees/arretees/plantees, aquarium casse/eclate/explose, police emmen* & veut/vont/viens/commissariat, clients erreur & 500/502/503, erreur_500, train/bus/avion part/ferme & cours/vite/minutes & quai/porte/cours, 
      perdu/perdue !mes/mon/ma/le/la/les/contre/du & marche/plage/parc/foule/gare/aeroport/magasin/centre_commercial/fete, couteau/arme/pistolet/hache & porte/dehors/suit, crois/pense/entend* & quelqu_un & maison/chez_nous/appart*/etage/cave, des_pas & etage/en_bas/entend*, du_bruit & en_bas/etage/cave & seul*/peur/quelqu_un, 
      api/backend/site/serveur renvoie/repond/retourne & 500/502/503/504, 500/502/503/504 & tout_le_monde/tous/clients/utilisateurs, accident_de moto/velo/scooter/la_route, casse/cassee/brise/brisee fenetre/vitre/porte & ouverte/entrer/pris/vole, enferme*/coince* & toilettes/salle_de_bain/cave/wc & entend/aide*/personne, du_mal_a_respirer, respire_mal, respire_tres_mal, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      poitrine serree/serre/oppresse*/douleur/pression & bras/souffle/respir*/sens, poitrine_serree, bras/visage/jambe engourdi*/paralyse* & poitrine/coup/parler, voiture/velo/bateau & riviere/lac/canal/fosse & dans/tombe*, tuyau/robinet detache/arrache/casse/eclate & sol/eau/trempe, sol/moquette trempe*/inonde*, robinet_d_arret, couper_l_eau, ivre/bourre/soul & porte/forcer/suit/frappe, connexion/paiement cassee/casse/plante & tous/utilisateurs/clients, 
      courant/electricite/coupure & toute/tout/entier/entiere & maison/immeuble/rue/quartier, plus_de_courant & congelateur/frigo, plus_d_electricite & congelateur/frigo, plus_de_lumiere & maison/immeuble, trouve*/trouvons & nulle_part, introuvable & $kid, me_suit, nous_suit, me_poursuit, 
      arrete_pas_de_saigner, arrete_plus_de_saigner, sang & arrete/s_arrete pas/plus
      """,
    urgent: """
      urgent, urgente, urgents, c_est_urgent, urgence, tres_urgent, en_urgence, extremement_urgent, ne_peut_pas_attendre, peut_pas_attendre, ca_urge, question_de_vie, entre_la_vie, vital, alerte_rouge, d_urgence & viens/besoin/appelle*/rappelle*/il_faut
      """,
    danger: """
      $vehicle $soon,
      feu, incendie, flammes, fumee, accident, blesse, blessee, blesses, sang, saigne, hopital, urgences, police, pompiers, tombe & $kid, tombee, malaise, inconscient*, vertiges, douleur*, disparu*, perdu & $kid, peur, danger, en_danger, seule, coince*, bloque*, enferme*, gele, grave & arrive/passe/quelque, arrive & quelque_chose/malheur, passe & quelque_chose, cambriolage, vole & voiture, arme, couteau, poison, panne, down & $system, plante & $system, pirate*, inondation, fuite, explosion, bombe, seisme, malheur, tres_mal & $kid, va_mal, vomit & sang/arrete, fievre, m_attend, t_attend, attend & on & tous/tout, commence $soon, ferme $soon, part $soon, mort & $kid, 
      pique, gonfle, cachets, freins, etincelles, deborde, 
      rater avion/vol/train/bus, on_va_rater, coupure, panne_de_courant, plus_de_courant, menace*, boite & chien/chat, veto, va_fermer, taxi_attend, 
      erreur_500, erreur_502, mal_au_cou, mal_au & cou/ventre/poitrine/dos, eau_partout, verre_partout, astreinte
      """,
    help: """
      aide_moi vite, aidez vite,
      ^au_secours, ^a_l_aide, ^help$, ^aide_moi$, ^aidez_moi$, ^aidez_nous, aidez_moi$, aidez_nous, aide_moi_vite, besoin_d_aide, besoin_de_toi, besoin_de_vous, besoin_de_ton_aide & vite/maintenant/immediatement, au_secours, a_l_aide, aide_moi_s_il, aidez_moi_a_la, aidez_moi_a_le, 
      ^help
      """,
    ask: """
      tu_n_es_pas_la, tu_n_es_toujours, t_es_pas_la,
      tu_peux_me_l, tu_peux_venir, peux_tu_venir, vous_pouvez_venir, apporte_moi, ramene_moi,
      il_faut_aller, il_faut_que, il_faut_partir,
      appelle_moi, appelez_moi, rappelle_moi, rappelez_moi, rappelle, appelle & vite/maintenant/maman/papa, telephone_moi, reponds, repond, repondez, decroche, viens, venez, reviens, rentre, rentrez, ramene, tu_es_ou, t_es_ou, ou_es_tu, vous_etes_ou, ou_etes_vous, ou_t_es, besoin_de_toi, besoin_de, il_nous_faut, il_me_faut, il_faut_que_tu, quelqu_un_peut, ouvre, ouvrez, que_faire, je_fais_quoi, on_fait_quoi, qu_est_ce_que_je_fais, sors, sortez, depeche, depeche_toi, depechez, envoie, envoyez, cherche_le, cherchez, connecte_toi, aide_moi_a_chercher, reveille_toi, 
      j_ai_peur, j_ai_tellement_peur, on_a_peur, je_fais_quoi, quoi_faire, cours$, courez, rollback, 
      rentre_vite, reviens_vite, depechez_vous, reste_au_telephone, reste_en_ligne, ne_raccroche_pas, ouvre_moi, laisse_moi_entrer, est_ce_que_quelqu_un, il_y_a_quelqu_un, envoie_quelqu_un, qui_a, ou_est, ou_sont, besoin_d_aide, rappelle_moi, sors_de, 
      qui_est_d_astreinte, qui_peut_aider, aide_moi, aidez_moi, tu_peux_venir, viens_au, comment_on_coupe, comment_couper, on_doit_sortir, on_sort, et_maintenant, tu_te_caches, ou_tu_es, 
      je_t_en_supplie, t_en_supplie, je_vous_en_supplie, descends, descendez
      """,
    haste: """
      vite, tout_de_suite, immediatement, maintenant$, maintenant_stp, des_que_possible, au_plus_vite, le_plus_vite, rapidement, asap, sur_le_champ, sans_attendre, urgent, urgence, d_urgence, de_toute_urgence, depeche*, plus_une_minute, plus_le_temps, chaque_minute, illico, 
      au_plus_vite, des_maintenant, tout_suite, immediatement, en_vitesse, le_plus_vite_possible, la_maintenant, vite_vite, 
      a_la_minute, dans_la_minute, la_maintenant, a_l_instant, 
      viens_maintenant, venez_maintenant
      """,
    idiom: """
      sortie_de_secours, sorties_de_secours, issue_de_secours, roue_de_secours, premiers_secours, numero* d_urgence, numero*_d_urgence, contact*_d_urgence, service_des_urgences, etat_d_urgence, medecin_urgentiste, plan_d_urgence, exercice incendie/evacuation, alarme_incendie, alerte_incendie_test, caserne, bal_des_pompiers, calendrier_des_pompiers, feu_d_artifice, feux_d_artifice, feu_rouge, feu_vert, feu_de_camp, feu_de_cheminee, cessez_le_feu, pomme_de_terre, detecteur_de_fumee, il_fume, elle_fume, je_fume, on_fume, qui_fume, ton_aide, votre_aide, avec_l_aide, aide_moi_a, tu_m_aides, m_aider, aide_a_choisir, tomber_amoureu*, tombe_amoureu*, tombe_bien, ca_tombe, tombe_un, tombe_le, l_anniversaire_tombe, meurs_de, morte_de_rire, mort_de_rire, suis_mort*, je_meurs, creve, coup_de_foudre, va_vite, vite_fait, a_vite, a_tres_vite, le_temps_passe_vite, passe_trop_vite, vole_vers, a_bientot, par_accident, pris_de_sang, prise_de_sang, sang_froid, pas_grave, rien_de_grave, c_est_pas_grave, viens_de, venez_de, viens_avec, viens_manger, viens_boire, viens_a_la_soiree, ouvre_un, besoin_de_vacances, besoin_de_rien, ou_plus_tard, est_en_feu_ce, elle_est_feu, 
      contacts_d_urgence, liste_d_urgence, liste_de_contacts, numeros_d_urgence, de_la_bombe, c_est_de_la_bombe, la_bombe, batterie & lacher/mourir, meurs_de_faim, meurt_de_faim, 
      exercice_d_evacuation, exercice_incendie, alarme_test, essai_d_alarme, 
      urgences_veterinaires, m_a_tue, m_a_tuer, mort_pour_moi, morte_pour_moi, 
      embarquement_a_ete, on_decolle, nous_decollons
      """,
    calm: """
      pas_urgent, pas_une_urgence, pas_d_urgence, rien_d_urgent, pas_si_urgent, aucune_urgence, ca_urge_pas, pas_presse, rien_ne_presse, ca_presse_pas, pas_de_precipitation, sans_urgence, sans_stress, pas_de_stress, pas_de_panique, prends_ton_temps, prenez_votre_temps, quand_tu_peux, quand_tu_pourras, quand_vous_pouvez, quand_tu_veux, quand_tu_auras, quand_t_as_le_temps, quand_tu_as_le_temps, si_tu_as_le_temps, a_l_occasion, ca_peut_attendre, peut_attendre, t_inquiete, ne_t_inquiete, vous_inquietez_pas, pas_d_inquietude, rien_de_grave, pas_grave, rien_d_important, pas_important, tout_va_bien, ca_va_mieux, va_mieux, je_vais_bien, il_va_bien, elle_va_bien, on_va_bien, tout_est_ok, tout_est_rentre, c_est_bon, c_est_regle, c_est_repare, regle, remarche, refonctionne, de_retour_en_ligne, retrouve* & on_l_a/l_ai, fausse_alerte, fausse_alarme, plus_de_peur, je_rigole, je_plaisante, je_deconne, c_etait_une_blague, blague, mdr*, ptdr*, lol, xptdr, c_etait_juste, c_etait_rien, 
      va_bien_maintenant, laissee_rentrer, laisse_rentrer, est_rentree_de_l_hopital, sortie_de_l_hopital, est_sorti_de_l_hopital, est_reparti*, reparti_depuis, fonctionne_a_nouveau, marche_a_nouveau, 
      c_est_toujours_pareil, toujours_pareil, toujours_urgent, tout_est_urgent, il_dit_toujours, elle_dit_toujours, 
      tout_est_revenu, le_courant_est_revenu, c_est_revenu, 
      tout_va_tres_bien, a_ete_retrouve*, aucune_urgence, est_retrouve*
      """,
    unreal: """
      il_a_dit, elle_a_dit, disait, parait_que, en_##, finalement,
      reporte*, decale*, annule*, deplacee, deplace, avancee_a, tu_as_entendu, t_as_vu, t_as_entendu,
      hier, avant_hier, la_semaine_derniere, le_mois_dernier, l_annee_derniere, l_an_dernier, l_ete_dernier, la_derniere_fois, il_y_a_#_ans, il_y_a_#_jours, il_y_a_#_mois, il_y_a_longtemps, a_l_epoque, autrefois, quand_j_etais, l_autre_jour, film, films, serie, documentaire, livre, roman, episode, chanson, album, concert, jeu, podcast, aux_infos, les_infos, journal, article, musee, exposition, theatre, reve, cauchemar, meme, exercice, simulation, formation, stage, un_cours, mon_cours, le_cours, les_cours, cours_de, en_cours_de, assurance, portes_ouvertes, travaille_aux, travaille_chez, travaille_a, bosse_aux, bosse_chez, ca_veut_dire, veut_dire, que_signifie, merci_pour, merci_de, imagine, si_un_jour, un_jour, presque, failli, bon_anniversaire, joyeux_anniversaire, felicitations, recette, prevu, planifie*, maintenance, trop_bien, disait_que, a_dit_que_c_etait, devoirs, 
      tu_te_souviens, te_souviens, tu_te_rappelles, vous_vous_souvenez, vous_souvenez, 
      le_dimanche, le_samedi, est_gratuit, viens_de_lire, 
      spoiler*, il_y_a_deux_ans, il_y_a_trois_ans, il_y_a_un_an, il_y_a_deux_mois, il_y_a_trois_mois, deux_ans, assassin, meurtrier, la_prochaine_fois, 
      par_erreur, quand_j_etais, etant_petit, petit_j_ai, recrutent, recrute, une_fois
      """,
    trifle: """
      cafe, chocolat, pizza, biere*, vin, apero, vacances, coiffeur, sieste, glace, gateau, robe, chaussures, netflix, soiree, shopping, massage, dejeuner, diner, week_end, weekend, calin*, gossip, pain, lait, the, sushis
      """,
    later: """
      demain, apres_demain, plus_tard, ce_soir, la_semaine_prochaine, lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche, ce_week_end, apres_le_travail, quand_tu, quand_vous, quand_t_es, des_que_tu, une_fois_que, un_de_ces_jours, a_l_occasion, si_tu_veux, si_tu_peux, bientot, un_jour
      """,
    suppose: "si, s_il, au_cas_ou, en_cas, en_cas_de, presque, comme_si, contre, sauf, a_cause_de_no, sans",
    not: "pas, rien, aucun, aucune, sans, ni, jamais, point",
    notBefore: "pas, rien, jamais"
  )
}
