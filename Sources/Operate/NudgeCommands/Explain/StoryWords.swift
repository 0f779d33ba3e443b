import Foundation
import NudgeSchema

/// A story in words, in the order of its records: the report's text, for a page.
struct StoryWords: Encodable {
  struct Decision: Encodable {
    struct Check: Encodable {
      var name: String
      var suppresses: Bool
      var text: String
    }
    /// The decision, such as `ALERT`.
    var outcome: String
    /// The reason in a few words.
    var because: String
    var checks: [Check]

    init(_ decision: JSONValue) {
      outcome = DecisionWords.outcome(decision)
      because = DecisionWords.reason(decision)
      checks = CheckWords.all(of: decision).map {
        Check(name: $0.name, suppresses: $0.suppresses, text: $0.text)
      }
    }
  }

  var decisions: [Decision]
  var outcomes: [String]
  var receipts: [String]
  /// The state of each push on each device.
  var ends: [String]
  var waiting: [String]
  var later: [String]

  init(_ story: MessageStory) {
    decisions = story.decisions.map { Decision($0.record) }
    outcomes = story.outcomes.map { OutcomeWords.of($0.record) }
    receipts = story.receipts.map { ReceiptWords.of($0.record, removal: story.removalReason($0)) }
    ends = story.ends.map(\.text)
    waiting = story.waiting.map { MessageStory.words($0) }
    later = story.later.map { LaterWords.of($0.record) }
  }
}

/// A decision's record with the console's words for it, for pages that show decisions without these commands.
package enum DecisionWithWords {
  /// One line of JSON: the record's fields, and `words`.
  /// - Parameter value: A record of `nudge.decisions`.
  package static func json(_ value: UnsafeRawBufferPointer) throws -> [UInt8] {
    let record = try JSONValue(value)
    var fields = record.fields
    fields["words"] = try JSONValue([UInt8](CommandOutput.encoder.encode(StoryWords.Decision(record))))
    return [UInt8](try CommandOutput.encoder.encode(JSONValue.object(fields)))
  }
}

enum ReceiptWords {
  /// - Parameter removal: Why the notification was removed, if it was.
  static func of(_ receipt: JSONValue, removal: String) -> String {
    switch receipt["state"]?.string.flatMap(ReceiptState.init(rawValue:)) {
    case .arrived: "the device has it"
    case .opened: "opened there"
    case .dismissed: "dismissed there"
    case .withdrawn: "removed there, because \(removal)"
    case nil: receipt["state"]?.string ?? "?"
    }
  }
}

/// A decision in the operator's words. The decision itself contains the sentence for the person, in their language.
enum DecisionWords {
  /// How the message appeared. Decisions of releases without presentations imply that by the priority.
  static func outcome(_ decision: JSONValue) -> String { shape(of: decision)?.words ?? "NOTIFIED" }

  /// How the message appeared; nil if this version does not know the form.
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

  /// The reason in a few words.
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

  /// The level that decided, and its source.
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
