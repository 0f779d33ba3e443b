import Foundation
import NudgeSchema
import Testing

@Suite("M5: events are held against the rules their types cannot express")
struct ValidationTests {
  @Test("an event with every field set, within every limit, is accepted")
  func samplesAreValid() throws {
    for event in Sample.chatEvents { try event.validate() }
    for event in Sample.userEvents { try event.validate() }
  }

  // MARK: Envelope

  @Test(
    "eventId has 1 to 128 characters, however many bytes they take",
    arguments: [
      ("", "eventId must not be empty"), ("e", nil), (String(repeating: "e", count: 128), nil),
      (String(repeating: "🙂", count: 128), nil),
      (String(repeating: "e", count: 129), "eventId must have at most 128 characters"),
      (String(repeating: "e\u{301}", count: 65), "eventId must have at most 128 characters"),
      ("a\u{0}b", "eventId must not contain control characters"),
    ] as [(String, String?)])
  func eventId(id: String, violation: String?) {
    expect(ChatEvent(Envelope(eventId: id, occurredAt: 1), .messageCreated(Sample.message)), violation)
    expect(UserEvent(Envelope(eventId: id, occurredAt: 1), .read(Sample.read)), violation)
  }

  @Test("times are from 1970 to the end of 9999", arguments: [(-1, false), (0, true), (253_402_300_799_999, true)])
  func times(time: Milliseconds, accepted: Bool) {
    let rule = "must be from 1970 to the end of 9999: 0 to 253402300799999 ms"
    expect(
      ChatEvent(Envelope(eventId: "e", occurredAt: time), .messageCreated(Sample.message)),
      accepted ? nil : "occurredAt \(rule)")
    expect(
      ChatEvent(Envelope(eventId: "e", occurredAt: SchemaLimits.latestTime + 1), .messageCreated(Sample.message)),
      "occurredAt \(rule)")
    expect(
      preferences { $0.muted = [MutedConversation(conversationId: "c", until: time)] },
      accepted ? nil : "preferences.muted[0].until \(rule)")
  }

  // MARK: Ids

  static let badIds: [(String, String)] = [
    ("", "must not be empty"), (String(repeating: "i", count: 257), "must have at most 256 bytes of UTF-8"),
    (String(repeating: "ü", count: 129), "must have at most 256 bytes of UTF-8"),
    ("a\nb", "must not contain control characters"), ("a\u{7F}", "must not contain control characters"),
    ("a\u{85}b", "must not contain control characters"), ("\u{9F}", "must not contain control characters"),
  ]

  /// Each id of each event, by its path, with a change that sets it.
  static let chatIds: [(String, @Sendable (String) -> ChatEventBody)] = [
    ("conversationId", { id in .conversationUpdated(with(Sample.conversationUpdated) { $0.conversationId = id }) }),
    (
      "members[1].userId",
      { id in .conversationUpdated(with(Sample.conversationUpdated) { $0.members[1].userId = id }) }
    ),
    ("conversationId", { id in .memberAdded(with(Sample.membership) { $0.conversationId = id }) }),
    ("userId", { id in .memberRemoved(with(Sample.membership) { $0.userId = id }) }),
    ("conversationId", { id in .messageCreated(with(Sample.message) { $0.conversationId = id }) }),
    ("messageId", { id in .messageCreated(with(Sample.message) { $0.messageId = id }) }),
    ("senderId", { id in .messageCreated(with(Sample.message) { $0.senderId = id }) }),
    ("replyTo", { id in .messageCreated(with(Sample.message) { $0.replyTo = id }) }),
    ("mentions[1]", { id in .messageCreated(with(Sample.message) { $0.mentions = ["ada", id] }) }),
    (
      "conversation.members[0].userId",
      { id in .messageCreated(with(Sample.message) { $0.conversation?.members[0].userId = id }) }
    ),
    ("conversationId", { id in .messageEdited(with(Sample.revision) { $0.conversationId = id }) }),
    ("messageId", { id in .messageDeleted(with(Sample.revision) { $0.messageId = id }) }),
  ]

