import Analyzer
import Dispatcher
import Foundation
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Measures the three stages' steps, one after the other, without Kafka: the analyzer reads ingest's output, and so on. Records are
/// read and written as bytes, and every 2,000 steps the changed rows are encoded as for a commit.
///
/// Then the analyzer's steps for `--people`, each the recipient of one message: nobody's rows are in memory.
enum StagesBenchmark: Benchmark {
  static let name = "stages"
  static let abstract = "the pure steps of ingest, analyzer and dispatcher, without Kafka"
  static let needsKafka = false

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    let messages = min(options.records, 20_000)
    var ingest: [Measurement] = []
    var analyzer: [Measurement] = []
    var judging: [Measurement] = []
    var dispatcher: [Measurement] = []
    var cold: [Measurement] = []
    var attentive: [Measurement] = []
    for _ in 1...options.repetitions {
      let pipeline = try Pipeline(messages: messages)
      ingest.append(try pipeline.measureIngest())
      analyzer.append(try pipeline.measureAnalyzer())
      dispatcher.append(try pipeline.measureDispatcher())
      let unlimited = try Pipeline(messages: messages, analysesPerHour: .max)
      _ = try unlimited.measureIngest()
      judging.append(try unlimited.measureAnalyzer())
      let attention = try Pipeline(messages: messages, attention: true)
      _ = try attention.measureIngest()
      attentive.append(try attention.measureAnalyzer())
      let groups = max(1, options.people / Pipeline.members)
      let many = try Pipeline(messages: groups, conversations: groups, cacheBytes: Self.coldCacheBytes)
      _ = try many.measureIngest()
      cold.append(try many.measureAnalyzer())
    }
    context.report.note(
      "\(messages) messages in 200 groups of \(Pipeline.members), every person with one device; 10 analyses an hour, then simple rules"
    )
    report(context, "ingest", unit: "candidate", ingest)
    report(context, "analyzer", unit: "candidate", analyzer)
    report(context, "analyzer, ten alerts a day, catch-ups, escalation", unit: "candidate", attentive)
    report(context, "analyzer, each message by the relevance model", unit: "candidate", judging)
    report(context, "analyzer, \(options.people) people, a message each", unit: "candidate", cold)
    report(context, "dispatcher", unit: "push with its answer", dispatcher)
  }

  /// A task's share of a thread's memory for rows, where the thread has twelve tasks.
  private static let coldCacheBytes = StreamLimits().cacheBytes / 12

  struct Measurement {
    var records: Int
    /// Candidates, or pushes.
    var units: Int
    /// Bytes of the steps' outputs.
    var outputBytes: Int
    /// Rows written by transactions, and the bytes of rows and keys.
    var rows = (count: 0, bytes: 0)
    /// Rows read from the store, which were not in memory, and the bytes of rows and keys.
    var reads = (count: 0, bytes: 0)
    var cost: Cost
  }

  private static func report(
    _ context: BenchmarkContext, _ subject: String, unit: String, _ measurements: [Measurement]
  ) {
    context.report.row(
      subject,
      [
        .init(
          name: "CPU", value: Samples(measurements.map { $0.cost.cpuSeconds / Double($0.records) * 1e6 }).median,
          unit: "µs/record"),
        .init(
          name: "CPU", value: Samples(measurements.map { $0.cost.cpuSeconds / Double($0.units) * 1e6 }).median,
          unit: "µs/\(unit)"),
        .init(
          name: "per CPU second", value: Samples(measurements.map { Double($0.units) / $0.cost.cpuSeconds }).median,
          unit: "\(unit)s"),
        .init(name: "records", value: Double(measurements.last?.records ?? 0), unit: ""),
        .init(
          name: "written", value: Samples(measurements.map { Double($0.outputBytes) / Double($0.units) }).median,
          unit: "B/\(unit)"),
        .init(
          name: "rows", value: Samples(measurements.map { Double($0.rows.bytes) / Double($0.units) }).median,
          unit: "B/\(unit)"),
        .init(
          name: "rows written", value: Samples(measurements.map { Double($0.rows.count) / Double($0.units) }).median,
          unit: "/\(unit)"),
        .init(
          name: "rows read", value: Samples(measurements.map { Double($0.reads.count) / Double($0.units) }).median,
          unit: "/\(unit)"),
        .init(
          name: "rows read", value: Samples(measurements.map { Double($0.reads.bytes) / Double($0.units) }).median,
          unit: "B/\(unit)"),
      ])
  }
}

