import NudgeSchema

/// Tells what changed between examinations, for `nudge doctor --watch`.
struct DoctorWatch {
  /// A finding that appeared, or a subject that is well again.
  enum Change: Equatable {
    case appeared(Finding)
    case ended(subject: String, Finding.Weight)

    /// One line for a person, and one with the fix.
    var shown: String {
      switch self {
      case .appeared(let finding): finding.shown
      case .ended(let subject, let weight): "ok       \(subject): the \(weight.rawValue) is over"
      }
    }
  }

  /// Figures in a text change from one examination to the next: the fix tells findings of one subject apart.
  private struct Name: Hashable {
    var subject: String
    var weight: Finding.Weight
    var mend: String?
  }

  private var known: [Name: Finding] = [:]

  /// The changes since the last examination. Good findings are not told.
  mutating func changes(_ findings: [Finding]) -> [Change] {
    var current: [Name: Finding] = [:]
    var changes: [Change] = []
    for finding in findings where finding.weight != .good {
      let name = Name(subject: finding.subject, weight: finding.weight, mend: finding.mend)
      if known[name] == nil, current[name] == nil { changes.append(.appeared(finding)) }
      current[name] = finding
    }
    // Without a broker the rest is not examined: what was found there is not over.
    let isCutShort = findings.contains { $0.subject == "brokers" && $0.weight == .problem }
    for (name, finding) in known.sorted(by: { $0.key.subject < $1.key.subject })
    where current[name] == nil {
      if isCutShort {
        current[name] = finding
      } else {
        changes.append(.ended(subject: name.subject, name.weight))
      }
    }
    known = current
    return changes
  }
}

/// The exit codes of `nudge doctor`, for probes.
enum DoctorExit {
  /// Nothing to do.
  static let well: Int32 = 0
  /// A problem.
  static let problem: Int32 = 1
  /// No broker answers: nothing is known of the rest.
  static let unknown: Int32 = 2
  /// Notices, and `--fail-on notice`.
  static let notice: Int32 = 3

  /// The code of an examination.
  static func code(_ findings: [Finding], failsOnNotice: Bool) -> Int32 {
    if findings.contains(where: { $0.subject == "brokers" && $0.weight == .problem }) {
      return unknown
    }
    if findings.contains(where: { $0.weight == .problem }) { return problem }
    return failsOnNotice && findings.contains { $0.weight == .notice } ? notice : well
  }
}
