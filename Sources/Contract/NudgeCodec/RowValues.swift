public import NudgeSchema

extension String: PackedValue {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) { self = try row.text() }

  @inlinable
  public func pack(into row: inout RowWriter) { row.text(self) }
}

extension Int: PackedValue {}
extension Int32: PackedValue {}
extension Int64: PackedValue {}

extension PackedValue where Self: FixedWidthInteger & SignedInteger {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) {
    guard let value = Self(exactly: try row.signed()) else {
      throw row.error("a number has more than \(Self.bitWidth) bits")
    }
    self = value
  }

  @inlinable
  public func pack(into row: inout RowWriter) { row.signed(Int64(self)) }
}

extension UInt32: PackedValue {}
extension UInt64: PackedValue {}

extension PackedValue where Self: FixedWidthInteger & UnsignedInteger {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(truncatingIfNeeded: try row.unsigned())
  }

  @inlinable
  public func pack(into row: inout RowWriter) { row.unsigned(UInt64(self)) }
}

/// Packs a Bool as a byte. As a field of a row, `flag` takes a bit.
extension Bool: PackedValue {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) { self = try row.byte() != 0 }

  @inlinable
  public func pack(into row: inout RowWriter) { row.byte(self ? 1 : 0) }
}

extension Array: PackedValue where Element: PackedValue {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self = try ListForm(PlainForm<Element>()).read(from: &row)
  }

  @inlinable
  public func pack(into row: inout RowWriter) { ListForm(PlainForm<Element>()).write(self, into: &row) }
}

/// Packs a byte that says whether the value is present, then the value. As a field of a row, `optional` takes a bit in place of the byte.
extension Optional: PackedValue where Wrapped: PackedValue {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self = try Bool(packed: &row) ? try Wrapped(packed: &row) : nil
  }

  @inlinable
  public func pack(into row: inout RowWriter) {
    (self != nil).pack(into: &row)
    if let self { self.pack(into: &row) }
  }
}

/// An enum whose values are packed by their index. Add new cases at the end.
public protocol PackedChoice: PackedValue, CaseIterable, Equatable where AllCases == [Self] {}

extension PackedChoice {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) { self = try row.choice(of: Self.allCases) }

  @inlinable
  public func pack(into row: inout RowWriter) { row.choice(self, of: Self.allCases) }
}

extension Activity.State: PackedChoice {}
extension AnalysisFallback: PackedChoice {}
extension Attachment.Kind: PackedChoice {}
extension BadgeMode: PackedChoice {}
extension ConversationKind: PackedChoice {}
extension DecisionReason: PackedChoice {}
extension NotificationLevel: PackedChoice {}
extension Platform: PackedChoice {}
extension Presentation: PackedChoice {}
extension Priority: PackedChoice {}
extension Push.Kind: PackedChoice {}

extension EventStamp: PackedValue {
  /// To read into.
  public static var blank: Self { EventStamp(occurredAt: 0, eventId: "") }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(occurredAt: try row.signed(), eventId: try row.text())
  }

  public func pack(into row: inout RowWriter) {
    row.signed(occurredAt)
    row.text(eventId)
  }
}

extension Origin: PackedValue {
  /// To read into.
  public static var blank: Self { Origin(topic: "", partition: 0, offset: 0) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    let (topic, place, offset, index) = (try row.text(), try row.place(), try row.signed(), try row.signed())
    self.init(
      topic: topic, partition: place.partition, offset: offset,
      index: index == 0 ? nil : Int32(truncatingIfNeeded: index < 0 ? index : index - 1),
      generation: place.generation)
  }

  public func pack(into row: inout RowWriter) {
    row.text(topic)
    // The generation is packed above the partition's 32 bits. Origins without a generation keep their former bytes, and a release that does
    // not know generations stops at an origin that has one.
    row.signed(generation.map { Int64(UInt32(bitPattern: partition)) | Int64($0) << 32 } ?? Int64(partition))
    row.signed(offset)
    // A nil index is packed as 0 and an index of 0 as 1: the two stay distinct, though they mean the same.
    row.signed(index.map { $0 < 0 ? Int64($0) : Int64($0) + 1 } ?? 0)
  }
}

extension RecordPosition: PackedValue {
  /// To read into.
  public static var blank: Self { RecordPosition(topic: "", partition: 0, offset: 0) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(topic: try row.text(), partition: try Int32(packed: &row), offset: try row.signed())
  }

  public func pack(into row: inout RowWriter) {
    row.text(topic)
    row.signed(Int64(partition))
    row.signed(offset)
  }
}

extension WebPushSubscription: PackedValue {
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(endpoint: try row.text(), p256dh: try row.text(), auth: try row.text())
  }

  public func pack(into row: inout RowWriter) {
    row.text(endpoint)
    row.text(p256dh)
    row.text(auth)
  }
}

extension SealingKeys: PackedValue {
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(p256dh: try row.text(), auth: try row.text())
  }

  public func pack(into row: inout RowWriter) {
    row.text(p256dh)
    row.text(auth)
  }
}

extension QuietHours: PackedValue {
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(start: try row.text(), end: try row.text(), timeZone: try String?(packed: &row))
  }

  public func pack(into row: inout RowWriter) {
    row.text(start)
    row.text(end)
    timeZone.pack(into: &row)
  }
}
