public import NudgeCodec
import NudgeSchema

extension PersonDeviceRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "device"

  /// Version 2 added signs of life, 3 apps that draw, 4 subscriptions and keys to seal with.
  public static var versions: RowVersions { RowVersions(4) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    token = flags.take() ? try row.text() : nil
    projectId = flags.take() ? try row.text() : nil
    appVersion = flags.take() ? try row.text() : nil
    locale = flags.take() ? try row.text() : nil
    timerAt = flags.take() ? try row.signed() : nil
    aliveAt = flags.take() ? try row.signed() : nil
    // Since version 3.
    renders = flags.take() ? flags.take() : nil
    // Since version 4.
    if flags.take() {
      webPush = WebPushSubscription(endpoint: try row.text(), p256dh: try row.text(), auth: try row.text())
    }
    if flags.take() { sealing = SealingKeys(p256dh: try row.text(), auth: try row.text()) }
    tokenHash = try row.text()
    version = try row.signed()
    platform = try row.choice(of: Platform.allCases)
    registeredAt = try row.signed()
    lastSeenAt = try row.signed()
    stamp = try row.stamp()
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(token != nil)
    flags.add(projectId != nil)
    flags.add(appVersion != nil)
    flags.add(locale != nil)
    flags.add(timerAt != nil)
    flags.add(aliveAt != nil)
    flags.add(renders != nil)
    if let renders { flags.add(renders) }
    flags.add(webPush != nil)
    flags.add(sealing != nil)
    row.unsigned(flags.bits)
    if let token { row.text(token) }
    if let projectId { row.text(projectId) }
    if let appVersion { row.text(appVersion) }
    if let locale { row.text(locale) }
    if let timerAt { row.signed(timerAt) }
    if let aliveAt { row.signed(aliveAt) }
    if let webPush {
      row.text(webPush.endpoint)
      row.text(webPush.p256dh)
      row.text(webPush.auth)
    }
    if let sealing {
      row.text(sealing.p256dh)
      row.text(sealing.auth)
    }
    row.text(tokenHash)
    row.signed(version)
    row.choice(platform, of: Platform.allCases)
    row.signed(registeredAt)
    row.signed(lastSeenAt)
    row.stamp(stamp)
  }
}
