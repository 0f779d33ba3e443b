extension UrgencyLexicon {
  static let english = UrgencyLexicon(
    marks: """
      the/a/an/is/are/was/i/you/he/she/it/we/they/to/of/and/in/on/at/for/with/my/your/me/that/this/have/has/do/does/not/be/can/will/if/but/so/what/where/when/how/im/its/dont/cant/just/there/up/out/now/from/our/all/any/been/theres/away/home/someone/got/get/go/her/him/his/their/them/us/had/did/into/who/as/by
      """,
    classes: [
      "who": """
      i/im/ive/he/hes/she/shes/they/theyre/theyve/we/were/weve/mom/mum/mommy/mummy/mother/dad/daddy/father/grandma/grandpa/granny/nan/nana/
      grandmother/grandfather/baby/kid/kids/child/children/son/daughter/toddler/wife/husband/brother/sister/friend/aunt/uncle/boyfriend/girlfriend/
      cousin/neighbour*/neighbor*/dog/cat/puppy/someone/somebody/people/man/woman/girl/boy/guy/him/her/me/us/them/roommate/flatmate/
      colleague/coworker/patient/student/everyone/partner
      """,
      "kid": """
      kid/kids/child/children/son/daughter/baby/toddler/boy/girl/him/her/dog/cat/puppy/mom/mum/mother/dad/father/grandma/grandpa/wife/husband/
      brother/sister/grandmother/grandfather
      """,
      "place": """
      house/home/apartment/flat/kitchen/basement/cellar/garage/roof/building/office/room/rooms/bathroom/bedroom/living_room/attic/hallway/stairwell/
      shop/store/barn/warehouse/floor/ceiling/car/bus/oven/stove/toaster/bed/curtain*/garden/shed/balcony/engine/wall/walls/corridor/workshop/
      lab/school/church/hotel/forest/tree/trailer/boat/ship/elevator/machine/battery/charger/laptop/phone
      """,
      "system": """
      production/prod/server/servers/site/website/webshop/shop/api/database/db/system/systems/service/services/network/backend/cluster/app/
      platform/checkout/payment/payments/login/store/gateway/mail/email/phones/everything/internet/vpn/dns/queue/pipeline/kafka/power
      """,
      "vehicle": """
      flight/plane/train/bus/ferry/boat/ship/taxi/cab/uber/ride/shuttle/coach/tram/gate/boarding/check_in/checkin/convoy
      """,
      "soon": """
      in_#_min/in_#_mins/in_#_minutes/in_#_minute/in_a_minute/in_a_few_minutes/in_five/in_ten/in_five_minutes/in_ten_minutes/in_two_minutes/
      in_three_minutes/in_fifteen_minutes/in_twenty_minutes/in_half_an_hour/in_a_moment/any_minute/any_second/in_less_than/now/without_you/
      in_#min/in_#mins/in_#m/in_twenty/in_thirty_minutes/in_forty_minutes/
      in_four_minutes/in_six_minutes/in_seven_minutes/in_eight_minutes/in_nine_minutes/in_twelve_minutes/in_twenty_five_minutes/in_forty_five_minutes/in_one_minute
      """,
      "aux": "is/are/was/has/have/gets/got/just/being/been/keeps/s/started/starts/starting",
      "flow": """
      run*/pour*/leak*/drip*/flood*/gush*/com*/seep*/spill*/spray*/ris*/stream*/burst*
      """,
      "wspot": """
      door/ceiling/floor/wall/walls/under/stairs/cellar/basement/kitchen/bathroom/hallway/everywhere/pipe/tap/toilet/carpet/lamp/apartment/flat/house/car
      """,
      "water": """
      water/sewage
      """,
      "hit": """
      kick*/beat*/hit*/hitting/punch*/smash*/bang*/pound*/hammer*/break*/broke/forc*/rattl*/throw*/attack*/chok*/strangl*/stab*/push*/grab*/drag*
      """,
      "door": """
      door/window/windows/gate/lock/me/us/mom/mum/dad/her/him/sister/brother
      """,
      "who2": """
      ex/outside/man/men/someone/somebody/stranger/neighbor/neighbour/guy/guys/he/they/boyfriend/husband/drunk
      """,
      "gone": """
      ran_away/run_away/ran_off/escaped/disappeared/vanished/is_gone/got_out/went_missing/wandered/missing/slipped_away
      """,
      "care": """
      nursery/kindergarten/daycare/school/playground/hospital/care_home/nursing_home/park/zoo/mall/beach/garden/house/home/ward
      """,
      "sys2": """
      database/db/production/prod/server/servers/checkout/payments/payment/api/login/site/website/backend/cluster/gateway/queue/orders/shop/system/systems/tills/registers
      """,
      "broke2": """
      corrupt*/down/gone/wiped/deleted/dead/crash*/fail*/broken/frozen/hang*/hung/stuck/unreachable/offline/empty/error/errors/timing_out/timeouts/on_fire/bouncing/rejecting/blocked/stopped
      """,
      "crisis": """
      everything/nobody/everyone/customers/users/now/join/call/bridge/asap/immediately/help/losing/prod/all
      """,
      "detector": """
      detector/alarm/alarms/smoke_alarm/sensor/monitor
      """,
      "beep": """
      beep*/going_off/ringing/rings/sounding/won_t_stop/wont_stop/screaming/went_off
      """,
      "symptom": """
      dizzy/faint/nauseous/headache/sick/sleepy/smoke/smell/fire/gas/carbon/monoxide/co
      """,
      "board": """
      boarding/were_boarding/gate/doors_closing/doors_close/last_call/platform/check_in/on_the_train/on_the_bus
      """,
      "mins": """
      two_minutes/three_minutes/five_minutes/one_minute/ten_minutes/#_minutes/#_min/#_mins/#min/now/closing/last
      """,
      "you": """
      you_have/youve_got/where_are/hurry/run/waiting_for_you/you_only
      """,
      "burn": """
      burn*/on_fire/caught_fire/smok*/flames/ablaze/smoulder*/smolder*/sparks/sparking
      """,
      "thing": """
      dryer/washing_machine/dishwasher/toaster/oven/stove/pan/hob/microwave/fridge/tv/charger/battery/laptop/socket/cable/curtain*/sofa/couch/bed/mattress/bin/car/engine/van/truck/bus/garage/shed/attic/roof/kitchen/barn/warehouse/chimney/carpet/candle/tent/balcony/house/flat/apartment/building/office/school/hotel/forest/field
      """,
      "med": """
      ambulance/paramedics/er/icu/intensive_care/stretcher/resuscitat*/cpr/defibrillator
      """,
      "crash": """
      pile_up/pileup/collision/crash/accident/rear_ended/rolled_over/overturned/hit_a_tree/off_the_road
      """,
    ],
    alarm: """
      is/are/am/im/got/been badly/seriously/severely hurt/injured/wounded, is/are injured/wounded, got_hurt & call/come/hospital/help, panic_attack & call/come/help, rat_poison, ate poison/antifreeze/chocolate & dog/puppy/cat, boat sinking, stole/stolen car & baby/kid/inside, brakes failed/not_working/gone/dont_work, went_off_the_road, off_the_road & car, crying_for_help, calling_for_help, screaming_for_help, screams & neighbo*/next_door, hacked & site/website/account/server/we/our,
      $place burning,
      dont_feel_safe, not_safe_here,
      going_to_explode, about_to_explode, gonna_blow, about_to_blow, production stopped/halted/stands, without_keys & freezing/outside/locked,
      $system rejecting/declining/refusing/blocking, window/door smashed, fire_brigade/fire_department/firefighters/police/ambulance/paramedics/cops on_the_way/on_its_way/on_their_way/coming/is_here/are_here, left_the_stove, left_the_oven, left_the_iron, alarm went_off & window/door/house/shop/smoke/back, $who collapsed, need blood/donor & now/urgent*/hospital, is_convulsing,
      rear_ended, spiked my/her/his drink, is_sinking, boat sinking, escaped & highway/motorway/road/street, rolling_down & street/hill, broken_into, dam broke, higher_ground, in_a_e, tried_to_kill, throwing_up & head/blood, passed_away & come/call, cant_reach & worried/alarm/hours/police/hospital, charged_twice, writes failing, $system temperature & rising/degrees, isnt_opening & crying/scream*, on_the_roof & jump, drunk & driving & now/stop/kids, $kid is_stuck/trapped, electric_shock, live_wire,
      hitting_me, beating_me, chasing_me, stalking_me, threatening_me, strangling_me, hurting_me, banging_on_the_door, pounding_on_the_door, face_down & water/pool/lake/pond, $place exploded, $system returns/returning/throwing 500/502/503/errors, 500/502/503/errors & everyone/customers/users/checkout, leaked & keys/credentials/passwords/data/github, elevator/lift & stuck, we_lost/i_lost & fair/mall/beach/park/station/crowd/zoo/market,
      $place/it/car/something/everything on_fire, is/are/s/its on_fire, $place is/are/s burning/ablaze, $place burning_down, burning_down,
      $place caught_fire, caught_fire, fire_in_the $place, fire in/at/on/next_door $place, theres_a_fire, there_is_a_fire, fire broke_out,
      smoke coming/pouring/everywhere/filling, smoke in/from/out $place, full_of_smoke, i_smell/we_smell/i_can_smell/smells_of/smell/smelling gas/smoke/burning,
      gas_leak, gas_smell, smells_like gas/smoke/burning, carbon_monoxide alarm/detector/beep*, exploded $place/boiler/stove, boiler/stove/gas/battery exploded/explosion,
      there_was/theres/heard explosion, explosion in/at,
      water pouring/gushing/flooding/rushing/streaming/spraying/leaking/rising/everywhere, water coming/running/dripping in/through/from/out/into ceiling/wall/walls/roof/door/$place,
      water_is_coming, $place flooding/flooded/underwater/under_water, being_flooded, pipe/pipes burst/bursted/broke/exploded, burst_pipe, water_pipe burst/broke,
      ceiling collapsed/collapsing/coming_down/caving/falling, roof collapsed/collapsing/caved, building collaps*,
      not_breathing, isnt_breathing, stopped_breathing, cant_breathe, cannot_breathe, can_not_breathe, cant_breath, hardly_breath*, barely_breath*,
      trouble_breathing, struggling_to_breathe, difficulty_breathing, gasping_for, turning_blue, no_pulse, no_heartbeat, stopped beating,
      unconscious, passed_out, $who fainted, unresponsive & $who, not_responding & $who, not_moving & $who, isnt_moving, wont_wake, not_waking, doesnt_wake, lost_consciousness,
      cant_wake $who, $who collapsed/convulsing/overdosed/od/drowning/choking, collapsed in/on/at, choking on, is_choking, is_drowning, $kid is_dying, people are_dying,
      wont_stop bleeding, bleeding & stop/heavily/badly/bad/lot/everywhere, is_bleeding, im_bleeding, losing_blood, lots_of_blood, so_much_blood, blood everywhere, lost_a_lot_of_blood,
      heart_attack & $who, cardiac_arrest, having_a_stroke, had_a_stroke, a_stroke & $who, having_a_seizure, had_a_seizure, seizure & $who, chest_pain*, chest_hurts,
      anaphyla*, allergic_reaction, epipen, inhaler & need/find/forgot/empty/cant, insulin & need/out/forgot/empty, overdose*, too_many_pills, swallowed $who/bleach/battery/pill*/coin/poison/something/button/magnet*,
      swallowed, drank bleach/cleaner/poison/detergent, poisoned, was_poisoned, went_into_labo*, in_labo*, my/her/your water/waters broke, contractions,
      broke/broken/fractured my/his/her/their leg/arm/neck/hip/back/ankle/wrist/foot/nose/skull, fell off/down/from ladder/roof/stairs/bike/horse/tree/balcony/window, $who fell and/cant/bad*/unconscious,
      fell_down_the, cant_get_up, cant_stand_up, cant_move, cannot_move, cant_feel my/his/her, hit_by a/car/bus/truck, run_over_by, ran_over, got_hit, been_hit_by, was_hit_by,
      electrocuted, stabbed, been_shot, got_shot, was_shot, shots_fired, shooting & school/mall/street/people/shots, active_shooter, gunman, gunshots, has_a_gun, has_a_knife, with_a_knife, with_a_gun, bomb & threat/in/at,
      kill_myself, end_my_life, dont_want_to_live, want_to_die, cant_go_on, hurt_myself, suicid* & $who, going_to_jump, gonna_jump,
      rushed_to, ambulance & coming/way/here/call/need/taking/taken/called/send/get/in, in_the_ambulance, need_an_ambulance, call_an_ambulance, call 911/999/112, call_the_police, call_the_fire, need_a_doctor, need_a_medic, doctor & now/quick*/immediately,
      in/to/at hospital/er/icu/intensive_care & $kid/come/call, come_to_the hospital/er, rushing_to, very_high_fever, high_fever & baby/kid/child/wont, fever & baby/wont/40/41/104/105,
      had_an_accident & $who/call/come, car_crash, car_accident, crashed my/the/his/her/our/into car/bike, weve_crashed, we_crashed, we_had_an_accident, been_in_an_accident, was_in_an_accident, bad_accident, had_a_crash, just_had_an_accident, terrible_accident,
      break_in & someone/trying/there/house, breaking_in, breaking_into, broke_into, trying_to_break, trying_to_get_in, trying_to_enter, burglar*, intruder*, someone_in_the_house !ate/took/left/used/forgot/knows/borrowed/drank/finished/wants, someone_is_in, someones_in, someone_broke, 
      being_followed, following_me, follows_me, im_being, robbed & $who, mugged, being_attacked, attacked & $who, attacking, assaulted, kidnapp*, threatening & $who, hit_me & help/again/he,
      locked_out !account/instagram/facebook/netflix/email/twitter, locked_myself, locked_in & room/bathroom/car/basement/elevator/building/help/toilet, shut_myself_out, locked & baby/kid/child/dog/inside & car/room/bathroom/inside/in, stuck/trapped in/under/inside/on & elevator/lift/car/mud/snow/room/train/bathroom/tunnel/tree/building/basement/rubble/ice/water, trapped, stranded,
      broke/broken/breaks down/breakdown & motorway/highway/road/freeway/middle/tunnel, out_of_gas & road/highway/middle/stuck, no_fuel, ran_out_of & gas/fuel/insulin/oxygen,
      cant_find/couldnt_find/lost/is_missing/missing/disappeared/vanished & $kid & looking/look/help/anywhere/police/park/mall/store/beach/crowd, cant_find $kid, is_missing $who, has_gone_missing, gone_missing, went_missing, $kid is_missing/missing !its/a/some/my/his/her/out/you, $kid disappeared/vanished/ran_away/run_away/ran_off/got_lost/wandered_off, lost my/our $kid,
      still_not_home & police/worried/late/since, hasnt_come_home, didnt_come_home,
      $vehicle leaves/leaving/departs/departing/takes_off/boards/boarding/closes/closing/goes/starts/is_about/about_to $soon/minute/now/already/leave/close, $vehicle is_about, $vehicle about_to, final_call, last_call_for, final_boarding, boarding_now & where_are_you/hurry/gate/last/your/missing, gate closes/closing $soon, $vehicle without_you, leaving_without_you, $vehicle $soon & where_are_you, 
      $system is/are/s/went/has/have/just/been down/offline/unreachable/unavailable/failing/broken/crashed/crashing/dying/dead/hacked/compromised, $system down/offline/crashed/unreachable/outage/failing, outage, is_down & customer*/user*/client*/losing/orders/prod*, $system gone_down, 
      $system not_working & customer*/users/nobody/everyone, cant_log_in & everyone/nobody/users/customers/all, customers/users/clients cant/cannot/unable, losing data/orders/money/customers, data_loss, deleted_the $system, dropped_the $system/table, deleted database/db/production, database deleted/dropped/corrupt*/gone/wiped, 
      data_breach, security_breach, breach & security/data/systems, been_hacked, got_hacked, ransomware, under_attack, ddos, leaked credentials/keys/passwords, disk/disks full & prod*/server/db/database, sev1, sev_1, p1_incident, p0, incident & production/critical/now/join/bridge, all_hands & need/deck/now, hands_on_site,
      earthquake & now/get/out/feel/felt/here/house/building, tsunami & warning/coming/run, tornado & warning/coming/now/basement, wildfire & coming/evacuat*/near/close, avalanche, evacuat* & now/us/everyone/building/must/out/immediately/ordered/have/leave, hurricane & evacuat*/now, take_cover, 
      get_out & now/everybody/everyone/building/house/of_there/there/here, everybody_out, everyone_out, get_everybody_out, get_everyone_out, get/run away_from_there, dont_come_home/in & fire/police/gas/gun,
      power/electricity out/gone/off & oxygen/ventilator/medic*/freez*/baby/hospital, no_heat* & baby/freez*, getting/being towed, is_being_towed, towing, evicted & today/now,
      nobody/no_one picked/picking up/them/him/her & kid*/school/son/daughter/nobody/no_one, nobody_picked, still_waiting & school/kindergarten/daycare & kid*/son/daughter/picked,
      need_to_come & hospital/now/school/immediately, police_are_here, police_is_here, the_cops_are, arrested & $who, im_in_jail, got_arrested, save_me !a/some/the/one, save_us, mayday, sos, 🆘, answer/pick_up & phone & please/urgent*/now/your/damn/the, pick_up_pick_up, pick_up_the_phone, pick_up_your_phone, answer_your_phone, answer_the_phone,
      pick_up_please, please_pick_up !from/the/some/my,
      dog/cat/puppy & poison*/chocolate/hit/seizure/vet & ate/eaten/hit/now/emergency/bleeding/way, at_the_vet & emergency/hit/pick_up/call, miscarr*, she_lost_the_baby, died & just/passed/mom/dad/grandma/grandpa/tonight/hospital & mom/dad/mother/father/grandma/grandpa/brother/sister/come/call, passed_away & just/tonight/minutes,
      snake & bit/bitten, bitten_by, bit_me & snake/dog/spider, cant_swim, drowning & $who/help/lake/pool/sea, fell_into_the & water/river/pool/lake/ice, through_the_ice, lost_in_the & forest/mountain*/woods/snow/dark/fog, hypothermia, frostbite, heatstroke, sepsis, dehydrat* & baby/bad,
      crush*/caught & hand/arm/finger/leg & machine/door/press, cut_off & finger/hand/thumb, cut & finger/hand/vein/artery/wrist & deep/bad*/bleed*/blood/stitches, deep_cut, concussion, head_injury, hit his/her/my head & hard/bleed*/dizzy/vomit*/unconscious/blood, burned/burnt/scalded & hand/face/arm/herself/himself/badly/baby/water, 
      cant_find/cannot_find/couldnt_find/dont_find & playground/swings/swing/slide/carousel/merry_go_round/sandbox/zoo/fairground/schoolyard/crowd, kicked/kicking/smashed/bashed/broke door in/down, kicked_in door, kicked/kicking/smashing in & door, trying_to_open door/window & someone/somebody/man, prying/forcing/picking door/lock/window, need_you here now/immediately/right, need_you_right_now, need_you_here, locked/shut & out/outside & baby/toddler/kid/child/stove/oven/pot, baby_is_inside, says/said he/she/they kill/hurt/shoot/stab me/us/her/him & help/send/police/call/please, hit_by & dog/cat, been_run_over, got_run_over, evacuating/evacuated school/building/kindergarten/hospital/office/us/everyone, oxygen/ventilator/breathing_machine/dialysis off/stopped/out/failing/alarm, without_power & oxygen/ventilator/dialysis, on_the bridge/roof/ledge/tracks & jump, wants_to_jump, will_jump, says & jump & bridge/roof/window, orders/payments/checkouts/transactions/logins/jobs/writes failing/fail/failed !tomorrow/last, database/table/data/backup gone/vanished/disappeared/wiped/missing & prod*/customers/users, prod/production database/db gone/vanished/missing/wiped, cut & saw/knife/glass/axe & hand/finger/leg/arm/bad*/deep*, snatched/stole/stolen bag/purse/phone/wallet & alone/answer/help/pick_up/station, mugged, 
      leaves/leaving/departs $soon & where_are/not_here/isnt_here/missing, bag/purse/phone/wallet snatched/stolen/gone & alone/answer/help/pick_up/station, 
      throat/face/tongue/lips/neck/airway swelling/swollen/swells/closing, swelling & stung/bee/allerg*/peanut*/throat, stung & throat/breath*/swell*/face, too_many pills/tablets/painkillers/meds, took/taken too_many/whole/all & pills/tablets/painkillers, brakes failed/gone/dont/not/wont/arent/stopped, no_brakes, wont_stop & car/brakes, prowling, lurking & house/door/window/outside, sneaking_around, someone/somebody/man/stranger & garden/outside/around_the_house/in_the_yard/at_the_window & hiding/scared/torch/knife/police, trying_the_door, hiding_upstairs, im_hiding, hiding_in_the, payments/orders/checkouts/logins bouncing/rejected/declined & everyone/all/since, no payments/orders/logins & going_through/go_through/since, roll_back now/immediately/asap, head bleeding/bleeds/cut_open, slipped & bleeding/head/unconscious/shower, confused & head/fell/bleeding/slurr*, slurr* & speech/words/face/arm, face droop*, cant_speak & arm/face/suddenly, underneath & tree/car/wall/rubble/fell/came_down, fell_on & tree/wall/shelf/rock/him/her, came_down_on, fell/fallen out_of_bed/off_the_bed & up/move/stand, smoke/sparks/sparking/smoking & socket/outlet/plug/fuse/wire*/washing_machine/dryer, toilet/washing_machine/dishwasher/bath overflowing/flooding, sewage, beating her/him/up, fighting & knife/knives/blood/gun, stealing & right_now/your_car/your_bike/our, being_stolen, youre_on $soon, on_stage $soon, everyone_is_waiting_for_you, whole_room_is_waiting, stopped_moving & baby/dog/cat/he/she, not_moving & dog/cat/baby, eating chocolate/poison & dog, ate & rat_poison/chocolate/antifreeze/grapes & dog/cat, fell & balcony & cat/dog/child/kid, 
      without key/keys & outside/door/locked/cold/front, no key/keys & outside/door/locked/cold/front, lost/forgot/left key/keys/my_key/my_keys & outside/door/cant_get_in/baby/dark, cant_get_in/cant_get_into & house/flat/apartment/home/car/room, door slammed/fell_shut/shut_behind/closed_behind, hasnt/not been_picked/picked up & school/kindergarten/daycare/nursery, wasnt_picked_up, wreck & car/we/highway, we_got_hit, rear_ended, rolled/flipped/overturned car/van/truck, ran_into/drove_into/crashed_into tree/wall/car/truck/ditch, in_a_ditch, trapped & car/wreck/fire/smoke/elevator, burning & kitchen/house/flat/car/apartment & help/out/spread*/firefighters/now, flames coming/everywhere/from/out, burst pipe/boiler/tank/hose, leak* & ceiling/everywhere/bad/pouring/main, gas coming/leaking/hissing, gas & headache/dizzy/open_the_windows/get_out, burglars, thieves, breaking the window/glass/lock, door/lock forced/broken/open/kicked & someone/inside/burglar/home, he/she/kid/child wandered/ran off/away, separated_from & kid/child/son/daughter, police at/outside/in_front & door/asking/arrest*, officers & door/asking, arresting, cops & door/here/asking, lost_power/power_is_out/power_went_out/power_cut/blackout & elevator/lift/baby/oxygen/hospital/dark/alone/freez*/heating/everything, no_electricity/no_power & oxygen/baby/heating/freez*/lift/elevator/hospital, everything_went_dark, 
      curtain/couch/sofa/bed/bin/trash/stove/pan/oil/christmas_tree/tree/candle fire/flames/burning/caught_fire, stinks_of/smell_of/reeks_of gas/smoke/burning, trying_to get_into/break_into/open/force & garage/house/door/window/car & guys/men/man/someone/somebody/two/they, nobody_has_seen/no_one_has_seen/nobody_saw & him/her/kid/son/daughter/call, isnt/not at_the & bus_stop/school/kindergarten & nobody/seen/missing/worried, lips/face/fingers blue/purple/grey, turned blue/purple/grey & lips/face/baby/he/she, catch his/her/my breath & cant/cannot, out_of_breath & cant/chest/blue, police take/taking/took & him/her/son/husband/brother/with_them, drank/swallowed/ate bleach/detergent/cleaner/lye/chemical*/poison, bleach & drank/drunk/swallowed, stranger & door/stairwell/hallway/house/window, rattling/shaking/banging/hammering door/window, pushed/forced/ran off_the_road/us_off, on_our_side & car/truck/lying, on_its_side/on_its_roof & car/van/truck, $kid/she/he is_gone & kindergarten/daycare/nursery/school, daycare/nursery/kindergarten/school called/calls/rang & gone/missing/isnt/hurt/come, slumped, keeled_over, vaccine*/insulin/medicine & fridge/cooling & power/off/failing/out, fell/fallen/falls fourth/third/fifth/second/sixth floor/storey, fell & balcony/window/floor & cat/dog/child/kid/he/she, coming_to/coming_over & hurt/beat/kill me/us, beat_me_up, beat me_up/us_up & coming/says/writes/now, payment_system/tills/registers down/frozen/stuck/stopped/hang/hangs, aquarium/tank broke/burst/exploded/shattered & water/glass, glass everywhere & water/blood/hurt, 
      we_lost/weve_lost/i_lost/ive_lost !my/our/the/a/it/to/by/against/weight/money/track & market/mall/fair/festival/airport/supermarket/crowd/beach/park/playground/zoo/station, knife/gun/axe/bat & door/outside/following/coming/house !kitchen/collection, someone/somebody/a_man is/s/are in & house/flat/apartment/room & think/scared/hear/heard/hiding, hear/heard someone/somebody/footsteps/noises & downstairs/upstairs/house/attic/kitchen & think/alone/scared/police/now, is_in_my house/flat/room, 
      api/backend/site/server/service/app returns/returning/throws/throwing/answers/gives/serving 500/502/503/504/errors, 500/502/503/504 & everyone/everybody/all/customers/users/every_request, motorbike/motorcycle/bike/scooter/moped accident/crash/crashed, broke/broken/smashed window & open/scared/took/stole/go_in/inside, breathing hard/badly/heavily/fast/weird !exercise, locked_in & bathroom/toilet/cellar/car/room & hears/hear/help/nobody, 
      $water $flow & $wspot, $flow $water & $wspot, 
      $hit $door & $who2, 
      $gone & $care, 
      $sys2 $broke2 & $crisis, $broke2 $sys2 & $crisis, 
      $detector $beep, $beep & $detector, $detector & $symptom, 
      $board & $mins & $you, 
      $thing $burn, $burn $thing, 
      $med & $crash, 
      chest tight/hurts/pressure/pain/heavy/tightness & arm/breath*/sweat*/jaw/numb/feel*, arm/face/leg/side numb/tingl*/paralys*/paralyz* & chest/speech/face/suddenly/arm, car/bike/boat/van & in_the river/lake/canal/ditch/water, hose/pipe/tap came_off/burst/broke/snapped & water/floor/soaked/stopcock, floor/carpet soaked/under_water/flooded, stopcock, shut_off the_water/water/valve, force/forcing/breaking our/the/my front/door, drunk & door/force/forcing/attack*/following, cant/cannot log_in/login/sign_in & all/everyone/nobody/users, broken & all/everyone & login/checkout/users, black_smoke coming/from & balcony/window/roof/house, 
      power/electricity out/gone/off/cut/failed & whole/entire/all & house/building/street/block/office, power/electricity out/gone/off & melting/thawing/defrost*/fridge, no_power/no_electricity & whole/entire/melting/thawing/fridge/freez*, blackout & whole/entire/street/block, cant_find/cannot_find & anywhere & $kid/him/her, nowhere_to_be_found, is_nowhere & $kid, following_me, is_following_us, chasing_me, somebody_is_after_me, 
      bleeding & wont/doesnt/not/cant stop
      """,
    urgent: """
      urgent, urgently, its_urgent, emergency, super_urgent, very_urgent, cannot_wait !to/for/until/till, cant_wait !to/for/until/till/and,
      life_or_death, life_and_death, life_threatening, matter_of_life, time_critical, code_red, red_alert, drop_everything, top_priority, critical & issue/incident/bug/alert/condition/situation/failure/outage/error & now/fix/down/prod*/help/immediately, is_in_critical, in_critical_condition, 911 !is
      """,
    danger: """
      we_board $soon, they_board $soon, we_leave in_#_min*,
      stole, safe & dont_feel/not/unsafe, unsafe, screaming, isnt_answering, not_answering, wide_open, leaked,
      fire, flames, smoke, accident, injured, hurt_bad*, badly_hurt, hurt & $who, blood, bleeding, hospital, ambulance, paramedic*, police, collapsed, fainted, faint, dizzy, vomiting & wont/nonstop/blood, unwell, very_sick,
      flooding, gas_leak, burglary, robbed, stolen, attacked, knife, gun, poison*, in_trouble, in_danger, danger, dangerous, scared, terrified, afraid, alone & scared/dark/street, pain, in_labour, fever, seizure,
      down & $system, not_working & $system, failing & $system, hacked, crashed & $system, broken_down, broke_down, freezing, flat_tire, no_air, explosion, evacuate, evacuation, bomb, shooting, earthquake, tornado, exploded, wounded, dead & $kid, died & $kid,
      is_leaving, leaves & $soon, leaving & $soon, starts & $soon, starting & $soon, closes & $soon, closing & $soon, waiting_for_you, due & $soon, expires & $soon, deadline & $soon, going_wrong, went_wrong & terribly/badly, something_happened, something_terrible, something_bad, something_is_wrong, somethings_wrong, isnt_answering & worried/police, 
      pregnant & pain/bleed*, crying & hysteric*/wont_stop, panic_attack, panicking, cant_see & suddenly/anything, terrible_pain, worst_pain, severe, grandma & er, the_er, the_vet, 
      stung, bitten, swelling, slipped, pills, brakes, prowler, sparks, confused & head, leaking, overflowing, 
      miss flight/train/plane/bus/ferry, missing flight/train/plane, power_is_out, power_went_out, power_cut, blackout, no_power, no_electricity, threat*, threaten*, hurt, limping & dog/cat, closing, picked_up & school, the_vet, meter_is, taxi_is_waiting, 
      bleach, error_500, error_502, error_503, rear_ended, neck_hurts, smoking & dryer/oven/car/engine, hurts & neck/chest/belly/stomach/back, on_call & who, blue & lips
      """,
    help: """
      ^help$, ^help_me$, ^help_us$, ^please_help$, ^pls_help$, ^plz_help$, please_help_me$, help_help, help_please$, ^someone_help$, someone_help_me, somebody_help, need_help$, need_your_help$, need_help & now/immediately/asap/quick*/fast/please, i_need_help$, we_need_help$, help_me_please, help_me_look, help_us_look, come_and_help, come_help, need_someone, send_help, get_help, help_asap, ^help & $who
      """,
    ask: """
      youre_not_here, you_are_not_here, youre_still_not, you_arent_here,
      let_us_in, go_there, switch_off, sort_this, look_at_this, review_this,
      check_on, go_check, look_after, stay_with, stay_on_the,
      call_me, call_back, call_me_back, call_us, phone_me, phone_home, ring_me, give_me_a_call, call_home, call_mom, call_dad, please_call, please_phone, pick_up$, pick_up_please, answer$, please_answer, reply$, answer_please, respond$, text_me_back, come_home, come_here, come_back, come_over, come_down, come_downstairs,
      come_upstairs, come_to, come_get, come_quick*, ^come, please_come, come_outside, can_you_come, can_someone_come, get_here, get_back, get_home, where_are_you, where_r_u, where_are_u, where_the_hell, where_is_everyone, need_you, we_need_you, need_somebody, need_someone, send_someone, send_somebody, someone_get, can_someone, can_somebody, can_anyone, anyone_here, get_someone, get_me, pick_me_up,
      open_the_door, open_the_front, let_me_in, what_do_i_do, what_should_i_do, what_do_we_do, get_out, ^run$, leave_the, stay_away, call_a_doctor, call_somebody, call_someone, need_a, need_an, we_need, look_for, looking_for, searching_for, have_you_seen, join_the_call, join_the_bridge, join_now, wake_up, get_up, meet_me, log_in, check_your, fix_it, fix_this, stop_the, turn_off, shut_off, shut_down, get_the_kids, get_her, get_him, hurry_up, please_hurry, please_respond, please_reply, take_me_to, drive_me, drive_to, send_an, 
      im_scared !of, im_so_scared !of, we_are_scared, were_scared !of, im_afraid !of/that/so/not/i/its/we/you/there/it/he/she/they/this/to, im_terrified !of, what_do_i_do !now, what_do_we_do !now, what_should_i_do, run$, roll_back, rollback, ring_me, get_here, 
      get_home, come_home, come_back, come_over, come_quick, hurry, hurry_up, pick_up, pick_me_up, answer, stay_on_the, dont_hang_up, keep_the_line, let_me_in, open_the_door, can_anyone, can_someone, send_someone, who_has, where_is_the, is_anyone, anybody_there, need_someone, need_you, i_need_help, we_need_help, 
      who_can_help, whos_on_call, who_is_on_call, how_do_i_turn, how_do_we_turn, should_we_leave, shall_we_leave, what_now, can_you_come, come_to_the_station, help_me$, help_me_please, please_help, 
      im_begging, begging_you, i_beg_you, come_down, answering
      """,
    haste: """
      right_now, right_away, immediately, asap, as_soon_as_possible, quick, quickly, hurry, fast$, at_once, this_minute, this_second, this_instant, instantly, now$, now_please, now_pls, now_plz, straight_away, without_delay, no_time, running_out_of_time, before_its_too_late, too_late, any_second, quick_please, pls_hurry, urgent, urgently, emergency, 🚨, 911, within_minutes, every_minute_counts, seriously_now, stat$, 
      right_away, straight_away, at_once, this_instant, this_second, asap, immediately, now_please, now_now, 
      this_very, this_minute, in_#$, any_second_now
      """,
    idiom: """
      robbed_by_the, robbed_of,
      in_an_emergency, in_emergencies, for_emergencies, heart_is_on_fire, heart is_on_fire, hearts_on_fire,
      market is_bleeding, heart_bleeds, heart_is_bleeding, bleeding_edge,
      urgent_care, now_what, trouble_shooting, troubleshooting, for_now, until_now, by_now, from_now, since_now, up_to_now, is_now, are_now, now_i, now_is, just_now, of_course, stays_crunchy, 
      emergency exit*/door/doors/department/room_is/number*/contact*/kit/kits/landing/services/brake/fund/meeting_minutes/plan/plans/training/drill/drills/procedure*/lighting/lights/light/button/chocolate/snack*/supply/supplies/vehicle*/stop/doctor_series/phone/phones/shelter*/management/medicine/physician*/nurse*/row/staircase/stairs/power/generator/call_list/list/budget/bag/response_plan/response_training/repair*_book/charger/cash/money,
      help desk/center/centre/page/pages/text/menu/file/yourself/wanted/section/out_at/with/choose/choosing/pick/picking/decide/deciding/find_a/you_with, helpdesk, self_help, happy_to_help, glad_to_help, hope_this_helps, hope_that_helps, can_i_help, how_can_i_help, how_can_we_help, may_i_help, cant_help, could_use_some_help_with, 
      fire drill*/station/truck/engine*/place/extinguisher*/alarm_test/exit*/door/doors/escape/pit/works/safety/brigade/emoji/wood/insurance/marshal/training/code/sale/regulation*/stick/tv/inspection/blanket*/fly, fire_him, fire_her, fire_someone, get_fired, got_fired, was_fired, fired_up, fire_up, firework*, fireplace, campfire*, bonfire*, firefox, firewall*, crossfire, catch_fire_emoji, straight_fire, so_fire, absolute_fire, pure_fire, is_fire, are_fire, was_fire, on_fire_lately, on_fire_today, on_fire_tonight, youre_on_fire, hes_on_fire_lately, were_on_fire_tonight, team on_fire, set_the_stage_on_fire, 
      first_aid, call_me_maybe, call_me_crazy, call_me_old*, so_called, call_it, crash_course, crash_at, crash_on, crash_pad, gate_crash*, heart_attack_from, almost_had_a_heart_attack, nearly_had_a_heart_attack, gave_me_a_heart_attack, nearly_died, almost_died, dying_to, dying_for, dying_of_laughter, dying_from_laughter, dying_laughing, im_dying$, dead$, im_dead, killing_it, killed_it, 
      down_to, down_for, im_down, breathtaking, stuck_in_traffic, stuck_in_a_meeting, stuck_at_work, stuck_in_my_head, lost_weight, get_lost_in, lost_interest, lost_track, lost_my_mind, lost_count, lost_the_game, missing_you, missing_out, flood_of, flooded_with, smoke_detector*, smoke_alarm*, smoked, smoke_break, smoke_signal*, no_smoking, smoke_a, water_bottle*, water_the, hot_water, drink_water, police_academy, police_station_is, blood_test*, blood_pressure, blood_orange, blood_type, donate_blood, give_blood, bloody,
      pain_in_the, no_pain, painkiller*, gas_station*, gas_price*, gas_bill, stroke_of, bombed_the, bath_bomb*, photo_bomb*, bomb$, the_bomb, attack_on, panic_at, shooting_star*, photo_shooting, photo_shoot*, shot_of, killer, killing_time, killing_me, accidentally, by_accident, happy_accident, crash_test, hurry_slowly, quick_question, quick_one, quick_note, quick_reminder, quick_update, quick_lunch, quick_call, quick_look, quick_recap, fast_food, breakfast, run_a, run_in_the, morning_run, going_for_a_run, run_errands, come_on, come_to_think, come_true, come_with, income, wake_up_call, alarm_clock, alarm_for, set_an_alarm, my_alarm, need_a_hand_with, no_idea, lost_and_found, critical_role, critical_thinking, critical_review*, critically_acclaimed, critical_mass, dead_battery, phone_is_dead, phone_died, battery_died, battery_is_dead, knife_and_fork, knives_and_forks, kitchen_knife, water_gun, storm_trooper*, brainstorm*, hospital_cafe*, hospital_series, storm_in_a, 
      emergency_contact*, emergency_list, emergency_plan*, emergency_number*, emergency_kit, emergency_fund*, emergency_room_nurse, emergency_brake_cable, battery_is_dying, phone_is_dying, dying_of, dying_to, dying_for, dying_laughing, died_laughing, starving, to_die_for, the_bomb, bath_bomb*, photobomb*, 
      fire_drill*, evacuation_drill*, emergency_drill*, fire_alarm_test, 
      phone_is_on_fire, phones_on_fire, on_fire_with, on_fire_today, on_fire_lately, urgent_care_is, no_payments_due, killed_me$, that_killed_me, dead_to_me, 
      boarding_was, boarding_went, take_off_soon, taking_off_soon
      """,
    calm: """
      not_urgent, isnt_urgent, not_that_urgent, not_so_urgent, not_super_urgent, not_very_urgent, not_really_urgent, nothing_urgent, non_urgent, nonurgent, no_urgency, not_an_emergency, isnt_an_emergency, no_emergency, no_rush, no_hurry, not_in_a_hurry, no_need_to_hurry, dont_hurry, dont_rush, no_pressure, take_your_time, whenever_you, whenever_its, when_you_get_a, when_you_have_a, when_you_have_time, when_you_get_time, when_you_find_time, if_you_have_time, if_you_get_a_chance, when_convenient, at_your_convenience, at_your_leisure, can_wait, could_wait, it_will_wait, itll_wait, dont_worry, no_worries, not_to_worry, nothing_to_worry, nothing_serious, nothing_bad, nothing_happened, nothing_important, not_important, no_big_deal, not_a_big_deal,
      false_alarm*, all_good, all_is_good, all_fine, all_ok, all_clear, everythings_fine, everything_is_fine, everything_is_ok, everything_is_okay, everything_fine, everything_ok, is_fine_now, are_fine_now, im_fine_now, im_fine, im_ok, im_okay, were_fine, were_ok, were_safe, hes_fine, shes_fine, is_ok_now, is_okay_now, okay_now, ok_now, fine_now, better_now, safe_now, works_again, working_again, back_up_and, back_online, is_back_up, up_and_running, up_again, back_to_normal, is_fixed, its_fixed, got_fixed, has_been_fixed, been_resolved, is_resolved, resolved_now, issue_resolved, is_solved, sorted_now, got_sorted, found_it, found_him, found_her, found_them, under_control, no_longer_urgent, no_longer_needed, turned_out_to_be, turned_out_fine, turns_out_it_was, just_kidding, only_kidding, kidding, jk, joking, 😂, 🤣, 😆, 😹, 😜, 😝, 🤪, 😛, just_joking, lol, lmao, lmfao, rofl, haha*, hehe*, hihi*, ahah*, xd, hah$, april_fool*, at_least_it_wasnt, could_have_been_worse, no_one_was_hurt, nobody_was_hurt, nobody_got_hurt, no_one_got_hurt, got_away_with, 
      is_fine_now, are_fine_now, shes_fine, hes_fine, were_fine, theyre_fine, everyone_is_fine, everybody_is_fine, is_home_again, home_from_the_hospital, back_home_from, let_her_go_home, let_him_go_home, was_discharged, back_up_again, is_back_up, back_up_since, up_and_running, works_again, working_again, 
      always_is_with, it_always_is, always_says_that, always_says_it, always_says_its, everything_is_urgent, always_urgent, same_every_time, cries_wolf, 
      looks_great, is_okay, was_found, were_found, has_been_found, found_safe, no_emergency
      """,
    unreal: """
      in_##, back_in_##, said_it, claimed,
      if_i_were, of_a_laugh, postponed, rescheduled, moved_to, pushed_to, pushed_back, was_cancelled, was_canceled, called_off, id_call, would_call, did_you_hear, have_you_heard, did_you_see,
      yesterday, last_week, last_month, last_year, last_summer, last_winter, last_spring, last_autumn, last_night & was/were/fixed/had, last_time, # years/months/weeks/days/year_ago ago, years_ago, months_ago, weeks_ago, days_ago, a_while_ago, long_ago, back_then, back_in_the, in_the_past, used_to, when_i_was, as_a_kid, as_a_child, once_upon, the_other_day, remember_when, remember_the, remember_that, 
      movie*, film, films, documentar*, novel, book, books, reading_about, read_about, episode, season, series, sitcom, show_about, tv_show, podcast, song, songs, album, lyrics, band, playlist, video_game, game, games, in_the_news, on_the_news, news_about, the_news, article, headline*, museum, exhibition, theatre, theater, musical, concert, story_about, dream, dreamed, dreamt, nightmare, meme*, joke, jokes, costume, tshirt, t_shirt, poster, drill, drills, exercise, simulation, rehearsal, training, course_on, training_course, planned, scheduled, maintenance_window, seminar, workshop_on, lecture, webinar, open_day, open_house, insurance, policy, guideline*, checklist, manual, instructions, brochure, sticker*, emoji, wallpaper,
      said_it_was, told_me_it_was, thought_it_was, thought_there_was, thought_he, thought_she, he_said & urgent, she_said & urgent, marked_as, always_says, stands_for, what_does, what_is_the, whats_the, what_counts_as, define, definition, meaning_of, as_in, the_word, thanks_for, thank_you_for, thanks_to, thx_for, good_news, imagine, suppose, pretend, hypothetical*, wouldnt_it, would_be, could_be_worse, might_be, metaphor*, figuratively, literally_dying, proud_of, happy_birthday, congrat*, so_funny, hilarious, such_a_mood, vibes, slaps, banger, beat, drip, mixtape, volunteer_at, volunteers_at, works_at, works_in, works_for, working_at, job_at, career, interview_at, study, studying, homework, quiz, trivia, wordle, crossword, recipe*, price*, next_year, next_month, some_day, someday, sometime, one_day, 
      remember_when, remember_that_time, do_you_remember, you_remember, remember_how, reminds_me, 
      on_sundays, on_saturdays, on_weekends, is_free_on, just_read_about, i_read_about, 
      spoiler*, two_years_ago, three_years_ago, years_ago, months_ago, next_time, 
      once_by_mistake, by_mistake, as_a_kid, as_a_child, is_hiring, are_hiring, when_i_was, back_then, used_to
      """,
    trifle: """
      sunset, sunrise, rainbow, the_view, the_moon, northern_lights, snowing, squirrel, deer, sale, discount*, tickets, poll, survey, podcast,
      coffee, espresso, chocolate, pizza, burger*, beer, beers, wine, cocktail*, drink, drinks, snack*, ice_cream, cake, cookies, tacos, sushi, nap, vacation, vacations, holiday, holidays, haircut, hairdresser, manicure, makeover, massage, gym, shopping, outfit, dress, shoes, sweater, wifi_password, netflix, gossip, tea, hug, hugs, cuddle*, weekend, spa, meme, gif, selfie, puppy_pics, party, milk, bread, eggs, groceries, lunch, dinner, breakfast, pub, nightclub, tan, tattoo, mascara, lipstick, nail_polish
      """,
    later: """
      tomorrow, tonight_or, later, next_week, next_monday, on_monday, on_tuesday, on_wednesday, on_thursday, on_friday, on_saturday, on_sunday, this_weekend, after_work, after_lunch, after_dinner, after_school, when_you_land, when_you_arrive, when_you_get, when_youre, when_you_are, when_you_can, when_you_have, when_you_want, when_you_come, when_you, when_ur, when_u, once_you, once_youre, whenever, any_time, anytime, sometime, some_time, at_some_point, eventually, this_summer, in_the_morning, over_the_weekend, let_me_know_if, if_you_want, if_you_like, if_you_need, would_love, some_day, by_friday, by_monday, one_of_these_days
      """,
    suppose: """
      if, in_case, unless, in_the_event, should_there, what_if, as_if, like_a, as_though, almost, nearly, hope_there, hope_no, hopefully_no, avoid, prevent, prevents, against, fear_of, risk_of, without_any, 
      if_ever, if_the, in_case
      """,
    not: """
      not, no, isnt, arent, wasnt, werent, aint, never, dont, doesnt, didnt, wont, nothing, without, hardly, nobody, no_one, none, neither, nor, cant_be, less, zero, no_more, no_longer
      """
  )
}
