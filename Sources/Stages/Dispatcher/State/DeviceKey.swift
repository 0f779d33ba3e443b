import StreamRuntime

/// A device of a person, and the keys of its rows. Ids are compared as bytes, as keys are.
struct DeviceKey: Sendable, Hashable {
  let userId: String
  let deviceId: String
  /// The lane row's key, which stands for the device in memory.
  let lane: RowKey

  init(userId: String, deviceId: String) {
    self.userId = userId
    self.deviceId = deviceId
    // U+0001 because ids hold no control characters, and because the parts of this key must be two.
    lane = RowKey("w", userId + "\u{1}" + deviceId)
  }

  /// The row that stays.
  var device: RowKey { RowKey("d", userId, deviceId) }

  /// An overflow row.
  func overflow(_ number: Int) -> RowKey { RowKey("o", userId, deviceId, String(number)) }

  /// Below which all lane rows are.
  static let allLanes = RowKey("w")

  static func == (a: DeviceKey, b: DeviceKey) -> Bool { a.lane == b.lane }
  func hash(into hasher: inout Hasher) { lane.hash(into: &hasher) }
}
