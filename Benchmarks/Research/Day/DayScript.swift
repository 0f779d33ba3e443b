import Dispatcher
import Foundation
import NudgeLab
import NudgeSchema
import StreamRuntime

/// A day of people who chat, and all that they, their apps and their operator do beside: the records that the stages get, in order. A value:
/// the same log, seed and reactions give the same records.
///
/// The load of the demo (`LoadScript`) writes; here is what its people do not do: edit, delete, leave, change their wishes, mute, answer
/// directly, look at a conversation, sign out, are deleted, send twice, late or nonsense, and have decisions replayed.
struct DayScript {
  /// How long an event takes to the pipeline.
  private static let transit: Milliseconds = 200
  /// Messages an hour of the day, in shares: the night is calm, the evening is not.
  private static let shares = [2, 1, 1, 1, 1, 2, 4, 8, 10, 10, 10, 11, 12, 10, 9, 9, 10, 11, 13, 15, 15, 12, 8, 4]
  private static let hour: Milliseconds = 3_600_000

  /// A message that things may still happen to.
  struct Recent {
    var conversationId: String
    var messageId: String
    var senderId: String
    var recipients: [String]
    var record: DayRecord
  }

  private var log: any ChatMessages
  private var load: LoadScript
  var random: SeededRandom
  let people: [LoadPerson]
  private let messages: Int
  private var written = 0
  private var nextMessageAt: Milliseconds
  private var events = 0
  /// Records to come, the next one last.
  private var pending: [DayRecord] = []
  private(set) var recent: [Recent] = []
  /// The last candidates on the timeline, for replays.
  private var candidates: [(output: DayRecord, position: RecordPosition)] = []
  private let coder = RecordCoder()

  /// - Parameter messages: Messages of the log that are written; direct ones come beside them.
  init(_ source: ChatLogSource, messages: Int, members: Int, seed: UInt64) throws {
    let cast = try LoadCast(source, messages: messages, seed: seed)
    log = try source.open()
    load = LoadScript(run: "day", members: members, seed: seed)
    random = SeededRandom(seed: seed, "day")
    people = cast.people
    self.messages = cast.messages
    nextMessageAt = DayPlay.start + 60_000
    try introduce()
  }

  // MARK: The order of records

  /// When the next record comes; absent at the end of the day.
  mutating func nextAt() throws -> Milliseconds? {
    while written < messages, pending.last.map({ $0.at > nextMessageAt }) ?? true { try write() }
    return pending.last?.at
  }

  /// Takes the next record out.
  mutating func next() -> DayRecord? { pending.popLast() }

  mutating func add(_ record: DayRecord) {
    // Records of one time stay in the order in which they were added.
    var (low, high) = (0, pending.count)
    while low < high {
      let middle = (low + high) / 2
      if pending[middle].at > record.at { low = middle + 1 } else { high = middle }
    }
    pending.insert(record, at: low)
  }

  // MARK: Before the messages

  private mutating func introduce() throws {
    for (index, person) in people.enumerated() {
      let at = DayPlay.start + Milliseconds(index * 50_000 / max(people.count, 1))
      for event in try load.introduce(person, at: at) { add(event, at: at) }
      if random.chance(60) { try changeWishes(of: person.userId, at: at + 1) }
    }
    let members = people.prefix(400).map { Member(userId: $0.userId, displayName: $0.userId) }
    try chat(
      .conversationUpdated(
        ConversationUpdated(conversationId: "assembly", kind: .group, name: "Assembly", members: members)),
      at: DayPlay.start + 55_000)
    for number in 1...10 {
      try message(
        "assembly", "assembly-\(number)", from: people[number % people.count].userId,
        at: DayPlay.start + Milliseconds(number) * 2 * Self.hour)
    }
  }

  // MARK: Messages

