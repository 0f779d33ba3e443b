import NudgeSchema
import ServiceKit
import StreamRuntime

extension AnalyzerRules {
  /// The hash of a token or an endpoint as ingest and dispatcher compute it: the first 32 hexadecimal digits of its
  /// SHA-256.
  func tokenHash(_ token: String) -> String { Hexadecimal.encode(hash(Array(token.utf8)).prefix(16)) }
}

extension PersonContext {
  /// `lastSeenAt` changes only if it rises by at least this, so that not every report writes the row.
  private static let seenStep: Milliseconds = 86_400_000

  /// `device.registered`: the claim was granted (T1, T2).
  ///
  /// Of the same token the higher version wins. Of different tokens of one device the later event wins.
  mutating func gain(_ gained: DeviceGained) throws {
    let keys = [gained.webPush?.p256dh, gained.webPush?.auth, gained.sealing?.p256dh, gained.sealing?.auth]
    let size = ([gained.address, gained.appVersion, gained.locale, gained.projectId] + keys).reduce(0) {
      $0 + ($1?.utf8.count ?? 0)
    }
    guard size <= PersonDeviceRow.maxBytes else {
      throw Rejection(
        .tooLarge,
        "token or endpoint, keys, appVersion, locale and projectId take \(size) bytes; at most \(PersonDeviceRow.maxBytes) can be kept"
      )
    }
    let hash = rules.tokenHash(gained.address)
    let stamp = cause.stamp
    let before = try device(gained.deviceId)
    if let before {
      guard before.tokenHash == hash ? before.version < gained.version : before.stamp < stamp else { return }
    }
    var row = PersonDeviceRow(
      token: gained.token, webPush: gained.webPush, sealing: gained.sealing, tokenHash: hash, version: gained.version,
      platform: gained.platform, projectId: gained.projectId, appVersion: gained.appVersion, locale: gained.locale,
      registeredAt: cause.happenedAt, lastSeenAt: max(cause.happenedAt, before?.lastSeenAt ?? .min),
      timerAt: before?.timerAt, aliveAt: before?.aliveAt.map { max($0, step.now) }, renders: gained.renders,
      stamp: max(stamp, before?.stamp ?? stamp))
    // A timer that is already set stays. When it fires, it checks when the device was last active.
    if row.timerAt == nil { try setTimer(of: gained.deviceId, &row) }
    try set(row, for: gained.deviceId)
    // Pushes that wait for the device go to its new address, encrypted with its new keys.
    if let before, before.tokenHash != hash || before.isReachable && !before.hasAddress(of: row),
      let target = PushTarget(gained.deviceId, row)
    {
      try emit(.cancelled(PushCancelled(userId: userId, deviceId: gained.deviceId, target: target)))
    }
    // This registration has not received a badge yet.
    if before?.tokenHash != hash || before?.isReachable != true { user.toldBadge = nil }
    if !user.devices.contains(where: { sameId($0, gained.deviceId) }) { user.devices.append(gained.deviceId) }
    while user.hasTooManyDevices { try dropDeviceNotSeenForLongest() }
    // A catch-up that waited for a device is made at once. The app is open and shows it as a list.
    if user.hasMissed == true, user.catchUpAt == nil { try armCatchUp(at: step.now) }
  }

  /// `device.unregistered`: the person signed out, or the token has another owner now (T2).
  mutating func lose(_ lost: DeviceLost) throws {
    guard var row = try device(lost.deviceId), row.tokenHash == lost.tokenHash, row.version <= lost.version else {
      return
    }
    row.version = lost.version
    if lost.cause == .signedOut { row.stamp = max(row.stamp, cause.stamp) }
    // The pushes that wait go to the device's new token.
    try drop(lost.deviceId, row, cancelling: lost.cause != .tokenReplaced)
  }

  /// `device.invalidated`: the push service does not know the token or subscription. It applies only if the device has
  /// not registered again since (T3).
  mutating func invalidate(_ invalidated: DeviceInvalidated) throws {
    guard let row = try device(invalidated.deviceId), row.tokenHash == invalidated.tokenHash,
      row.version == invalidated.version
    else { return }
    try drop(invalidated.deviceId, row)
  }

