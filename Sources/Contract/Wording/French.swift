extension Wording {
  public static let french = Wording(
    language: "fr",
    image: "📷 Image",
    video: "🎥 Vidéo",
    audio: "🎤 Audio",
    file: "📎 Fichier",
    location: "📍 Position",
    newMessage: "Nouveau message de {sender}",
    groupTitle: "{sender} dans {group}",
    unnamedGroupTitle: "{sender} avec {others}",
    limitReached: "⚠️ Limite de notifications intelligentes atteinte ({limit}/heure).",
    usingSimpleRules: "Des règles simples s’appliquent.",
    notifyingAll: "Chaque message vous est notifié jusqu’à la fin de l’heure.",
    suppressingAll: "Les notifications sont en pause jusqu’à la fin de l’heure.",
    oneMessage: "1 message",
    messages: "{count} messages",
    inOneConversation: "dans 1 conversation",
    inConversations: "dans {count} conversations",
    catchUp: "{messages} {conversations}",
    reasons: .french)
}

extension Reasons {
  static let french = Reasons(separator: ", ", lastSeparator: " et ", singular: 0...1) { code in
    switch code {
    case .highPriority: "priorité élevée : {reasons}"
    case .mediumPriority: "priorité moyenne : {reasons}"
    case .lowPriority: "priorité basse : {reasons}"
    case .nothingForYou: "rien n’indique que ce message est pour vous"
    case .allInAll: "dans l’ensemble"
    case .direct: "c’est un message direct"
    case .mentioned: "{sender} vous mentionne"
    case .answered: "il répond à votre message"
    case .named: "il s’adresse à vous"
    case .notNamed: "il ne vous nomme pas"
    case .namedNewcomer: "il contient votre nom"
    case .wroteLately: "vous avez écrit ici récemment"
    case .notWroteLately: "vous n’avez pas écrit ici récemment"
    case .askedSomething: "vous aviez posé une question"
    case .askedNothing: "vous n’aviez rien demandé"
    case .senderWritesToYou: "{sender} vous écrivait"
    case .senderWritesToOthers: "{sender} ne vous écrivait pas"
    case .talking: "vous discutez avec {sender}"
    case .notTalking: "vous ne discutez pas avec {sender}"
    case .noOtherAnswered: "personne d’autre ne vous a répondu"
    case .talkingWithOthers: "vous discutez avec d’autres personnes"
    case .yourTopic: "il porte sur ce que vous avez écrit"
    case .notYourTopic: "il ne porte pas sur ce que vous avez écrit"
    case .readsLikeAnswer: "il ressemble à une réponse"
    case .notLikeAnswer: "il ne ressemble pas à une réponse"
    case .senderInTalk: "{sender} est en pleine discussion"
    case .senderNotInTalk: "{sender} semble écrire à d’autres personnes"
    case .starredSender: "{sender} fait partie de vos favoris"
    case .keyword: "il contient un de vos mots-clés"
    case .urgentWords: "il se dit urgent"
    case .question: "il pose une question"
    case .senderMatters: "les messages de {sender} comptent pour vous"
    case .senderRarelyMatters: "les messages de {sender} comptent rarement pour vous"
    case .conversationMatters: "cette conversation compte pour vous"
    case .conversationRarelyMatters: "cette conversation compte rarement pour vous"
    case .likesToBeTold: "vous aimez être informé"
    case .likesQuiet: "vous préférez peu de notifications"
    case .duplicate: "une décision avait déjà été prise pour vous sur ce message"
    case .notifiedBefore: "ce message vous avait déjà été notifié"
    case .notifiedUnknown: "on ne sait plus si ce message vous avait déjà été notifié"
    case .withdrawn: "le message a été retiré, ou vous avez quitté la conversation"
    case .disabled: "vous avez désactivé les notifications"
    case .muted: "vous avez mis la conversation en sourdine"
    case .mutedUntil: "vous avez mis la conversation en sourdine jusqu’à {time}"
    case .alreadyRead: "vous avez déjà lu le message"
    case .expired: "le message est trop ancien : il était d’actualité jusqu’à {time}"
    case .possibleRepeat: "le message arrive si tard que c’est peut-être une répétition"
    case .activeConversation: "la conversation est ouverte sur votre appareil"
    case .activeElsewhere: "vous êtes actif sur un autre appareil : vous n’êtes alerté que si vous ne le lisez pas là"
    case .quietHours: "heures calmes de {start} à {end} ({zone}), où il était {time}"
    case .noDevice: "vous n’avez aucun appareil enregistré"
    case .limitReached:
      "la limite de {limit|analyse intelligente|analyses intelligentes} par heure est atteinte, des règles simples s’appliquent : {reasons}"
    case .limitNotifiesAll:
      "la limite de {limit|analyse intelligente|analyses intelligentes} par heure est atteinte : tout vous est notifié"
    case .limitSuppressesAll:
      "la limite de {limit|analyse intelligente|analyses intelligentes} par heure est atteinte : rien ne vous est notifié"
    case .heldBack:
      "{reasons}, sans alerte car cette conversation vous a alerté peu avant"
    case .overBudget:
      "{reasons}, sans son à cause de votre limite de {budget|alerte|alertes} par jour"
    case .allDirect: "vous recevez tous les messages des discussions directes"
    case .allInGroups: "vous recevez tous les messages des groupes"
    case .allHere: "vous recevez tous les messages de cette conversation"
    case .mentionsDirect:
      "des discussions directes, vous ne recevez que les mentions, les réponses à vos messages et vos mots-clés"
    case .mentionsInGroups:
      "des groupes, vous ne recevez que les mentions, les réponses à vos messages et vos mots-clés"
    case .mentionsHere:
      "de cette conversation, vous ne recevez que les mentions, les réponses à vos messages et vos mots-clés"
    case .noneDirect: "vous ne recevez aucun message des discussions directes"
    case .noneInGroups: "vous ne recevez aucun message des groupes"
    case .noneHere: "vous ne recevez aucun message de cette conversation"
    case .mutedSender: "vous avez mis {sender} en sourdine"
    case .history: "il a été écrit à {time}, bien avant d’arriver"
    case .alertOfStarred: "{reasons}, avec un son car {sender} fait partie de vos favoris"
    case .shownInSmallGroup: "{reasons}, affiché sans son car le groupe est petit"
    case .replayStopped: "une relecture l’a demandé et a été arrêtée"
    case .replayLimit: "une relecture l’a demandé, qui vous a déjà notifié autant de fois que permis"
    case .replayForcedLimit: "une relecture a voulu le forcer et l’a déjà fait autant de fois que permis"
    }
  }
}
