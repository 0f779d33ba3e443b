extension Words {
  /// English.
  public static let english = Words(
    language: "en",
    reply: "Reply",
    send: "Send",
    replyPlaceholder: "Type a message…",
    markRead: "Mark Read",
    helpful: "👍 Helpful",
    notHelpful: "👎 Not Helpful",
    messageSent: "Message sent",
    messageNotSent: "Message could not be sent",
    notMarkedRead: "Could not be marked as read",
    feedbackNotSent: "Feedback could not be sent",
    signInFirst: "Sign in to answer",
    otherAccount: "This was for another account",
    emptyReply: "There is nothing to send",
    enableNotifications: "Enable notifications in Settings to stay updated",
    openSettings: "Open Settings",
    messagesChannel: "Messages",
    silentMessagesChannel: "Silent messages",
    conversationGone: "This conversation is no longer available",
    conversationNotLoaded: "This conversation could not be loaded",
    messageNotLoaded: "This message could not be loaded",
    you: "You",
    inGroup: "in {group}",
    more: "and {count} more")
}