  /// The device was active: updates the time, to the day (T5).
  func see(_ deviceId: String) throws {
    guard var row = try device(deviceId), row.isReachable else { return }
    let before = row
    if row.lastSeenAt + Self.seenStep <= cause.happenedAt { row.lastSeenAt = cause.happenedAt }
    if let aliveAt = row.aliveAt, aliveAt + Self.aliveStep <= step.now { row.aliveAt = step.now }
    if row != before { try set(row, for: deviceId) }
  }

  /// The device reported a push, however old, so it is on, and its app sends reports (P12).
  func confirm(_ deviceId: String, _ device: PersonDeviceRow) throws {
    guard device.platform == .android, device.isReachable,
      device.aliveAt.map({ $0 + Self.aliveStep <= step.now }) ?? true
    else { return }
    var row = device
    row.aliveAt = step.now
    try set(row, for: deviceId)
  }

  /// The precision of a sign of life in milliseconds. It limits the writes for a device that reports often.
  private static let aliveStep: Milliseconds = 10_000

  /// Sets the timer that drops a device that was inactive for too long and removes its row, even if no push goes to it
  /// (T5).
  private func setTimer(of deviceId: String, _ row: inout PersonDeviceRow) throws {
    // One millisecond more, because a device is dropped only after the lifetime.
    let due = row.lastEventAt + rules.tokenLifetime + 1
    row.timerAt = due
    try step.setTimer(
      PersonTimer.device(id: deviceId).name(of: userId), due: due, key: userId, eventId: cause.envelope.eventId,
      origin: cause.ownOrigin,
      source: cause.source)
  }

  /// `timer.fired`: drops the device unless it was active since the timer was set.
  mutating func deviceTimerFired(_ fired: TimerFired, _ deviceId: String) throws {
    guard var row = try device(deviceId), row.timerAt == fired.dueAt else { return }
    guard step.now - row.lastEventAt > rules.tokenLifetime else {
      try setTimer(of: deviceId, &row)
      return try set(row, for: deviceId)
    }
    try drop(deviceId, row)
    // A later record of a registration that is older than this one would be refused as too old.
    try step.remove(AnalyzerRow.deviceKey(userId, deviceId))
    try step.remove(AnalyzerRow.receiptsKey(userId, deviceId))
  }

  /// The devices that a push goes to. Devices that were inactive for too long are dropped (T5).
  mutating func targets(except excluded: [String] = []) throws -> [PushTarget] {
    let (targets, hasExpired, _) = try rows.reachable(user.devices, at: step.now, rules, except: excluded)
    guard hasExpired else { return targets.map { marked($0) } }
    for deviceId in user.devices {
      guard let row = try device(deviceId), row.isReachable, step.now - row.lastSeenAt > rules.tokenLifetime else {
        continue
      }
      try drop(deviceId, row)
    }
    return targets.map { marked($0) }
  }

  /// A push's target. A browser is marked if its app was in the foreground at the record's time.
  func marked(_ target: PushTarget) -> PushTarget {
    guard target.platform == .web else { return target }
    var target = target
    let isInForeground = user.activities.contains {
      $0.state == .foreground && cause.happenedAt - $0.stamp.occurredAt <= rules.reportHorizon
        && sameId($0.deviceId, target.deviceId)
    }
    target.foreground = isInForeground ? true : nil
    return target
  }

  /// The device can no longer be reached: removes its address and cancels its waiting pushes.
  private mutating func drop(_ deviceId: String, _ row: PersonDeviceRow, cancelling: Bool = true) throws {
    let wasReachable = row.isReachable && cancelling
    var row = row
    row.token = nil
    row.webPush = nil
    row.sealing = nil
    try set(row, for: deviceId)
    user.devices.removeAll { sameId($0, deviceId) }
    if wasReachable {
      try emit(
        .cancelled(
          PushCancelled(userId: userId, deviceId: deviceId, tokenHash: row.tokenHash, version: row.version)))
    }
  }

  private mutating func dropDeviceNotSeenForLongest() throws {
    var oldest: (deviceId: String, row: PersonDeviceRow)?
    for deviceId in user.devices {
      guard let row = try device(deviceId) else { continue }
      if oldest.map({ row.lastSeenAt < $0.row.lastSeenAt }) ?? true { oldest = (deviceId, row) }
    }
    guard let oldest else { return user.devices.removeAll() }
    try drop(oldest.deviceId, oldest.row)
  }
}

extension UserRow {
  fileprivate var hasTooManyDevices: Bool {
    devices.count > Self.maxDevices || devices.reduce(0) { $0 + $1.utf8.count } > Self.maxDeviceIdBytes
  }
}
