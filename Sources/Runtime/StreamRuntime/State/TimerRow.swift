public import NudgeSchema

/// A due timer and its cause.
public struct DueTimer: Sendable {
  /// The stage's name of the timer.
  public let name: String
  /// When it is due, in milliseconds since the epoch.
  public let due: Milliseconds
  /// The id of the event that set it.
  public let eventId: String
  /// The record that set it.
  public let origin: Origin
  /// The chat or user event that started the chain.
  public let source: RecordPosition
}

/// The row of a timer, beside its key.
struct TimerRow: Codable, Equatable {
  /// The key of the `timer.fired` record.
  var key: String
  var eventId: String
  var origin: Origin
  var source: RecordPosition

  func due(_ timer: TimerKey) -> DueTimer {
    DueTimer(name: timer.name, due: timer.due, eventId: eventId, origin: origin, source: source)
  }

  /// The record for the stage's own input when the timer is due. A header names the timer, so that the runtime need not read the value.
  func record(of timer: TimerKey, value: [UInt8], to topic: Topic, partition: Int32) -> OutputRecord {
    OutputRecord(
      topic: topic, partition: partition, key: Array(key.utf8), value: value,
      headers: [RecordHeaderField(RecordHeader.timer, "\(timer.due) \(timer.name)")])
  }
}

extension TimerRow {
  /// Reads a row of a store.
  /// - Throws: `StoreFailure`, which ends the thread, for a row that is damaged or of a later release.
  init(_ bytes: [UInt8], store: some RowStore, coder: RecordCoder) throws(StoreFailure) {
    do {
      self = try coder.decode(TimerRow.self, from: bytes)
    } catch {
      store.suspectDamage()
      throw StoreFailure(
        operation: "read a timer",

        reason: "it is damaged, or of a later release: run the release that wrote it, or a later one")
    }
  }
}

extension TimerKey {
  /// The timer to which a record belongs, by its header. Fails for a record that is not a timer's.
  init?(firedBy record: InputRecord) {
    guard !record.headers.isEmpty, let header = record.header(RecordHeader.timer),
      let space = header.firstIndex(of: UInt8(ascii: " ")),
      let due = Milliseconds(String(decoding: header[..<space], as: UTF8.self))
    else { return nil }
    self.init(due: due, name: String(decoding: header[(space + 1)...], as: UTF8.self))
  }
}

/// The row key of a timer: `@timer`, the due time as 16 hexadecimal digits, and the name. Timers sort by due time. They come before
/// the rows of stages, whose keys begin with a letter.
struct TimerKey: Hashable, Comparable {
  /// The due time in milliseconds since the epoch, at least 0.
  let due: Milliseconds
  /// The stage's name for the timer.
  let name: String
  let row: RowKey

  private static let prefix = Array("@timer\u{0}".utf8)
  private static let digits = Array("0123456789abcdef".utf8)
  private static let headerLength = prefix.count + 16 + 1

  /// A key after all timers.
  static let end = RowKey(bytes: Array("@timer\u{1}".utf8))

  /// Makes the key of a timer. A due time before the epoch becomes 0.
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

  /// The timer of a row. Fails for a row that is not a timer.
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
  /// Orders by due time, then by name.
  static func < (a: TimerKey, b: TimerKey) -> Bool { a.row < b.row }
}
