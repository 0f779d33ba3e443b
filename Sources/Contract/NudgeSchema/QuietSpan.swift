public import Foundation

/// Quiet hours as minutes of the day (D2): from start inclusive to end exclusive, over midnight where the end is before
/// the start. Start and end alike: none.
public struct QuietSpan: Sendable, Equatable {
  /// The first minute of the day, 0 to 1,439.
  public var start: Int
  /// The minute of the day it ends at, exclusive, 0 to 1,439.
  public var end: Int

  /// nil: not `HH:MM`.
  public init?(_ hours: QuietHours) {
    guard let start = Self.minutes(hours.start), let end = Self.minutes(hours.end) else { return nil }
    self.start = start
    self.end = end
  }

  /// Whether the span contains a minute of the day, 0 to 1,439.
  public func contains(_ minute: Int) -> Bool {
    start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// The minute of the day a person's clock shows. That clock is all quiet hours look at: an hour that daylight saving
  /// skips is never reached, one that it repeats counts twice.
  public static func minuteOfDay(_ time: Milliseconds, in zone: TimeZone) -> Int {
    let seconds = Int64((Double(time) / 1000).rounded(.down))
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let secondOfDay = (seconds + Int64(offset)) % 86_400
    return Int((secondOfDay + 86_400) % 86_400 / 60)
  }

  /// The minute of the day as `HH:MM`.
  public static func text(_ minute: Int) -> String {
    func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(pad(minute / 60)):\(pad(minute % 60))"
  }

  /// The minute of the day of `HH:MM`; nil: it is not that.
  public static func minutes(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 48 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }
}

/// Time zones by their names. Making one reads its rules from the system, so that they are kept.
public struct TimeZones: Sendable {
  /// More than there are IANA names.
  static let maxKept = 1_000
  /// Where nobody named a zone.
  public static let utc = TimeZone(secondsFromGMT: 0) ?? .gmt

  private var zones: [String: TimeZone] = [:]

  /// None read yet.
  public init() {}

  /// The zone of an IANA name; nil: there is none. No name is UTC.
  public mutating func zone(named name: String?) -> TimeZone? {
    guard let name else { return Self.utc }
    if let zone = zones[name] { return zone }
    guard let zone = TimeZone(identifier: name) else { return nil }
    if zones.count >= Self.maxKept { zones.removeAll() }
    zones[name] = zone
    return zone
  }
}
