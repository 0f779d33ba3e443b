package import NudgeSchema

/// Turns a chat log into the events that an app and its backend would publish. A value: the same messages, seed and times give the same
/// events.
package struct LoadScript {
  /// A person's reaction, published some messages later.
  private struct FollowUp {
    var due: Int
    var userId: String
    var activity: Activity
  }

  private let run: String
  private let seed: UInt64
  private let memberLimit: Int
  private let prefix: String
  private let coder = RecordCoder()
  private var conversations: [String: LastSpeakers] = [:]
  private var followUps: [FollowUp] = []
  private var messages = 0
  private var events = 0

  /// `run` is part of every event and message id, so that two runs on one broker differ. `prefix` is put before the ids of users and
  /// conversations, but not before their names.
  package init(run: String, members: Int, seed: UInt64, prefix: String = "") {
    self.run = run
    self.prefix = prefix
    self.seed = seed
    memberLimit = members
  }

  // MARK: Before the messages

  /// A person's devices and preferences.
  package mutating func introduce(_ person: LoadPerson, at now: Milliseconds) throws -> [LoadEvent] {
    var introduced = try person.devices.map { try event(.deviceRegistered($0), at: now) }
    if let preferences = person.preferences(now: now) {
      introduced.append(
        try event(.preferences(PreferencesUpdated(userId: person.userId, preferences: preferences)), at: now))
    }
    return introduced
  }

  /// Signs a person out of all devices: they get no further push.
  mutating func retire(_ person: LoadPerson, at now: Milliseconds) throws -> [LoadEvent] {
    try person.devices.map {
      try event(.deviceUnregistered(DeviceUnregistered(userId: $0.userId, deviceId: $0.deviceId)), at: now)
    }
  }

  // MARK: Messages

  /// The events of a message: the changed conversation, the message, and people's reactions meanwhile.
  package mutating func events(for message: ChatMessage, at now: Milliseconds) throws -> [LoadEvent] {
    messages += 1
    var random = SeededRandom(seed: seed, "\(run) \(messages)")
    let conversationId = prefix + ChatNames.conversation(message.log)
    let senderId = prefix + ChatNames.user(message.nick)
    let kind = message.kind ?? .group
    var published = try takeFollowUps(at: now)

    var speakers = conversations[conversationId] ?? LastSpeakers(limit: memberLimit)
    if speakers.speak(senderId) {
      published.append(try update(conversationId, kind, speakers.members, at: now))
    }
    conversations[conversationId] = speakers
    let recipients = speakers.members.filter { $0 != senderId }

    let messageId = self.messageId(message.log, message.number)
    let text = ChatNames.text(message.text)
    let body = MessageCreated(
      conversationId: conversationId, messageId: messageId, senderId: senderId, text: text.isEmpty ? nil : text,
      attachments: text.isEmpty ? [Attachment(kind: .image, url: "https://pictures.example.org/\(messages).jpg")] : nil,
      // A log may list several answered messages. For a message that starts a topic it may list the message itself.
      replyTo: message.replyTo?.last { $0 != message.number }.map { self.messageId(message.log, $0) },
      mentions: Mentions.named(in: text, among: recipients.map { name($0) })?.map { prefix + $0 },
      sender: SenderProfile(displayName: name(senderId), avatarUrl: LoadPerson.avatar(of: senderId, seed: seed)))
    published.append(
      try event(
        .messageCreated(body), at: now, message: LoadMessage(messageId: messageId, recipients: recipients, at: now)))

    plan(for: senderId, in: conversationId, &random)
    if let read = try read(messageId, in: conversationId, by: recipients, at: now, &random) { published.append(read) }
    return published
  }

  /// The display name of an id.
  private func name(_ id: String) -> String { String(id.dropFirst(prefix.count)) }

  private func messageId(_ log: String, _ number: Int) -> String {
    "\(run)/\(ChatNames.conversation(log))/\(number)"
  }

  private mutating func update(
    _ conversationId: String, _ kind: ConversationKind, _ members: [String], at now: Milliseconds
  ) throws -> LoadEvent {
    let seed = seed
    let shown = name(conversationId)
    let names = members.map { name($0) }
    return try event(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: conversationId, kind: kind, name: kind == .group ? shown : nil,
          members: zip(members, names).map {
            Member(userId: $0, displayName: $1, avatarUrl: LoadPerson.avatar(of: $0, seed: seed))
          })), at: now)
  }

  // MARK: Actions besides writing

  /// Plans the person's next actions. Writing opens the conversation until the device reports otherwise, so most people close the app soon
  /// afterwards. Else nobody in a lively conversation would get a push.
  private mutating func plan(for userId: String, in conversationId: String, _ random: inout SeededRandom) {
    let state: (Activity.State, String?)
    switch random.number(0...99) {
    case ..<65: state = (.background, nil)
    case ..<77: state = (.foreground, nil)
    case ..<82: state = (.foreground, conversationId)
    default: return
    }
    followUps.append(
      FollowUp(
        due: messages + random.number(1...6), userId: userId,
        activity: Activity(
          userId: userId, deviceId: LoadPerson.device(0, of: userId), state: state.0, conversationId: state.1)))
  }

  private mutating func takeFollowUps(at now: Milliseconds) throws -> [LoadEvent] {
    let due = followUps.filter { $0.due <= messages }
    guard !due.isEmpty else { return [] }
    followUps.removeAll { $0.due <= messages }
    return try due.map { try event(.activity($0.activity), at: now) }
  }

  private mutating func read(
    _ messageId: String, in conversationId: String, by readers: [String], at now: Milliseconds,
    _ random: inout SeededRandom
  ) throws -> LoadEvent? {
    guard !readers.isEmpty, random.chance(4) else { return nil }
    let reader = random.pick(readers)
    return try event(
      .read(
        MessageRead(
          userId: reader, conversationId: conversationId, messageId: random.chance(50) ? messageId : nil,
          deviceId: LoadPerson.device(0, of: reader))), at: now)
  }

  // MARK: Records

  /// An envelope with an id of fixed length: of two events in one millisecond, the later has the greater id and wins (D12).
  private mutating func envelope(at now: Milliseconds) -> Envelope {
    events += 1
    let number = String(events)
    return Envelope(
      eventId: "\(run)-\(String(repeating: "0", count: max(0, 10 - number.count)))\(number)", occurredAt: now)
  }

  private mutating func event(_ body: UserEventBody, at now: Milliseconds) throws -> LoadEvent {
    LoadEvent(
      topic: .userEvents, key: body.userId, value: try coder.encode(UserEvent(envelope(at: now), body)), message: nil)
  }

  private mutating func event(_ body: ChatEventBody, at now: Milliseconds, message: LoadMessage? = nil) throws
    -> LoadEvent
  {
    LoadEvent(
      topic: .chatEvents, key: body.conversationId, value: try coder.encode(ChatEvent(envelope(at: now), body)),
      message: message)
  }
}