/// The three stages on drivers; each one's output is passed to the next.
private final class Pipeline {
  static let members = 8
  private static let start: Milliseconds = 1_800_000_000_000

  private let conversations: Int
  private let messages: [InputRecord]
  private var timeline: [OutputRecord] = []
  private var pushes: [OutputRecord] = []
  private let ingest: StageDriver<IngestStage>
  private let analyzer: StageDriver<AnalyzerStage>
  private let dispatcher: StageDriver<DispatcherStage>
  private let coder = RecordCoder()

  /// - Parameter attention: everybody has ten alerts a day and a catch-up for the rest, and important pushes are escalated after two minutes.
  init(
    messages count: Int, conversations: Int = 200, analysesPerHour: Int = 10, attention: Bool = false,
    cacheBytes: Int = 64 << 20
  ) throws {
    self.conversations = conversations
    var rules = AnalyzerRules(hash: { SHA256Digest.of($0) })
    rules.policy.analysesPerHour = analysesPerHour
    if attention {
      rules.policy.dailyAlerts = 10
      rules.policy.againSeconds = 120
    }
    ingest = StageDriver(IngestStage(IngestRules()), now: Self.start)
    analyzer = StageDriver(AnalyzerStage(rules: rules), now: Self.start, cacheBytes: cacheBytes)
    dispatcher = StageDriver(DispatcherStage(rules: DispatcherRules()), now: Self.start)
    var records: [InputRecord] = []
    records.reserveCapacity(count)
    for index in 0..<count {
      let conversation = index % conversations
      let event = ChatEvent(
        Envelope(eventId: "message-event-\(index)", occurredAt: Self.start),
        .messageCreated(
          MessageCreated(
            conversationId: "conversation-\(conversation)", messageId: "message-\(index)",
            senderId: Self.person(conversation, index / conversations % Self.members),
            text: "Shall we meet at the harbour at seven? I can bring the tickets, and somebody has to bring the map."))
      )
      records.append(
        InputRecord(
          topic: .chatEvents, topicName: Topic.chatEvents.rawValue, partition: 0, offset: Int64(1_000_000 + index),
          timestamp: Self.start, key: Array("conversation-\(conversation)".utf8), value: try coder.encode(event)))
    }
    messages = records
    try introduce()
  }

  private static func person(_ conversation: Int, _ number: Int) -> String { "person-\(conversation)-\(number)" }

  /// Conversations with their members, and each member's device.
  private func introduce() throws {
    for conversation in 0..<conversations {
      let people = (0..<Self.members).map { Self.person(conversation, $0) }
      let updated = ConversationUpdated(
        conversationId: "conversation-\(conversation)", kind: .group, name: "Hikers \(conversation)",
        members: people.map { Member(userId: $0, displayName: "Name of \($0)") })
      try settle(
        ingest.send(
          ChatEvent(
            Envelope(eventId: "conversation-event-\(conversation)", occurredAt: Self.start),
            .conversationUpdated(updated)),
          to: .chatEvents, key: updated.conversationId))
      for person in people {
        let registered = DeviceRegistered(
          userId: person, deviceId: "phone-\(person)", token: "token-\(person)-abcdefghijklmnopqrstuvwxyz",
          platform: .ios)
        try settle(
          ingest.send(
            UserEvent(
              Envelope(eventId: "device-event-\(person)", occurredAt: Self.start), .deviceRegistered(registered)),
            to: .userEvents, key: person))
      }
    }
  }

