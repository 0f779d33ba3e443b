import Foundation
import JSONCodec
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads all of `nudge.banners` without a consumer group, for the streams of this process and for the answers to its questions.
final class LiveTail: Sendable {
  /// How far back reading begins. Clients that reconnect after a restart of all instances find what they have missed.
  private static let reach = TopicTail.Reach(time: 600_000, backlog: 50_000)
  private static let pollTime: Duration = .milliseconds(100)

  private let configuration: ClientConfiguration
  private let topic: String
  private let streams: LiveStreams
  private let questions: PersonQuestions
  private let logger: Logger
  private let remark: @Sendable (String?) -> Void
  private let topicID: @Sendable () -> String?
  private let checkInterval: Duration
  private let reader = ReaderThread("http-live")
  private let isStarted = Atomic<Bool>(false)

  /// - Parameters:
  ///   - checkInterval: The time between two checks whether the topic has more partitions or was created again.
  ///   - topicID: Returns the topic's id, which changes when the topic is created again; nil if unknown. The default asks the cluster.
  ///   - remark: Receives the reason why streams and questions get nothing, for readiness; nil once they do.
  init(
    settings: ServiceSettings, streams: LiveStreams, questions: PersonQuestions, logger: Logger,
    checkInterval: Duration = .seconds(30), topicID: (@Sendable () -> String?)? = nil,
    remark: @escaping @Sendable (String?) -> Void
  ) {
    let topic = TopicNames(prefix: settings.topicPrefix)(.banners)
    self.topic = topic
    self.checkInterval = checkInterval
    self.topicID = topicID ?? { Self.clusterID(of: topic, settings) }
    self.streams = streams
    self.questions = questions
    self.logger = logger
    self.remark = remark
    configuration = Self.configuration(settings)
  }

  static func configuration(_ settings: ServiceSettings) -> ClientConfiguration {
    .reader(settings, ["queued.max.messages.kbytes": "8192", "fetch.wait.max.ms": "20"])
  }

  private static func clusterID(of topic: String, _ settings: ServiceSettings) -> String? {
    guard
      let configuration = try? TransactionalProducerConfiguration(
        bootstrapServers: settings.bootstrapServers,
        properties: ClientConfiguration.inOrder(settings.kafkaProperties)),
      let client = try? TransactionalProducer(configuration, transactionalIDs: [], topics: [], group: nil)
    else { return nil }
    defer { client.close() }
    return try? client.topicIDs(of: [topic], timeout: .seconds(1))[topic]
  }

  /// Starts to read. Later calls do nothing.
  func start() {
    guard !isStarted.exchange(true, ordering: .relaxed) else { return }
    reader.start { [self] in run() }
  }

  func close() {
    // Closing a reader that was never started would wait forever.
    if isStarted.exchange(true, ordering: .relaxed) { reader.close() }
  }

  private func run() {
    var hasRead = false
    var id: String?
    while reader.isOpen {
      do throws(KafkaError) {
        try read(&hasRead, &id)
      } catch {
        let reason = error.readFailure(of: topic)
        if !hasRead || error.isAuthorization { streams.set(.failed(reason)) }
        remark("GET /v1/live and /v1/me get nothing: \(reason)")
        logger.limited("live", every: .seconds(60))?.warning(
          "\(topic) cannot be read for streams and answers", ["reason": .string(reason)])
      }
      let end = ContinuousClock.now + .seconds(2)
      while reader.isOpen, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.05) }
    }
  }

  /// Reads until `close`, or until the topic has another number of partitions or another id. Throws if a new consumer is needed.
  private func read(_ hasRead: inout Bool, _ id: inout String?) throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-live")
    defer { consumer.close() }
    var tail = try TopicTail(topic, by: consumer, Self.reach, orFromStart: false)
    let count = tail.spans.count
    guard count > 0 else {
      streams.set(.failed("\(topic) does not exist"))
      return remark("GET /v1/live and /v1/me get nothing: \(topic) does not exist")
    }
    try begin(&tail, &id)
    let (parser, coder) = (JSONParser(), RecordCoder())
    var checkedAt = ContinuousClock.now
    var hasCaughtUp = false
    while reader.isOpen {
      if tail.isAtEnd, !hasCaughtUp {
        (hasRead, hasCaughtUp) = (true, true)
        streams.set(.ready)
        remark(nil)
      }
      try tail.poll(timeout: Self.pollTime) { record in
        let delay = Double(SystemClock.milliseconds() - record.timestamp) / 1_000
        let event = LiveEvent(key: record.key, value: record.value, parser)
        if event == nil, questions.isWaiting, let value = record.value,
          let answer = try? coder.decode(BannerEvent.self, from: value), case .answered(let fields) = answer.body
        {
          questions.take(fields)
        }
        streams.receive(event, partition: record.partition, offset: record.offset, delay: delay)
      } atEnd: { partition, offset in
        streams.advance(partition, to: offset)
      }
      if ContinuousClock.now - checkedAt > checkInterval {
        checkedAt = .now
        if let now = try? consumer.partitionCounts(of: [topic], timeout: .seconds(1))[topic], now != count { return }
        if let now = topicID(), now != id { return }
      }
    }
  }

  /// Continues each partition where the streams are, or else begins within `reach`. If the topic was created again, former positions mean
  /// nothing.
  private func begin(_ tail: inout TopicTail, _ id: inout String?) throws(KafkaError) {
    streams.setPartitions(Int32(clamping: tail.spans.count))
    let now = topicID()
    let known = now != nil && id != nil && now != id ? [:] : streams.next
    id = now ?? id
    try tail.begin { partition, span in
      if let next = known[partition], (span.low...max(span.low, span.high)).contains(next) { return next }
      streams.begin(partition, at: span.recent)
      return span.recent
    }
  }
}

