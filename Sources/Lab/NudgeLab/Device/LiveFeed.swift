import Foundation
import Kafka
import NudgeClient
import NudgeCommands
import NudgeSchema
import Synchronization

/// The source of banners and notices for phones.
protocol BannerSource: AnyObject {
  /// The records since the last call. Does not wait.
  func take() throws -> [GatewayRecord]
  func close()
}

/// Reads `GET /v1/live` of ingest's HTTP API with a user's token, as an app would. `LiveStream` decides when to connect, and after which
/// event.
final class LiveFeed: BannerSource {
  private struct State {
    var records: [GatewayRecord] = []
    var isLive = false
    var isOver = false
  }

  /// The state shared with the reading thread.
  private final class Shared: Sendable {
    let state = Mutex(State())
    /// Wakes the thread between two connections.
    let wake = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
  }

  private let shared = Shared()

  /// - Parameter url: The API's address, such as `http://127.0.0.1:8081`.
  init(url: String, token: String, deviceId: String) throws {
    let address = try EventStreamAddress(url: url)
    let device = deviceId.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let thread = Thread { [shared] in
      let connection = EventStreamConnection(address)
      Reader(
        connection, target: "/v1/live?deviceId=\(device)&answers=true", authorization: "Bearer \(token)", shared: shared
      ).run()
      shared.ended.signal()
    }
    thread.name = "live"
    thread.start()
  }

  /// Whether the stream is open.
  var isLive: Bool { shared.state.withLock { $0.isLive } }

  func take() -> [GatewayRecord] {
    shared.state.withLock { state in
      defer { state.records = [] }
      return state.records
    }
  }

  func close() {
    shared.state.withLock { $0.isOver = true }
    shared.wake.signal()
    shared.ended.wait()
  }

  /// The reading thread's part, which opens one connection after another.
  private final class Reader {
    private let connection: EventStreamConnection
    private let target: String
    private let authorization: String
    private let shared: Shared
    private var live = LiveStream { Double.random(in: $0) }
    private var due: Date?

    init(_ connection: EventStreamConnection, target: String, authorization: String, shared: Shared) {
      self.connection = connection
      self.target = target
      self.authorization = authorization
      self.shared = shared
    }

    func run() {
      perform(live.opened(at: Date()))
      while !shared.state.withLock({ $0.isOver }) {
        if let due, due <= Date() { perform(live.timeReached(at: Date())) }
        guard connection.isOpen else {
          _ = shared.wake.wait(timeout: due.map { .now() + max(0, $0.timeIntervalSinceNow) } ?? .distantFuture)
          continue
        }
        for part in connection.parts(within: 100) {
          switch part {
          case .head(let status, let retryAfter):
            perform(live.answered(status: status, retryAfter: retryAfter, at: Date()))
          case .bytes(let bytes): perform(live.received(bytes, at: Date()))
          case .ended: perform(live.disconnected(at: Date()))
          }
        }
      }
      perform(live.closed())
    }

    private func perform(_ actions: [LiveStream.Action]) {
      for action in actions {
        switch action {
        case .connect(let request):
          var headers = [(name: "Authorization", value: authorization)]
          if let id = request.lastEventId { headers.append(("Last-Event-ID", id)) }
          if !connection.open(target, headers: headers) { perform(live.disconnected(at: Date())) }
        case .disconnect: connection.close()
        case .deliver(.record(let record)): shared.state.withLock { $0.records.append(record) }
        // An app would load its screen from its backend. This phone has no backend.
        case .deliver(.reset), .deliver(.end): break
        case .isLive(let isLive): shared.state.withLock { $0.isLive = isLive }
        case .wake(let time): due = time
        case .cancelWake: due = nil
        }
      }
    }
  }
}

/// Reads the records that are added to `nudge.banners` from now on, as a real-time gateway does. Not thread-safe.
final class BannerFeed: BannerSource {
  private static let patience: Duration = .seconds(10)

  private let consumer: Consumer
  private var batch: [ConsumerRecord] = []

  /// Starts at the topic's end.
  /// - Throws: `CommandError` if the topic is missing. `KafkaError` if no broker answers.
  init(_ configuration: ClientConfiguration, topics: TopicNames) throws {
    let name = topics(.banners)
    consumer = try Consumer(configuration, name: "nudge-device")
    guard let count = try consumer.partitionCounts(of: [name], timeout: Self.patience)[name], count > 0 else {
      throw CommandError("there is no topic \(name); 'nudge topics create' makes it")
    }
    try consumer.assign(
      try (0..<Int32(clamping: count)).map { partition in
        let place = TopicPartition(topic: name, partition: partition)
        return TopicPartitionOffset(place, offset: try consumer.watermarks(place, timeout: Self.patience).high)
      })
  }

  /// The records since the last call. Does not wait.
  func take() throws -> [GatewayRecord] {
    batch.removeAll(keepingCapacity: true)
    if case .error(let error) = consumer.poll(into: &batch, maxRecords: 1_000, maxBytes: 4 << 20, timeout: .zero),
      error.isFatal
    {
      throw error
    }
    // An app skips a record of a type or version that it does not know.
    return batch.compactMap { record in
      record.valueBytes().flatMap { try? JSONDecoder().decode(GatewayRecord.self, from: Data($0)) }
    }
  }

  func close() { consumer.close() }
}
