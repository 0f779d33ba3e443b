public import NudgeSchema

/// Parts of rows that several stages have.
extension RowWriter {
  public mutating func stamp(_ stamp: EventStamp) {
    signed(stamp.occurredAt)
    text(stamp.eventId)
  }

  public mutating func origin(_ origin: Origin) {
    text(origin.topic)
    // Above the partition's 32 bits, so that origins without one are what they were, and an earlier release stops at one with it.
    signed(
      origin.generation.map { Int64(UInt32(bitPattern: origin.partition)) | Int64($0) << 32 } ?? Int64(origin.partition)
    )
    signed(origin.offset)
    // nil and 0 are two values, though they mean the same: 0 stands for nil.
    signed(origin.index.map { $0 < 0 ? Int64($0) : Int64($0) + 1 } ?? 0)
  }

  public mutating func position(_ position: RecordPosition) {
    text(position.topic)
    signed(Int64(position.partition))
    signed(position.offset)
  }

  /// One of an enum's values, by its number: new ones are added at the end.
  @inlinable
  public mutating func choice<Choice: Equatable>(_ choice: Choice, of choices: [Choice]) {
    byte(UInt8(choices.firstIndex(of: choice) ?? 0xFF))
  }
}

extension RowReader {
  public mutating func stamp() throws(RowFormatError) -> EventStamp {
    EventStamp(occurredAt: try signed(), eventId: try text())
  }

  public mutating func origin() throws(RowFormatError) -> Origin {
    let (topic, place, offset, index) = (try text(), try place(), try signed(), try signed())
    return Origin(
      topic: topic, partition: place.partition, offset: offset,
      index: index == 0 ? nil : Int32(truncatingIfNeeded: index < 0 ? index : index - 1),
      generation: place.generation)
  }

  public mutating func position() throws(RowFormatError) -> RecordPosition {
    RecordPosition(topic: try text(), partition: try signed32(), offset: try signed())
  }
}

/// The fields that a row has, one bit each: the lowest for the first field.
public struct RowFlags {
  public private(set) var bits: UInt64
  private var next: UInt64 = 1

  public init(bits: UInt64 = 0) { self.bits = bits }

  /// Notes the next field.
  public mutating func add(_ isSet: Bool) {
    if isSet { bits |= next }
    next <<= 1
  }

  /// The next field's.
  public mutating func take() -> Bool {
    defer { next <<= 1 }
    return bits & next != 0
  }
}
