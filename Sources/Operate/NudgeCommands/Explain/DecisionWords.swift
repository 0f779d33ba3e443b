import NudgeSchema

/// A decision in the operator's words. The decision itself holds the sentence for the person, in their language.
enum DecisionWords {
  /// How the message appeared. Decisions of releases without presentations say so by priority.
  static func outcome(_ decision: JSONValue) -> String { shape(of: decision)?.words ?? "NOTIFIED" }

  /// How the message appeared; nil: in a way that this version does not know.
  static func shape(of decision: JSONValue) -> MessageAnswer.Shape? {
    if isDeferred(decision) { return .held }
    guard decision["outcome"]?.string == "notify" else { return MessageAnswer.Shape.none }
    let priority = decision["priority"]?.string
    switch decision["presentation"]?.string ?? (priority == "high" ? "alert" : priority == "low" ? "badge" : "silent") {
    case "alert": return .alert
    case "silent": return .silent
    case "badge": return .badge
    default: return nil
    }
  }

  /// Whether a final decision follows.
  static func isDeferred(_ decision: JSONValue) -> Bool { decision["outcome"]?.string == "deferred" }

  /// Why, in a few words.
  static func reason(_ decision: JSONValue) -> String {
    guard let reason = decision["reason"]?.string.flatMap(DecisionReason.init(rawValue:)) else {
      return "a reason that this version does not know"
    }
    let level = decision["level"]?.string
    let isPastLimit = decision["analysis"]?["fallback"] != nil
    switch reason {
    case .duplicate: return "the message was decided for this person before"
    case .notificationsDisabled: return "the person turned notifications off"
    case .conversationMuted: return "the person muted the conversation"
    case .alreadyRead: return "the person had read it"
    case .expired: return "it was past its freshness"
    case .activeConversation:
      return isDeferred(decision)
        ? "a device says that the conversation is open; told unless it is read" : "a device had the conversation open"
    case .activeElsewhere: return "the person is active on another device; alerted unless it is read"
    case .history: return "it was sent long before it arrived"
    case .mutedSender: return "the person muted its sender"
    case .level: return "\(self.level(of: decision)) shows no such message"
    case .analysisLimit: return "the hourly limit is reached, and the person's fallback suppresses all"
    case .quietHours: return "the person's quiet hours"
    case .noDevice: return "the person has no device that can be reached"
    case .withdrawn: return "it was taken back, or the person left"
    case .replayStopped: return "the replay that asked for it was stopped"
    case .replayLimit: return "the replay has notified often enough"
    case .relevant:
      return decision["model"] == nil ? "it is addressed to the person, or cannot wait" : "smart analysis judged it"
    case .simpleRules:
      if isPastLimit { return "simple rules judged it past the hourly limit" }
      return level == "smart" ? "it is addressed to the person, or cannot wait" : self.level(of: decision)
    case .notifyAll:
      return isPastLimit ? "past the hourly limit the person's fallback notifies of all" : self.level(of: decision)
    }
  }

  /// The level that decided, and whose it is.
  private static func level(of decision: JSONValue) -> String {
    let level = decision["level"]?.string ?? "?"
    let check = (decision["checks"]?.elements ?? []).first { $0["check"]?.string == "level" }
    return switch check?["inputs"]?["from"]?.string {
    case "conversation": "the person's level \(level) for the conversation"
    case "preferences": "the person's default level \(level)"
    case "policy": "the operator's default level \(level)"
    default: "the level \(level)"
    }
  }
}
