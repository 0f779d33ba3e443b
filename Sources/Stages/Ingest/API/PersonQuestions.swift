import Dispatch
import NudgeSchema
import ServiceKit
import Synchronization

/// The questions about people that this process has published, and whose answers on `nudge.banners` have not arrived.
final class PersonQuestions: Sendable {
  /// The most questions that wait for one caller, and in total.
  static let waitingOfACaller = 64
  static let waitingInAll = 1_024

  /// The result of a question.
  enum Outcome: Sendable, Equatable {
    /// `person` is the person as JSON; nil if nothing is known of them. `isBehind` is true if the answer does not
    /// reflect the question's device yet.
    case answered(person: String?, isBehind: Bool)
    /// The question was not published, or no answer came in time.
    case unanswered
  }

  /// Receives the result of a question, once, on any thread.
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

  /// Whether any question waits. If none does, the topic's reader does not decode answers.
  var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

  /// Adds a question, and gives it up after `time`.
  /// - Returns: Whether the question was added. After `close`, or if too many wait, it is not, and the continuation is not
  ///   called.
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

  /// Passes an answer to its question. An answer to a question of another process is ignored.
  func take(_ answer: PersonAnswered) {
    // The id alone is not enough: an answer about somebody else must not reach the caller.
    let waiting = state.withLock { state in
      state.waiting[answer.questionId].flatMap { sameId($0.userId, answer.userId) ? $0 : nil } == nil
        ? nil : Self.remove(answer.questionId, from: &state)
    }
    waiting?.continuation.resume(.answered(person: answer.person, isBehind: answer.isBehind))
  }

  /// Ends a question as unanswered: it was not published, or its time has passed.
  func giveUp(_ id: String) {
    state.withLock { Self.remove(id, from: &$0) }?.continuation.resume(.unanswered)
  }

  /// Ends all waiting questions as unanswered, and accepts no more.
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

/// Counts questions about people, and measures the time to their answers.
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
