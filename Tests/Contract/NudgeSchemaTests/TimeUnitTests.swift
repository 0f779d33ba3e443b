import Foundation
import NudgeSchema
import Testing

/// The first broken rule of an event; nil if there is none.
private func violation(of event: UserEvent) -> SchemaViolation? {
  do throws(SchemaViolation) {
    try event.validate()
    return nil
  } catch {
    return error
  }
}

@Suite("M5: a time in seconds where milliseconds belong")
struct TimeUnitTests {
  private static let seconds: Milliseconds = 1_795_275_600

  private static let times: [(String, @Sendable (Milliseconds) -> UserEventBody)] = [
    ("lastInputAt", { time in .activity(with(Sample.activity) { $0.lastInputAt = time }) }),
    ("sentAt", { time in .notificationOpened(with(Sample.report) { $0.sentAt = time }) }),
    ("preferences.learnSince", { time in preferences { $0.learnSince = time } }),
    (
      "preferences.muted[0].until",
      { time in preferences { $0.muted = [MutedConversation(conversationId: "c", until: time)] } }
    ),
    (
      "preferences.muted[0].until",
      { time in
        preferences { $0.changes.muted = ListChange(add: [MutedConversation(conversationId: "c", until: time)]) }
      }
    ),
  ]

  private static func preferences(_ change: (inout PreferencesPatch) -> Void) -> UserEventBody {
    .preferences(PreferencesUpdated(userId: "u", preferences: with(PreferencesPatch(), change)))
  }

  @Test("is refused in every field, and the reason asks whether milliseconds were meant")
  func refused() {
    for (field, body) in Self.times {
      for time in [978_307_200, Self.seconds, 4_102_444_800] {
        let violation = violation(of: UserEvent(Sample.envelope, body(time)))
        #expect(violation?.field == field, "\(field): \(time)")
        #expect(violation?.rule.hasSuffix("It looks like seconds: did you mean milliseconds?") == true)
      }
    }
  }

  @Test("a time that cannot be in seconds is accepted: 0, and this century's in milliseconds")
  func accepted() {
    for (field, body) in Self.times {
      for time in [0, 978_307_199, 4_102_444_801, Self.seconds * 1_000] {
        #expect(violation(of: UserEvent(Sample.envelope, body(time))) == nil, "\(field): \(time)")
      }
    }
  }

  @Test("as RFC 3339 it is refused too: the text was made of seconds")
  func text() throws {
    let event = """
      {"schemaVersion": 1, "type": "preferences.updated", "eventId": "e", "occurredAt": 1795275600000, "userId": "u",
       "preferences": {"muted": [{"conversationId": "c", "until": "1970-01-21T18:41:15Z"}]}}
      """
    let read = try RecordCoder().decode(UserEvent.self, from: Array(event.utf8))
    #expect(violation(of: read)?.field == "preferences.muted[0].until")
  }
}

@Suite("The bytes of a list of preferences are those of its JSON")
struct ListSizeTests {
  @Test("a list of exactly as many bytes as allowed is accepted, and one byte more is refused")
  func exact() throws {
    func starred(_ last: Int) -> PreferencesPatch {
      // Nine ids with their commas take 9 × 251 bytes, the brackets two.
      PreferencesPatch(
        starredSenders: (0..<9).map { "\($0)" + String(repeating: "i", count: 247) }
          + [String(repeating: "i", count: last)])
    }
    func keywords(_ last: Int) -> PreferencesPatch {
      PreferencesPatch(
        keywords: (0..<15).map { _ in String(repeating: "k", count: 62) } + [String(repeating: "k", count: last)])
    }
    func muted(_ last: Int) -> PreferencesPatch {
      let ids =
        (0..<26).map { "\($0 % 10)" + String(repeating: "c", count: 255) } + [String(repeating: "c", count: last)]
      return PreferencesPatch(muted: ids.map { MutedConversation(conversationId: $0) })
    }
    try check(SchemaLimits.starredSendersBytes, list: "starredSenders", starred, in: 1...256)
    try check(SchemaLimits.keywordsBytes, list: "keywords", keywords, in: 1...64)
    try check(SchemaLimits.mutedBytes, list: "muted", muted, in: 1...256)
  }

  /// Finds the patch whose list has exactly the limit's bytes, as the services write it.
  private func check(
    _ limit: Int, list: String, _ patch: (Int) -> PreferencesPatch, in lengths: ClosedRange<Int>
  ) throws {
    func size(_ length: Int) throws -> Int {
      try RecordCoder().encode(patch(length)).count - "{\"\(list)\":}".utf8.count
    }
    let length = try #require(try lengths.first { try size($0) == limit }, "\(list): no list has \(limit) bytes")
    #expect(violation(of: event(patch(length))) == nil, "\(list)")
    #expect(
      violation(of: event(patch(length + 1)))?.description
        == "preferences.\(list) must have at most \(limit) bytes as JSON")
  }

  @Test("a mute counts with the fields that it has")
  func fields() throws {
    for until in [nil, 0, SchemaLimits.latestTime] as [Milliseconds?] {
      for exceptMentions in [nil, true, false] {
        let muted = (0..<100).map {
          MutedConversation(
            conversationId: "c\($0)\"" + String(repeating: "c", count: 50), until: until, exceptMentions: exceptMentions
          )
        }
        let accepted = (1...100).last { count in
          violation(of: event(PreferencesPatch(muted: Array(muted.prefix(count))))) == nil
        }
        let fitting = try (1...100).last { count in
          try RecordCoder().encode(PreferencesPatch(muted: Array(muted.prefix(count)))).count
            - #"{"muted":}"#.utf8.count
            <= SchemaLimits.mutedBytes
        }
        #expect(accepted == fitting, "\(String(describing: until)), \(String(describing: exceptMentions))")
      }
    }
  }

  private func event(_ patch: PreferencesPatch) -> UserEvent {
    UserEvent(Sample.envelope, .preferences(PreferencesUpdated(userId: "u", preferences: patch)))
  }
}
