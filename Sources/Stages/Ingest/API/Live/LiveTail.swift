import Foundation
import JSONCodec
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads all of `nudge.banners` without a group, for the streams of this process and the answers to its questions.
final class LiveTail: Sendable {
  /// How far back it reads, so that clients that reconnect after a restart of all instances find what they have missed.
  private static let reach = TopicTail.Reach(time: 600_000, backlog: 50_000)
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
  ///   - lookTime: The time between two checks whether the topic has more partitions or was created again.
  ///   - topicID: Returns the topic's id, which changes when the topic is created again; nil if it is unknown. By default the cluster is
  ///     asked.
  ///   - remark: Receives the reason why streams lag, for readiness; nil if they do not.
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

  /// Starts to read. Later calls do nothing.
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

  /// Reads until it is closed, or until the topic has other partitions or another id. Throws if a new consumer is needed.
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
    var lookedAt = ContinuousClock.now
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
      if ContinuousClock.now - lookedAt > lookTime {
        lookedAt = .now
        if let now = try? consumer.partitionCounts(of: [topic], timeout: .seconds(1))[topic], now != count { return }
        if let now = topicID(), now != id { return }
      }
    }
  }

  /// Begins where reading was, or some way back. In a topic with another id, earlier positions do not count.
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
