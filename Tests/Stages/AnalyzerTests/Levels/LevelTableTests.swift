import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// Every combination of level, kind of conversation, message, quiet hours, mute and hourly limit, against tables that were
/// written by hand from the requirements (D2, D3, D4, D14), not from the code.
@Suite("Levels: every combination against a table")
struct LevelTableTests {
  enum Place: CaseIterable { case direct, smallGroup, largeGroup }
  enum Message: CaseIterable { case plain, mention, answer, keyword, starred, urgent }
  enum Mute: CaseIterable { case none, timed, exceptMentions }
  /// The hourly limit is not reached, or it is, and this applies.
  enum Limit: CaseIterable { case open, simpleRules, notifyAll, suppressAll }

  /// The expected result: `alert`, `silent`, `badge`, or the reason to show nothing.
  private static func expected(
    _ level: NotificationLevel, _ place: Place, _ message: Message, isQuiet: Bool, _ mute: Mute, _ limit: Limit
  ) -> String {
    let isMeant = message == .mention || message == .answer
    if mute == .timed || mute == .exceptMentions && !isMeant { return "conversation_muted" }
    let shown: String
    switch level {
    case .all: shown = "alert"
    case .mentions: shown = [.mention, .answer, .keyword].contains(message) ? "alert" : "level"
    case .none: shown = "level"
    case .smart:
      // What addresses the person, or cannot wait, needs no analysis.
      if message != .plain {
        shown = "alert"
        break
      }
      switch limit {
      case .open, .simpleRules: shown = place == .largeGroup ? "badge" : "silent"
      case .notifyAll: shown = "silent"
      case .suppressAll: return "analysis_limit"
      }
    }
    if shown == "level" { return shown }
    return isQuiet && message != .urgent ? "quiet_hours" : shown
  }

  private static func decide(
    _ level: NotificationLevel, _ place: Place, _ message: Message, isQuiet: Bool, _ mute: Mute, _ limit: Limit,
    replayed: Bool = false
  ) throws -> DecisionBody? {
    let scene = try Scene.withPhone()
    var patch = PreferencesPatch(
      keywords: ["tickets"],
      conversationLevels: [ConversationLevel(conversationId: "c1", level: level)])
    if message == .starred { patch.starredSenders = ["bob"] }
    if isQuiet { patch.quietHours = .set(QuietHours(start: "11:00", end: "13:00")) }
    if mute != .none {
      patch.muted = [
        MutedConversation(
          conversationId: "c1", until: noon + hour, exceptMentions: mute == .exceptMentions ? true : nil)
      ]
    }
    switch limit {
    case .open: break
    case .simpleRules: (patch.maxAnalysesPerHour, patch.fallback) = (0, .simpleRules)
    case .notifyAll: (patch.maxAnalysesPerHour, patch.fallback) = (0, .notifyAll)
    case .suppressAll: (patch.maxAnalysesPerHour, patch.fallback) = (0, .suppressAll)
    }
    try scene.prefer(patch)
    let context =
      switch message {
      case .mention: RecipientContext(mentioned: true)
      case .answer: RecipientContext(answered: true)
      default: RecipientContext()
      }
    let written = try scene.message(
      "m1", context, group: place == .direct ? nil : "Neighbours", members: place == .smallGroup ? 20 : 21,
      body: message == .keyword
        ? "here are the tickets" : message == .urgent ? "this is urgent" : "the weather is fine here")
    return written.decision
  }

  @Test("D2, D3, D4, D14: outcome and presentation are those of the table", arguments: NotificationLevel.allCases)
  func table(level: NotificationLevel) throws {
    for place in Place.allCases {
      for message in Message.allCases {
        for isQuiet in [false, true] {
          for mute in Mute.allCases {
            for limit in Limit.allCases {
              let decision = try #require(try Self.decide(level, place, message, isQuiet: isQuiet, mute, limit))
              let found = decision.presentation?.rawValue ?? decision.reason.rawValue
              let expected = Self.expected(level, place, message, isQuiet: isQuiet, mute, limit)
              #expect(
                found == expected, "\(level) \(place) \(message), quiet \(isQuiet), mute \(mute), limit \(limit)")
              #expect((decision.outcome == .notify) == ["alert", "silent", "badge"].contains(expected))
              #expect(decision.badge == 1, "all of it counts on the badge")
              #expect(level == .smart || decision.analysis == nil)
            }
          }
        }
      }
    }
  }
}
