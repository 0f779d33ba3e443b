import StreamRuntime

/// A device of a person, held as the key of its lane row: one allocation a lane, whatever else refers to it.
struct DeviceKey: Sendable, Hashable {
  /// `w`, NUL, user id, U+0001, device id.
  let lane: RowKey

  /// Below which all lane rows are.
  static let allLanes = RowKey("w")
  /// Between user id and device id: ids hold no control characters, and a lane's key must have exactly two parts.
  private static let separator: UInt8 = 1

  init(userId: String, deviceId: String) { lane = RowKey("w", userId + "\u{1}" + deviceId) }

  /// The key of a lane row that was read.
  init(lane: RowKey) { self.lane = lane }

  /// The first key of a person's lanes, and the first key behind them.
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
