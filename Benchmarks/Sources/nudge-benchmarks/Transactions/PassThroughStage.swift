import NudgeSchema
import StreamRuntime

/// A minimal stage with state: each record becomes one output and the row of its key.
struct PassThroughStage: Stage {
  /// The value of the key's last record.
  struct Row: StateRow {
    var value: [UInt8]

    init(value: [UInt8]) { self.value = value }
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) { value = [UInt8](bytes) }
    func encoded(coder: RecordCoder, at level: FormatLevel) -> [UInt8] { value }
  }

  static let definition = StageDefinition(
    name: "pass-through", inputs: [.timeline], outputs: [.decisions], changelog: .analyzerState)

  let probe: StreamProbe

  mutating func process(_ record: InputRecord, in step: Step<Self>) throws {
    guard let key = record.key, let value = record.value else { throw Rejection(.missingKey, "no key or value") }
    probe.recordProcessed()
    let name = String(decoding: key, as: UTF8.self)
    let rowKey = RowKey("k", name)
    // Read before it is written, as a stage does.
    guard try step.row(rowKey)?.value.count ?? value.count > 0 else { throw Rejection(.schemaViolation, "empty") }
    try step.set(Row(value: value), for: rowKey)
    try step.emit(bytes: value, to: .decisions, key: name, partition: record.partition)
  }
}
