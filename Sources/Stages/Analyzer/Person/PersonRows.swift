import NudgeSchema
import StreamRuntime

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