  /// The next message of the log, and what happens because of it.
  private mutating func write() throws {
    guard let message = try log.next() else {
      written = messages
      return
    }
    written += 1
    let at = nextMessageAt
    nextMessageAt += gap(after: at)
    for event in try load.events(for: message, at: at) {
      add(event, at: at)
      guard let written = event.message else { continue }
      let sender = ChatNames.user(message.nick)
      let last = Recent(
        conversationId: event.key, messageId: written.messageId, senderId: sender, recipients: written.recipients,
        record: DayRecord(at: at + Self.transit, topic: event.topic, key: event.key, value: event.value))
      recent.append(last)
      if recent.count > 400 { recent.removeFirst(200) }
      try happen(after: last, at: at)
    }
  }

  private mutating func gap(after time: Milliseconds) -> Milliseconds {
    // A third of the messages are a talk, whatever the hour.
    if random.chance(33) { return Milliseconds(random.number(200...6_000)) }
    let share = Self.shares[Int(time / Self.hour % 24)]
    let total = Self.shares.reduce(0, +)
    let mean = 24 * Self.hour * 3 / 2 * Milliseconds(total) / 24 / Milliseconds(share * max(messages, 1))
    return 1 + mean * Milliseconds(random.number(1...200)) / 100
  }

  // MARK: Reactions

  /// A device reacts to a push that it got.
  mutating func delivered(_ delivery: DayStages.Delivery) throws {
    let subject = delivery.request.subject
    guard subject.deviceId.contains("/"), !random.chance(15),
      let body = try JSONSerialization.jsonObject(with: Data(delivery.request.body)) as? [String: Any],
      let data = (body["message"] as? [String: Any])?["data"] as? [String: String]
    else { return }
    let report = NotificationReport(
      userId: subject.userId, deviceId: subject.deviceId, pushId: subject.pushId,
      conversationId: data["conversationId"], messageId: data["messageId"])
    let at = delivery.at + Milliseconds(random.number(100...3_000))
    try user(.notificationReceived(report), at: at)
    switch random.number(0...99) {
    case ..<12:
      let opened = at + Milliseconds(random.number(2_000...600_000))
      try user(.notificationOpened(report), at: opened)
      try user(
        .activity(
          Activity(
            userId: subject.userId, deviceId: subject.deviceId, state: .foreground,
            conversationId: report.conversationId)), at: opened + 100)
      if let conversationId = report.conversationId {
        try user(
          .read(MessageRead(userId: subject.userId, conversationId: conversationId, deviceId: subject.deviceId)),
          at: opened + 400)
      }
      try user(
        .activity(Activity(userId: subject.userId, deviceId: subject.deviceId, state: .background)),
        at: opened + Milliseconds(random.number(3_000...90_000)))
    case ..<20: try user(.notificationDismissed(report), at: at + Milliseconds(random.number(1_000...900_000)))
    case ..<22: try user(.notificationReceived(report), at: at + 10)
    default: break
    }
  }

  /// Remembers a candidate, which an operator may have decided again.
  mutating func wrote(_ candidate: DayRecord, at position: RecordPosition) {
    candidates.append((candidate, position))
    if candidates.count > 200 { candidates.removeFirst(100) }
  }

  /// A candidate that is decided again, as `nudge replay` writes it, or that Kafka brings twice.
  mutating func replay(at: Milliseconds) throws {
    guard !candidates.isEmpty else { return }
    let (output, position) = random.pick(candidates)
    var event = try coder.decode(TimelineEvent.self, from: output.value)
    guard case .candidate(var fields) = event.body else { return }
    if random.chance(30) {
      var again = output
      again.at = at
      return add(again)
    }
    events += 1
    let replayId = "replay-\(events)"
    fields.replayId = replayId
    fields.forced = random.chance(50) ? true : nil
    fields.maxAgeSeconds = random.chance(50) ? 86_400 : nil
    fields.rederived = random.chance(20) ? true : nil
    event.origin = Origin(position)
    event.envelope.eventId = "\(replayId)-\(position.partition)-\(position.offset)"
    event.body = .redecide(fields)
    add(
      DayRecord(
        at: at, topic: .timeline, partition: output.partition, key: fields.conversationId,
        value: try coder.encode(event), header: DayRecord.Header(name: RecordHeader.replayId, value: replayId)))
    if random.chance(20) {
      event.body = .replayStopped(ReplayStopped(replayId: replayId))
      event.envelope.eventId += "-stopped"
      add(
        DayRecord(
          at: at + 1, topic: .timeline, partition: output.partition, key: fields.conversationId,
          value: try coder.encode(event), header: DayRecord.Header(name: RecordHeader.replayId, value: replayId)))
    }
  }

