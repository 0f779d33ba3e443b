/// What an examination found of one thing.
struct Finding: Encodable, Equatable {
  /// How bad it is.
  enum Weight: String, Encodable {
    /// As it should be.
    case good
    /// It works, and could be better or surprise somebody.
    case notice
    /// It does not work, or will not.
    case problem
  }
  var weight: Weight
  /// What was looked at, such as `topics`.
  var subject: String
  /// What was found.
  var text: String
  /// What to do about it; nil where there is nothing to do.
  var mend: String?

  static func good(_ subject: String, _ text: String) -> Finding {
    Finding(weight: .good, subject: subject, text: text)
  }

  static func notice(_ subject: String, _ text: String, mend: String) -> Finding {
    Finding(weight: .notice, subject: subject, text: text, mend: mend)
  }

  static func problem(_ subject: String, _ text: String, mend: String) -> Finding {
    Finding(weight: .problem, subject: subject, text: text, mend: mend)
  }

  /// For a person: a line, and one with the mend.
  var shown: String {
    let mark =
      switch weight {
      case .good: "ok      "
      case .notice: "notice  "
      case .problem: "PROBLEM "
      }
    return "\(mark) \(subject): \(text)" + (mend.map { "\n         → \($0)" } ?? "")
  }
}
