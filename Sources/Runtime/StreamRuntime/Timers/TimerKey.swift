import NudgeSchema

/// The row key of a timer: `@timer`, the due time as 16 hexadecimal digits, and the name. Timers sort by due time, and before the rows
/// of stages, whose keys start with a letter.
struct TimerKey: Hashable, Comparable {
  /// The due time in milliseconds since the epoch; at least 0.
  let due: Milliseconds
  /// The stage's name for the timer.
  let name: String
  let row: RowKey

  private static let prefix = Array("@timer\u{0}".utf8)
  private static let digits = Array("0123456789abcdef".utf8)
  private static let headerLength = prefix.count + 16 + 1

  /// A key after all timers.
  static let end = RowKey(bytes: Array("@timer\u{1}".utf8))

  /// The key of a timer. A due time before the epoch becomes 0.
  init(due: Milliseconds, name: String) {
    self.due = max(0, due)
    self.name = name
    var bytes = Self.prefix
    bytes.reserveCapacity(Self.headerLength + name.utf8.count)
    for shift in stride(from: 60, through: 0, by: -4) { bytes.append(Self.digits[Int(self.due >> shift & 15)]) }
    bytes.append(0)
    bytes.append(contentsOf: name.utf8)
    row = RowKey(bytes: bytes)
  }

  /// The timer of a row; nil: the row is not a timer.
  init?(row: RowKey) {
    guard Self.isTimer(row), row.bytes.count >= Self.headerLength else { return nil }
    let digits = row.bytes[Self.prefix.count..<(Self.headerLength - 1)]
    guard let due = Milliseconds(String(decoding: digits, as: UTF8.self), radix: 16), due >= 0 else { return nil }
    self.due = due
    name = String(decoding: row.bytes[Self.headerLength...], as: UTF8.self)
    self.row = row
  }

  static func isTimer(_ row: RowKey) -> Bool { row.bytes.starts(with: prefix) }

  static func == (a: TimerKey, b: TimerKey) -> Bool { a.row == b.row }
  func hash(into hasher: inout Hasher) { hasher.combine(row) }
  /// By due time, then by name.
  static func < (a: TimerKey, b: TimerKey) -> Bool { a.row < b.row }
}
