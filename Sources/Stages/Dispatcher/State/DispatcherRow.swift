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

  /// Reads a row; its key says of which kind.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    switch key.bytes.first {
    case UInt8(ascii: "d"): content = .device(try RecipientDeviceRow(bytes: bytes, coder: coder))
    case UInt8(ascii: "w"): content = .lane(try LaneRow(bytes: bytes, coder: coder))
    case UInt8(ascii: "o"): content = .overflow(try OverflowRow(bytes: bytes, coder: coder))
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

  /// The row as JSON with sorted keys, for people.
  public func json(coder: RecordCoder) throws -> [UInt8] {
    switch content {
    case .device(let row): try coder.encode(row)
    case .lane(let row): try coder.encode(row)
    case .overflow(let row): try coder.encode(row)
    }
  }
}

/// A device, whether or not pushes wait for it.
struct RecipientDeviceRow: Codable, Sendable, Equatable {
  /// The cause of the last push taken into the lane. Causes of a device only increase: a push with an earlier or equal cause is
  /// a repeat.
  var lastCause: Origin?
  /// A token that belongs to another sender, as FCM says; nothing is sent with it.
  var quarantined: Quarantine?
  /// A token that the person no longer owns; nothing is sent with it (T2).
  var revoked: Quarantine?
  /// What FCM may still hold for it; nil: nothing can be known, or the device is of another system.
  var unconfirmed: Unconfirmed?

  /// Whether a push with this cause, or with a later one, was taken before.
  func hasTaken(_ cause: Origin) -> Bool {
    guard let last = lastCause else { return false }
    return last.isComparable(to: cause) && !cause.isLater(than: last)
  }

  /// Notes a push. A later registration ends what applied to the token of an earlier one.
  mutating func take(_ cause: Origin, _ target: PushTarget) {
    lastCause = cause
    if let quarantine = quarantined, quarantine.version != target.version { quarantined = nil }
    if let former = revoked, former.version < target.version { revoked = nil }
  }

  struct Quarantine: Codable, Sendable, Equatable {
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
struct LaneRow: Codable, Sendable, Equatable {
  /// Pushes are added to a row up to this encoded size. A single push may take more, but no more than a row may.
  static let fillBytes = 12 * 1024

  /// In order; never empty.
  var items: [WaitingPush]
  /// All pushes of the lane, those in overflow rows included.
  var count: Int
  /// The number of the first overflow row.
  var firstOverflow = 0
  /// One above the number of the last overflow row. Equal to `firstOverflow`: there are none.
  var endOverflow = 0
}

/// Pushes behind those of the lane's row.
struct OverflowRow: Codable, Sendable, Equatable {
  /// In order; never empty.
  var items: [WaitingPush]
}
