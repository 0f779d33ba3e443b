import HTTPServer
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// `GET /v1/live` with an API key: streams the records of `nudge.decisions`, of all people or of one.
///
/// Backends have few streams. Each reads the topic itself, on its own thread, and only as fast as its client accepts data. An event's id
/// contains a position in each partition. A stream that continues there, on any instance, misses nothing that the topic still has.
final class DecisionStreams: Sendable {
  struct Limits: Sendable {
    /// The most open streams of an instance.
    var streams = 16
    /// The most open streams of one API key.
    var streamsOfAKey = 4
    /// The most bytes that wait for a client.
    var waiting = 1 << 20
    /// How long a client may accept nothing.
    var patience: Duration = .seconds(60)
    /// The time between two comments.
    var beat: Duration = .seconds(15)
    /// The time between two checks whether the topic has more partitions.
    var count: Duration = .seconds(30)
    var retry = 2_000
  }

  /// A backend that opens a stream.
  struct Client: Sendable {
    /// The API key's name.
    var name: String
    /// The person whose decisions it wants; nil for everybody's.
    var userId: String?
    /// `Last-Event-ID`.
    var lastEventId: String?
  }

  private struct State {
    var open: [UInt64: (client: Client, stream: HTTPStream, reader: ReaderThread)] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }

  private let configuration: ClientConfiguration
  private let topic: String
  private let limits = Limits()
  private let logger: Logger
  private let state = Mutex(State())

  init(settings: ServiceSettings, logger: Logger) {
    topic = TopicNames(prefix: settings.topicPrefix)(.decisions)
    configuration = .reader(settings, ["queued.max.messages.kbytes": "4096", "fetch.wait.max.ms": "20"])
    self.logger = logger
  }

  /// Opens a stream; nil if too many are open.
  func open(_ client: Client) -> HTTPStream? {
    let reader = ReaderThread("http-live-decisions")
    let stream = HTTPStream(limit: limits.waiting) { reader.stop() }
    let id = state.withLock { state -> UInt64? in
      let own = state.open.values.filter { $0.client.name == client.name }
      if own.count >= limits.streamsOfAKey {
        // Some of them may belong to clients that are gone, which is noticed when something is written.
        for open in own { open.stream.write(ServerSentEvent.beat(place: nil)) }
        return nil
      }
      guard !state.isClosed, state.open.count < limits.streams else { return nil }
      state.last += 1
      state.open[state.last] = (client, stream, reader)
      return state.last
    }
    guard let id else { return nil }
    reader.start { [self] in
      run(client, stream, reader)
      state.withLock { $0.open[id] = nil }
    }
    return stream
  }

  /// Ends all streams, because keys have changed and each client must present its key again.
  func endAll() {
    for open in state.withLock({ Array($0.open.values) }) {
      open.reader.stop()
      open.stream.stopWaiting()
    }
  }

  /// Ends all streams and opens no more.
  func close() {
    let streams = state.withLock { state in
      state.isClosed = true
      return Array(state.open.values)
    }
    for open in streams {
      open.reader.stop()
      open.stream.stopWaiting()
    }
    for open in streams { open.reader.close() }
  }

  // MARK: The thread of a stream

