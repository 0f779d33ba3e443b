package import JSONCodec
package import NudgeSchema

/// The fields of a decision that a simulation compares, and their origin.
package struct SimulatedDecision {
  /// The parts of a decision that are compared.
  package struct Result: Hashable {
    package var outcome: DecisionBody.Outcome
    package var reason: DecisionReason
    package var priority: Priority?
    package var presentation: Presentation?
  }
  package var userId: String
  package var conversationId: String
  package var messageId: String
  package var decidedAt: Milliseconds
  package var result: Result
  /// The timeline record it was decided for.
  package var origin: RecordPosition
  /// The chat event it began with.
  package var source: RecordPosition
  /// Whether something other than the operator's policy set the level.
  package var hasOwnLevel: Bool

  /// Reads the fields of a decision; nil: the bytes are not a decision, or have a value that this version does not know.
  package init?(_ bytes: UnsafeRawBufferPointer, parser: JSONParser) {
    guard let node = try? parser.parse(bytes) else { return nil }
    self.init(node)
  }

  private init?(_ node: JSONNode) {
    guard let userId = node["userId"]?.string, let conversationId = node["conversationId"]?.string,
      let messageId = node["messageId"]?.string, let decidedAt = node["decidedAt"]?.int64,
      let outcome = node["outcome"]?.string.flatMap(DecisionBody.Outcome.init(rawValue:)),
      let reason = node["reason"]?.string.flatMap(DecisionReason.init(rawValue:)),
      let origin = node["origin"].flatMap(Self.position), let source = node["source"].flatMap(Self.position)
    else { return nil }
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.decidedAt = decidedAt
    self.origin = origin
    self.source = source
    result = Result(
      outcome: outcome, reason: reason, priority: node["priority"]?.string.flatMap(Priority.init(rawValue:)),
      presentation: node["presentation"]?.string.flatMap(Presentation.init(rawValue:)))
    // Decisions of releases without levels name no presentation: it followed from the priority.
    if outcome == .notify, result.presentation == nil { result.presentation = result.priority?.formerPresentation }
    hasOwnLevel = false
    guard let checks = node["checks"]?.elements else { return }
    for check in checks where check["check"]?.string == DecisionReason.level.rawValue {
      hasOwnLevel = check["inputs"]?["from"]?.string != "policy"
    }
  }

  private static func position(_ node: JSONNode) -> RecordPosition? {
    guard let topic = node["topic"]?.string, let partition = node["partition"]?.int64,
      let offset = node["offset"]?.int64
    else { return nil }
    return RecordPosition(topic: topic, partition: Int32(truncatingIfNeeded: partition), offset: offset)
  }
}

extension Priority {
  fileprivate var formerPresentation: Presentation {
    switch self {
    case .high: .alert
    case .medium: .silent
    case .low: .badge
    }
  }
}

extension SimulatedDecision.Result: CustomStringConvertible {
  /// `alert, high (relevant)`, or the reason to show nothing.
  package var description: String {
    guard outcome == .notify else { return reason.rawValue }
    let presentation = presentation?.rawValue ?? "shown"
    return "\(presentation)\(priority.map { ", \($0.rawValue)" } ?? "") (\(reason.rawValue))"
  }

  /// How it appears: `alert`, `silent`, `badge` or `none`.
  package var shape: String { outcome == .notify ? presentation?.rawValue ?? "silent" : "none" }

  /// Whether it makes a sound.
  package var alerts: Bool { outcome == .notify && presentation == .alert }
}
