import NudgeSchema
import TestSupport
import Testing

@Suite("M5: a field that changes only how something looks never refuses an event")
struct CosmeticFieldTests {
  private func registered(_ change: (inout DeviceRegistered) -> Void) -> (DeviceRegistered?, IgnoredFields) {
    var device = Sample.registration
    change(&device)
    var event = UserEvent(Sample.envelope, .deviceRegistered(device))
    let ignored = event.normalize()
    guard case .deviceRegistered(let fields) = event.body else { return (nil, ignored) }
    return (fields, ignored)
  }

  private func created(_ change: (inout MessageCreated) -> Void) -> (MessageCreated?, IgnoredFields) {
    var message = Sample.message
    change(&message)
    var event = ChatEvent(Sample.envelope, .messageCreated(message))
    let ignored = event.normalize()
    guard case .messageCreated(let fields) = event.body else { return (nil, ignored) }
    return (fields, ignored)
  }

  @Test(
    "a locale becomes a language tag, or is ignored",
    arguments: [
      ("de", "de"), ("de-CH", "de-CH"), ("en_US", "en_US"), ("zh-Hant-TW", "zh-Hant-TW"), ("es-419", "es-419"),
      ("zh_CN_#Hans", "zh-Hans-CN"), ("sr__#Latn", "sr-Latn"), ("ja_JP_JP_#u-ca-japanese", "ja-u-JP-JP-ca-japanese"),
      ("en_US@rg=dezzzz", "en-US"), ("de_DE@currency=EUR;calendar=gregorian", "de-DE"), ("en_US.UTF-8", "en-US"),
      ("de_DE.ISO-8859-1@euro", "de-DE"), ("de-CH,de;q=0.9,en;q=0.8", "de-CH"), (" fr-FR\n", "fr-FR"), ("de-", "de"),
      ("de--CH", "de-CH"), ("de-abcdefghi", "de"), ("de-CH-x!", "de-CH"),
      ("C", nil), ("C.UTF-8", nil), ("POSIX", nil), ("", nil), ("*", nil), ("deutsch!", nil), ("dé", nil), ("1e", nil),
      ("日本語", nil), ("abcdefghi", nil), ("\u{0}de", nil), ("@", nil),
      ("de" + String(repeating: "-abcdefgh", count: 7), "de" + String(repeating: "-abcdefgh", count: 6)),
    ] as [(String, String?)])
  func locale(written: String, read: String?) {
    let (device, ignored) = registered { $0.locale = written }
    #expect(device?.locale == read)
    #expect(ignored.paths == (read == nil ? ["locale"] : []))
    var preferences = UserEvent(
      Sample.envelope,
      .preferences(PreferencesUpdated(userId: "ben", preferences: PreferencesPatch(locale: written))))
    #expect(preferences.normalize().paths == (read == nil ? ["preferences.locale"] : []))
    guard case .preferences(let fields) = preferences.body else { return }
    #expect(fields.preferences.locale == read)
  }

  @Test("a locale of any text is a tag of at most 64 bytes, or ignored; twice is as once")
  func anyLocale() {
    var random = SeededGenerator(announcedFor: "anyLocale")
    let pieces = [
      "de", "en", "_", "-", "@", ".", "#", "Hans", "CN", " ", "ü", "\u{0}", "🙂", ";", "x", "12345678", "POSIX",
    ]
    for _ in 0..<20_000 {
      let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
      let (device, ignored) = registered { $0.locale = text }
      guard let locale = device?.locale else {
        #expect(ignored.paths == ["locale"], "\(text)")
        continue
      }
      #expect(locale.utf8.count <= SchemaLimits.localeBytes, "\(text)")
      #expect(locale.wholeMatch(of: /[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*/) != nil, "\(text) → \(locale)")
      #expect(registered { $0.locale = locale }.0?.locale == locale)
    }
  }

