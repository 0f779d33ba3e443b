import Foundation
import NudgeSchema

/// A replay's id: the time it began, and six random characters.
enum ReplayID {
  private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")

  /// A new id, such as `20261122-103000-k3f9x2`.
  static func make(now: Milliseconds, using random: inout some RandomNumberGenerator) -> String {
    let digits = RFC3339.text(now).filter { $0.isNumber }
    let tail = (0..<6).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
    return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(6))-\(String(tail))"
  }

  /// Whether a text is an id: it becomes part of headers and of a transactional id.
  static func isValid(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 122) || $0 == 45 }
  }

  /// User and host of this process, for the audit.
  static func whoRuns(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    "\(environment["USER"] ?? environment["LOGNAME"] ?? "unknown")@\(ProcessInfo.processInfo.hostName)"
  }
}
