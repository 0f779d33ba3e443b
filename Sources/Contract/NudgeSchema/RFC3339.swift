/// Times as producers may write them: RFC 3339, e.g. `2026-11-21T15:40:00.250Z` or with an offset.
public enum RFC3339 {
  /// The time in milliseconds since the epoch; nil if the text is not an RFC 3339 time. Further digits of a fraction
  /// are cut. A leap second (`:60`) counts as the following second.
  public static func milliseconds(_ text: String) -> Milliseconds? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.digits(4), scanner.accept("-"), let month = scanner.digits(2), scanner.accept("-"),
      let day = scanner.digits(2), scanner.accept("T") || scanner.accept("t") || scanner.accept(" "),
      let hour = scanner.digits(2), scanner.accept(":"), let minute = scanner.digits(2), scanner.accept(":"),
      let second = scanner.digits(2),
      (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var milliseconds: Int64 = 0
    if scanner.accept(".") {
      guard let fraction = scanner.fraction() else { return nil }
      milliseconds = fraction
    }
    var offset: Int64 = 0
    if !scanner.accept("Z") && !scanner.accept("z") {
      let sign: Int64
      if scanner.accept("+") { sign = 1 } else if scanner.accept("-") { sign = -1 } else { return nil }
      guard let hours = scanner.digits(2), scanner.accept(":"), let minutes = scanner.digits(2), hours < 24,
        minutes < 60
      else { return nil }
      offset = sign * (hours * 60 + minutes)
    }
    guard scanner.atEnd else { return nil }
    let days = daysSinceEpoch(year: year, month: month, day: day)
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    return seconds * 1000 + milliseconds
  }

  /// The time in UTC with milliseconds, as logs and output show it.
  public static func text(_ time: Milliseconds) -> String {
    let (day, rest) = time.flooredDivision(by: 86_400_000)
    let (year, month, dayOfMonth) = civil(daysSinceEpoch: day)
    func pad(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    // Only a broken clock names a year outside RFC 3339. The text is still unique for each time.
    return (year < 0 ? "-" : "")
      + "\(pad(abs(year), 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2))T\(pad(rest / 3_600_000, 2))"
      + ":\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1000 % 60, 2)).\(pad(rest % 1000, 3))Z"
  }

  /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar. Years begin in March here, so that the leap
  /// day is the last; 400 years have 146,097 days.
  static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shifted.flooredDivision(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The inverse of `daysSinceEpoch`.
  static func civil(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private struct Scanner {
    let bytes: [UInt8]
    var index = 0

    var atEnd: Bool { index == bytes.count }

    mutating func accept(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
      index += 1
      return true
    }

    mutating func digit() -> Int64? {
      guard index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { return nil }
      defer { index += 1 }
      return Int64(bytes[index] - UInt8(ascii: "0"))
    }

    mutating func digits(_ count: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// Reads one or more digits after the point, as milliseconds.
    mutating func fraction() -> Int64? {
      guard let first = digit() else { return nil }
      var value = first * 100
      var scale: Int64 = 10
      while let next = digit() {
        value += next * scale
        scale /= 10
      }
      return value
    }
  }
}

extension Int64 {
  /// The quotient rounded towards minus infinity, and the remainder, which is never negative.
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    // `quotientAndRemainder` rounds towards zero. Subtracting from `self` first could overflow for the least value.
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