  static let userIds: [(String, @Sendable (String) -> UserEventBody)] = [
    ("userId", { id in .activity(with(Sample.activity) { $0.userId = id }) }),
    ("deviceId", { id in .activity(with(Sample.activity) { $0.deviceId = id }) }),
    ("conversationId", { id in .activity(with(Sample.activity) { $0.conversationId = id }) }),
    ("userId", { id in .read(with(Sample.read) { $0.userId = id }) }),
    ("conversationId", { id in .read(with(Sample.read) { $0.conversationId = id }) }),
    ("messageId", { id in .read(with(Sample.read) { $0.messageId = id }) }),
    ("deviceId", { id in .read(with(Sample.read) { $0.deviceId = id }) }),
    ("userId", { id in .preferences(PreferencesUpdated(userId: id, preferences: PreferencesPatch())) }),
    (
      "preferences.starredSenders[0]",
      { id in .preferences(PreferencesUpdated(userId: "u", preferences: PreferencesPatch(starredSenders: [id]))) }
    ),
    (
      "preferences.muted[0].conversationId",
      { id in
        .preferences(
          PreferencesUpdated(
            userId: "u", preferences: PreferencesPatch(muted: [MutedConversation(conversationId: id)])))
      }
    ),
    ("userId", { id in .deviceRegistered(with(Sample.registration) { $0.userId = id }) }),
    ("deviceId", { id in .deviceRegistered(with(Sample.registration) { $0.deviceId = id }) }),
    ("userId", { id in .deviceUnregistered(DeviceUnregistered(userId: id, deviceId: "d")) }),
    ("deviceId", { id in .deviceUnregistered(DeviceUnregistered(userId: "u", deviceId: id)) }),
    ("userId", { id in .feedback(with(Sample.feedback) { $0.userId = id }) }),
    ("conversationId", { id in .feedback(with(Sample.feedback) { $0.conversationId = id }) }),
    ("messageId", { id in .feedback(with(Sample.feedback) { $0.messageId = id }) }),
    ("userId", { id in .notificationReceived(with(Sample.report) { $0.userId = id }) }),
    ("deviceId", { id in .notificationOpened(with(Sample.report) { $0.deviceId = id }) }),
    ("pushId", { id in .notificationDismissed(with(Sample.report) { $0.pushId = id }) }),
    ("conversationId", { id in .notificationReceived(with(Sample.report) { $0.conversationId = id }) }),
    ("messageId", { id in .notificationReceived(with(Sample.report) { $0.messageId = id }) }),
  ]

  @Test("every id of every event is 1 to 256 bytes without control characters")
  func ids() {
    let longest = String(repeating: "ü", count: 128)
    for (field, body) in Self.chatIds {
      for (id, rule) in Self.badIds { expect(ChatEvent(Sample.envelope, body(id)), "\(field) \(rule)") }
      expect(ChatEvent(Sample.envelope, body(longest)), nil)
    }
    for (field, body) in Self.userIds {
      for (id, rule) in Self.badIds { expect(UserEvent(Sample.envelope, body(id)), "\(field) \(rule)") }
      expect(UserEvent(Sample.envelope, body(longest)), nil)
    }
  }

  // MARK: chat.events

  @Test("text has at most 64 kB")
  func text() {
    let longest = String(repeating: "ü", count: 32_768)
    let rule = "text must have at most 65536 bytes of UTF-8"
    for (text, violation) in [(longest, nil), (longest + "x", rule)] {
      expect(.messageCreated(with(Sample.message) { $0.text = text }), violation)
      expect(.messageEdited(with(Sample.revision) { $0.text = text }), violation)
      expect(.messageDeleted(with(Sample.revision) { $0.text = text }), violation)
    }
  }

  @Test("a message has text or an attachment")
  func contents() {
    let rule = "text must be present and not empty unless there is an attachment"
    let bare = with(Sample.message) { $0.attachments = nil }
    let textless = with(Sample.message) { $0.text = nil }
    expect(.messageCreated(bare), nil)
    expect(.messageCreated(textless), nil)
    expect(.messageCreated(with(textless) { $0.text = "" }), nil)
    expect(.messageCreated(with(bare) { $0.text = nil }), rule)
    expect(.messageCreated(with(bare) { $0.text = "" }), rule)
    expect(.messageCreated(with(textless) { $0.attachments = [] }), rule)
  }

