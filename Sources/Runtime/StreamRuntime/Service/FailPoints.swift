import Foundation
import Glibc
import NudgeSchema
import ServiceKit
import Synchronization

/// The fail-points of a process. It counts visits and performs the planned actions. Any thread may use it.
///
/// Fail-points exist in debug builds only. A release build reports that it ignores the variable. They are wrappers around I/O, stores and
/// effects, so production code has none.
final class FailPoints: Sendable {
  /// The environment variable with the plan.
  static let variable = "NUDGE_FAIL_POINTS"

  #if DEBUG
    private struct State {
      var reached: [FailPoint: Int] = [:]
      /// Whether replies to effects have come since the last transaction began.
      var hasAnswers = false
    }

    private let plan: FailPointPlan
    private let logger: Logger
    private let state = Mutex(State())

    init(_ plan: FailPointPlan, logger: Logger) {
      self.plan = plan
      self.logger = logger
    }

    /// The fail-points that the environment variable names. Absent if the variable is not set.
    /// - Throws: a failure that names the unknown fail-point or action.
    static func fromEnvironment(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) throws(FailPointPlan.Failure) -> FailPoints? {
      guard let text = environment[variable], !text.isEmpty else { return nil }
      let plan = try FailPointPlan(text)
      logger.warning("this process was told to fail", ["points": .string(text)])
      return FailPoints(plan, logger: logger)
    }

    /// Performs the action planned for this visit of a fail-point. Returns whether the call must fail.
    func reach(_ point: FailPoint) -> Bool {
      let count = state.withLock { state in
        state.reached[point, default: 0] += 1
        return state.reached[point, default: 0]
      }
      guard let entry = plan.entries.first(where: { $0.point == point && $0.occurrence == count }) else { return false }
      logger.warning(
        "fail-point reached",
        ["point": .string(point.rawValue), "count": .int(count), "action": .string("\(entry.action)")])
      switch entry.action {
      case .fail: return true
      case .stall(let milliseconds):
        // The stall itself is the fault.
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        return false
      case .die:
        kill(getpid(), SIGKILL)
        // Not reached: the kernel ends the process before `kill` returns.
        return true
      }
    }

    /// Records that a reply to an effect has come and is not committed.
    func recordAnswer() { state.withLock { $0.hasAnswers = true } }

    /// Whether replies have come since the last call.
    func takeAnswers() -> Bool {
      state.withLock { state in
        defer { state.hasAnswers = false }
        return state.hasAnswers
      }
    }
  #else
    /// Reports that a release build ignores the environment variable.
    static func refuse(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) {
      guard let text = environment[variable], !text.isEmpty else { return }
      logger.warning("\(variable) is ignored: only debug builds have fail-points")
    }
  #endif
}