  /// Processes ingest's records to itself and passes the rest to the analyzer, before the measurement.
  private func settle(_ result: StageDriver<IngestStage>.StepResult) throws {
    for result in [result] + ingest.sendBack(result) {
      try check(result.rejection)
      for output in result.outputs where output.topic == .timeline {
        try check(
          analyzer.send(bytes: output.value, to: .timeline, key: output.key, partition: 0).rejection)
      }
    }
  }

  private func check(_ rejection: Rejection?) throws {
    if let rejection { throw BenchmarkFailure("a stage refused a record: \(rejection.description)") }
  }

  /// Steps of a transaction: the number of records that the runtime polls for one.
  private static let stepsPerCommit = 2_000

  /// Counts the outputs of a stage's steps, and ends a transaction after a fixed number of steps.
  private struct Ledger<S: Stage> {
    let driver: StageDriver<S>
    var outputBytes = 0
    var rows = (count: 0, bytes: 0)
    private var steps = 0
    private let readBefore: (rows: Int, bytes: Int)

    init(_ driver: StageDriver<S>) {
      self.driver = driver
      readBefore = driver.reads()
    }

    /// Rows read since the beginning.
    var reads: (count: Int, bytes: Int) {
      let reads = driver.reads()
      return (reads.rows - readBefore.rows, reads.bytes - readBefore.bytes)
    }

    mutating func note(_ result: StageDriver<S>.StepResult) throws {
      for output in result.outputs { outputBytes += (output.key?.count ?? 0) + (output.value?.count ?? 0) }
      steps += 1
      if steps % stepsPerCommit == 0 { try commit() }
    }

    mutating func commit() throws {
      let committed = try driver.commit()
      rows.count += committed.rows
      rows.bytes += committed.bytes
    }
  }

  func measureIngest() throws -> StagesBenchmark.Measurement {
    timeline.reserveCapacity(messages.count)
    try ingest.commit()
    var ledger = Ledger(ingest)
    let start = Cost.Start()
    for record in messages {
      let result = ingest.process(record)
      try check(result.rejection)
      timeline += result.outputs
      try ledger.note(result)
    }
    try ledger.commit()
    return .init(
      records: messages.count, units: messages.count * (Self.members - 1), outputBytes: ledger.outputBytes,
      rows: ledger.rows, reads: ledger.reads, cost: start.cost)
  }

  func measureAnalyzer() throws -> StagesBenchmark.Measurement {
    pushes.reserveCapacity(timeline.count * Self.members)
    try analyzer.commit()
    var ledger = Ledger(analyzer)
    let start = Cost.Start()
    for record in timeline {
      let result = analyzer.send(bytes: record.value, to: .timeline, key: record.key, partition: 0)
      try check(result.rejection)
      for output in result.outputs where output.topic == .pushes { pushes.append(output) }
      try ledger.note(result)
    }
    try ledger.commit()
    return .init(
      records: timeline.count, units: messages.count * (Self.members - 1), outputBytes: ledger.outputBytes,
      rows: ledger.rows, reads: ledger.reads, cost: start.cost)
  }

  func measureDispatcher() throws -> StagesBenchmark.Measurement {
    let answer = PushAnswer(.sent(name: "projects/p/messages/1"), httpStatus: 200)
    var sent = 0
    var ledger = Ledger(dispatcher)
    let start = Cost.Start()
    for record in pushes {
      var waiting = dispatcher.send(bytes: record.value, to: .pushes, key: record.key, partition: 0)
      try check(waiting.rejection)
      try ledger.note(waiting)
      while let effect = waiting.effects.first {
        sent += 1
        waiting = dispatcher.receive(
          SendReply(
            id: effect.id, answer: answer, startedAt: Self.start, finishedAt: Self.start),
          partition: 0)
        try check(waiting.rejection)
        try ledger.note(waiting)
      }
    }
    try ledger.commit()
    return .init(
      records: pushes.count, units: max(sent, 1), outputBytes: ledger.outputBytes, rows: ledger.rows,
      reads: ledger.reads, cost: start.cost)
  }
}