  @Test("an edited message has its new text, a deleted one needs none")
  func revisions() {
    let rule = "text must be present and not empty in message.edited"
    for text in [nil, ""] {
      expect(.messageEdited(with(Sample.revision) { $0.text = text }), rule)
      expect(.messageDeleted(with(Sample.revision) { $0.text = text }), nil)
    }
  }

  @Test("lists of a message and of a conversation are bounded")
  func lists() {
    func attachments(_ count: Int) -> ChatEventBody {
      .messageCreated(with(Sample.message) { $0.attachments = Array(repeating: Attachment(kind: .file), count: count) })
    }
    expect(attachments(32), nil)
    expect(attachments(33), "attachments must have at most 32 entries")
    func mentions(_ count: Int) -> ChatEventBody {
      .messageCreated(with(Sample.message) { $0.mentions = (0..<count).map { "u\($0)" } })
    }
    expect(mentions(1000), nil)
    expect(mentions(1001), "mentions must have at most 1000 entries")
    func members(_ count: Int) -> [Member] { (0..<count).map { Member(userId: "u\($0)", displayName: "U") } }
    expect(.conversationUpdated(with(Sample.conversationUpdated) { $0.members = members(20_000) }), nil)
    expect(
      .conversationUpdated(with(Sample.conversationUpdated) { $0.members = members(20_001) }),
      "members must have at most 20000 entries")
    expect(
      .messageCreated(with(Sample.message) { $0.conversation?.members = members(20_001) }),
      "conversation.members must have at most 20000 entries")
  }

  @Test("a snapshot names nobody twice; ids are compared by their bytes")
  func duplicateMembers() {
    let twice = ["ada", "ben", "ada"].map { Member(userId: $0, displayName: "N") }
    expect(
      .conversationUpdated(with(Sample.conversationUpdated) { $0.members = twice }),
      "members[2].userId must not be listed twice")
    expect(
      .messageCreated(with(Sample.message) { $0.conversation?.members = twice }),
      "conversation.members[2].userId must not be listed twice")
    // Composed and decomposed: alike to Unicode, two people to us.
    let alike = ["\u{E9}", "e\u{301}"].map { Member(userId: $0, displayName: "N") }
    expect(.conversationUpdated(with(Sample.conversationUpdated) { $0.members = alike }), nil)
  }

  // MARK: user.events

