extension Words {
  /// German.
  public static let german = Words(
    language: "de",
    reply: "Antworten",
    send: "Senden",
    replyPlaceholder: "Nachricht schreiben …",
    markRead: "Als gelesen markieren",
    helpful: "👍 Hilfreich",
    notHelpful: "👎 Nicht hilfreich",
    messageSent: "Nachricht gesendet",
    messageNotSent: "Nachricht konnte nicht gesendet werden",
    notMarkedRead: "Konnte nicht als gelesen markiert werden",
    feedbackNotSent: "Rückmeldung konnte nicht gesendet werden",
    signInFirst: "Melde dich an, um zu antworten",
    otherAccount: "Das war für ein anderes Konto",
    emptyReply: "Es gibt nichts zu senden",
    enableNotifications: "Aktiviere Mitteilungen in den Einstellungen, um auf dem Laufenden zu bleiben",
    openSettings: "Einstellungen öffnen",
    messagesChannel: "Nachrichten",
    silentMessagesChannel: "Stumme Nachrichten",
    conversationGone: "Diese Unterhaltung ist nicht mehr verfügbar",
    conversationNotLoaded: "Diese Unterhaltung konnte nicht geladen werden",
    messageNotLoaded: "Diese Nachricht konnte nicht geladen werden",
    you: "Du",
    inGroup: "in {group}",
    more: "und {count} weitere")
}
