import NudgeSchema

extension StageDefinition {
  /// The input that levels are finalised by: one that only Nudge writes, so that no producer can.
  var levelInput: Topic? { inputs.first(where: \.isWrittenByNudgeOnly) }
}

extension FormatLevel {
  /// The level that a record finalises; nil: it finalises none. Such a record has no value, and the level in a header.
  init?(in record: InputRecord) {
    guard record.topic.isWrittenByNudgeOnly, let bytes = record.header(RecordHeader.level),
      let number = Int32(String(decoding: bytes, as: UTF8.self)), number >= 1
    else { return nil }
    self.init(number)
  }
}
