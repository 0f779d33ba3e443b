import NudgeSchema

/// Brings together the final decisions on messages that were deferred, on record or in the simulation: only those are compared. A value.
struct DeferredDecisions {
  /// A person and a message.
  struct Pair: Hashable {
    let userId: String
    let conversationId: String
    let messageId: String

    init(_ decision: SimulatedDecision) {
      userId = decision.userId
      conversationId = decision.conversationId
      messageId = decision.messageId
    }
  }

  /// The final decisions on a message, as far as there are any yet.
  struct Story {
    var recorded: SimulatedDecision?
    var simulated: SimulatedDecision?
  }

  /// Messages of the selection whose final decisions are not all there.
  private var open: [Pair: Story] = [:]
  /// Messages whose recorded decision was deferred, and that have no final one on record yet.
  private var recordedOpen: Set<Pair> = []
  /// Final ones on record, of messages that the simulation has not come to.
  private var recordedAhead: [Pair: SimulatedDecision] = [:]

  /// Whether the simulation holds a message.
  var isSimulationHolding: Bool { open.values.contains { $0.simulated == nil } }
  /// Messages whose final decision is on neither or one side only.
  var unfinished: Int { open.count }

  /// Takes a recorded decision. True: it is a final one that follows a deferred one, and no decision of its own.
  ///
  /// - Parameter finished: Gets a message whose final decisions are both there.
  mutating func record(
    _ decision: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows -> Bool {
    let pair = Pair(decision)
    guard decision.result.outcome.isFinal else {
      recordedOpen.insert(pair)
      return false
    }
    guard recordedOpen.remove(pair) != nil else { return false }
    if open[pair] == nil {
      recordedAhead[pair] = decision
    } else {
      open[pair]?.recorded = decision
      try finish(pair, finished)
    }
    return true
  }

  /// Takes a simulated decision that ends what the simulation held. False: it is a decision of its own.
  mutating func end(
    _ decision: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows -> Bool {
    let pair = Pair(decision)
    guard decision.result.outcome.isFinal, let story = open[pair], story.simulated == nil else { return false }
    open[pair]?.simulated = decision
    try finish(pair, finished)
    return true
  }

  /// Takes the decisions on a candidate, at least one of which is deferred.
  mutating func begin(
    recorded: SimulatedDecision, simulated: SimulatedDecision,
    finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows {
    let pair = Pair(recorded)
    open[pair] = Story(
      recorded: recorded.result.outcome.isFinal ? recorded : recordedAhead.removeValue(forKey: pair),
      simulated: simulated.result.outcome.isFinal ? simulated : nil)
    try finish(pair, finished)
  }

  /// The simulation has passed a message that is not in the selection.
  mutating func skip(_ decision: SimulatedDecision) { recordedAhead[Pair(decision)] = nil }

  private mutating func finish(
    _ pair: Pair, _ finished: (_ recorded: SimulatedDecision, _ simulated: SimulatedDecision) throws -> Void
  ) rethrows {
    guard let story = open[pair], let recorded = story.recorded, let simulated = story.simulated else { return }
    open[pair] = nil
    try finished(recorded, simulated)
  }
}
