public import NudgeSchema

/// The header `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date in one of its three forms.
public enum RetryAfter: Sendable, Equatable {
  /// This many seconds.
  case seconds(Int64)
  /// Until this time.
  case date(Milliseconds)

  /// The longest wait taken from a server, a day. Longer ones are mistakes, and freshness ends earlier.
  public static let longestWait: Milliseconds = 86_400_000

  /// Reads a header's value; nil where it is neither.
  public init?(_ text: String) {
    let text = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
    let bytes = Array(text.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed())
    guard !bytes.isEmpty else { return nil }
    if bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that does not fit is still a long wait.
      self = .seconds(Int64(String(decoding: bytes, as: UTF8.self)) ?? .max)
    } else if let time = HTTPDate.milliseconds(bytes) {
      self = .date(time)
    } else {
      return nil
    }
  }

  /// The wait it asks for, in milliseconds from 0 to `longestWait`.
  public func wait(from now: Milliseconds) -> Milliseconds {
    switch self {
    case .seconds(let seconds): min(seconds, Self.longestWait / 1000) * 1000
    case .date(let time): min(max(time.subtractingReportingOverflow(now).partialValue, 0), Self.longestWait)
    }
  }
}

/// HTTP dates (RFC 9110, 5.6.7): the form that servers must send, and the two obsolete ones that recipients must accept.
public enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let shortDays: Set<String> = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays: Set<String> = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// Milliseconds since the epoch; nil where the bytes are not an HTTP date.
  public static func milliseconds(_ bytes: [UInt8]) -> Milliseconds? {
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: true)
    switch words.count {
    case 6:  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
      guard words[0].hasSuffix(","), shortDays.contains(String(words[0].dropLast())), words[5] == "GMT",
        words[1].utf8.count == 2, words[3].utf8.count == 4
      else { return nil }
      return time(day: words[1], month: words[2], year: number(words[3]), clock: words[4])
    case 4:  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())), words[3] == "GMT",
        date.count == 3, date[0].utf8.count == 2, date[2].utf8.count == 2, let twoDigits = number(date[2])
      else { return nil }
      // Two digits: 70–99 are 19xx, as when the form was in use.
      return time(
        day: date[0], month: date[1], year: twoDigits < 70 ? 2000 + twoDigits : 1900 + twoDigits, clock: words[2])
    case 5:  // asctime: Sun Nov  6 08:49:37 1994
      guard shortDays.contains(String(words[0])), words[4].utf8.count == 4 else { return nil }
      return time(day: words[2], month: words[1], year: number(words[4]), clock: words[3])
    default: return nil
    }
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func time(day: Substring, month: Substring, year: Int?, clock: Substring) -> Milliseconds? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard let day = number(day), let month = months.firstIndex(of: String(month)), let year, year >= 1900,
      parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }), parts.allSatisfy({ number($0) != nil })
    else { return nil }
    func pad(_ value: Int, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    // RFC 3339's parser checks the calendar and the ranges.
    return RFC3339.milliseconds("\(pad(year, 4))-\(pad(month + 1, 2))-\(pad(day, 2))T\(clock)Z")
  }
}