  @Test(
    "an app's version is cut to 64 characters without control characters; an empty one is ignored",
    arguments: [
      ("4.2.0 (17)", "4.2.0 (17)"), (String(repeating: "1", count: 65), String(repeating: "1", count: 64)),
      (String(repeating: "é", count: 64), String(repeating: "é", count: 64)), ("4.2\n", "4.2"), ("", nil),
      ("\u{85}", nil),
    ] as [(String, String?)])
  func appVersion(written: String, read: String?) {
    let (device, ignored) = registered { $0.appVersion = written }
    #expect(device?.appVersion == read)
    #expect(ignored.paths == (read == nil ? ["appVersion"] : []))
  }

  @Test("a name is cut to 256 characters, wherever it stands; an empty one is ignored")
  func names() {
    for (name, read) in [("", nil), (String(repeating: "🙂", count: 257), String(repeating: "🙂", count: 256))]
      as [(String, String?)]
    {
      let (message, ignored) = created {
        $0.sender?.displayName = name
        $0.conversation?.name = name
        $0.conversation?.members[1].displayName = name
      }
      #expect(message?.sender?.displayName == read)
      #expect(message?.sender?.avatarUrl == Sample.avatar)
      #expect(message?.conversation?.name == read)
      #expect(message?.conversation?.members.map(\.displayName) == ["Ada Lovelace", read ?? "ben"])
      #expect(
        ignored.paths
          == (read == nil
            ? ["sender.displayName", "conversation.name", "conversation.members[1].displayName"] : []))

      var updated = Sample.conversationUpdated
      updated.name = name
      updated.members[0].displayName = name
      var event = ChatEvent(Sample.envelope, .conversationUpdated(updated))
      #expect(event.normalize().paths == (read == nil ? ["name", "members[0].displayName"] : []))
      updated.name = read
      updated.members[0].displayName = read ?? "ada"
      #expect(event.body == .conversationUpdated(updated))

      for body in [ChatEventBody.memberAdded, ChatEventBody.memberRemoved] {
        var change = Sample.membership
        change.displayName = name
        var event = ChatEvent(Sample.envelope, body(change))
        #expect(event.normalize().paths == (read == nil ? ["displayName"] : []))
        change.displayName = read
        #expect(event.body == body(change))
      }
    }
  }

  @Test(
    "an address that is empty, too long or has control characters is ignored, wherever it stands",
    arguments: ["", String(repeating: "u", count: 2_049), "https://a/\r\nb"])
  func addresses(url: String) {
    let (message, ignored) = created {
      $0.attachments?[0].url = url
      $0.sender?.avatarUrl = url
      $0.conversation?.members[0].avatarUrl = url
    }
    #expect(message?.attachments == [Attachment(kind: .image)])
    #expect(message?.sender == SenderProfile(displayName: "Ada Lovelace"))
    #expect(message?.conversation?.members[0] == Member(userId: "ada", displayName: "Ada Lovelace"))
    #expect(ignored.paths == ["attachments[0].url", "sender.avatarUrl", "conversation.members[0].avatarUrl"])
    #expect(ignored.kinds == [.attachmentUrl, .avatarUrl])
  }

  @Test("what fits stays as it is")
  func samples() {
    for event in Sample.chatEvents {
      var normalized = event
      #expect(normalized.normalize().isEmpty && normalized == event)
    }
    for event in Sample.userEvents {
      var normalized = event
      #expect(normalized.normalize().isEmpty && normalized == event)
    }
    let longest = String(repeating: "u", count: 2_048)
    #expect(created { $0.sender?.avatarUrl = longest }.0?.sender?.avatarUrl == longest)
  }

  @Test("of thousands that are ignored the first are named, and the others counted")
  func many() {
    var event = ChatEvent(
      Sample.envelope,
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "c", kind: .group, members: (0..<20_000).map { Member(userId: "u\($0)", displayName: "") })))
    let ignored = event.normalize()
    #expect(ignored.count == 20_000 && ignored.paths.count == 8)
    #expect(ignored.description.hasPrefix("members[0].displayName, members[1].displayName, "))
    #expect(ignored.description.hasSuffix("members[7].displayName and 19992 more"))
  }
}
