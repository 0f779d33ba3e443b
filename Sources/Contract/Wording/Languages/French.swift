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
