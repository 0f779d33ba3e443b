import Foundation
import ServiceKit
import Synchronization

/// Watches a service with one stream thread in this process, by its log and its stage.
final class StreamProbe: Sendable {
  /// A transaction that committed.
  struct Transaction {
    var records: Int
    /// From the first record processed to the end of the commit, in milliseconds.
    var milliseconds: Double
  }

  private struct State {
    var processing: Double?
    var firstRecord: Cost.Start?
    var upToLastCommit: Cost?
    var transactions: [Transaction] = []
    var rows = 0
    var records = 0
    var assignedAt: Double?
    var tasksRunning = 0
    var changelogRecords = 0
    var allRunning: (after: Double, processor: Double)?
    var assignedProcessor = 0.0
    var tasksAssigned = 0
    var problems: [String] = []
  }

  private let state = Mutex(State())
  private let changed = DispatchSemaphore(value: 0)
  /// Whether a record is the first of its transaction, without taking a lock.
  private let isProcessing = Atomic<Bool>(false)

  func recordProcessed() {
    if isProcessing.load(ordering: .relaxed) { return }
    isProcessing.store(true, ordering: .relaxed)
    state.withLock {
      $0.processing = Clocks.steady
      if $0.firstRecord == nil { $0.firstRecord = Cost.Start() }
    }
  }

  /// A sink that reads the service's log.
  var sink: LogSink {
    LogSink(level: .debug, wallClock: { SystemClock.milliseconds() }) { [self] entry, _ in note(entry) }
  }

  private func note(_ entry: LogEntry) {
    let number = { (name: String) -> Int in if case .int(let value)? = entry.metadata[name] { value } else { 0 } }
    let now = Clocks.steady
    state.withLock { state in
      switch entry.message {
      case "committed":
        if let began = state.processing {
          state.transactions.append(Transaction(records: number("records"), milliseconds: (now - began) * 1e3))
          state.processing = nil
          isProcessing.store(false, ordering: .relaxed)
        }
        state.records += number("records")
        state.rows += number("rows")
        state.upToLastCommit = state.firstRecord?.cost
      case "partitions assigned":
        state.assignedAt = now
        state.assignedProcessor = Clocks.processor
        state.tasksRunning = 0
        if case .string(let list)? = entry.metadata["tasks"] { state.tasksAssigned = list.split(separator: ",").count }
      case "task runs":
        state.tasksRunning += 1
        state.changelogRecords += number("rowsRead")
        if state.tasksRunning == state.tasksAssigned, let assignedAt = state.assignedAt {
          state.allRunning = (now - assignedAt, Clocks.processor - state.assignedProcessor)
        }
      default:
        // librdkafka retries by itself after these warnings.
        if entry.level >= .warning, !entry.message.hasPrefix("librdkafka") {
          state.problems.append("\(entry.message) \(entry.metadata)")
        }
      }
    }
    changed.signal()
  }

  private func wait(for what: String, atMost seconds: Double = 300, until condition: (State) -> Bool) throws {
    let deadline = Clocks.steady + seconds
    while !state.withLock({ condition($0) }) {
      guard Clocks.steady < deadline else {
        throw BenchmarkFailure("still waiting for \(what) after \(seconds) s; the log says \(problems.suffix(3))")
      }
      _ = changed.wait(timeout: .now() + 1)
    }
  }

  func waitUntilRunning() throws { try wait(for: "all tasks to run") { $0.allRunning != nil } }

  /// Waits until this many records are committed.
  func waitUntilCommitted(_ records: Int) throws { try wait(for: "\(records) records") { $0.records >= records } }

  /// From the first record processed to the end of the last commit.
  var costOfRecords: Cost { state.withLock { $0.upToLastCommit ?? Cost(seconds: .nan, cpuSeconds: .nan) } }
  var transactions: [Transaction] { state.withLock { $0.transactions } }
  var records: Int { state.withLock { $0.records } }
  var rows: Int { state.withLock { $0.rows } }
  /// From the assignment until all tasks ran.
  var startCost: Cost {
    state.withLock { Cost(seconds: $0.allRunning?.after ?? .nan, cpuSeconds: $0.allRunning?.processor ?? .nan) }
  }
  /// Records of the changelog that were read on start.
  var changelogRecords: Int { state.withLock { $0.changelogRecords } }
  /// Warnings and errors of the log.
  var problems: [String] { state.withLock { $0.problems } }
}
