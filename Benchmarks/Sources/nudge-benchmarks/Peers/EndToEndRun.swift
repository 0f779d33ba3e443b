import Foundation
import Kafka
import NudgeSchema

/// Messages of direct conversations from event to decision, at a steady rate: by ingest and analyzer, and by Kafka Streams with several
/// commit intervals, one after the other on one broker.
final class EndToEndRun {
  /// The times and CPU of a pair of stages.
  private struct Outcome {
    let subject: String
    let latencies: Samples
    /// Cores that its two processes, and the broker, used.
    let cores: Double
    let brokerCores: Double
  }

  private static let conversations = 200
  /// Messages a second.
  private static let rate = 100.0
  /// How long each runs before it is measured, in seconds.
  private static let warmUp = 30.0
  /// Milliseconds between commits of Kafka Streams.
  private static let intervals = [10, 30, 100]

  private let context: BenchmarkContext
  private let broker: BenchmarkBroker
  private let programs: URL
  private let peer: StreamsPeer
  private let topics: BacklogTopics
  private let coder = RecordCoder()
  private var events = 0
  /// When a message was published, by its id.
  private var publishedAt: [String: Double] = [:]
  private var latencies: [Double] = []

  /// nil, with a note, where services or Kafka Streams are missing.
  init?(_ context: BenchmarkContext, _ broker: BenchmarkBroker) throws {
    guard let programs = context.services(["nudge-ingest", "nudge-analyzer"], for: "event to decision"),
      let peer = try StreamsPeer(context, broker)
    else { return nil }
    self.context = context
    self.broker = broker
    self.programs = programs
    self.peer = peer
    topics = try BacklogTopics(broker, partitions: context.options.partitions)
  }

  func run() throws {
    defer { topics.close() }
    try introduce()
    let own = try measure(
      "ingest, analyzer", decisions: Topic.decisions.rawValue,
      try ["nudge-ingest", "nudge-analyzer"].map { program in
        try ServiceProcess(
          program, in: programs,
          [
            "--bootstrap-servers", broker.bootstrapServers, "--state-dir",
            broker.directory.appendingPathComponent("end-to-end-\(program)").path, "--instance", "end-to-end",
            "--admin-address", "127.0.0.1:0",
          ], log: broker.directory.appendingPathComponent("end-to-end-\(program).log"))
      })
    let others = try Self.intervals.map { interval in
      let prefix = "streams\(interval)."
      try broker.create(
        [
          ("\(prefix)timeline", TopicPlan(.timeline)), ("\(prefix)decisions", TopicPlan(.decisions)),
          ("\(prefix)pushes", TopicPlan(.pushes)),
        ], partitions: context.options.partitions)
      return try measure(
        "\(peer.name), \(interval) ms", decisions: "\(prefix)decisions",
        [
          try peer.start(
            .fanout, application: "\(prefix)fanout", from: Topic.chatEvents.rawValue, prefix: prefix,
            interval: interval, threads: 1),
          try peer.start(
            .decide, application: "\(prefix)decide", from: "\(prefix)timeline", prefix: prefix, interval: interval,
            threads: 1),
        ])
    }
    tell(own, others)
  }

  private func tell(_ own: Outcome, _ others: [Outcome]) {
    context.report.table(
      ([own] + others).map { it in
        (
          it.subject,
          [
            .init(name: "decisions", value: Double(it.latencies.values.count), unit: ""),
            .init(name: "event to decision p50", value: it.latencies.median, unit: "ms"),
            .init(name: "p99", value: it.latencies.quantile(0.99), unit: "ms"),
            .init(name: "two processes", value: it.cores, unit: "cores"),
            .init(name: "broker", value: it.brokerCores, unit: "cores"),
          ]
        )
      })
    guard let best = others.min(by: { $0.latencies.median < $1.latencies.median }) else { return }
    context.report.row(
      "to the best of them",
      [
        .init(name: "p50", value: own.latencies.median / best.latencies.median, unit: "times", target: "≤ 0.17"),
        .init(
          name: "p99", value: own.latencies.quantile(0.99) / best.latencies.quantile(0.99), unit: "times",
          target: "≤ 0.25"),
        .init(
          name: "CPU with the broker's", value: (own.cores + own.brokerCores) / (best.cores + best.brokerCores),
          unit: "times", target: "< 1"),
      ])
  }

  private func measure(_ subject: String, decisions: String, _ processes: [ServiceProcess]) throws -> Outcome {
    context.report.progress("  event to decision: \(subject)")
    for process in processes { _ = try process.waitUntilReady() }
    let consumer = try topics.follow(decisions)
    defer { consumer.close() }
    try drive(consumer, seconds: Self.warmUp)
    latencies = []
    let cpu = { try processes.reduce(0) { $0 + (try ProcessUsage.cpuSeconds($1.number)) } }
    let (began, before, brokerBefore) = (Clocks.steady, try cpu(), try broker.cpuSeconds())
    try drive(consumer, seconds: Double(context.options.seconds))
    let seconds = Clocks.steady - began
    let outcome = Outcome(
      subject: subject, latencies: Samples(latencies), cores: (try cpu() - before) / seconds,
      brokerCores: (try broker.cpuSeconds() - brokerBefore) / seconds)
    for process in processes {
      try process.stop()
      guard process.complaints.isEmpty else {
        throw BenchmarkFailure("\(process.name) says: \(process.complaints.prefix(3).joined(separator: "\n"))")
      }
    }
    return outcome
  }

  // MARK: Events

  private func publish(_ body: ChatEventBody) throws {
    events += 1
    let now = Milliseconds(Date().timeIntervalSince1970 * 1_000)
    try topics.write(
      coder.encode(ChatEvent(Envelope(eventId: "event-\(events)", occurredAt: now), body)), to: .chatEvents,
      key: body.conversationId)
  }

  private func introduce() throws {
    for number in 0..<Self.conversations {
      try publish(
        .conversationUpdated(
          ConversationUpdated(
            conversationId: "pair-\(number)", kind: .direct,
            members: ["a", "b"].map { Member(userId: "pair-\(number)-\($0)", displayName: "Name \($0)") })))
    }
    try topics.flush()
  }

  /// Publishes messages at their rate for this long, and reads decisions meanwhile.
  private func drive(_ consumer: Consumer, seconds: Double) throws {
    let began = Clocks.steady
    var sent = 0.0
    while Clocks.steady < began + seconds {
      while sent < (Clocks.steady - began) * Self.rate {
        sent += 1
        let number = events % Self.conversations
        let id = "pair-message-\(events)"
        publishedAt[id] = Clocks.steady
        try publish(
          .messageCreated(
            MessageCreated(
              conversationId: "pair-\(number)", messageId: id, senderId: "pair-\(number)-a", text: "On my way")))
      }
      try read(consumer)
    }
  }

  private func read(_ consumer: Consumer) throws {
    let event = consumer.poll(maxRecords: 1_000, maxBytes: 8 << 20, timeout: .milliseconds(2)) { record in
      guard let value = record.valueBytes(), let id = JSONText.value(of: "messageId", in: value),
        let at = publishedAt.removeValue(forKey: id)
      else { return }
      latencies.append((Clocks.steady - at) * 1e3)
    }
    if case .error(let error)? = event { throw error }
  }
}