  @Test("issue 57: a device has one of token and subscription, each with keys of the right form; no error repeats them")
  func addresses() {
    let (endpoint, key, secret) = (Sample.subscription.endpoint, Sample.p256dh, Sample.secret)
    func subscribed(_ endpoint: String, _ p256dh: String, _ auth: String) -> DeviceRegistered {
      DeviceRegistered(
        userId: "ben", deviceId: "tab",
        webPush: WebPushSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth), platform: .web)
    }
    let url = "webPush.endpoint must be an absolute https URL of printed ASCII characters"
    let point = "must be a point of P-256, 65 bytes uncompressed, in base64url without padding"
    let word = "must be 16 bytes in base64url without padding"
    let cases: [(DeviceRegistered, String?)] = [
      (Sample.subscribed, nil), (subscribed("http://10.0.0.1/x", key, secret), nil),
      (
        DeviceRegistered(userId: "ben", deviceId: "tab", platform: .web),
        "token is missing: a device has either token or webPush"
      ),
      (
        with(Sample.registration) { $0.webPush = Sample.subscription },
        "webPush must be absent beside token: a device has one of the two"
      ),
      (
        with(Sample.subscribed) { $0.sealing = Sample.sealing },
        "sealing must be absent beside webPush, which has keys of its own"
      ),
      (subscribed("", key, secret), "webPush.endpoint must not be empty"),
      (subscribed("ftp://push.example/x", key, secret), url), (subscribed("push.example/x", key, secret), url),
      (subscribed("https:/push.example/x", key, secret), url), (subscribed(endpoint + " x", key, secret), url),
      (subscribed(endpoint + "\u{E9}", key, secret), url),
      (
        subscribed("https://p.example/" + String(repeating: "x", count: 2_031), key, secret),
        "webPush.endpoint must have at most 2048 bytes of UTF-8"
      ),
      (subscribed(endpoint, key + "=", secret), "webPush.p256dh \(point)"),
      (subscribed(endpoint, String(key.dropLast()) + "+", secret), "webPush.p256dh \(point)"),
      (subscribed(endpoint, key, String(secret.dropLast())), "webPush.auth \(word)"),
      (with(Sample.registration) { $0.sealing?.p256dh = "" }, "sealing.p256dh \(point)"),
      (with(Sample.registration) { $0.sealing?.auth = secret + "==" }, "sealing.auth \(word)"),
    ]
    for (device, violation) in cases { expect(.deviceRegistered(device), violation) }
  }

  @Test("a token has 1 to 4,096 bytes, and no error repeats it")
  func token() {
    for (token, violation) in [
      ("", "token must not be empty"), (String(repeating: "t", count: 4096), nil),
      (String(repeating: "t", count: 4097), "token must have at most 4096 bytes of UTF-8"),
      ("secret\u{1}", "token must not contain control characters"),
    ] as [(String, String?)] {
      expect(.deviceRegistered(with(Sample.registration) { $0.token = token }), violation)
    }
  }

  @Test(
    "quiet hours are HH:MM from 00:00 to 23:59",
    arguments: [
      ("00:00", true), ("23:59", true), ("07:05", true), ("19:30", true), ("24:00", false), ("23:60", false),
      ("7:05", false), ("07:5", false), ("07.05", false), ("07:05 ", false), ("", false), ("aa:bb", false),
      ("-1:00", false), ("٠٧:٠٥", false), ("30:00", false), ("2a:00", false),
    ])
  func quietHours(time: String, accepted: Bool) {
    let rule = "must be a time of day as HH:MM, 00:00 to 23:59"
    expect(
      preferences { $0.quietHours = .set(QuietHours(start: time, end: "07:00")) },
      accepted ? nil : "preferences.quietHours.start \(rule)")
    expect(
      preferences { $0.quietHours = .set(QuietHours(start: "22:00", end: time)) },
      accepted ? nil : "preferences.quietHours.end \(rule)")
  }

  @Test("quiet hours may be taken away")
  func noQuietHours() {
    expect(preferences { $0.quietHours = .set(nil) }, nil)
    expect(preferences { $0.quietHours = .unchanged }, nil)
  }

  @Test(
    "a time zone is a name of the tz database: no abbreviation, of which nobody knows the place, and no offset",
    arguments: [
      ("Europe/Berlin", true), ("America/Argentina/Buenos_Aires", true), ("UTC", true), ("Mars/Olympus", false),
      ("../../etc/passwd", false), ("Europe", false), ("", false), (String(repeating: "z", count: 65), false),
      ("Asia/Calcutta", true), ("Europe/Kyiv", true), ("Etc/GMT+2", true), ("GMT", true), ("Japan", true),
      ("BST", false), ("PST", false), ("IST", false), ("UTC+2", false), ("GMT+02:30", false), ("GMT+2", false),
      ("europe/berlin", false), ("utc", false), ("Etc/Unknown", false),
    ])
  func timeZone(zone: String, accepted: Bool) throws {
    let violation = violation(
      of: UserEvent(
        Sample.envelope,
        .preferences(
          PreferencesUpdated(
            userId: "u",
            preferences: PreferencesPatch(quietHours: .set(QuietHours(start: "22:00", end: "07:00", timeZone: zone)))))
      ))
    #expect((violation == nil) == accepted)
    if !accepted { #expect(violation?.field == "preferences.quietHours.timeZone") }
  }

  @Test(
    "a project id cannot leave its place in FCM's URL",
    arguments: [
      ("chat-prod", true), ("example.com:chat", true), ("123456789", true), ("", false), ("a/b", false),
      ("../other", false), ("Chat", false), ("a?b", false), ("a%2fb", false),
      (String(repeating: "p", count: 129), false),
    ])
  func projectId(id: String, accepted: Bool) {
    let event = UserEvent(Sample.envelope, .deviceRegistered(with(Sample.registration) { $0.projectId = id }))
    #expect(violation(of: event)?.field == (accepted ? nil : "projectId"))
  }

  @Test("analyses an hour are 0 to 10,000", arguments: [(-1, false), (0, true), (10_000, true), (10_001, false)])
  func analysesPerHour(limit: Int, accepted: Bool) {
    expect(
      preferences { $0.maxAnalysesPerHour = limit },
      accepted ? nil : "preferences.maxAnalysesPerHour must be from 0 to 10000")
  }

  @Test("lists of preferences are bounded in entries")
  func preferenceLists() {
    expect(preferences { $0.muted = (0..<100).map { MutedConversation(conversationId: "c\($0)") } }, nil)
    expect(
      preferences { $0.muted = (0..<101).map { MutedConversation(conversationId: "c\($0)") } },
      "preferences.muted must have at most 100 entries")
    expect(preferences { $0.digestTimes = .set(["00:00", "23:59"]) }, nil)
    expect(preferences { $0.digestTimes = .set([]) }, nil)
    expect(preferences { $0.digestTimes = .set(nil) }, nil)
    expect(
      preferences { $0.digestTimes = .set(["07:00", "7:00"]) },
      "preferences.digestTimes[1] must be a time of day as HH:MM, 00:00 to 23:59")
    expect(
      preferences { $0.digestTimes = .set(Array(repeating: "07:00", count: 13)) },
      "preferences.digestTimes must have at most 12 entries")
    for (alerts, accepted) in [(0, true), (1_000, true), (-1, false), (1_001, false)] {
      expect(
        preferences { $0.dailyAlerts = .set(alerts) }, accepted ? nil : "preferences.dailyAlerts must be from 0 to 1000"
      )
    }
    expect(preferences { $0.dailyAlerts = .set(nil) }, nil)
    expect(preferences { $0.timeZone = "Europe/Berlin" }, nil)
    expect(
      preferences { $0.timeZone = "Nowhere" },
      "preferences.timeZone must be a name of the IANA time zone database, such as Europe/Berlin, or UTC; "
        + "no abbreviation, and no offset")
    expect(preferences { $0.mutedSenders = (0..<100).map { "u\($0)" } }, nil)
    expect(
      preferences { $0.mutedSenders = (0..<101).map { "u\($0)" } },
      "preferences.mutedSenders must have at most 100 entries")
    func levels(_ count: Int) -> [ConversationLevel] {
      (0..<count).map { ConversationLevel(conversationId: "c\($0)", level: .mentions) }
    }
    expect(preferences { $0.conversationLevels = levels(200) }, nil)
    expect(
      preferences { $0.conversationLevels = levels(201) },
      "preferences.conversationLevels must have at most 200 entries")
    expect(preferences { $0.starredSenders = (0..<100).map { "u\($0)" } }, nil)
    expect(
      preferences { $0.starredSenders = (0..<101).map { "u\($0)" } },
      "preferences.starredSenders must have at most 100 entries")
    expect(preferences { $0.keywords = (0..<50).map { "k\($0)" } }, nil)
    expect(
      preferences { $0.keywords = (0..<51).map { "k\($0)" } }, "preferences.keywords must have at most 50 entries")
  }

  @Test("a keyword has 1 to 64 characters without control characters")
  func keyword() {
    let field = "preferences.keywords[0]"
    expect(preferences { $0.keywords = [String(repeating: "ß", count: 64)] }, nil)
    expect(preferences { $0.keywords = [""] }, "\(field) must not be empty")
    expect(
      preferences { $0.keywords = [String(repeating: "k", count: 65)] }, "\(field) must have at most 64 characters")
    expect(preferences { $0.keywords = ["a\u{0}"] }, "\(field) must not contain control characters")
  }

  @Test("the lists of preferences cannot outgrow their part of a person's row, whatever their entries")
  func preferenceBytes() throws {
    typealias List = (limit: Int, patch: (_ entry: String, _ count: Int) -> PreferencesPatch)
    let lists: [List] = [
      (
        SchemaLimits.mutedBytes,
        { entry, count in
          let muted = MutedConversation(
            conversationId: entry, until: SchemaLimits.latestTime, exceptMentions: false)
          return PreferencesPatch(muted: Array(repeating: muted, count: count))
        }
      ),
      (SchemaLimits.starredSendersBytes, { PreferencesPatch(starredSenders: Array(repeating: $0, count: $1)) }),
      (SchemaLimits.keywordsBytes, { PreferencesPatch(keywords: Array(repeating: $0, count: $1)) }),
    ]
    for (limit, patch) in lists {
      var largest = 0
      // Quotes and backslashes take two bytes as JSON: the most a character can take that is accepted.
      for character in ["i", "\"", "\\", "🙂"] {
        for length in [1, 8, 16, 32, 64] {
          let entry = String(repeating: character, count: length)
          let accepted = (1...100).reversed().lazy.map { patch(entry, $0) }.first { patch in
            violation(of: preferencesEvent { $0 = patch }) == nil
          }
          // The patch is the list and its name: `{"starredSenders":…}`.
          let size = try RecordCoder().encode(try #require(accepted)).count
          #expect(size <= limit + 20, "\(length) × \(character)")
          largest = max(largest, size)
        }
      }
      #expect(largest > limit * 9 / 10, "the bound is reached")
    }
    #expect(
      SchemaLimits.mutedBytes + SchemaLimits.starredSendersBytes + SchemaLimits.keywordsBytes <= 12_288)
  }

  @Test("T4: no violation repeats a token or what somebody wrote")
  func violationsKeepSecrets() throws {
    let secret = "s3cret"
    let long = String(repeating: secret, count: 20_000)
    let violations = [
      violation(of: UserEvent(Sample.envelope, .deviceRegistered(with(Sample.registration) { $0.token = long }))),
      violation(
        of: UserEvent(Sample.envelope, .deviceRegistered(with(Sample.registration) { $0.token = secret + "\n" }))),
      violation(of: ChatEvent(Sample.envelope, .messageCreated(with(Sample.message) { $0.text = long }))),
      violation(of: ChatEvent(Sample.envelope, .messageEdited(with(Sample.revision) { $0.text = long }))),
      violation(of: preferencesEvent { $0.keywords = [long] }),
    ]
    for violation in violations { #expect(!(try #require(violation).description.contains(secret))) }
  }

  // MARK: Support

  private func expect(
    _ body: ChatEventBody, _ violation: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(ChatEvent(Sample.envelope, body), violation, sourceLocation: sourceLocation)
  }

  private func expect(
    _ body: UserEventBody, _ violation: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(UserEvent(Sample.envelope, body), violation, sourceLocation: sourceLocation)
  }

  private func expect(_ event: ChatEvent, _ violation: String?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(self.violation(of: event)?.description == violation, sourceLocation: sourceLocation)
  }

  private func expect(_ event: UserEvent, _ violation: String?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(self.violation(of: event)?.description == violation, sourceLocation: sourceLocation)
  }

  private func preferences(_ change: (inout PreferencesPatch) -> Void) -> UserEventBody {
    .preferences(PreferencesUpdated(userId: "u", preferences: with(PreferencesPatch(), change)))
  }

  private func preferencesEvent(_ change: (inout PreferencesPatch) -> Void) -> UserEvent {
    UserEvent(Sample.envelope, preferences(change))
  }

  private func violation(of event: ChatEvent) -> SchemaViolation? {
    do throws(SchemaViolation) { try event.validate() } catch { return error }
    return nil
  }

  private func violation(of event: UserEvent) -> SchemaViolation? {
    do throws(SchemaViolation) { try event.validate() } catch { return error }
    return nil
  }
}

/// A changed copy.
func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var copy = value
  change(&copy)
  return copy
}
