import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// A row of the dispatcher's state.
///
/// | key | row |
/// |---|---|
/// | `d`, userId, deviceId | `RecipientDeviceRow`: the last push taken for the device; stays |
/// | `w`, userId U+0001 deviceId | `LaneRow`: the pushes that wait for the device; exists only while some do, so that a scan below `w` finds all work when a task begins |
/// | `o`, userId, deviceId, number | `OverflowRow`: further pushes that wait |
public struct DispatcherRow: StateRow, Equatable {
  /// Indirect, because a row is passed on several times for each push.
  indirect enum Content: Sendable, Equatable {
    case device(RecipientDeviceRow)
    case lane(LaneRow)
    case overflow(OverflowRow)
  }
  var content: Content

  init(_ content: Content) { self.content = content }

  /// Reads a row of the kind in its key.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    switch key.bytes.first {
    case UInt8(ascii: "d"): content = .device(try RecipientDeviceRow(bytes: bytes))
    case UInt8(ascii: "w"): content = .lane(try LaneRow(bytes: bytes))
    case UInt8(ascii: "o"): content = .overflow(try OverflowRow(bytes: bytes))
    default:
      throw StoreFailure(
        operation: "read a row of the dispatcher",
        reason: "no row begins with \"\(key.parts[0].prefix(8))\"; the store or changelog is another stage's")
    }
  }

  public func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
    switch content {
    case .device(let row): try row.packed(at: level)
    case .lane(let row): try row.packed(at: level, capacity: 1_024)
    case .overflow(let row): try row.packed(at: level, capacity: 8_192)
    }
  }

  /// The row as JSON with sorted keys, for people to read.
  public func json(coder: RecordCoder) throws -> [UInt8] {
    switch content {
    case .device(let row): try coder.encode(row)
    case .lane(let row): try coder.encode(row)
    case .overflow(let row): try coder.encode(row)
    }
  }
}

/// A device, whether or not pushes wait for it.
struct RecipientDeviceRow: Encodable, Sendable, Equatable {
  /// The cause of the last push added to the lane. Causes of a device only increase, so a push with an earlier or equal cause is a repeat.
  var lastCause: Origin?
  /// A token that FCM assigns to another sender. Nothing is sent to it.
  var quarantined: Quarantine?
  /// A token that the person no longer owns. Nothing is sent to it (T2).
  var revoked: Quarantine?
  /// What FCM may still store for the device. Absent if that cannot be known, or if the device is not Android.
  var unconfirmed: Unconfirmed?

  /// Whether a push with this cause or a later one was already added.
  func hasTaken(_ cause: Origin) -> Bool {
    guard let last = lastCause else { return false }
    return last.isComparable(to: cause) && !cause.isLater(than: last)
  }

  /// Records a push. A later registration ends the exclusion of an earlier one's token.
  mutating func take(_ cause: Origin, _ target: PushTarget) {
    lastCause = cause
    if let quarantine = quarantined, quarantine.version != target.version { quarantined = nil }
    if let former = revoked, former.version < target.version { revoked = nil }
  }

  struct Quarantine: Encodable, Sendable, Equatable {
    var tokenHash: String
    /// A later registration ends it, even one of the same token.
    var version: Int64

    /// Whether it applies to a target.
    func covers(_ target: PushTarget, hash: (String) -> String) -> Bool {
      target.version <= version && hash(target.address) == tokenHash
    }
  }
}

/// The first pushes of a lane.
struct LaneRow: Encodable, Sendable, Equatable {
  /// Pushes are added to a row up to this encoded size. A single push may take more, but never more than a row may.
  static let fillBytes = 12 * 1024
  /// About the bytes of its pushes. Overflow rows are not read for it.
  var approximateBytes: Int {
    items.reduce((endOverflow - firstOverflow) * Self.fillBytes) { $0 + $1.approximateBytes }
  }

  /// In order; never empty.
  var items: [WaitingPush]
  /// The number of pushes in the lane, including those in overflow rows.
  var count: Int
  /// The number of the first overflow row.
  var firstOverflow = 0
  /// One above the number of the last overflow row. Equal to `firstOverflow` if there are none.
  var endOverflow = 0
}

/// The pushes after those in the lane's row.
struct OverflowRow: Encodable, Sendable, Equatable {
  /// In order; never empty.
  var items: [WaitingPush]
}

extension RecipientDeviceRow: PackedRow, PackedFields {
  static let name: StaticString = "device"
  /// Version 2 added revoked tokens, 3 unconfirmed pushes.
  static var versions: RowVersions { RowVersions(3) }
  static var blank: Self { Self() }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&lastCause)
    try row.optional(&quarantined)
    try row.optional(&revoked)
    try row.optional(&unconfirmed)
  }
}

