import Foundation
import Kafka
import NudgeClient
import NudgeSchema
import ServiceKit
import Testing
import VirtualPhone

@testable import NudgeCommands
@testable import NudgeLab

/// A pipeline with virtual phones. All scenarios of one kind of broker share it, and each has its own people. One thread uses
/// it.
final class PhoneWorld {
  /// The kind of broker.
  enum Kind: String {
    case embedded
    case kafka
  }

  private static let partitions = 4

  /// The parts of a decision that scenarios check.
  struct Decided {
    let outcome: DecisionBody.Outcome
    let reason: DecisionReason
    let priority: NudgeSchema.Priority?
    let badge: Int
  }

  let fleet: PhoneFleet
  /// All observations of each phone, in order.
  private(set) var notes: [Int: [(at: Date, note: PhoneNote)]] = [:]
  /// The folder with logs, state and the record of requests.
  let directory: URL

  private let broker: DemoBroker
  private let processes: DemoProcesses
  private let watch: Consumer
  private let coder = RecordCoder()
  private var batch: [ConsumerRecord] = []
  /// The ids of events on timelines.
  private var onTimeline: Set<String> = []
  /// The ids of published events that will appear on a timeline.
  private var expected: Set<String> = []
  private var decisions: [String: Decided] = [:]
  private var outcomes: [String: [Outcome]] = [:]
  /// All outcomes of all devices.
  private(set) var allOutcomes: [Outcome] = []
  /// All receipts.
  private(set) var receipts: [Receipt] = []
  private var lastEvent = 0
  /// Other messages, published at a rate while the world turns.
  private struct Load {
    let start = ContinuousClock.now
    let perSecond: Int
    /// The bytes by which records of these messages are told from others.
    let mark: [UInt8]
    var published = 0
    var decided = 0
    var isPaused = false
    let publish: (Int) throws -> Void

