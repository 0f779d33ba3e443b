import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Preferences")
struct PreferencesTests {
  @Test("D8: without preferences the documented defaults hold")
  func defaults() {
    let preferences = EffectivePreferences(PreferencesRow(), rules: AnalyzerRules(hash: standInHash))
    #expect(preferences.enabled && preferences.showPreviews)
    #expect(preferences.quietHours == nil)
    #expect(preferences.maxAnalysesPerHour == 10 && preferences.fallback == .simpleRules)
    #expect(preferences.muted.isEmpty && preferences.starredSenders.isEmpty && preferences.keywords.isEmpty)
    #expect(preferences.badgeMode == .conversations)
  }

  @Test("D8: with previews off the push says who wrote and nothing of what, and so does the banner")
  func previewsOff() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(showPreviews: false))
    try scene.activity("phone", in: nil, at: noon)
    scene.driver.now = noon
    for (group, title) in [(nil, "Bob"), ("Hikers", "Bob in Hikers")] {
      let candidate = Scene.candidate(
        "m-\(title)", RecipientContext(mentioned: true), group: group, body: "secret plan", title: "Bob: secret plan")
      let written = try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin())
      #expect(written.push?.title == title)
      #expect(written.push?.body == "New message from Bob")
      #expect(written.banners.map(\.preview) == ["New message from Bob"])
    }
  }

  @Test("D8: fixed words are in the person's language: that of the preferences, else of the device registered last")
  func languages() throws {
    let scene = try Scene.withPhone()
    func body(_ id: String, _ body: String = "secret", attachment: NudgeSchema.Attachment? = nil) throws -> String? {
      var candidate = Scene.candidate("m-\(id)", RecipientContext(mentioned: true), body: body)
      candidate.attachment = attachment
      return try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push?.body
    }
    scene.driver.now = noon
    #expect(try body("a", "📷 Image", attachment: NudgeSchema.Attachment(kind: .image)) == "📷 Image")
    try scene.prefer(PreferencesPatch(locale: "de-AT"))
    #expect(try body("b", "📷 Image", attachment: NudgeSchema.Attachment(kind: .image)) == "📷 Bild")
    #expect(try body("b3", "📷 Image +2", attachment: NudgeSchema.Attachment(kind: .image)) == "📷 Bild +2")
    #expect(try body("b4", "📷 Image of us", attachment: NudgeSchema.Attachment(kind: .image)) == "📷 Image of us")
    #expect(try body("c", "my own words", attachment: NudgeSchema.Attachment(kind: .image)) == "my own words")
    try scene.prefer(PreferencesPatch(showPreviews: false))
    #expect(try body("d") == "Neue Nachricht von Bob")
  }

  @Test("D12: a patch changes the fields it names; of each field the last writer wins, in whatever order they come")
  func lastWriterWins() throws {
    let patches: [(PreferencesPatch, Milliseconds, String)] = [
      (PreferencesPatch(enabled: false, maxAnalysesPerHour: 1), noon, "a"),
      (PreferencesPatch(enabled: true), noon, "b"),
      (PreferencesPatch(maxAnalysesPerHour: 7, keywords: ["x"]), noon + 1, "a"),
      (PreferencesPatch(quietHours: .set(QuietHours(start: "01:00", end: "02:00")), keywords: ["y"]), noon - 1, "z"),
      (PreferencesPatch(quietHours: .set(nil)), noon, "c"),
    ]
    var random = SeededGenerator(seed: 12)
    for _ in 0..<40 {
      let scene = Scene()
      for (patch, time, eventId) in (patches + patches).shuffled(using: &random) {
        try scene.prefer(patch, at: time, eventId: eventId)
      }
      guard case .preferences(let row) = try scene.driver.row(AnalyzerRow.preferencesKey("ann")) else {
        Issue.record("no preferences")
        return
      }
      #expect(row.enabled?.value == true)
      #expect(row.maxAnalysesPerHour?.value == 7)
      #expect(row.keywords?.value == ["x"])
      #expect(row.quietHours == Stamped(value: nil, stamp: EventStamp(occurredAt: noon, eventId: "c")))
      #expect(row.fallback == nil && row.locale == nil)
    }
  }

  @Test("D8: lists that are too long to keep are refused with the field, its size and the limit")
  func tooLong() throws {
    let scene = try Scene.withPhone()
    let ids = (0..<400).map { "conversation-of-many-\($0)" }
    for patch in [
      PreferencesPatch(muted: ids.map { MutedConversation(conversationId: $0) }),
      PreferencesPatch(starredSenders: ids), PreferencesPatch(keywords: ids),
      PreferencesPatch(locale: String(repeating: "x", count: 65)),
    ] {
      let rejection = try scene.prefer(patch).rejection
      #expect(rejection?.code == .tooLarge)
      #expect(rejection?.message.contains("preferences.") == true)
    }
    #expect(try scene.prefer(PreferencesPatch(maxAnalysesPerHour: -1)).rejection?.code == .schemaViolation)
    #expect(try scene.driver.row(AnalyzerRow.preferencesKey("ann")) == nil)
  }

  @Test("D8: preferences as large as is allowed fit a row")
  func rowSize() throws {
    let scene = Scene()
    func fill(_ limit: Int, _ item: (Int) -> String) -> [String] {
      var list: [String] = []
      while list.reduce(2, { $0 + $1.utf8.count + 3 }) < limit - 60 { list.append(item(list.count)) }
      return list
    }
    let id = String(repeating: "e", count: 128)
    var patches: [PreferencesPatch] = [
      PreferencesPatch(enabled: true), PreferencesPatch(maxAnalysesPerHour: .max),
      PreferencesPatch(fallback: .simpleRules), PreferencesPatch(badgeMode: .conversations),
      PreferencesPatch(showPreviews: false), PreferencesPatch(locale: String(repeating: "l", count: 64)),
      PreferencesPatch(quietHours: .set(QuietHours(start: "01:00", end: "02:00", timeZone: "America/Argentina/Salta"))),
      PreferencesPatch(starredSenders: fill(PreferencesRow.maxStarredBytes) { "user-\($0)" }),
      PreferencesPatch(keywords: fill(PreferencesRow.maxKeywordBytes) { "word-\($0)" }),
    ]
    let room = (PreferencesRow.maxMutedBytes - 100) / 90
    patches.append(
      PreferencesPatch(
        muted: (0..<room).map {
          MutedConversation(conversationId: "conversation-\(1000 + $0)", until: .max, exceptMentions: true)
        }))
    for (number, patch) in patches.enumerated() {
      #expect(try scene.prefer(patch, at: noon + Int64(number), eventId: id).rejection == nil)
    }
    let row = try #require(try scene.driver.row(AnalyzerRow.preferencesKey("ann")))
    #expect(try row.encoded(coder: RecordCoder(), at: .latest).count <= StateLimits.maxRowBytes)
  }
}