#if DEBUG
  /// The actions at fail-points that a process was started with: `before-commit=die@3;store-write=fail`.
  struct FailPointPlan: Equatable {
    /// An action at a fail-point.
    struct Entry: Equatable {
      var point: FailPoint
      var action: FailAction
      /// The visit of the fail-point at which the action happens, counted from 1. It happens once.
      var occurrence: Int
    }

    /// The text is not a plan. The description shows the format.
    struct Failure: Error, CustomStringConvertible, Equatable {
      var description: String
    }

    /// The entries in the order of the text.
    var entries: [Entry] = []

    /// Reads `POINT=ACTION@N;…`, where an action is `die`, `fail` or `stall:DURATION`, and `@1` may be left out.
    init(_ text: String) throws(Failure) {
      for part in text.split(separator: ";") { entries.append(try Self.entry(part)) }
      guard !entries.isEmpty else { throw Self.failure(text, "it names no fail-point") }
    }

    private static func entry(_ part: Substring) throws(Failure) -> Entry {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else { throw failure(part, "a fail-point needs an action") }
      guard let point = FailPoint(rawValue: String(sides[0])) else {
        let names = FailPoint.allCases.map(\.rawValue).joined(separator: ", ")
        throw failure(part, "there is no fail-point '\(sides[0])'; there are \(names)")
      }
      let parts = sides[1].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      var occurrence = 1
      if parts.count == 2 {
        guard let number = Int(parts[1]), number > 0 else {
          throw failure(part, "behind '@' there is a number from 1")
        }
        occurrence = number
      }
      return Entry(point: point, action: try action(parts[0], part), occurrence: occurrence)
    }

    private static func action(_ text: Substring, _ part: Substring) throws(Failure) -> FailAction {
      switch text {
      case "die": return .die
      case "fail": return .fail
      default:
        guard text.hasPrefix("stall:") else {
          throw failure(part, "an action is die, fail or stall:DURATION")
        }
        do throws(SettingValueError) {
          return .stall(try Duration.parse(String(text.dropFirst("stall:".count))).milliseconds)
        } catch {
          throw failure(part, "'stall:' needs \(error.allowed)")
        }
      }
    }

    private static func failure(_ text: some StringProtocol, _ reason: String) -> Failure {
      Failure(
        description: "\(FailPoints.variable): '\(text)': \(reason). Such as before-commit=die@3;store-write=fail")
    }
  }

  /// Wraps a stream thread's I/O, and dies, stalls or fails at fail-points.
  final class FailPointIO<Base: StreamIO>: StreamIO {
    typealias Store = FailPointStore<Base.Store>

    private let base: Base
    private let points: FailPoints
    /// The outcome of a transaction that a fail-point stopped.
    private var outcome: CommitOutcome?
    init(_ base: Base, _ points: FailPoints) {
      self.base = base
      self.points = points
      // These fail-points are between the requests of a commit.
      base.interruptTransactions { points.reach($0) }
    }

    private func pass(_ point: FailPoint) throws(IOFailure) {
      guard points.reach(point) else { return }
      throw IOFailure(kind: .retriable, operation: "fail-point", reason: point.rawValue)
    }

    // MARK: Clocks

    var wallClock: Milliseconds { base.wallClock }
    var steadyClock: Milliseconds { base.steadyClock }

    // MARK: Group and input

    func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
      try base.poll(timeout: timeout, maxRecords: maxRecords, maxBytes: maxBytes)
    }

    func assign(_ starts: [InputPosition]) throws(IOFailure) { try base.assign(starts) }

    func setPaused(_ paused: Bool) throws(IOFailure) { try base.setPaused(paused) }

    func idle(atMost timeout: Milliseconds) { base.idle(atMost: timeout) }

    func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
      try base.committedOffsets(of: tasks)
    }

    func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds {
      try base.inputEnds(of: topic, task: task)
    }

    func topicIDs() throws(IOFailure) -> TopicIDs { try base.topicIDs() }

    func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] { try base.handovers(in: spans) }

    func handOver(_ records: [OutputRecord]) throws(IOFailure) { try base.handOver(records) }

    // MARK: Transactions

    func openProducers() throws(IOFailure) {
      try pass(.producerOpen)
      try base.openProducers()
    }

    func endHanging() throws(IOFailure) { try base.endHanging() }
    var hasLostBroker: Bool { base.hasLostBroker }
    func watchTransactions() throws(IOFailure) { try base.watchTransactions() }
    func takeEnded() -> [EndedTransaction] { base.takeEnded() }

    func begin(_ transaction: SealedTransaction) {
      if points.reach(.beforeTransaction) {
        outcome = .notCommitted("fail-point before-transaction")
      } else if points.takeAnswers(), points.reach(.effectSent) {
        outcome = .notCommitted("fail-point effect-sent")
      } else {
        base.begin(transaction)
      }
    }

    func takeOutcome() -> CommitOutcome? {
      if let outcome {
        self.outcome = nil
        return outcome
      }
      guard let outcome = base.takeOutcome() else { return nil }
      if case .committed = outcome, points.reach(.commitSent) { return .unknown("fail-point commit-sent") }
      return outcome
    }

    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) { base.interruptTransactions(fails) }

    // MARK: Changelog and store

    func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds { try base.changelogEnds(of: task) }

    func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
      // An empty list ends the reading.
      if !starts.isEmpty { try pass(.restoreRead) }
      try base.readChangelogs(starts)
    }

    func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
      try base.pollChangelogs(timeout: timeout)
    }

    func openStore(of task: Int32) throws -> Store {
      if points.reach(.storeOpen) {
        throw StoreFailure(operation: "open", reason: "fail-point \(FailPoint.storeOpen.rawValue)")
      }
      return FailPointStore(try base.openStore(of: task), points)
    }
  }

  /// Wraps a performer and counts replies. The fail-point `effect-sent` is reached when the transaction with a reply begins.
  struct FailPointPerformer<Effect: Sendable, Reply: Sendable>: EffectPerformer {
    private let base: any EffectPerformer<Effect, Reply>
    private let points: FailPoints

    init(_ base: any EffectPerformer<Effect, Reply>, _ points: FailPoints) {
      self.base = base
      self.points = points
    }

    func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void) {
      let points = points
      base.perform(effect) {
        points.recordAnswer()
        reply($0)
      }
    }

    func stop() { base.stop() }
  }

  /// Wraps a task's store, and dies, stalls or fails before writes.
  final class FailPointStore<Base: TaskStore>: TaskStore {
    private let base: Base
    private let points: FailPoints

    init(_ base: Base, _ points: FailPoints) {
      self.base = base
      self.points = points
    }

    var header: StoreHeader? { base.header }

    func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
      try base.read(key, body)
    }

    func rows(
      from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
    ) throws {
      try base.rows(from: first, to: end, limit: limit, body)
    }

    func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
      if points.reach(.storeWrite) {
        throw StoreFailure(operation: "write", reason: "fail-point \(FailPoint.storeWrite.rawValue)")
      }
      try base.apply(rows, header: header)
    }

    func wipe() throws(StoreFailure) { try base.wipe() }

    func close() { base.close() }
  }
#endif