  private func run(_ client: Client, _ stream: HTTPStream, _ reader: ReaderThread) {
    do throws(KafkaError) {
      try read(client, stream, reader)
    } catch {
      logger.limited("live-decisions", every: .seconds(60))?.warning(
        "\(topic) cannot be read for streams", ["reason": .string("\(error.name): \(error.reason)")])
    }
    stream.end(ServerSentEvent.event("end", Array(#"{"reason":"stopping"}"#.utf8), id: nil, retry: limits.retry))
  }

  private func read(_ client: Client, _ stream: HTTPStream, _ reader: ReaderThread) throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-live-decisions")
    defer { consumer.close() }
    guard let (start, reset) = try begin(consumer, client) else { return }
    var cursor = start
    stream.write(ServerSentEvent.beginning(retry: limits.retry, place: cursor.text))
    if let reset {
      let data = Array(#"{"reason":"\#(reset.rawValue)"}"#.utf8)
      stream.write(ServerSentEvent.event("reset", data, place: cursor.text))
    }
    try consumer.assign(
      cursor.next.map { TopicPartitionOffset(TopicPartition(topic: topic, partition: $0.key), offset: $0.value) })
    let key = client.userId.map { Array($0.utf8) }
    var (writtenAt, countedAt) = (ContinuousClock.now, ContinuousClock.now)
    while reader.isOpen {
      var pieces: [[UInt8]] = []
      let event = consumer.poll(maxRecords: 200, maxBytes: 512 << 10, timeout: .milliseconds(50)) { record in
        cursor.next[record.partition] = record.offset + 1
        guard let value = record.value, key == nil || record.key.map({ $0.elementsEqual(key ?? []) }) ?? false else {
          return
        }
        pieces.append(ServerSentEvent.event(EventType.decision.rawValue, value, place: cursor.text))
      }
      for piece in pieces {
        guard write(piece, to: stream, reader) else { return }
        writtenAt = .now
      }
      if case .error(let error)? = event, error.endsReading { throw error }
      if ContinuousClock.now - countedAt >= limits.count {
        countedAt = .now
        // The client will reconnect and then read all partitions.
        let count = try? consumer.partitionCounts(of: [topic], timeout: .seconds(1))[topic]
        if let count, count != cursor.next.count { return }
      }
      guard ContinuousClock.now - writtenAt >= limits.beat else { continue }
      guard write(ServerSentEvent.beat(place: cursor.text), to: stream, reader) else { return }
      writtenAt = .now
    }
  }

  /// Writes once the client has accepted enough of what waits. Returns false if the stream has ended, or if the client accepts nothing.
  private func write(_ piece: [UInt8], to stream: HTTPStream, _ reader: ReaderThread) -> Bool {
    let deadline = ContinuousClock.now + limits.patience
    while reader.isOpen {
      switch stream.write(piece) {
      case .taken: return true
      case .ended: return false
      case .full: break
      }
      guard ContinuousClock.now < deadline else {
        stream.cut(ServerSentEvent.event("reset", Array(#"{"reason":"slow"}"#.utf8), id: nil))
        return false
      }
      stream.waitForRoom(for: piece.count, atMost: deadline - .now)
    }
    return false
  }

  /// Where a stream begins, and the reason if that is not where its client was; nil if there is no topic.
  private func begin(
    _ consumer: Consumer, _ client: Client
  ) throws(KafkaError) -> (RejectionLog.Cursor, LiveReset?)? {
    let timeout: Duration = .seconds(5)
    guard let count = try consumer.partitionCounts(of: [topic], timeout: timeout)[topic], count > 0 else { return nil }
    let places = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    func offsets(at time: Int64) throws(KafkaError) -> [Int32: Int64] {
      let found = try consumer.offsets(
        forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, time) }), timeout: timeout)
      return Dictionary(uniqueKeysWithValues: found.map { ($0.key.partition, $0.value ?? 0) })
    }
    let (low, high) = (try offsets(at: Offset.beginning), try offsets(at: Offset.end))
    let now = RejectionLog.Cursor(next: high)
    guard let text = client.lastEventId, !text.isEmpty else { return (now, nil) }
    guard var asked = RejectionLog.Cursor(text),
      asked.next.allSatisfy({ $0.value <= high[$0.key] ?? -1 })
    else { return (now, .unknownId) }
    var isGap = false
    for (partition, first) in low {
      // A new partition is read from its beginning.
      let next = asked.next[partition] ?? first
      isGap = isGap || next < first
      asked.next[partition] = max(next, first)
    }
    return (asked, isGap ? .gap : nil)
  }
}
