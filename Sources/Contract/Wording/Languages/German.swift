extension Wording {
  public static let german = Wording(
    language: "de",
    image: "📷 Bild",
    video: "🎥 Video",
    audio: "🎤 Sprachnachricht",
    file: "📎 Datei",
    location: "📍 Standort",
    newMessage: "Neue Nachricht von {sender}",
    groupTitle: "{sender} in {group}",
    unnamedGroupTitle: "{sender} mit {others}",
    limitReached: "⚠️ Limit für smarte Mitteilungen erreicht ({limit}/Stunde).",
    usingSimpleRules: "Es gelten einfache Regeln.",
    notifyingAll: "Bis zum Ende der Stunde erhältst du jede Nachricht.",
    suppressingAll: "Mitteilungen pausieren bis zum Ende der Stunde.",
    oneMessage: "1 Nachricht",
    messages: "{count} Nachrichten",
    inOneConversation: "in 1 Unterhaltung",
    inConversations: "in {count} Unterhaltungen",
    catchUp: "{messages} {conversations}",
    reasons: .german)
}
