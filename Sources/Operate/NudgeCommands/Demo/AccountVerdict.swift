import NudgeSchema

/// Whether everything is accounted for, check by check.
struct AccountVerdict: Sendable, Equatable, Encodable {
  /// One equation of the account.
  struct Check: Sendable, Equatable, Encodable {
    /// What must be equal.
    var name: String
    /// How many there must be.
    var expected: Int
    /// How many there are.
    var found: Int
    /// Whether it holds; equal numbers of unequal things do not.
    var ok: Bool
    /// The first few that make it fail.
    var missing: [String]
  }

  /// How the processes of a run have ended.
  struct Ending: Sendable, Equatable {
    /// Processes that ran.
    var processes = 0
    /// Those that ended with status 0 when they were asked to.
    var endedWell = 0
    /// What is wrong with the others.
    var complaints: [String] = []
  }

  /// The equations, in the order of the data's way.
  var checks: [Check]

  /// Whether all hold.
  var isBalanced: Bool { checks.allSatisfy(\.ok) }

  /// Entries of `missing` at most.
  static let shown = 5

  /// Draws up the account.
  /// - Parameters:
  ///   - wasDispatcherKilled: requests that no outcome tells of are then accounted for: they were in flight.
  ///   - ending: nil where nothing has ended yet.
  init(
    _ account: Account, load: EventPublisher.Progress, wasDispatcherKilled: Bool, ending: Ending? = nil
  ) {
    checks = []
    add(
      "events published = acknowledged", load.produced, load.acknowledged, load.failure.map { [$0] } ?? [])
    add(
      "recipients of published messages = recipients of candidates", account.expected, account.candidates,
      account.withoutCandidate(Self.shown))
    add(
      "recipients of candidates = decisions", account.candidates, account.decisions,
      account.withoutDecision(Self.shown))
    add(
      "decisions that notify = pushes of messages", account.notifying.decided, account.notifying.pushed,
      account.withoutPush(Self.shown))
    add("targets of pushes = outcomes", account.targets, account.outcomes, account.withoutOutcome(Self.shown))
    let sent = account.outcomesByResult[.sent] ?? 0
    let unrecorded = account.unrecorded
    let answered = account.requestsByStatus[200] ?? 0
    if account.seesRequests {
      add(
        wasDispatcherKilled && unrecorded > 0
          ? "outcomes sent + requests in flight at a kill = requests answered 200"
          : "outcomes sent = requests answered 200",
        sent + (wasDispatcherKilled ? unrecorded : 0), answered,
        account.withoutRequest(Self.shown) + (wasDispatcherKilled ? [] : account.withUnrecordedRequest(Self.shown))
          + account.strangers.prefix(Self.shown))
    }
    add("records written twice", 0, account.doubled.count, Array(account.doubled.prefix(Self.shown)))
    let dead = account.deadLetters.values.reduce(0, +)
    add(
      "dead letters", 0, dead, account.deadLetters.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })
    if let ending {
      add("processes that ended well", ending.processes, ending.endedWell, ending.complaints)
    }
  }

  private mutating func add(_ name: String, _ expected: Int, _ found: Int, _ missing: [String]) {
    checks.append(
      Check(name: name, expected: expected, found: found, ok: expected == found && missing.isEmpty, missing: missing))
  }

  /// The reasons why it is not balanced, a line each.
  var complaints: [String] {
    checks.filter { !$0.ok }.map { check in
      "\(check.name): expected \(check.expected), found \(check.found)"
        + check.missing.map { "\n    \($0)" }.joined()
    }
  }

  /// For a person: a line a check.
  func lines(_ paint: Paint) -> [String] {
    checks.map { check in
      let (expected, found) = (DemoView.grouped(check.expected), DemoView.grouped(check.found))
      return "  \(check.ok ? paint.green("✓") : paint.red("✗")) \(check.name): "
        + (check.ok ? found : "expected \(expected), found \(found)")
    }
  }

  private enum CodingKeys: String, CodingKey { case balanced, checks }

  /// `{"balanced":…,"checks":[…]}`.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(isBalanced, forKey: .balanced)
    try fields.encode(checks, forKey: .checks)
  }
}
