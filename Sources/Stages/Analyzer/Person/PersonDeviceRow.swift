public import NudgeCodec
public import NudgeSchema
import StreamRuntime

/// How a device of a person is reached. It stays, without token and subscription, when the device is lost, until a token's lifetime after it was
/// heard of last: so that an older registration that comes late does not bring it back.
public struct PersonDeviceRow: Encodable, Sendable, Equatable, PushAddressed {
  /// Bytes of token, subscription, keys, app version, locale and project together: keeps the row within its bound, however they are escaped.
  static let maxBytes = 6_500

  /// FCM's registration token; nil: the device has a subscription, or is lost.
  public internal(set) var token: String?
  /// The subscription in place of a token; nil as well: the device is lost.
  public internal(set) var webPush: WebPushSubscription?
  /// Keys beside a token: texts go sealed.
  public internal(set) var sealing: SealingKeys?
  /// Stands for token or endpoint in records and logs (T4).
  var tokenHash: String
  /// The claim's version: of one token, the greater is the later.
  var version: Int64
  var platform: Platform
  var projectId: String?
  var appVersion: String?
  var locale: String?
  /// When this token was registered by this version (T5).
  var registeredAt: Milliseconds
  /// When the device was last heard of, to the day (T5).
  var lastSeenAt: Milliseconds
  /// When the timer of this device is due that asks whether it was heard of since (T5); nil: none is set.
  var timerAt: Milliseconds?
  /// When the device was last heard of, to some seconds; nil: its app never reports what arrives.
  var aliveAt: Milliseconds?
  /// true: the app draws notifications itself, from data alone.
  var renders: Bool?
  /// The last registration or sign-out: of different tokens, the later wins (D12).
  var stamp: EventStamp

  /// Whether a push can go to it.
  var isReachable: Bool { token != nil || webPush != nil }

  /// The latest time of anything known of it.
  var lastEventAt: Milliseconds { max(lastSeenAt, stamp.occurredAt) }
}

extension PersonDeviceRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "device"
  /// Version 2 added signs of life, 3 apps that draw, 4 subscriptions and keys to seal with.
  public static var versions: RowVersions { RowVersions(4) }
  public static var blank: Self {
    Self(tokenHash: "", version: 0, platform: .android, registeredAt: 0, lastSeenAt: 0, stamp: .blank)
  }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&token)
    try row.optional(&projectId)
    try row.optional(&appVersion)
    try row.optional(&locale)
    try row.optional(&timerAt)
    try row.optional(&aliveAt)
    // Since version 3.
    row.optionalFlag(&renders)
    // Since version 4.
    try row.optional(&webPush)
    try row.optional(&sealing)
    try row.field(&tokenHash)
    try row.field(&version)
    try row.field(&platform)
    try row.field(&registeredAt)
    try row.field(&lastSeenAt)
    try row.field(&stamp)
  }
}

/// A person's rows that only some decisions read.
struct PersonRows {
  let userId: String
  private let step: Step<AnalyzerStage>

  init(userId: String, step: Step<AnalyzerStage>) {
    self.userId = userId
    self.step = step
  }

  func device(_ deviceId: String) throws -> PersonDeviceRow? {
    if case .device(let row) = try step.row(AnalyzerRow.deviceKey(userId, deviceId)) { return row }
    return nil
  }

  /// The devices that a push can go to, whether there are some that have not been heard of for too long (T5), and the locale of the one
  /// registered last that has one.
  func reachable(
    _ devices: [String], at now: Milliseconds, _ rules: AnalyzerRules, except excluded: [String] = []
  ) throws -> (targets: [PushTarget], hasExpired: Bool, locale: String?) {
    var targets: [PushTarget] = []
    targets.reserveCapacity(devices.count)
    var hasExpired = false
    var locale = LastLocale()
    for deviceId in devices {
      guard let row = try device(deviceId), let target = PushTarget(deviceId, row) else { continue }
      locale.take(row)
      if now - row.lastSeenAt > rules.tokenLifetime {
        hasExpired = true
      } else if !excluded.contains(where: { sameId($0, deviceId) }) {
        targets.append(target)
      }
    }
    return (targets, hasExpired, locale.locale)
  }

  /// The locale of the device registered last that can be reached and has one; nil: none has.
  func locale(_ devices: [String]) throws -> String? {
    var locale = LastLocale()
    for deviceId in devices {
      if let row = try device(deviceId), row.isReachable { locale.take(row) }
    }
    return locale.locale
  }

  private struct LastLocale {
    private(set) var locale: String?
    private var registeredAt = Milliseconds.min

    mutating func take(_ row: PersonDeviceRow) {
      guard let locale = row.locale, row.registeredAt > registeredAt else { return }
      (self.locale, registeredAt) = (locale, row.registeredAt)
    }
  }

  /// How often a replay notified the person.
  func notifications(byReplay replayId: String) throws -> Int {
    try ReplayBudget.row(RowKey("r", replayId, userId), in: step)?.notifications ?? 0
  }
}

extension PushTarget {
  /// A device as a push names it; nil: it is lost.
  init?(_ deviceId: String, _ row: PersonDeviceRow) {
    guard row.isReachable else { return nil }
    self.init(
      deviceId: deviceId, token: row.token, webPush: row.webPush, sealing: row.sealing, version: row.version,
      platform: row.platform, projectId: row.token == nil ? nil : row.projectId,
      seenAt: row.aliveAt, renders: row.platform == .android ? row.renders : nil)
  }
}
