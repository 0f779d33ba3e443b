import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// A row of the dispatcher's state.
///
/// | key | row |
/// |---|---|
/// | `d`, userId, deviceId | `DeviceRow`: what was taken for the device last; stays |
/// | `w`, userId U+0001 deviceId | `LaneRow`: what waits for the device; there only while something does, so that one scan below `w` finds all work when a task begins |
/// | `o`, userId, deviceId, number | `OverflowRow`: what waits behind it |
public struct DispatcherRow: StateRow, Equatable {
  /// What a row holds. Indirect: a row is handed about several times a push.
  indirect enum Content: Sendable, Equatable {
    case device(DeviceRow)
    case lane(LaneRow)
    case overflow(OverflowRow)
  }
  var content: Content

  init(_ content: Content) { self.content = content }

  /// Reads a row; which it is, its key says.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    switch key.bytes.first {
    case UInt8(ascii: "d"): content = .device(try DeviceRow(bytes: bytes, coder: coder))
    case UInt8(ascii: "w"): content = .lane(try LaneRow(bytes: bytes, coder: coder))
    case UInt8(ascii: "o"): content = .overflow(try OverflowRow(bytes: bytes, coder: coder))
    default:
      throw StoreFailure(
        operation: "read a row of the dispatcher",
        reason: "no row begins with \"\(key.parts[0].prefix(8))\"; the store or changelog is another stage's")
    }
  }

  /// The row packed.
  public func encoded(coder: RecordCoder) throws -> [UInt8] {
    switch content {
    case .device(let row): row.packed()
    case .lane(let row): row.packed(capacity: 1_024)
    case .overflow(let row): row.packed(capacity: 8_192)
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

/// What is remembered of a device for good.
struct DeviceRow: Codable, Sendable, Equatable {
  /// The cause of the last push taken into the lane. For one device causes only rise: what is not after it is a repeat,
  /// whether it still waits or has ended.
  var lastCause: Origin?
  /// A token FCM called another sender's, by its hash; with it nothing is sent.
  var quarantined: Quarantine?
  /// A token the person no longer has there; with it nothing is sent (T2).
  var revoked: Quarantine?

  struct Quarantine: Codable, Sendable, Equatable {
    var tokenHash: String
    /// A later registration, even of the same token, ends it.
    var version: Int64

    /// Whether a target is meant by it.
    func covers(_ target: PushTarget, hash: (String) -> String) -> Bool {
      target.version <= version && hash(target.token) == tokenHash
    }
  }
}

/// What waits for a device, from the front.
struct LaneRow: Codable, Sendable, Equatable {
  /// The encoded size that waiting pushes fill a row up to; one alone may take more, but never more than a row may.
  static let fillBytes = 12 * 1024

  /// The first of the lane, in order; never empty.
  var items: [WaitingPush]
  /// All that wait, those in overflow rows included.
  var count: Int
  /// Numbers of the overflow rows: from this …
  var firstOverflow = 0
  /// … up to, without, this. Equal: there are none.
  var endOverflow = 0
}

/// What waits behind the lane's row.
struct OverflowRow: Codable, Sendable, Equatable {
  /// In order; never empty.
  var items: [WaitingPush]
}
