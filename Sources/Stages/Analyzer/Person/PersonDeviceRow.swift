public import NudgeCodec
public import NudgeSchema
import StreamRuntime

/// The address of one of a person's devices. When the device is lost, by a sign-out or otherwise, the row loses its token and subscription.
/// It stays for a token's lifetime after the device was last active, so that a late record of an older registration does not bring it back.
public struct PersonDeviceRow: Encodable, Sendable, Equatable, PushAddressed {
  /// The most bytes of token, subscription, keys, app version, locale and project together.
  static let maxBytes = 6_500

  /// FCM's registration token; absent for a device with a subscription, and after the device was lost.
  public internal(set) var token: String?
  /// The Web Push subscription; absent for a device with a token, and after the device was lost.
  public internal(set) var webPush: WebPushSubscription?
  /// The keys for which texts of pushes through FCM are encrypted; absent if the device registered none.
  public internal(set) var sealing: SealingKeys?
  /// The hash of the token or endpoint, for records and logs (T4).
  var tokenHash: String
  /// The claim's version. Between two records of one token, the higher version is the later.
  var version: Int64
  var platform: Platform
  var projectId: String?
  var appVersion: String?
  var locale: String?
  /// When this version registered this token (T5).
  var registeredAt: Milliseconds
  /// When the device was last active, to the day (T5).
  var lastSeenAt: Milliseconds
  /// When the timer is due that removes an inactive device (T5); absent if none is set.
  var timerAt: Milliseconds?
  /// When the device last gave a sign of life, to ten seconds. Absent until an Android device reports a push.
  var aliveAt: Milliseconds?
  /// Whether the app draws notifications itself, from data messages; absent if the registration does not say.
  var renders: Bool?
  /// The newest registration or sign-out. Between different tokens, the later event wins (D12).
  var stamp: EventStamp

  /// Whether pushes can be sent to the device.
  var isReachable: Bool { token != nil || webPush != nil }

  /// When the device was last active, registered or signed out.
  var lastEventAt: Milliseconds { max(lastSeenAt, stamp.occurredAt) }
}

extension PersonDeviceRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "device"
  /// Version 2 added signs of life, 3 apps that draw notifications, 4 subscriptions and encryption keys.
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

/// The rows of a person that only some decisions read.
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

  /// The devices to which a push goes, without `excluded`. `hasExpired` says that some device has been inactive for too long (T5). `locale`
  /// is that of the reachable device that registered last among those with a locale.
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

  /// The locale of the reachable device that registered last among those with a locale; nil if no device has one.
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
  /// A device as the target of a push; nil if the device is lost.
  init?(_ deviceId: String, _ row: PersonDeviceRow) {
    guard row.isReachable else { return nil }
    self.init(
      deviceId: deviceId, token: row.token, webPush: row.webPush, sealing: row.sealing, version: row.version,
      platform: row.platform, projectId: row.token == nil ? nil : row.projectId,
      seenAt: row.aliveAt, renders: row.platform == .android ? row.renders : nil)
  }
}
