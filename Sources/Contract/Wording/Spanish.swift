extension Wording {
  public static let spanish = Wording(
    language: "es",
    image: "📷 Imagen",
    video: "🎥 Vídeo",
    audio: "🎤 Audio",
    file: "📎 Archivo",
    location: "📍 Ubicación",
    newMessage: "Nuevo mensaje de {sender}",
    groupTitle: "{sender} en {group}",
    unnamedGroupTitle: "{sender} con {others}",
    limitReached: "⚠️ Límite de notificaciones inteligentes alcanzado ({limit}/hora).",
    usingSimpleRules: "Se usan reglas sencillas.",
    notifyingAll: "Se te notificará cada mensaje hasta que termine la hora.",
    suppressingAll: "Las notificaciones quedan en pausa hasta que termine la hora.",
    oneMessage: "1 mensaje",
    messages: "{count} mensajes",
    inOneConversation: "en 1 conversación",
    inConversations: "en {count} conversaciones",
    catchUp: "{messages} {conversations}",
    reasons: .spanish)
}

extension Reasons {
  static let spanish = Reasons(separator: ", ", lastSeparator: " y ") { code in
    switch code {
    case .highPriority: "prioridad alta: {reasons}"
    case .mediumPriority: "prioridad media: {reasons}"
    case .lowPriority: "prioridad baja: {reasons}"
    case .nothingForYou: "nada indica que sea para ti"
    case .allInAll: "en conjunto"
    case .direct: "es un mensaje directo"
    case .mentioned: "{sender} te menciona"
    case .answered: "responde a tu mensaje"
    case .named: "se dirige a ti"
    case .notNamed: "no te nombra"
    case .namedNewcomer: "dice tu nombre"
    case .wroteLately: "has escrito aquí hace poco"
    case .notWroteLately: "hace tiempo que no escribes aquí"
    case .askedSomething: "habías preguntado algo"
    case .askedNothing: "no habías preguntado nada"
    case .senderWritesToYou: "{sender} te ha estado escribiendo"
    case .senderWritesToOthers: "{sender} no te ha estado escribiendo"
    case .talking: "tú y {sender} estáis hablando"
    case .notTalking: "tú y {sender} no estáis hablando"
    case .noOtherAnswered: "nadie más te ha respondido"
    case .talkingWithOthers: "estás hablando con otras personas"
    case .yourTopic: "trata de lo que escribiste"
    case .notYourTopic: "no trata de lo que escribiste"
    case .readsLikeAnswer: "parece una respuesta"
    case .notLikeAnswer: "no parece una respuesta"
    case .senderInTalk: "{sender} está conversando"
    case .senderNotInTalk: "{sender} parece escribir a otras personas"
    case .starredSender: "has destacado a {sender}"
    case .keyword: "contiene una de tus palabras clave"
    case .urgentWords: "dice que es urgente"
    case .question: "pregunta algo"
    case .senderMatters: "los mensajes de {sender} te importan"
    case .senderRarelyMatters: "los mensajes de {sender} rara vez te importan"
    case .conversationMatters: "esta conversación te importa"
    case .conversationRarelyMatters: "esta conversación rara vez te importa"
    case .likesToBeTold: "te gusta que te avisen"
    case .likesQuiet: "prefieres pocos avisos"
    case .duplicate: "ya se había decidido sobre el mensaje para ti"
    case .notifiedBefore: "ya se te había notificado el mensaje"
    case .notifiedUnknown: "ya no se sabe si se te había notificado el mensaje"
    case .withdrawn: "el mensaje se retiró, o dejaste la conversación"
    case .disabled: "has desactivado las notificaciones"
    case .muted: "has silenciado la conversación"
    case .mutedUntil: "has silenciado la conversación hasta {time}"
    case .alreadyRead: "ya has leído el mensaje"
    case .expired: "el mensaje es demasiado antiguo: fue actual hasta {time}"
    case .possibleRepeat: "el mensaje llega tan tarde que puede ser una repetición"
    case .activeConversation: "tienes la conversación abierta"
    case .activeElsewhere: "estás activo en otro dispositivo: solo se te avisa si no lo lees allí"
    case .quietHours: "horas de silencio de {start} a {end} ({zone}), donde eran las {time}"
    case .noDevice: "no tienes ningún dispositivo registrado"
    case .limitReached:
      "se alcanzó el límite de {limit|análisis inteligente|análisis inteligentes} por hora y se usan reglas sencillas: {reasons}"
    case .limitNotifiesAll:
      "se alcanzó el límite de {limit|análisis inteligente|análisis inteligentes} por hora: se te notifica todo"
    case .limitSuppressesAll:
      "se alcanzó el límite de {limit|análisis inteligente|análisis inteligentes} por hora: no se te notifica nada"
    case .heldBack:
      "{reasons}, sin aviso sonoro porque esta conversación te avisó poco antes"
    case .overBudget:
      "{reasons}, sin sonido por tu límite de {budget|aviso|avisos} al día"
    case .allDirect: "recibes todos los mensajes de los chats directos"
    case .allInGroups: "recibes todos los mensajes de los grupos"
    case .allHere: "recibes todos los mensajes de esta conversación"
    case .mentionsDirect: "de los chats directos solo recibes menciones, respuestas a ti y tus palabras clave"
    case .mentionsInGroups: "de los grupos solo recibes menciones, respuestas a ti y tus palabras clave"
    case .mentionsHere: "de esta conversación solo recibes menciones, respuestas a ti y tus palabras clave"
    case .noneDirect: "no recibes mensajes de los chats directos"
    case .noneInGroups: "no recibes mensajes de los grupos"
    case .noneHere: "no recibes mensajes de esta conversación"
    case .mutedSender: "silenciaste a {sender}"
    case .history: "se escribió a las {time}, mucho antes de llegar"
    case .alertOfStarred: "{reasons}, con sonido porque marcaste a {sender} como favorito"
    case .shownInSmallGroup: "{reasons}, se muestra sin sonido porque el grupo es pequeño"
    case .replayStopped: "lo pidió una repetición que se detuvo"
    case .replayLimit: "lo pidió una repetición que ya te ha notificado tantas veces como se permite"
    case .replayForcedLimit: "lo forzó una repetición que ya lo ha hecho tantas veces como se permite"
    }
  }
}
