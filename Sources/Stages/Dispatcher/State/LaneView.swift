public import NudgeSchema
public import StreamRuntime

/// A person's lanes as operators may see them, without tokens and texts. Built from the rows of a changelog, in their order.
public struct LaneView: Sendable {
  /// A push that waits for a device.
  public struct Waiting: Sendable, Equatable, Encodable {
    public var pushId: String
    public var deviceId: String
    /// Requests made so far.
    public var attempts: Int
    /// A request was made, and no answer is recorded.
    public var isInAir: Bool
    /// When the first request was made, in milliseconds since the epoch.
    public var firstAttemptAt: Milliseconds?
    /// When the first of its failures was that its time budget counts from, in milliseconds since the epoch; nil: none counts.
    public var failingSince: Milliseconds?
    /// The earliest next request, in milliseconds since the epoch; 0: as soon as the lane is free.
    public var notBefore: Milliseconds
    /// The end of its freshness, in milliseconds since the epoch.
    public var expiresAt: Milliseconds
    /// The HTTP status of the last answer.
    public var httpStatus: Int?
    /// The error code of the last answer.
    public var errorCode: String?

    public init(
      pushId: String, deviceId: String, attempts: Int, isInAir: Bool, firstAttemptAt: Milliseconds?,
      failingSince: Milliseconds? = nil, notBefore: Milliseconds, expiresAt: Milliseconds, httpStatus: Int?,
      errorCode: String?
    ) {
      self.pushId = pushId
      self.deviceId = deviceId
      self.attempts = attempts
      self.isInAir = isInAir
      self.firstAttemptAt = firstAttemptAt
      self.failingSince = failingSince
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

  /// A person's lanes, before any row was taken.
  public init(userId: String) {
    self.userId = userId
    // A lane's key without the device id at its end.
    laneStart = DeviceKey(userId: userId, deviceId: "").lane.bytes
    overflows = RowKey("o", userId)
    devices = RowKey("d", userId)
  }

  /// Whether a row of the dispatcher's changelog belongs to the person.
  public func concerns(_ key: RowKey) -> Bool {
    key.bytes.starts(with: laneStart) || key.isBelow(overflows) || key.isBelow(devices)
  }

  /// Takes a row of the person; nil: it was removed. Throws where it cannot be read.
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

  /// Waiting pushes, in the order of each lane.
  public var waiting: [Waiting] {
    // A lane's own row ("w") comes before its overflow rows ("o").
    rows.sorted { Self.order($0.key) < Self.order($1.key) }.flatMap(\.value).map { item in
      Waiting(
        pushId: item.push.pushId, deviceId: item.target.deviceId, attempts: item.attempts, isInAir: item.inAir,
        firstAttemptAt: item.firstAttemptAt, failingSince: item.failingSince, notBefore: item.notBefore,
        expiresAt: item.push.expiresAt, httpStatus: item.httpStatus, errorCode: item.errorCode)
    }
  }

  private static func order(_ key: RowKey) -> (Int, RowKey) {
    (key.bytes.first == UInt8(ascii: "w") ? 0 : 1, key)
  }

  /// Devices whose token belongs to another sender, as FCM says: nothing is sent to them before they register again.
  public var quarantined: [String] { quarantinedDevices.compactMap(\.parts.last).sorted() }
}
