import Foundation
import HTTPTransport
import ServiceKit
import Synchronization

/// One of OpenTelemetry's signals: its name and its document.
struct ExportSignal<Item>: Sendable {
  /// The name in logs and of the thread: `spans`.
  var name: String
  /// The document of a request.
  var document: @Sendable ([Item]) -> [UInt8]
}

/// Sends what a process records to an OpenTelemetry collector, with OTLP over HTTP and JSON bodies.
///
/// Recording never blocks. Items wait in a bounded queue, and a separate thread sends them with one request at a time.
/// Items that do not fit are dropped and counted.
final class BatchExporter<Item: Equatable & Sendable>: Sendable {
  private let client: OTLPClient
  private let signal: ExportSignal<Item>
  private let log: Logger
  private let counts: ExportCounts
  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  private struct State {
    var queue = ExportQueue<Item>()
    var isStopping = false
  }

  /// An exporter that has not started.
  init(_ signal: ExportSignal<Item>, client: OTLPClient, log: Logger, counts: ExportCounts) {
    self.signal = signal
    self.client = client
    self.log = log
    self.counts = counts
  }

  /// Queues an item, or drops it if the queue is full.
  func record(_ item: Item) {
    let steady = SystemClock.steadyMilliseconds()
    let (taken, isNews) = state.withLock { $0.queue.add(item, now: steady) }
    if !taken { counts.full.increment() }
    if isNews { news.signal() }
  }

  /// Starts the thread that sends.
  func start() {
    log.info("\(signal.name) are sent", ["to": .string(client.place)])
    let thread = Thread { [self] in
      while turn() {}
      ended.signal()
    }
    thread.name = "nudge-\(signal.name)"
    thread.start()
  }

  /// Sends the remaining items, for two seconds at most, and ends.
  func stop() {
    state.withLock {
      $0.isStopping = true
      $0.queue.drain()
    }
    news.signal()
    _ = ended.wait(timeout: .now() + ExportCounts.drain.seconds)
    client.close()
  }

  /// False once the exporter has ended.
  private func turn() -> Bool {
    let steady = SystemClock.steadyMilliseconds()
    let (next, isOver) = state.withLock { state in
      let next = state.queue.next(now: steady)
      return (next, state.isStopping && state.queue.count == 0)
    }
    if isOver { return false }
    switch next {
    case .send(let items): send(items)
    case .wait(let until):
      guard let until else {
        news.wait()
        return true
      }
      _ = news.wait(timeout: .now() + .milliseconds(Int(max(1, until - steady))))
    }
    return true
  }

  private func send(_ items: [Item]) {
    let outcome: ExportOutcome, reason: String?
    switch client.post(signal.document(items)) {
    case .success(let response): (outcome, reason) = ExportOutcome.of(response)
    case .failure(let error): (outcome, reason) = (.unavailable(retryAfter: nil), "\(error)")
    }
    let steady = SystemClock.steadyMilliseconds()
    let (count, dropped) = state.withLock { $0.queue.finished(outcome, now: steady) }
    counts.sent.increment(by: count)
    counts.refused.increment(by: dropped)
    guard let reason else { return }
    log.limited(signal.name, every: .seconds(60))?.warning(
      "the collector of \(signal.name) does not take them; nothing waits for it",
      ["to": .string(client.place), "reason": .string(reason), "dropped": .int(dropped)])
  }
}

/// The counters of an exporter: items sent, refused and dropped.
struct ExportCounts: Sendable {
  let sent: Counter
  let full: Counter
  let refused: Counter

  /// How long `stop` waits for the remaining items to be sent.
  static let drain: Duration = .seconds(2)

  /// - Parameters:
  ///   - exported: The name of the metric for sent items.
  ///   - dropped: The name of the metric for dropped items, which has the label `reason`.
  ///   - items: The items' name in the help texts: `Spans`.
  init(exported: String, dropped: String, _ items: String, metrics: MetricsRegistry) {
    sent = metrics.counter(exported, help: "\(items) that the collector took.")
    let help = "\(items) that no collector has: the queue was full, or the collector refused them."
    full = metrics.counter(dropped, help: help, labels: ["reason": "queue_full"])
    refused = metrics.counter(dropped, help: help, labels: ["reason": "refused"])
  }
}

extension ExportOutcome {
  /// The outcome of a collector's answer, with the reason if it did not accept everything. OTLP's specification defines
  /// which statuses to retry.
  static func of(_ response: HTTPResponse) -> (outcome: ExportOutcome, reason: String?) {
    switch response.status {
    case 200..<300:
      let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
      let rejected = answer?.partialSuccess?.rejected ?? 0
      return (.taken(rejected: rejected), rejected > 0 ? "it left out \(rejected) of them" : nil)
    case 429, 502, 503, 504:
      // If the field is a date instead of seconds, the exporter's own backoff applies.
      let seconds = response.headers["retry-after"].flatMap { Int64($0) }
      return (.unavailable(retryAfter: seconds.map { $0 * 1_000 }), "HTTP \(response.status)")
    default: return (.refused, "HTTP \(response.status)")
    }
  }

  /// A collector's answer to an accepted request.
  private struct Answer: Decodable {
    struct PartialSuccess: Decodable {
      /// The number of spans or log records that it rejected.
      var rejected: Int

      private enum Key: String, CodingKey, CaseIterable { case rejectedSpans, rejectedLogRecords }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        rejected = 0
        for key in Key.allCases where container.contains(key) {
          // A number or a string with a number, because OTLP's JSON writes 64-bit numbers as strings.
          if let number = try? container.decode(Int.self, forKey: key) {
            rejected = number
          } else {
            rejected = Int(try container.decode(String.self, forKey: key)) ?? 0
          }
        }
      }
    }
    var partialSuccess: PartialSuccess?
  }
}
