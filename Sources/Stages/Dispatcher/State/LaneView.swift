public import NudgeSchema
public import StreamRuntime

/// What of a person's lanes may be shown to people: no token and no text. Made of the rows of a changelog, in their order.
public struct LaneView: Sendable {
  /// A push that waits for a device.
  public struct Waiting: Sendable, Equatable, Encodable {
    /// The push.
    public var pushId: String
    /// The device.
    public var deviceId: String
    /// Requests made for it so far.
    public var attempts: Int
    /// A request was made and its answer has not come, for what is known.
    public var isInAir: Bool
    /// When the first request was made, in milliseconds since the epoch.
    public var firstAttemptAt: Milliseconds?
    /// Not sent (again) before this, in milliseconds since the epoch; 0: as soon as the lane is free.
    public var notBefore: Milliseconds
    /// Not sent after this, in milliseconds since the epoch.
    public var expiresAt: Milliseconds
    /// The last answer's status.
    public var httpStatus: Int?
    /// The last answer's code.
    public var errorCode: String?

    /// A push that waits.
    public init(
      pushId: String, deviceId: String, attempts: Int, isInAir: Bool, firstAttemptAt: Milliseconds?,
      notBefore: Milliseconds, expiresAt: Milliseconds, httpStatus: Int?, errorCode: String?
    ) {
      self.pushId = pushId
      self.deviceId = deviceId
      self.attempts = attempts
      self.isInAir = isInAir
      self.firstAttemptAt = firstAttemptAt
      self.notBefore = notBefore
      self.expiresAt = expiresAt
      self.httpStatus = httpStatus
      self.errorCode = errorCode
    }
  }

  private let userId: String
  private let laneStart: [UInt8]
  private let overflows: RowKey
  private let devices: RowKey
  private var rows: [RowKey: [WaitingPush]] = [:]
  private var quarantinedDevices: Set<RowKey> = []

  /// The lanes of a person of whom nothing is known yet.
  public init(userId: String) {
    self.userId = userId
    // Of the person's lanes all but the device's id, which ends the key.
    laneStart = DeviceKey(userId: userId, deviceId: "").lane.bytes
    overflows = RowKey("o", userId)
    devices = RowKey("d", userId)
  }

  /// Whether a row of the dispatcher's changelog is one of the person's.
  public func concerns(_ key: RowKey) -> Bool {
    key.bytes.starts(with: laneStart) || key.isBelow(overflows) || key.isBelow(devices)
  }

  /// Takes a row of the person's; nil: it was removed. Throws where it cannot be read.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    rows[key] = nil
    quarantinedDevices.remove(key)
    guard let bytes else { return }
    switch try DispatcherRow(key: key, bytes: bytes, coder: coder).content {
    case .lane(let row): rows[key] = row.items
    case .overflow(let row): rows[key] = row.items
    case .device(let row): if row.quarantined != nil { quarantinedDevices.insert(key) }
    }
  }

  /// What waits, in the order of each lane.
  public var waiting: [Waiting] {
    // A lane's own row ("w") stands before its overflow ("o").
    rows.sorted { Self.order($0.key) < Self.order($1.key) }.flatMap(\.value).map { item in
      Waiting(
        pushId: item.push.pushId, deviceId: item.target.deviceId, attempts: item.attempts, isInAir: item.inAir,
        firstAttemptAt: item.firstAttemptAt, notBefore: item.notBefore, expiresAt: item.push.expiresAt,
        httpStatus: item.httpStatus, errorCode: item.errorCode)
    }
  }

  private static func order(_ key: RowKey) -> (Int, RowKey) {
    (key.bytes.first == UInt8(ascii: "w") ? 0 : 1, key)
  }

  /// Devices whose token FCM called another sender's: nothing is sent to them before they register again.
  public var quarantined: [String] { quarantinedDevices.compactMap(\.parts.last).sorted() }
}
