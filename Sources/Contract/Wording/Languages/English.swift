extension Wording {
  public static let english = Wording(
    language: "en",
    image: "📷 Image",
    video: "🎥 Video",
    audio: "🎤 Audio",
    file: "📎 File",
    location: "📍 Location",
    newMessage: "New message from {sender}",
    groupTitle: "{sender} in {group}",
    unnamedGroupTitle: "{sender} with {others}",
    limitReached: "⚠️ Smart notification limit reached ({limit}/hour).",
    usingSimpleRules: "Using simple rules.",
    notifyingAll: "You are notified of every message until the hour is over.",
    suppressingAll: "Notifications are paused until the hour is over.",
    oneMessage: "1 message",
    messages: "{count} messages",
    inOneConversation: "in 1 conversation",
    inConversations: "in {count} conversations",
    catchUp: "{messages} {conversations}",
    reasons: .english)
}
