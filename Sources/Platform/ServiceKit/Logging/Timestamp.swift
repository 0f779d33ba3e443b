/// RFC 3339 in UTC with milliseconds, without Foundation's formatters: those cost more than the rest of a log line.
enum Timestamp {
  /// `2026-01-31T23:59:59.123Z` of milliseconds since the epoch.
  static func format(_ milliseconds: Int64) -> String {
    let (days, inDay) = floorDivide(milliseconds, 86_400_000)
    let (year, month, day) = civil(days)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let hours = padded(inDay / 3_600_000, 2)
    let minutes = padded(inDay / 60_000 % 60, 2)
    let seconds = padded(inDay / 1_000 % 60, 2)
    return "\(date)T\(hours):\(minutes):\(seconds).\(padded(inDay % 1_000, 3))Z"
  }

  /// The Gregorian date of a day counted from 1970-01-01. Eras of 400 years, years that begin in March, so that the leap day is the last.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return digits.count >= width ? digits : String(repeating: "0", count: width - digits.count) + digits
  }
}