  // MARK: Records

  private mutating func add(_ event: LoadEvent, at: Milliseconds) {
    add(DayRecord(at: at + Self.transit, topic: event.topic, key: event.key, value: event.value))
  }

  private mutating func envelope(at: Milliseconds) -> Envelope {
    events += 1
    let number = String(events)
    // All ids have the same length, as those of the load.
    return Envelope(eventId: "life-" + String(repeating: "0", count: 10 - number.count) + number, occurredAt: at)
  }

  /// - Parameter taken: When the pipeline gets it; absent: after the usual time.
  mutating func user(_ body: UserEventBody, at: Milliseconds, taken: Milliseconds? = nil) throws {
    let value = try coder.encode(UserEvent(envelope(at: at), body))
    add(DayRecord(at: taken ?? at + Self.transit, topic: .userEvents, key: body.userId, value: value))
  }

  mutating func chat(_ body: ChatEventBody, at: Milliseconds, taken: Milliseconds? = nil) throws {
    let value = try coder.encode(ChatEvent(envelope(at: at), body))
    add(DayRecord(at: taken ?? at + Self.transit, topic: .chatEvents, key: body.conversationId, value: value))
  }

  /// A question about a person, as the API of ingest writes it.
  mutating func ask(about userId: String, at: Milliseconds) throws {
    let value = try coder.encode(Event(envelope(at: at), PersonAsked(userId: userId)))
    add(
      DayRecord(
        at: at + Self.transit, topic: .userEvents, key: userId, value: value,
        header: DayRecord.Header(name: RecordHeader.question, value: "1")))
  }

  /// A message beside the log.
  mutating func message(
    _ conversationId: String, _ messageId: String, from senderId: String, _ text: String? = "is everybody there?",
    in conversation: ConversationSnapshot? = nil, replyTo: String? = nil, mentions: [String]? = nil,
    at: Milliseconds, taken: Milliseconds? = nil
  ) throws {
    try chat(
      .messageCreated(
        MessageCreated(
          conversationId: conversationId, messageId: messageId, senderId: senderId, text: text,
          replyTo: replyTo, mentions: mentions, sender: SenderProfile(displayName: senderId),
          conversation: conversation)),
      at: at, taken: taken)
  }
}

extension DayScript {
  /// Plays the day through the stages, and passes each record to `record`: played again, these alone make the same outputs.
  func play(into digest: DayDigest, record: (DayRecord) throws -> Void = { _ in }) throws {
    var script = self
    let stages = DayStages(from: DayPlay.start, digest: digest)
    var deliveries: [DayStages.Delivery] = []
    stages.delivered = { deliveries.append($0) }
    var candidates: [(record: DayRecord, position: RecordPosition)] = []
    stages.wroteTimeline = { output, position in
      guard let candidate = Self.candidate(output) else { return }
      candidates.append((candidate, position))
    }
    var end = DayPlay.start
    while let at = try script.nextAt() {
      if let due = stages.nextDue, due <= at {
        try stages.passTime()
      } else if let next = script.next() {
        try record(next)
        try stages.take(next)
        end = max(end, next.at)
      }
      for delivery in deliveries { try script.delivered(delivery) }
      for candidate in candidates { script.wrote(candidate.record, at: candidate.position) }
      deliveries.removeAll(keepingCapacity: true)
      candidates.removeAll(keepingCapacity: true)
    }
    try DayPlay.finish(stages, after: end)
  }

  /// A candidate that ingest wrote, as a record of a day; absent for other records.
  private static func candidate(_ output: OutputRecord) -> DayRecord? {
    guard let key = output.key, let value = output.value,
      String(decoding: value.prefix(64), as: UTF8.self).contains(#""type":"message.candidate""#)
    else { return nil }
    return DayRecord(
      at: 0, topic: .timeline, partition: output.partition, key: String(decoding: key, as: UTF8.self), value: value)
  }
}
