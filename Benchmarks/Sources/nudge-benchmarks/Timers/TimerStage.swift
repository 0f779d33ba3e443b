import NudgeSchema
import StreamRuntime

/// Sets the number of timers that a record names, and does nothing when they are due.
struct TimerStage: Stage {
  /// The stage has no rows besides timers.
  struct Row: StateRow {
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) {}
    func encoded(coder: RecordCoder, at level: FormatLevel) -> [UInt8] { [] }
  }

  static let definition = StageDefinition(
    name: "timer", inputs: [.timeline], outputs: [.timeline], changelog: .analyzerState, timers: .timeline)

  /// The contents of a record.
  struct Order: Codable {
    var timers: Int
    /// When the first is due, after the record is processed, and over how long they are spread; in milliseconds.
    var delay: Milliseconds
    var spread: Milliseconds
  }

  func process(_ record: InputRecord, in step: Step<Self>) throws {
    guard let value = record.value else { throw Rejection(.schemaViolation, "no value") }
    if record.header(RecordHeader.timer) != nil { return }
    let order = try step.coder.decode(Order.self, from: value)
    for number in 0..<order.timers {
      // Spread over the whole span in random order, so that each is inserted in another place.
      let place = (Int64(number) &* 2_654_435_761 &+ record.offset &* 40_503) % max(order.spread, 1)
      try step.setTimer(
        "t/\(record.offset)/\(number)", due: step.now + order.delay + abs(place), key: "key", eventId: "event",
        origin: Origin(record.position), source: record.position)
    }
  }
}
