extension Words {
  /// French.
  public static let french = Words(
    language: "fr",
    reply: "Répondre",
    send: "Envoyer",
    replyPlaceholder: "Écrire un message…",
    markRead: "Marquer comme lu",
    helpful: "👍 Utile",
    notHelpful: "👎 Pas utile",
    messageSent: "Message envoyé",
    messageNotSent: "Le message n’a pas pu être envoyé",
    notMarkedRead: "Impossible de marquer comme lu",
    feedbackNotSent: "L’avis n’a pas pu être envoyé",
    signInFirst: "Connectez-vous pour répondre",
    otherAccount: "C’était pour un autre compte",
    emptyReply: "Il n’y a rien à envoyer",
    enableNotifications: "Activez les notifications dans Réglages pour rester informé",
    openSettings: "Ouvrir Réglages",
    messagesChannel: "Messages",
    silentMessagesChannel: "Messages silencieux",
    conversationGone: "Cette conversation n’est plus disponible",
    conversationNotLoaded: "Cette conversation n’a pas pu être chargée",
    messageNotLoaded: "Ce message n’a pas pu être chargé",
    you: "Vous",
    inGroup: "dans {group}",
    more: "et {count} de plus")
}
