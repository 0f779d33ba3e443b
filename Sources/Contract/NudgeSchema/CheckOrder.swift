/// The order of the checks (D). It says which checks passed without anything to tell: a decision's record leaves them out.
public enum CheckOrder {
  /// The fields of a decision's record that tell which checks were made.
  public struct Facts: Sendable {
    /// A replay asked for the decision.
    public var isReplay: Bool
    /// The hourly limit was asked.
    public var hasAnalysis: Bool
    /// The priority was asked.
    public var hasPriority: Bool

    /// The facts of a decision.
    public init(isReplay: Bool, hasAnalysis: Bool, hasPriority: Bool) {
      self.isReplay = isReplay
      self.hasAnalysis = hasAnalysis
      self.hasPriority = hasPriority
    }
  }

  /// A check as a record has it.
  public struct Written: Sendable {
    /// The check's name.
    public var name: String
    /// It passed, and its name alone or `result` says so: the record is of a release that wrote every check.
    public var isPlain: Bool
    /// It suppressed: no later check was made.
    public var suppresses: Bool

    /// A check of a record.
    public init(name: String, isPlain: Bool, suppresses: Bool) {
      self.name = name
      self.isPlain = isPlain
      self.suppresses = suppresses
    }
  }

  /// A check that was made.
  public enum Made: Sendable, Equatable {
    /// Its place among those of the record.
    case written(Int)
    /// It passed, and looked at nothing that says more.
    case passed(String)
  }

  /// The checks that were made, in order.
  public static func made(_ written: [Written], _ facts: Facts) -> [Made] {
    guard !written.isEmpty, !written.contains(where: \.isPlain) else { return written.indices.map { .written($0) } }
    var made: [Made] = []
    var next = 0
    for step in steps {
      if next < written.count, written[next].name == step.reason {
        made.append(.written(next))
        next += 1
        if written[next - 1].suppresses { break }
      } else if step.isMade(facts) {
        made.append(.passed(step.reason))
      }
    }
    return made + (next..<written.count).map { .written($0) }
  }

  private struct Step {
    let reason: String
    /// Whether it is made where nothing suppressed before.
    let isMade: @Sendable (Facts) -> Bool

    init(_ reason: DecisionReason, _ isMade: @escaping @Sendable (Facts) -> Bool = { _ in true }) {
      self.init(name: reason.rawValue, isMade)
    }

    init(name: String, _ isMade: @escaping @Sendable (Facts) -> Bool) { (reason, self.isMade) = (name, isMade) }
  }

  /// Some are written only where they suppress, or always have inputs.
  private static let steps = [
    Step(.replayStopped) { $0.isReplay }, Step(.duplicate), Step(.withdrawn) { $0.isReplay },
    Step(.history) { _ in false },
    Step(.notificationsDisabled), Step(.conversationMuted), Step(.mutedSender) { _ in false }, Step(.alreadyRead),
    Step(.expired), Step(.activeConversation), Step(.level) { _ in false }, Step(.analysisLimit) { $0.hasAnalysis },
    Step(name: "priority") { $0.hasPriority }, Step(.quietHours), Step(.noDevice) { _ in false },
    Step(.replayLimit) { _ in false },
  ]
}

extension DecisionBody {
  /// All checks that were made, in order: those of the record, and those that passed with nothing to tell.
  public var allChecks: [Check] {
    let facts = CheckOrder.Facts(
      isReplay: replayId != nil, hasAnalysis: analysis != nil, hasPriority: priority != nil)
    let written = checks.map {
      CheckOrder.Written(name: $0.check, isPlain: $0.isNameOnly, suppresses: $0.result == .suppress)
    }
    return CheckOrder.made(written, facts).map { made in
      switch made {
      case .written(let place): checks[place]
      case .passed(let name): Check(check: name)
      }
    }
  }
}