/// An event of the load, encoded.
package struct LoadEvent: Sendable {
  /// `chat.events` or `user.events`.
  package var topic: Topic
  package var key: String
  package var value: [UInt8]
  /// The expected decisions. Absent for events other than messages.
  package var message: LoadMessage?
}

/// A message of the load, with the decisions it must cause.
package struct LoadMessage: Sendable, Equatable {
  package var messageId: String
  /// The members except the sender. Each needs a decision.
  package var recipients: [String]
  /// The time of publication, which is also `occurredAt`.
  var at: Milliseconds
}

/// Finds names in a text as chat apps and IRC do: `@name` anywhere, `name:` or `name,` at the beginning.
enum Mentions {
  /// The people whom the text names. Absent if it names nobody. Names may contain blanks.
  static func named(in text: String, among people: [String]) -> [String]? {
    let named = people.filter { isNamed($0, in: text) }
    return named.isEmpty ? nil : named
  }

  private static func isNamed(_ person: String, in text: String) -> Bool {
    if text.hasPrefix(person), let next = text.dropFirst(person.count).first, next == ":" || next == "," { return true }
    var rest = text[...]
    while let at = rest.firstIndex(of: "@") {
      rest = rest[rest.index(after: at)...]
      guard rest.hasPrefix(person) else { continue }
      let end = rest.dropFirst(person.count).first
      if end.map({ !$0.isLetter && !$0.isNumber }) ?? true { return true }
    }
    return false
  }
}

/// The members of a conversation of a log: its latest speakers.
struct LastSpeakers: Sendable, Equatable {
  /// The most members.
  let limit: Int
  /// The user ids, latest speaker last.
  private(set) var members: [String] = []

  init(limit: Int) { self.limit = max(limit, 1) }

  /// Adds a speaker. Returns whether the members have changed.
  mutating func speak(_ userId: String) -> Bool {
    if let index = members.firstIndex(of: userId) {
      members.remove(at: index)
      members.append(userId)
      return false
    }
    if members.count == limit { members.removeFirst() }
    members.append(userId)
    return true
  }
}

/// Turns names in chat logs, which may be anything, into valid ids.
package enum ChatNames {
  /// The longest id in bytes. It leaves room for a prefix and a suffix within the 256 bytes of an id.
  static let maxBytes = 160

  /// The user id and display name of a nick: the nick without control characters.
  package static func user(_ nick: String) -> String { id(nick, empty: "somebody") }

  /// The conversation id and display name of a log.
  static func conversation(_ log: String) -> String { id(log, empty: "somewhere") }

  private static func id(_ text: String, empty: String) -> String {
    var id = ""
    for character in text {
      let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
      if isControl { continue }
      guard id.utf8.count + character.utf8.count <= maxBytes else { break }
      id.append(character)
    }
    return id.isEmpty ? empty : id
  }

  /// A message's text, cut to the length an event may have.
  static func text(_ text: String) -> String {
    guard text.utf8.count > SchemaLimits.textBytes else { return text }
    var cut = ""
    for character in text {
      guard cut.utf8.count + character.utf8.count <= SchemaLimits.textBytes else { break }
      cut.append(character)
    }
    return cut
  }
}
