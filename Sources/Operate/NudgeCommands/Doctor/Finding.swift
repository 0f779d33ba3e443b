/// The result of one check.
struct Finding: Encodable, Equatable {
  enum Weight: String, Encodable {
    /// As it should be.
    case good
    /// It works, but could be better or surprise someone.
    case notice
    /// It does not work, or will fail.
    case problem
  }
  var weight: Weight
  /// The subject, such as `topics`.
  var subject: String
  var text: String
  /// How to fix it; nil if there is nothing to fix.
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

  /// One line for a person, and a second with the fix.
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