/// Reads events from `nudge.banners` that a stream has missed and that are no longer in memory.
final class LiveBackfill: Sendable {
  /// The most offsets that are read for one stream.
  static let span: Int64 = 100_000
  /// The time limit for reading what one group of streams has missed.
  private static let patience: Duration = .seconds(10)
  /// How long an unused client is kept.
  private static let idleTime: Duration = .seconds(30)
  /// The most streams of a group, which one pass over the topic serves.
  private static let together = 1_000

  private let configuration: ClientConfiguration
  private let topic: String
  private let streams: LiveStreams
  private let logger: Logger
  private let reader = ReaderThread("http-live-gaps")

  init(settings: ServiceSettings, streams: LiveStreams, logger: Logger) {
    topic = TopicNames(prefix: settings.topicPrefix)(.banners)
    configuration = LiveTail.configuration(settings)
    self.streams = streams
    self.logger = logger
  }

  func start() { reader.start { [self] in run() } }

  func close() { reader.close() }

  private func run() {
    var consumer: Consumer?
    var usedAt = ContinuousClock.now
    while reader.isOpen {
      let gaps = streams.takeGaps()
      if gaps.isEmpty {
        if consumer != nil, ContinuousClock.now - usedAt > Self.idleTime { consumer = nil }
        Thread.sleep(forTimeInterval: 0.05)
        continue
      }
      let near = gaps.filter { $0.to - $0.from <= Self.span }
      for gap in gaps where gap.to - gap.from > Self.span { streams.fill(gap, with: nil) }
      for start in stride(from: 0, to: near.count, by: Self.together) {
        let part = Array(near[start..<min(near.count, start + Self.together)])
        do throws(KafkaError) {
          let client = if let consumer { consumer } else { try Consumer(configuration, name: "nudge-ingest-live-gaps") }
          consumer = client
          try read(part, client)
        } catch {
          consumer = nil
          logger.limited("live-gaps", every: .seconds(60))?.warning(
            "streams that continue get a reset", ["reason": .string("\(error.name): \(error.reason)")])
          for gap in part { streams.fill(gap, with: nil) }
        }
      }
      usedAt = .now
    }
    consumer?.close()
  }

  /// Reads the records for these gaps in one pass, and fills each gap as soon as it is complete. A gap that is not complete in time is
  /// filled with nil.
  private func read(_ gaps: [LiveStreams.Gap], _ consumer: Consumer) throws(KafkaError) {
    var open = Dictionary(grouping: gaps.indices, by: { gaps[$0].partition })
    var found: [Int: [LiveRing.Event]] = [:]
    var bytes: [Int: Int] = [:]
    let places = open.keys.map { TopicPartition(topic: topic, partition: $0) }
    let low = try consumer.offsets(
      forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, Offset.beginning) }), timeout: .seconds(5))
    for place in places {
      let first = (low[place] ?? nil) ?? 0
      for index in open[place.partition] ?? [] where gaps[index].from < first { streams.fill(gaps[index], with: nil) }
      open[place.partition]?.removeAll { gaps[$0].from < first }
      if open[place.partition]?.isEmpty == true { open[place.partition] = nil }
    }
    guard !open.isEmpty else { return }
    try consumer.assign(
      open.map { partition, indices in
        TopicPartitionOffset(
          TopicPartition(topic: topic, partition: partition), offset: indices.map { gaps[$0].from }.min() ?? 0)
      })
    let parser = JSONParser()
    /// Fills the gaps that end before an offset.
    func come(_ partition: Int32, to offset: Int64) {
      for index in open[partition] ?? [] where gaps[index].to <= offset {
        let isTooMuch = bytes[index, default: 0] > LiveRing.bytesOfAPerson
        streams.fill(gaps[index], with: isTooMuch ? nil : found[index] ?? [])
        found[index] = nil
      }
      open[partition]?.removeAll { gaps[$0].to <= offset }
      if open[partition]?.isEmpty == true { open[partition] = nil }
    }
    let deadline = ContinuousClock.now + Self.patience
    while reader.isOpen, !open.isEmpty, ContinuousClock.now < deadline {
      var reached: [Int32: Int64] = [:]
      let event = consumer.poll(maxRecords: 1_000, maxBytes: 4 << 20, timeout: .milliseconds(100)) { record in
        reached[record.partition] = record.offset + 1
        guard let key = record.key, let indices = open[record.partition] else { return }
        let wanted = indices.filter { index in
          let gap = gaps[index]
          return gap.from <= record.offset && record.offset < gap.to
            && gap.person.text.utf8.elementsEqual(key)
        }
        guard !wanted.isEmpty, let event = LiveEvent(key: key, value: record.value, parser) else { return }
        let content = event.bytes(id: LivePosition(partition: record.partition, next: record.offset + 1))
        for index in wanted {
          bytes[index, default: 0] += content.count
          if bytes[index, default: 0] <= LiveRing.bytesOfAPerson {
            found[index, default: []].append(LiveRing.Event(next: record.offset + 1, bytes: content))
          }
        }
      }
      for (partition, offset) in reached { come(partition, to: offset) }
      switch event {
      case .endOfPartition(let place, let offset): come(place.partition, to: offset)
      case .error(let error) where error.endsReading: throw error
      case nil, .record, .assigned, .revoked, .error: break
      }
    }
    try consumer.assign([])
    for index in open.values.joined() { streams.fill(gaps[index], with: nil) }
  }
}
