public import NudgeSchema

/// The owner of a token (T2). The token's hash is in the row's key.
public struct OwnerRow: Sendable, Equatable, Codable {
  public struct Owner: Sendable, Equatable, Codable {
    public internal(set) var userId: String
    /// The device, as that person's registration named it.
    public internal(set) var deviceId: String

    init(userId: String, deviceId: String) {
      self.userId = userId
      self.deviceId = deviceId
    }

    /// Bytes, not canonical equivalence.
    public static func == (a: Owner, b: Owner) -> Bool {
      sameId(a.userId, b.userId) && sameId(a.deviceId, b.deviceId)
    }

    private enum CodingKeys: String, CodingKey {
      case userId = "u"
      case deviceId = "d"
    }
  }

  /// The owner; nil: the token was given up.
  public internal(set) var owner: Owner?
  /// The last registration's.
  public internal(set) var stamp: EventStamp
  /// The last registration's. Each registration raises it, to the registration's time if that is more. So versions do not start again if the
  /// row is lost, and a prune meant for an older registration does not match.
  public internal(set) var version: Int64
  /// When the timer is due that looks whether the token was registered since (T5); nil: no timer is set.
  public internal(set) var timerAt: Milliseconds?

  init(owner: Owner?, stamp: EventStamp, version: Int64, timerAt: Milliseconds? = nil) {
    self.owner = owner
    self.stamp = stamp
    self.version = version
    self.timerAt = timerAt
  }

  private enum CodingKeys: String, CodingKey {
    case owner = "o"
    case stamp = "s"
    case version = "v"
    case timerAt = "t"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    owner = try fields.decodeIfPresent(Owner.self, forKey: .owner)
    stamp = try fields.decodeStamp(forKey: .stamp)
    version = try fields.decode(Int64.self, forKey: .version)
    timerAt = try fields.decodeIfPresent(Milliseconds.self, forKey: .timerAt)
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(owner, forKey: .owner)
    try fields.encodeStamp(stamp, forKey: .stamp)
    try fields.encode(version, forKey: .version)
    try fields.encodeIfPresent(timerAt, forKey: .timerAt)
  }
}
