import NudgeSchema

/// The fates of events in the pipeline, for requests that wait for them: decisions of messages, and refusals.
struct DecisionLog {
  /// Events of which anything is kept.
  static let limit = 20_000

  /// A person's decision: the final one, or `deferred` until there is one.
  struct Decided: Sendable, Equatable {
    var userId: String
    var outcome: String
    var reason: String
  }

  /// What is known of an event.
  struct Fate: Sendable, Equatable {
    /// How many people a message is for; nil: it is not on the timeline yet.
    var recipients: Int?
    var decided: [Decided] = []
    /// The code and the reason.
    var refusal: Refusal?

    /// A refusal.
    struct Refusal: Sendable, Equatable {
      var code: String
      var message: String
    }

    /// Adds a decision. A final one takes the place of the one that was deferred.
    mutating func add(_ decision: Decided) {
      if let index = decided.firstIndex(where: { $0.userId == decision.userId && $0.outcome == "deferred" }) {
        decided[index] = decision
      } else {
        decided.append(decision)
      }
    }

    /// Whether everybody is decided for, or the decision is deferred.
    var isComplete: Bool { refusal != nil || recipients.map { decided.count >= $0 } ?? false }
  }

  private var fates: [RecordPosition: Fate] = [:]
  private var order: [RecordPosition] = []

  /// Changes what is known of an event.
  mutating func note(_ position: RecordPosition, _ change: (inout Fate) -> Void) {
    if fates[position] == nil {
      order.append(position)
      if order.count > Self.limit * 2 {
        for old in order.prefix(Self.limit) { fates[old] = nil }
        order.removeFirst(Self.limit)
      }
    }
    change(&fates[position, default: Fate()])
  }

  /// What is known of an event.
  func fate(of position: RecordPosition) -> Fate { fates[position] ?? Fate() }

  /// Forgets all.
  mutating func clear() { self = DecisionLog() }
}
