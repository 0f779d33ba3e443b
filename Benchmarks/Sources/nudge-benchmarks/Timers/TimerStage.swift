import NudgeSchema
import StreamRuntime

/// Sets as many timers as a record says, and does nothing when they are due.
struct TimerStage: Stage {
  /// There are no rows but timers.
  struct Row: StateRow {
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) {}
    func encoded(coder: RecordCoder) -> [UInt8] { [] }
  }

  static let definition = StageDefinition(
    name: "timer", inputs: [.timeline], outputs: [.timeline], changelog: .analyzerState, timers: .timeline)

  /// What a record asks for.
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
      // Over the whole span in no order: each goes to another place among those that wait.
      let place = (Int64(number) &* 2_654_435_761 &+ record.offset &* 40_503) % max(order.spread, 1)
      try step.setTimer(
        "t/\(record.offset)/\(number)", due: step.now + order.delay + abs(place), key: "key", eventId: "event",
        origin: Origin(record.position), source: record.position)
    }
  }
}
