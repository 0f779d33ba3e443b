import Foundation
import Kafka
import NudgeSchema

/// The effect of one message to a large group on everybody else's messages: release builds of ingest and analyzer, on their own broker.
enum FanOutBenchmark: Benchmark {
  static let name = "fanout"
  static let abstract =
    "messages of small conversations from event to decision, without and while a message to a large group is fanned out"
  static let needsKafka = true
  static let startsBroker = true

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    guard let programs = context.services(["nudge-ingest", "nudge-analyzer"], for: name) else { return }
    guard let broker = try BenchmarkBroker.start(options) else { throw BenchmarkFailure("no Kafka was started") }
    defer { broker.stop() }
    try FanOutRun(context, broker, programs: programs).run()
  }
}

private final class FanOutRun: BrokerRun {
  private static let conversations = 200
  /// Messages of small conversations a second.
  private static let rate = 100
  /// Members of the large group.
  private var large: Int { options.largeGroup }
  /// Messages to the large group, one after the other. One to a million people takes minutes, so it is the only one.
  private var largeMessages: ClosedRange<Int> { large < 500_000 ? 0...5 : 1...1 }
  private let coder = RecordCoder()
  private var events = 0
  /// When a small message was published, by its id.
  private var publishedAt: [String: Double] = [:]
  /// How long it took, by when it was published.
  private var latencies: [(publishedAt: Double, milliseconds: Double)] = []
  /// Decisions of each large message: how many people, how many records, and when the last came.
  private var decided: [String: (people: Set<String>, records: Int, last: Double)] = [:]

  func run() throws {
    defer { topics.close() }
    try introduce()
    let services = try ["nudge-ingest", "nudge-analyzer"].map { program in
      try ServiceProcess(
        program, in: programs,
        [
          "--bootstrap-servers", broker.bootstrapServers, "--state-dir",
          broker.directory.appendingPathComponent(program).path, "--instance", "fanout", "--admin-address",
          "127.0.0.1:0",
        ], log: broker.directory.appendingPathComponent("\(program).log"))
    }
    for service in services { _ = try service.waitUntilReady() }
    try awaitMemberships(by: services[0])
    let consumer = try topics.follow(.decisions)
    defer { consumer.close() }

    try drive(consumer, seconds: 5)
    // The first of several reads the group's members into memory.
    if largeMessages.contains(0) {
      try send(large: 0)
      try driveUntilDecided(0, consumer)
    }
    latencies = []
    try drive(consumer, seconds: Double(options.seconds))
    let alone = Samples(latencies.map(\.milliseconds))
    latencies = []
    var during: [Double] = []
    var took: [Double] = []
    for number in largeMessages where number > 0 {
      let began = Clocks.steady
      try send(large: number)
      try driveUntilDecided(number, consumer)
      let end = decided["large-\(number)"]?.last ?? began
      took.append((end - began) * 1e3)
      // Those published meanwhile, once all of them are decided.
      try drive(consumer, seconds: 2)
      during += latencies.filter { $0.publishedAt >= began && $0.publishedAt <= end }.map(\.milliseconds)
      latencies = []
    }
    let used = try services.map { service in
      (
        service.name,
        [
          Report.Figure(name: "CPU since its start", value: try ProcessUsage.cpuSeconds(service.number), unit: "s"),
          .init(
            name: "peak memory", value: try ProcessUsage.peakMegabytes(service.number), unit: "MB", target: "≤ 150"),
        ]
      )
    }
    for service in services { try service.stop() }
    for number in largeMessages {
      let found = decided["large-\(number)"]
      guard found?.people.count == large - 1, found?.records == large - 1 else {
        throw BenchmarkFailure(
          "large-\(number): \(found?.records ?? 0) decisions for \(found?.people.count ?? 0) people")
      }
    }
    tell(alone, Samples(during), Samples(took))
    for (name, figures) in used { report.row(name, figures) }
  }

