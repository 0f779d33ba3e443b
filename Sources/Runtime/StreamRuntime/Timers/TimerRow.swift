public import NudgeSchema

/// A timer that is due, and what caused it.
public struct DueTimer: Sendable {
  /// The stage's name of the timer.
  public let name: String
  /// When it is due, in milliseconds since the epoch.
  public let due: Milliseconds
  /// The id of the event that set it.
  public let eventId: String
  /// The record that set it.
  public let origin: Origin
  /// The chat or user event at the beginning.
  public let source: RecordPosition
}

/// The row of a timer, beside its key.
struct TimerRow: Codable, Equatable {
  /// The key of the record that fires.
  var key: String
  var eventId: String
  var origin: Origin
  var source: RecordPosition

  func due(_ timer: TimerKey) -> DueTimer {
    DueTimer(name: timer.name, due: timer.due, eventId: eventId, origin: origin, source: source)
  }

  /// The record for the stage's own input once the timer is due. A header names the timer, so the runtime need not read the value.
  func record(of timer: TimerKey, value: [UInt8], to topic: Topic, partition: Int32) -> OutputRecord {
    OutputRecord(
      topic: topic, partition: partition, key: Array(key.utf8), value: value,
      headers: [RecordHeaderField(RecordHeader.timer, "\(timer.due) \(timer.name)")])
  }
}

extension TimerRow {
  /// Reads a row of a store.
  /// - Throws: `StoreFailure`, which ends the thread: the row is damaged or of a later release.
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
  /// The timer that a record belongs to, by its header; nil: the record is not a timer's.
  init?(firedBy record: InputRecord) {
    guard !record.headers.isEmpty, let header = record.header(RecordHeader.timer),
      let space = header.firstIndex(of: UInt8(ascii: " ")),
      let due = Milliseconds(String(decoding: header[..<space], as: UTF8.self))
    else { return nil }
    self.init(due: due, name: String(decoding: header[(space + 1)...], as: UTF8.self))
  }
}