extension RecipientDeviceRow.Quarantine: PackedFields {
  static var blank: Self { Self(tokenHash: "", version: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&tokenHash)
    try row.field(&version)
  }
}

extension LaneRow: PackedRow, PackedFields {
  static let name: StaticString = "lane"
  static var versions: RowVersions { WaitingPush.rowVersions }
  static var blank: Self { Self(items: [], count: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&count)
    try row.field(&firstOverflow)
    try row.field(&endOverflow)
    try row.field(&items)
  }
}

extension OverflowRow: PackedRow, PackedFields {
  static let name: StaticString = "overflow"
  static var versions: RowVersions { WaitingPush.rowVersions }
  static var blank: Self { Self(items: []) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) { try row.field(&items) }
}

extension DispatcherStage {
  /// How its tasks are split: rows belong to a person, and waiting pushes move with their lanes.
  public static let splitRules = SplitRules(home: { key, _ in try DispatcherRow.home(of: key) })
}

extension DispatcherRow {
  /// The task to which a row belongs when there are more tasks than before.
  static func home(of key: RowKey) throws -> RowHome {
    let parts = key.parts
    switch (parts[0], parts.count) {
    case ("d", 3), ("o", 4): return .taskOf(parts[1])
    case ("w", 2): return .taskOf(String(decoding: DeviceKey(lane: key).userBytes, as: UTF8.self))
    default:
      throw StoreFailure(
        operation: "move a row of the dispatcher",
        reason: "its key is of no kind this version knows; was the state written by a newer version?")
    }
  }
}

/// A device of a person, stored as the key of its lane row: one allocation per lane, however often it is referred to.
struct DeviceKey: Sendable, Hashable {
  /// `w`, NUL, user id, U+0001, device id.
  let lane: RowKey

  /// The prefix of all lane rows.
  static let allLanes = RowKey("w")
  /// Separates user id and device id. Ids have no control characters, and a lane's key must have exactly two parts.
  private static let separator: UInt8 = 1

  init(userId: String, deviceId: String) { lane = RowKey("w", userId + "\u{1}" + deviceId) }

  /// The key of a lane row that was read.
  init(lane: RowKey) { self.lane = lane }

  /// The first key of a person's lanes, and the first key after them.
  static func lanes(of userId: String) -> (first: RowKey, end: RowKey) {
    let person = RowKey("w", userId).bytes
    return (RowKey(bytes: person + [separator]), RowKey(bytes: person + [separator + 1]))
  }

  private var separatorIndex: Int { lane.bytes.firstIndex(of: Self.separator) ?? lane.bytes.count }

  var userBytes: ArraySlice<UInt8> { lane.bytes[2..<separatorIndex] }

  var deviceId: String { String(decoding: lane.bytes[(separatorIndex + 1)...], as: UTF8.self) }

  /// The key of the device's own row.
  var device: RowKey { RowKey(bytes: parts(of: "d")) }

  func overflow(_ number: Int) -> RowKey { RowKey(bytes: parts(of: "o") + [0] + Array(String(number).utf8)) }

  /// Kind, user id and device id as three parts.
  private func parts(of kind: Unicode.Scalar) -> [UInt8] {
    var bytes = lane.bytes
    bytes[0] = UInt8(ascii: kind)
    bytes[separatorIndex] = 0
    return bytes
  }
}

/// Stores a large value behind a pointer. The semantics stay the same: copies share the value until one of them changes it.
///
/// A push has some thirty fields. A lane copies it several times, and each copy would count the references of all texts.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
  /// `@unchecked Sendable` is safe because the value changes only while nobody else refers to it.
  private final class Box: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(wrappedValue: Value) { box = Box(wrappedValue) }

  var wrappedValue: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

extension Boxed: Equatable where Value: Equatable {
  static func == (a: Self, b: Self) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Boxed: Encodable where Value: Encodable {
  func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension Boxed: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: wrappedValue) }
}

extension Boxed: PackedValue where Value: PackedValue {
  init(packed row: inout RowReader) throws(RowFormatError) { self.init(wrappedValue: try Value(packed: &row)) }

  func pack(into row: inout RowWriter) { wrappedValue.pack(into: &row) }
}

extension Step<DispatcherStage> {
  /// The row of a device. Empty if nothing is known of it.
  func deviceRow(_ key: DeviceKey) throws -> RecipientDeviceRow {
    guard case .device(let row)? = try row(key.device)?.content else { return RecipientDeviceRow() }
    return row
  }
}
