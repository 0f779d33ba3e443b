import Dispatch
import Foundation
import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// The questions of this process that wait for answers on `nudge.banners`.
final class PersonQuestions: Sendable {
  /// The most waiting questions, of one caller and in total.
  static let waitingOfACaller = 64
  static let waitingInAll = 1_024

  /// The result of a question.
  enum Outcome: Sendable, Equatable {
    /// The person as JSON (nil if nothing is known of them), and whether an event of a device is still missing.
    case answered(person: String?, isBehind: Bool)
    /// No answer came in time.
    case unanswered
  }

  /// Called once, from any thread.
  struct Continuation: Sendable {
    let resume: @Sendable (Outcome) -> Void
  }

  private struct Waiting {
    var userId: String
    var caller: String
    var continuation: Continuation
  }

  private struct State {
    var waiting: [String: Waiting] = [:]
    var ofCallers: [String: Int] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())
  private let timeouts = DispatchQueue(label: "nudge.http-questions")

  /// Whether any question waits. Only then does the topic's reader look for answers.
  var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

  /// Waits this long for the answer to a question.
  /// - Returns: False if too many wait. Then the continuation is not called.
  func add(
    _ id: String, about userId: String, by caller: String, atMost time: Duration, _ continuation: Continuation
  ) -> Bool {
    let isWaiting = state.withLock { state in
      guard !state.isClosed, state.waiting.count < Self.waitingInAll,
        state.ofCallers[caller, default: 0] < Self.waitingOfACaller
      else { return false }
      state.waiting[id] = Waiting(userId: userId, caller: caller, continuation: continuation)
      state.ofCallers[caller, default: 0] += 1
      return true
    }
    if isWaiting { timeouts.asyncAfter(deadline: .now() + time.seconds) { [weak self] in self?.giveUp(id) } }
    return isWaiting
  }

  /// An answer was read. If nobody waits for it, it belongs to another process.
  func take(_ answer: PersonAnswered) {
    // The id alone is not enough: an answer about somebody else must not reach the caller.
    let waiting = state.withLock { state in
      state.waiting[answer.questionId].flatMap { sameId($0.userId, answer.userId) ? $0 : nil } == nil
        ? nil : Self.remove(answer.questionId, from: &state)
    }
    waiting?.continuation.resume(.answered(person: answer.person, isBehind: answer.isBehind))
  }

  /// The question was not published, or its time is over.
  func giveUp(_ id: String) {
    state.withLock { Self.remove(id, from: &$0) }?.continuation.resume(.unanswered)
  }

  /// Answers all waiting questions and accepts no more.
  func close() {
    let ids = state.withLock { state in
      state.isClosed = true
      return Array(state.waiting.keys)
    }
    for id in ids { giveUp(id) }
  }

  @discardableResult
  private static func remove(_ id: String, from state: inout State) -> Waiting? {
    guard let waiting = state.waiting.removeValue(forKey: id) else { return nil }
    let left = state.ofCallers[waiting.caller, default: 1] - 1
    state.ofCallers[waiting.caller] = left > 0 ? left : nil
    return waiting
  }
}

/// Counts questions about people.
final class PersonMetrics: Sendable {
  private let registry: MetricsRegistry
  private let time: Histogram

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    time = registry.histogram(
      "nudge_person_answer_seconds", help: "From a question about a person to its answer, in seconds.")
    for result in ["answered", "unknown", "unanswered"] { counter(of: result).increment(by: 0) }
  }

  func count(_ outcome: PersonQuestions.Outcome, after time: Duration) {
    switch outcome {
    case .answered(let person, _):
      self.time.observe(time)
      counter(of: person == nil ? "unknown" : "answered").increment()
    case .unanswered: counter(of: "unanswered").increment()
    }
  }

  private func counter(of result: String) -> Counter {
    registry.counter(
      "nudge_person_questions_total",
      help: "Questions about people (GET /v1/me, /v1/users/{id}), by what became of them.",
      labels: ["result": result])
  }
}
