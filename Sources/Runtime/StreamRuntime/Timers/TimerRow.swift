import NudgeSchema

/// What is kept of a timer beside its key: what `timer.fired` will say of its cause.
struct TimerRow: Codable, Equatable {
  /// The key of the record.
  var key: String
  /// The name of the event that set it.
  var eventId: String
  /// The record that set it.
  var origin: Origin
  /// The chat or user event at the beginning.
  var source: RecordPosition

  /// The record to be written to the stage's own input once the timer is due. It says in a header which timer it is of:
  /// the runtime needs no look into the value.
  func fired(_ timer: TimerKey, to topic: Topic, partition: Int32, coder: RecordCoder) throws -> OutputRecord {
    let event = DerivedEvent(
      Envelope(eventId: eventId, occurredAt: timer.due), origin: origin, source: source,
      TimelineEventBody.timerFired(TimerFired(timer: timer.name, dueAt: timer.due)))
    return OutputRecord(
      topic: topic, partition: partition, key: Array(key.utf8), value: try coder.encode(event),
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
  /// The timer a record was fired by; nil where it says nothing of one.
  init?(firedBy record: InputRecord) {
    guard !record.headers.isEmpty, let header = record.header(RecordHeader.timer),
      let space = header.firstIndex(of: UInt8(ascii: " ")),
      let due = Milliseconds(String(decoding: header[..<space], as: UTF8.self))
    else { return nil }
    self.init(due: due, name: String(decoding: header[(space + 1)...], as: UTF8.self))
  }
}