  /// The conversations and their members, from when ingest is ready until it has committed the last of them.
  private func awaitMemberships(by ingest: ServiceProcess) throws {
    let (began, processor) = (Clocks.steady, try ProcessUsage.cpuSeconds(ingest.number))
    let admin = try Admin(ClientConfiguration(bootstrapServers: broker.bootstrapServers))
    let places = (0..<options.partitions).map { TopicPartition(topic: Topic.chatEvents.rawValue, partition: $0) }
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: broker.bootstrapServers, group: nil), name: "ends")
    defer { consumer.close() }
    let end = try places.reduce(into: 0) { $0 += try consumer.watermarks($1, timeout: .seconds(10)).high }
    let deadline = began + 60 + Double(large) / 500
    while true {
      let committed = try admin.committedOffsets(group: "nudge-ingest", places, timeout: .seconds(10))
      if committed.reduce(0, { $0 + max(0, $1.offset ?? 0) }) >= end { break }
      guard Clocks.steady < deadline else { throw BenchmarkFailure("ingest has not read the members in time") }
      usleep(50_000)  // between two questions
    }
    let took = Clocks.steady - began
    report.row(
      "\(events) membership events and snapshots",
      [
        .init(name: "seconds", value: took, unit: "s"),
        .init(name: "a second", value: Double(events) / took, unit: ""),
        .init(name: "CPU", value: try ProcessUsage.cpuSeconds(ingest.number) - processor, unit: "s"),
      ])
  }

  private func driveUntilDecided(_ number: Int, _ consumer: Consumer) throws {
    let patience = 60 + Double(large) / 500
    let end = Clocks.steady + patience
    while decided["large-\(number)"]?.people.count ?? 0 < large - 1 {
      guard Clocks.steady < end else {
        throw BenchmarkFailure(
          "large-\(number) has \(decided["large-\(number)"]?.people.count ?? 0) decisions after \(Int(patience)) s")
      }
      try drive(consumer, seconds: 0.1)
    }
  }

  private func tell(_ alone: Samples, _ during: Samples, _ took: Samples) {
    report.table(
      [("alone", alone, nil), ("while \(large) are served", during, "≤ \(Int(alone.quantile(0.99) * 2))")].map {
        subject, samples, target in
        (
          subject,
          [
            .init(name: "messages", value: Double(samples.values.count), unit: ""),
            .init(name: "p50", value: samples.median, unit: "ms"),
            .init(name: "p99", value: samples.quantile(0.99), unit: "ms", target: target),
            .init(name: "max", value: samples.max, unit: "ms"),
          ]
        )
      })
    report.row(
      "one message to \(large)",
      [
        .init(name: "decisions", value: Double(large - 1), unit: "", target: "\(large - 1)"),
        .init(name: "to the last, median", value: took.median, unit: "ms"),
        .init(name: "max", value: took.max, unit: "ms"),
      ])
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
            conversationId: "small-\(number)", kind: .direct,
            members: ["a", "b"].map { Member(userId: "small-\(number)-\($0)", displayName: "Name \($0)") })))
    }
    // A snapshot of 20,000 members, which is the most, is larger than what librdkafka sends by default; the others join.
    let first = min(large, 10_000)
    try publish(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "large", kind: .group, name: "Large",
          members: (0..<first).map { Member(userId: "member-\($0)", displayName: "Name \($0)") })))
    for number in first..<large {
      try publish(
        .memberAdded(
          MembershipChange(conversationId: "large", userId: "member-\(number)", displayName: "Name \(number)")))
      if number % 10_000 == 0 { try topics.flush() }
    }
    try topics.flush()
  }

  private func send(large number: Int) throws {
    try publish(
      .messageCreated(
        MessageCreated(
          conversationId: "large", messageId: "large-\(number)", senderId: "member-\(number)",
          text: "The doors open at seven, bring a torch")))
  }

  /// Publishes small messages at their rate for this long, and reads decisions meanwhile.
  private func drive(_ consumer: Consumer, seconds: Double) throws {
    let began = Clocks.steady
    var sent = 0
    while Clocks.steady < began + seconds {
      while Double(sent) < (Clocks.steady - began) * Double(Self.rate) {
        sent += 1
        let number = events % Self.conversations
        let id = "small-message-\(events)"
        publishedAt[id] = Clocks.steady
        try publish(
          .messageCreated(
            MessageCreated(
              conversationId: "small-\(number)", messageId: id, senderId: "small-\(number)-a", text: "On my way")))
      }
      try read(consumer)
    }
  }

  private func read(_ consumer: Consumer) throws {
    let event = consumer.poll(maxRecords: 1_000, maxBytes: 8 << 20, timeout: .milliseconds(2)) { record in
      guard let value = record.valueBytes(), let id = JSONText.value(of: "messageId", in: value),
        let user = JSONText.value(of: "userId", in: value)
      else { return }
      let now = Clocks.steady
      if let at = publishedAt.removeValue(forKey: id) {
        latencies.append((at, (now - at) * 1e3))
      } else if id.hasPrefix("large-") {
        decided[id, default: ([], 0, now)].people.insert(user)
        decided[id]?.records += 1
        decided[id]?.last = now
      }
    }
    if case .error(let error)? = event { throw error }
  }
}