    var seconds: Double { start.duration(to: .now) / .seconds(1) }
  }
  private var load: Load?
  private static let candidate = Array(#""type":"message.candidate""#.utf8)

  /// Messages that an open conversation holds are told after 20 s already, and people catch up on the minute.
  private static let policy = #"{"waits": {"presenceSeconds": 20}, "catchUp": {"spreadSeconds": 0}}"#

  /// Starts broker, emulator and services.
  ///
  /// - Parameters:
  ///   - name: tells it from the shared one.
  ///   - policy: the operator's.
  ///   - settings: the services', as variables of their environment.
  init(
    _ kind: Kind, name: String = "phones", policy text: String = PhoneWorld.policy, settings: [String: String] = [:]
  ) throws {
    directory = RealKafka.directory.appendingPathComponent("\(name)-\(kind.rawValue)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let which: DemoOptions.Broker =
      kind == .embedded ? .embedded : .running(bootstrapServers: try RealKafka.bootstrapServers())
    broker = try DemoBroker(
      which, topicPrefix: kind == .embedded ? nil : "\(name).", directory: directory, run: kind.rawValue)
    try broker.createTopics(partitions: Self.partitions)
    let policy = directory.appendingPathComponent("policy.json")
    try Data(text.utf8).write(to: policy)
    processes = DemoProcesses(
      programs: try DemoProgram.find(in: DemoProgram.directoryOfThisProgram()), directory: directory,
      environment: broker.environment.merging(["NUDGE_POLICY": policy.path]) { $1 }.merging(settings) { $1 },
      showsPhones: true)
    try processes.start(broker: broker, logLevel: .info) { usleep(10_000) }
    let servers = broker.bootstrapServers
    watch = try Consumer(
      broker.client(.consumer(bootstrapServers: servers, group: nil)), name: "test-phones")
    let names = broker.topics
    try watch.assign(
      [Topic.timeline, .decisions, .outcomes].flatMap { topic in
        (0..<Int32(Self.partitions)).map {
          TopicPartitionOffset(TopicPartition(topic: names(topic), partition: $0), offset: Offset.beginning)
        }
      })
    fleet = PhoneFleet(
      tokenPrefix: "scene-",
      publisher: try KafkaPhonePublisher(
        broker.client(.producer(bootstrapServers: servers, transactionalID: nil)), topics: names),
      stream: try EmulatorStream(url: try #require(processes.phonesURL), tokenPrefix: "scene-"),
      banners: try BannerFeed(broker.client(.consumer(bootstrapServers: servers, group: nil)), topics: names))
    fleet.onSight = { [unowned self] sight in notes[sight.phone, default: []].append((sight.at, sight.note)) }
    fleet.onPublish = { [unowned self] _, event in
      if event.topic == .userEvents { expected.insert(event.eventId) }
    }
  }

  /// The emulator's admin address.
  var emulatorURL: String { processes.phonesURL ?? "" }
  /// Kafka's address.
  var bootstrapServers: String { broker.bootstrapServers }
  /// The names of the topics.
  var topics: TopicNames { broker.topics }

  /// Ends all processes.
  func close() {
    fleet.close()
    watch.close()
    processes.stopServices {}
    processes.stopEmulator()
    try? broker.close(isDone: false)
  }

  // MARK: Waiting

  /// Runs phones and pipeline until a condition holds. Throws at the time limit.
  func wait(for what: String, atMost seconds: Double = 60, until condition: () throws -> Bool) throws {
    try waitUntil(
      what, atMost: seconds,
      state: { "last notes: \(notes.mapValues { $0.suffix(3).map(\.note) }); logs in \(directory.path)" }
    ) {
      try turn()
      return try condition()
    }
  }

  private func turn() throws {
    if let load, !load.isPaused {
      let due = Int(load.seconds * Double(load.perSecond))
      for number in load.published..<max(due, load.published) { try load.publish(number) }
      self.load?.published = max(due, load.published)
    }
    try fleet.turn(waiting: .milliseconds(2))
    try processes.check()
    batch.removeAll(keepingCapacity: true)
    if case .error(let error) = watch.poll(into: &batch, maxRecords: 1_000, maxBytes: 4 << 20, timeout: .zero),
      error.isFatal
    {
      throw error
    }
    for record in batch { try read(record) }
  }

  /// Publishes messages at a steady rate from now on, numbered from 0, while the world turns.
  ///
  /// - Parameter prefix: The beginning of their ids. Their records are counted and not decoded.
  func startLoad(perSecond: Int, prefix: String, _ publish: @escaping (Int) throws -> Void) {
    load = Load(perSecond: perSecond, mark: Array(#""messageId":"\#(prefix)"#.utf8), publish: publish)
  }

  /// The decisions about messages of the load.
  var decidedOfLoad: Int { load?.decided ?? 0 }

  /// The messages of the load so far.
  var publishedOfLoad: Int { load?.published ?? 0 }

  /// Publishes no more of the load, and says how many messages it published in which time.
  func pauseLoad() -> (published: Int, seconds: Double) {
    load?.isPaused = true
    return load.map { ($0.published, $0.seconds) } ?? (0, 0)
  }

  /// Ends the load.
  func stopLoad() { load = nil }

  private func read(_ record: ConsumerRecord) throws {
    guard let value = record.valueBytes(), let topic = broker.topics.topic(named: record.topic) else { return }
    // Phones report what they showed of the load, and `settle` waits for such events.
    let isReport = topic == .timeline && !record.valueContains(Self.candidate)
    if let load, !isReport, record.valueContains(load.mark) {
      if topic == .decisions { self.load?.decided += 1 }
      return
    }
    switch topic {
    case .timeline: onTimeline.insert(try coder.decode(TimelineEvent.self, from: value).envelope.eventId)
    case .decisions:
      let body = try coder.decode(Decision.self, from: value).body
      decisions["\(body.userId) \(body.messageId)"] = Decided(
        outcome: body.outcome, reason: body.reason, priority: body.priority, badge: body.badge)
    case .outcomes:
      guard let outcome = try? coder.decode(Outcome.self, from: value) else {
        return receipts.append(try coder.decode(Receipt.self, from: value))
      }
      allOutcomes.append(outcome)
      outcomes[outcome.body.deviceId, default: []].append(outcome)
    default: break
    }
  }

  /// Waits until all published events are on the timelines, so that later messages are decided after them.
  func settle() throws {
    try wait(for: "all events of phones are on the timelines") {
      fleet.openEvents == 0 && expected.isSubset(of: onTimeline)
    }
    expected = []
  }

  // MARK: Observations

  func phone(_ number: Int) -> VirtualPhone { fleet.phones[number] }

  /// Waits for the decision about a message for a person, and returns it.
  func decision(_ messageId: String, for userId: String) throws -> Decided {
    var found: Decided?
    try wait(for: "the decision about \(messageId) for \(userId)") {
      found = decisions["\(userId) \(messageId)"]
      return found != nil
    }
    return try #require(found)
  }

  /// Waits for the final decision about a message for a person, and returns it.
  func finalDecision(_ messageId: String, for userId: String) throws -> Decided {
    var found: Decided?
    try wait(for: "the final decision about \(messageId) for \(userId)", atMost: 40) {
      found = decisions["\(userId) \(messageId)"]
      return found?.outcome.isFinal ?? false
    }
    return try #require(found)
  }

  /// The outcomes of pushes to a device.
  func outcomes(of deviceId: String) -> [Outcome] { outcomes[deviceId] ?? [] }

  /// Every presentation of a message on a phone.
  func shown(_ messageId: String, on phone: Int) -> [(
    entry: LockScreen.Entry, options: PresentationOptions, push: PushPayload
  )] {
    (notes[phone] ?? []).compactMap { _, note in
      guard case .shown(let entry, let options, let push) = note, entry.messageId == messageId else { return nil }
      return (entry, options, push)
    }
  }

  /// When a person saw a message on a phone: each time that its push was presented, or its banner inside the app.
  ///
  /// Where the app is open, the banner and the push race, and the app shows the one that arrives first.
  func sights(of messageId: String, on phone: Int) -> [Date] {
    (notes[phone] ?? []).compactMap { item in
      switch item.note {
      case .shown(let entry, _, _) where entry.messageId == messageId: item.at
      case .bannerShown(.message(let banner)) where banner.messageId == messageId: item.at
      default: nil
      }
    }
  }

  /// Waits until a phone presents a message, and returns the first presentation.
  @discardableResult
  func see(
    _ messageId: String, on phone: Int
  ) throws -> (entry: LockScreen.Entry, options: PresentationOptions, push: PushPayload) {
    try wait(for: "\(messageId) on phone \(phone)") { !shown(messageId, on: phone).isEmpty }
    return shown(messageId, on: phone)[0]
  }

  /// Waits until a phone presents a catch-up, and returns all that it presented.
  func seeCatchUp(on phone: Int) throws -> [(entry: LockScreen.Entry, catchUp: CatchUp)] {
    func found() -> [(entry: LockScreen.Entry, catchUp: CatchUp)] {
      (notes[phone] ?? []).compactMap { _, note in
        guard case .shown(let entry, _, let push) = note, case .catchUp(let catchUp) = push.content else { return nil }
        return (entry, catchUp)
      }
    }
    try wait(for: "a catch-up on phone \(phone)", atMost: 100) { !found().isEmpty }
    return found()
  }

  // MARK: People

  /// A registered phone of a user. `deviceId` distinguishes several of one user.
  func phone(of userId: String, _ deviceId: String = "phone", platform: Device.Platform = .ios) throws -> Int {
    let number = fleet.add(deviceId: "\(userId)/\(deviceId)", platform: platform)
    try fleet.send(number, .signIn(userId: userId))
    try wait(for: "\(userId) is registered") {
      (notes[number] ?? []).contains { $0.note == .registered(userId: userId) }
    }
    try settle()
    return number
  }

  private func envelope(at time: Date = Date()) -> Envelope {
    lastEvent += 1
    return Envelope(
      eventId: "backend-\(lastEvent)", occurredAt: Int64(time.timeIntervalSince1970 * 1_000))
  }

  /// Publishes a conversation of these people; with a name it is a group.
  func conversation(_ id: String, _ people: [String], group: String? = nil) throws {
    try fleet.publish(
      ChatEvent(
        envelope(),
        .conversationUpdated(
          ConversationUpdated(
            conversationId: id, kind: group == nil ? .direct : .group, name: group,
            members: people.map { Member(userId: $0, displayName: Self.name($0)) }))))
  }

  /// The person changes preferences on a phone, and the services have them.
  func prefer(_ phone: Int, _ edit: (inout PreferencesChange) -> Void) throws {
    var change = PreferencesChange()
    edit(&change)
    try fleet.send(phone, .prefer(change))
    try settle()
  }

  /// The time of day in UTC, some minutes from now, as `HH:MM`.
  static func clock(minutesFromNow minutes: Int) -> String {
    let minute = Int(Date().timeIntervalSince1970 / 60) + minutes
    return String(format: "%02d:%02d", minute / 60 % 24, minute % 60)
  }

  /// A user's name: the part of the id after the scenario's, capitalised.
  static func name(_ userId: String) -> String {
    (userId.split(separator: ".").last.map(String.init) ?? userId).capitalized
  }

  /// The backend publishes a message that was sent at a time.
  func write(
    _ messageId: String, in conversation: String, from sender: String, _ text: String, replyTo: String? = nil,
    mentions: [String]? = nil, named name: String? = nil, at time: Date = Date()
  ) throws {
    try fleet.publish(
      ChatEvent(
        envelope(at: time),
        .messageCreated(
          MessageCreated(
            conversationId: conversation, messageId: messageId, senderId: sender, text: text, replyTo: replyTo,
            mentions: mentions, sender: name.map { SenderProfile(displayName: $0) }))))
  }

  /// Edits (`text`) or deletes (nil) a message.
  func revise(_ messageId: String, in conversation: String, to text: String?) throws {
    let revision = MessageRevision(conversationId: conversation, messageId: messageId, text: text)
    try fleet.publish(ChatEvent(envelope(), text == nil ? .messageDeleted(revision) : .messageEdited(revision)))
  }

  /// Runs `nudge` on the topics. Returns what it prints.
  func nudge(_ arguments: [String]) throws -> String {
    try RealKafka.run(
      DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
      arguments + ["--bootstrap-servers", bootstrapServers, "--topic-prefix", topics.prefix]
    ).output
  }

  // MARK: Requests to FCM

  /// The emulator's record of all requests.
  func requests() throws -> String {
    try String(contentsOfFile: processes.requestRecord, encoding: .utf8)
  }

  /// The secret that requests to the webhook are signed with, and the requests that it took.
  func webhookRequests() throws -> (secret: String, requests: [WebhookRequest]) {
    let lines = try requests().split(separator: "\n").filter { $0.contains("\"/webhook\"") }
    return (
      try String(contentsOfFile: processes.webhookSecret, encoding: .utf8).trimmingCharacters(in: .newlines),
      try lines.map { try coder.decode(WebhookRequest.self, from: Array($0.utf8)) }
    )
  }

  /// Prints all observations of a phone.
  func printTimeline(of phone: Int, _ title: String) {
    print("— \(title): what \(fleet.phones[phone].device.deviceId) saw")
    guard let start = notes[phone]?.first?.at else { return }
    for (at, note) in notes[phone] ?? [] {
      let line = PhoneNoteLine(note, of: fleet.phones[phone], at: at)
      print("  \(String(format: "%6.3f", at.timeIntervalSince(start))) s  \(line.words)")
    }
  }
}

/// A request to the webhook, as the emulator recorded it.
struct WebhookRequest: Decodable {
  struct Body: Decodable {
    struct Message: Decodable {
      let userId: String
      let messageId: String
      let senderName: String
      let pushedAgainAt: String?
    }
    let type: String
    let data: Message
  }
  let path: String
  let status: Int
  let headers: [String: String]
  let body: Body
}
