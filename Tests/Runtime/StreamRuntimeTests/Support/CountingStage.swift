import NudgeSchema

@testable import StreamRuntime

/// Counts the records of each key: the smallest stage whose outputs show whether its state was right.
struct CountingStage: Stage {
  struct Row: StateRow, Equatable {
    var count: Int

    init(count: Int) { self.count = count }
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
      guard let count = Int(String(decoding: bytes, as: UTF8.self)) else {
        throw StoreFailure(operation: "read a row", reason: "no number")
      }
      self.count = count
    }
    func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { Array(String(count).utf8) }
  }

  static let definition = StageDefinition(
    name: "counting", inputs: [.timeline], outputs: [.decisions, .timeline], changelog: .analyzerState,
    timers: .timeline)

  /// The value of a record that sets a timer, due this many milliseconds after the record. A rebuild sets the same one.
  static func timer(after delay: Milliseconds) -> String { "timer \(delay)" }

  static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      DerivedEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        TimelineEventBody.timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }

  func process(_ record: InputRecord, in step: Step<Self>) throws {
    guard let key = record.key, let value = record.value else { throw Rejection(.missingKey, "no key or value") }
    let name = String(decoding: key, as: UTF8.self)
    if value.first == UInt8(ascii: "{") {
      guard case .timerFired(let fired) = try step.coder.decode(TimelineEvent.self, from: value).body else {
        throw Rejection(.schemaViolation, "no timer.fired")
      }
      let late = step.now - fired.dueAt
      return try step.emit(
        bytes: Array("fired \(fired.timer) \(late) \(record.offset)".utf8), to: .decisions, key: name,
        partition: record.partition)
    }
    let rowKey = RowKey("k", name)
    let count = (try step.row(rowKey)?.count ?? 0) + 1
    try step.set(Row(count: count), for: rowKey)
    // Refused after the row was set: the step must be undone.
    if value.starts(with: Array("poison".utf8)) { throw Rejection(.schemaViolation, "poison") }
    let words = String(decoding: value, as: UTF8.self).split(separator: " ")
    if words.count == 2, words[0] == "timer", let delay = Milliseconds(words[1]) {
      try step.setTimer(
        "\(name)/\(record.offset)", due: record.timestamp + delay, key: name, eventId: "e\(record.offset)",
        origin: Origin(record.position), source: record.position)
    }
    try step.emit(
      bytes: Array("\(count) \(record.offset)".utf8), to: .decisions, key: name, partition: record.partition)
  }
}
