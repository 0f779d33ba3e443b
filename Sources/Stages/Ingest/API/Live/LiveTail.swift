import Foundation
import JSONCodec
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads all of `nudge.banners` without a group, for the streams of this process and the answers to its questions.
final class LiveTail: Sendable {
  /// How far back it begins to read: clients that reconnect after a restart of all instances find here what they have missed.
  static let memory: Milliseconds = 600_000
  /// Offsets of a partition it reads at most when it begins.
  private static let backlog: Int64 = 50_000
  private static let pollTime: Duration = .milliseconds(100)

  private let configuration: ClientConfiguration
  private let topic: String
  private let streams: LiveStreams
  private let questions: PersonQuestions
  private let logger: Logger
  private let remark: @Sendable (String?) -> Void
  private let topicID: @Sendable () -> String?
  private let lookTime: Duration
  private let reader = ReaderThread("http-live")
  private let isStarted = Atomic<Bool>(false)

  /// - Parameters:
  ///   - lookTime: From one look to the next whether the topic has more partitions, or is another one.
  ///   - topicID: The id of the topic, which one that is made again has not; nil: it is not known. By default the cluster says it.
  ///   - remark: Receives why streams lag, for readiness; nil: they do not.
  init(
    settings: ServiceSettings, streams: LiveStreams, questions: PersonQuestions, logger: Logger,
    lookTime: Duration = .seconds(30), topicID: (@Sendable () -> String?)? = nil,
    remark: @escaping @Sendable (String?) -> Void
  ) {
    let topic = TopicNames(prefix: settings.topicPrefix)(.banners)
    self.topic = topic
    self.lookTime = lookTime
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

  /// Begins to read. Later calls do nothing.
  func start() {
    guard !isStarted.exchange(true, ordering: .relaxed) else { return }
    reader.start { [self] in run() }
  }

  func close() {
    // A reader that was never started has no end to wait for.
    if isStarted.exchange(true, ordering: .relaxed) { reader.close() }
  }

  private func run() {
    var hasRead = false
    var id: String?
    while reader.isOpen {
      do throws(KafkaError) {
        try read(&hasRead, &id)
      } catch {
        let reason =
          error.isAuthorization ? "this service lacks the right Read on \(topic)" : "\(error.name): \(error.reason)"
        if !hasRead || error.isAuthorization { streams.set(.failed(reason)) }
        remark("GET /v1/live and /v1/me get nothing: \(reason)")
        logger.limited("live", every: .seconds(60))?.warning(
          "\(topic) cannot be read for streams and answers", ["reason": .string(reason)])
      }
      let end = ContinuousClock.now + .seconds(2)
      while reader.isOpen, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.05) }
    }
  }

  /// Reads until it is closed, or the topic has other partitions or another id. Throws where a new consumer is needed.
  private func read(_ hasRead: inout Bool, _ id: inout String?) throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-live")
    defer { consumer.close() }
    guard let (count, open) = try assign(consumer, &id) else { return }
    var behind = open
    let (parser, coder) = (JSONParser(), RecordCoder())
    var lookedAt = ContinuousClock.now
    func caughtUp() {
      guard behind.isEmpty else { return }
      hasRead = true
      streams.set(.ready)
      remark(nil)
    }
    caughtUp()
    while reader.isOpen {
      let event = consumer.poll(maxRecords: 1_000, maxBytes: 4 << 20, timeout: Self.pollTime) { record in
        let delay = Double(SystemClock.milliseconds() - record.timestamp) / 1_000
        let event = LiveEvent(key: record.key, value: record.value, parser)
        if event == nil, questions.isWaiting, let value = record.value,
          let answer = try? coder.decode(BannerEvent.self, from: value), case .answered(let fields) = answer.body
        {
          questions.take(fields)
        }
        streams.receive(event, partition: record.partition, offset: record.offset, delay: delay)
      }
      switch event {
      case .endOfPartition(let place, let offset):
        streams.advance(place.partition, to: offset)
        if behind.remove(place.partition) != nil { caughtUp() }
      case .error(let error) where error.isFatal || error.isAuthorization || error.isOffsetOutOfRange: throw error
      case nil, .record, .assigned, .revoked, .error: break
      }
      if ContinuousClock.now - lookedAt > lookTime {
        lookedAt = .now
        if let now = try? consumer.partitionCounts(of: [topic], timeout: .seconds(1))[topic], now != count { return }
        if let now = topicID(), now != id { return }
      }
    }
  }

  /// Assigns all partitions, where reading was, or some way back. Returns how many there are, and those with records to read; nil: there is no
  /// topic. In a topic with another id it was nowhere.
  private func assign(_ consumer: Consumer, _ id: inout String?) throws(KafkaError) -> (Int, Set<Int32>)? {
    let timeout: Duration = .seconds(5)
    guard let count = try consumer.partitionCounts(of: [topic], timeout: timeout)[topic], count > 0 else {
      streams.set(.failed("\(topic) does not exist"))
      remark("GET /v1/live and /v1/me get nothing: \(topic) does not exist")
      return nil
    }
    let places = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    func offsets(at time: Int64) throws(KafkaError) -> [TopicPartition: Int64] {
      try consumer.offsets(forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, time) }), timeout: timeout)
        .compactMapValues { $0 }
    }
    let low = try offsets(at: Offset.beginning)
    let high = try offsets(at: Offset.end)
    let recent = try offsets(at: SystemClock.milliseconds() - Self.memory)
    streams.setPartitions(Int32(clamping: count))
    let now = topicID()
    let known = now != nil && id != nil && now != id ? [:] : streams.next
    id = now ?? id
    var open: Set<Int32> = []
    var starts: [TopicPartitionOffset] = []
    for place in places {
      let (first, end) = (low[place] ?? 0, high[place] ?? 0)
      var start = max(first, recent[place] ?? end, end - Self.backlog)
      if let next = known[place.partition], (first...max(first, end)).contains(next) {
        start = next
      } else {
        streams.begin(place.partition, at: start)
      }
      if start < end { open.insert(place.partition) }
      starts.append(TopicPartitionOffset(place, offset: start))
    }
    try consumer.assign(starts)
    return (count, open)
  }
}
