import Analyzer
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import NudgeCommands

/// A timeline and its decisions on a broker, as an analyzer would have written them.
private final class RecordedPipeline {
  static let start: Milliseconds = 1_772_452_800_000
  let broker: EmbeddedBroker
  let cluster: ClusterSettings
  private let producer: Producer
  private let driver: StageDriver<AnalyzerStage>
  private let partitions: Int32 = 3
  private let coder = RecordCoder()
  private var offsets: [Int32: Int64] = [:]
  private var count: Int64 = 0

  init(_ rules: AnalyzerRules) throws {
    broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, partitions: 3)
    cluster = ClusterSettings(bootstrapServers: broker.bootstrapServers)
    producer = try Producer(.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "test")
    driver = StageDriver(AnalyzerStage(rules: rules), partitions: partitions)
  }

  static func rules(_ change: (inout NotificationPolicy) -> Void = { _ in }) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: { SHA256Digest.of($0) })
    change(&rules.policy)
    return rules
  }

  func partition(of userId: String) -> Int32 { Murmur2.partition(of: Array(userId.utf8), count: partitions) }

  /// Puts an event on a partition of the timeline, and what is decided for it beside it.
  func send(_ body: TimelineEventBody, partition: Int32, at time: Milliseconds) throws {
    count += 1
    let origin = Origin(topic: "chat.events", partition: partition, offset: count)
    let event = TimelineEvent(
      Envelope(eventId: "e\(count)", occurredAt: time), origin: origin, source: origin.position, body)
    let value = try coder.encode(event)
    let offset = offsets[partition, default: 0]
    offsets[partition] = offset + 1
    try produce(value, key: Array("k".utf8), to: .timeline, partition: partition, at: time)
    driver.now = time + 20
    let step = driver.process(
      InputRecord(
        topic: .timeline, topicName: "nudge.timeline", partition: partition, offset: offset, timestamp: time,
        key: Array("k".utf8), value: value))
    for output in step.outputs where output.topic == .decisions {
      try produce(output.value ?? [], key: output.key ?? [], to: .decisions, partition: partition, at: time)
    }
  }

  private func produce(_ value: [UInt8], key: [UInt8], to topic: Topic, partition: Int32, at time: Milliseconds) throws
  {
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: partition, key: key, value: value, timestamp: time)
  }

  func device(of userId: String, at time: Milliseconds = start) throws {
    try send(
      .deviceGained(
        DeviceGained(userId: userId, deviceId: "phone", token: "t-\(userId)", version: 1, platform: .ios)),
      partition: partition(of: userId), at: time)
  }

  func message(_ id: String, in conversationId: String, to userId: String, group: Bool, at time: Milliseconds) throws {
    let candidate = MessageCandidate(
      conversationId: conversationId, messageId: id, sender: Member(userId: "ada", displayName: "Ada"),
      conversation: CandidateConversation(
        kind: group ? .group : .direct, memberCount: group ? 50 : 2, activeSpeakers: 2),
      title: "Ada", body: "see you at the station", recipients: [Recipient(userId: userId, context: RecipientContext())]
    )
    try send(.candidate(candidate), partition: partition(of: userId), at: time)
  }

  func simulate(
    _ rules: AnalyzerRules, examples: Int = 3, _ change: (inout ReplaySelection) -> Void = { _ in }
  ) throws -> SimulationResult {
    try producer.flush(timeout: .seconds(30))
    let browser = try TopicBrowser(
      cluster, progress: ReadingProgress(isTerminal: false, write: { _ in }), queueBytes: 16 << 20)
    var selection = ReplaySelection(since: 0, until: .max / 2)
    change(&selection)
    return try Simulation(selection: selection, rules: rules, examples: examples, browser: browser).result()
  }

  /// Twelve people with a phone, a direct message and a group's message each, two days running.
  func fill() throws {
    for number in 0..<12 {
      let user = "user-\(number)"
      try device(of: user)
      for day in 0..<2 {
        let time = Self.start + Int64(day) * 86_400_000 + Int64(number) * 60_000
        try message("d\(day)-\(user)", in: "direct-\(user)", to: user, group: false, at: time)
        try message("g\(day)-\(user)", in: "group", to: user, group: true, at: time + 1_000)
      }
    }
  }
}

@Suite("nudge simulate", .timeLimit(.minutes(2)))
struct SimulationTests {
  @Test("the policy that decided makes no difference")
  func same() throws {
    let pipeline = try RecordedPipeline(RecordedPipeline.rules())
    try pipeline.fill()
    let result = try pipeline.simulate(RecordedPipeline.rules())
    #expect((result.compared, result.same, result.unrecorded, result.insufficient) == (48, 48, 0, 0))
    #expect(result.changes.isEmpty && result.examples.isEmpty && result.gains.isEmpty)
    #expect(result.alerts.before == result.alerts.after && result.alerts.before.total == 24)
  }

  @Test("with direct: smart exactly the direct messages differ: what they were, would be, and for how many people")
  func directSmart() throws {
    let pipeline = try RecordedPipeline(RecordedPipeline.rules())
    try pipeline.fill()
    let result = try pipeline.simulate(RecordedPipeline.rules { $0.directLevel = .smart }, examples: 100)
    #expect(
      result.changes == [
        .init(was: "alert, medium (notify_all)", wouldBe: "silent, medium (relevant)", messages: 24, people: 12)
      ])
    #expect(result.examples.count == 24 && result.examples.allSatisfy { $0.messageId.hasPrefix("d") })
    #expect(result.alerts.before.median == 1 && result.alerts.after.total == 0)
    #expect(result.text.contains("alert, medium (notify_all)  silent, medium (relevant)"))
    // The other way round, people gain alerts.
    let other = try RecordedPipeline(RecordedPipeline.rules { $0.directLevel = .smart })
    try other.fill()
    let gains = try other.simulate(RecordedPipeline.rules()).gains
    #expect(gains.count == 10 && gains.allSatisfy { ($0.before, $0.after) == (0, 2) })
  }

  @Test("the selection is honoured: time, person, conversation, message, reason, partition")
  func selection() throws {
    let pipeline = try RecordedPipeline(RecordedPipeline.rules())
    try pipeline.fill()
    func compared(_ change: (inout ReplaySelection) -> Void) throws -> Int {
      try pipeline.simulate(RecordedPipeline.rules(), change).compared
    }
    #expect(try compared { $0.since = RecordedPipeline.start + 86_400_000 } == 24)
    #expect(try compared { $0.until = RecordedPipeline.start + 86_400_000 } <= 48)
    #expect(try compared { $0.user = "user-3" } == 4)
    #expect(try compared { $0.conversation = "group" } == 24)
    #expect(try compared { $0.message = "d1-user-7" } == 1)
    #expect(try compared { $0.reason = .notifyAll } == 24)
    let all = try (0..<3).map { partition in try compared { $0.partition = partition } }
    #expect(all.reduce(0, +) == 48 && all.max() ?? 48 < 48)
  }

  @Test("of a person without decisions nothing is compared")
  func nobody() throws {
    let pipeline = try RecordedPipeline(RecordedPipeline.rules())
    try pipeline.fill()
    let result = try pipeline.simulate(RecordedPipeline.rules()) { $0.user = "nobody" }
    #expect(result.compared == 0 && result.text.hasPrefix("0 decisions were decided again"))
  }
}
