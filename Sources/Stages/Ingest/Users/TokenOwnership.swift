import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// The token's part (T2): a token has one owner at a time. One step informs both the former owner of the loss and the new one of the gain.
extension IngestStage {
  /// Processes a record of `nudge.device-claims`.
  mutating func processDeviceClaim(_ record: InputRecord, key: String, in step: Step<IngestStage>) throws {
    if record.header(RecordHeader.timer) != nil { return try processTokenTimer(record, in: step) }
    let claim = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: step.coder, codec: codec)
    {
      codec.read(DeviceClaim.self, from: $0)
    }
    if record.header(ClaimWriter.everyTask) != nil { return try processForEveryTask(claim, record, in: step) }
    var timeline = TimelineWriter(
      step, codec, envelope: claim.envelope, takenAt: claim.takenAt, cause: step.origin(of: record),
      source: claim.source, headers: record.headers.filter { $0.name == RecordHeader.ignored })
    let rowKey = RowKey("o", key)
    var known: OwnerRow?
    if case .owner(let row)? = try step.row(rowKey) { known = row }
    switch claim.body {
    case .registered(let fields):
      try RecordReading.require(key: key, toBe: fields.tokenHash, of: .deviceClaims)
      // An equal stamp means the same registration again.
      if let known, claim.stamp <= known.stamp { return }
      let device = fields.device
      let owner = OwnerRow.Owner(userId: device.userId, deviceId: device.deviceId)
      let version = max((known?.version ?? 0) + 1, claim.envelope.occurredAt)
      if let former = known?.owner, former != owner {
        try timeline.lose(fields.tokenHash, former, version: version, cause: .claimedElsewhere)
      }
      try timeline.write(
        .deviceGained(
          DeviceGained(
            userId: device.userId, deviceId: device.deviceId, token: device.token, webPush: device.webPush,
            sealing: device.sealing, version: version, platform: device.platform, appVersion: device.appVersion,
            locale: device.locale, projectId: device.projectId, renders: device.renders)),
        to: device.userId)
      var row = OwnerRow(owner: owner, stamp: claim.stamp, version: version, timerAt: known?.timerAt)
      if row.timerAt == nil {
        try setTokenTimer(
          of: key, &row, eventId: claim.envelope.eventId, origin: Origin(record.position), source: claim.source,
          in: step)
      }
      try step.set(.owner(row), for: rowKey)
    case .unregistered(let fields):
      try RecordReading.require(key: key, toBe: fields.tokenHash, of: .deviceClaims)
      // A former owner has nothing to release. The registration's stamp stays, so that another person's registration, if it is older than
      // this sign-out but later than the registration signed out, still counts when it arrives.
      guard var row = known, let owner = row.owner, claim.stamp > row.stamp,
        owner == OwnerRow.Owner(userId: fields.userId, deviceId: fields.deviceId)
      else { return }
      try timeline.lose(fields.tokenHash, owner, version: row.version, cause: fields.cause)
      row.owner = nil
      try step.set(.owner(row), for: rowKey)
    case .userDeleted, .userRestored:
      throw Rejection(
        .schemaViolation, "\(claim.body.type) on nudge.device-claims is for every task, and has the header for it")
    }
  }
}

extension TimelineWriter {
  mutating func lose(
    _ tokenHash: String, _ owner: OwnerRow.Owner, version: Int64, cause: DeviceLost.Cause
  ) throws {
    try write(
      .deviceLost(
        DeviceLost(
          userId: owner.userId, deviceId: owner.deviceId, tokenHash: tokenHash, version: version, cause: cause)),
      to: owner.userId)
  }
}

/// A token that was not registered again for `IngestRules.tokenLifetime` is dropped, as FCM does (T5): its device loses it, and the owner
/// row is removed. A timer per token checks whether the token was registered since.
extension IngestStage {
  private static let timerPrefix = "token/"

  /// Sets the timer of an owner row. A timer that is already set stays; when it fires, it is set again if the token was registered since.
  func setTokenTimer(
    of tokenHash: String, _ row: inout OwnerRow, eventId: String, origin: Origin, source: RecordPosition,
    in step: Step<IngestStage>
  ) throws {
    let due = row.stamp.occurredAt + rules.tokenLifetime + 1
    row.timerAt = due
    try step.setTimer(
      Self.timerPrefix + tokenHash, due: due, key: tokenHash, eventId: eventId, origin: origin, source: source)
  }

  /// `timer.fired` on `nudge.device-claims`.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      TimelineEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        .timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }

  func processTokenTimer(_ record: InputRecord, in step: Step<IngestStage>) throws {
    let event = try RecordReading.decode(from: record, maxBytes: rules.maxRecordBytes, coder: step.coder, codec: codec)
    {
      codec.read(TimelineEvent.self, from: $0)
    }
    guard case .timerFired(let fired) = event.body, fired.timer.utf8.starts(with: Self.timerPrefix.utf8) else { return }
    let tokenHash = String(fired.timer.dropFirst(Self.timerPrefix.count))
    let key = RowKey("o", tokenHash)
    guard case .owner(var row)? = try step.row(key), row.timerAt == fired.dueAt else { return }
    guard step.now - row.stamp.occurredAt > rules.tokenLifetime else {
      try setTokenTimer(
        of: tokenHash, &row, eventId: event.envelope.eventId, origin: Origin(record.position), source: event.source,
        in: step)
      return try step.set(.owner(row), for: key)
    }
    if let owner = row.owner {
      var timeline = TimelineWriter(
        step, codec, envelope: event.envelope, takenAt: nil, cause: step.origin(of: record), source: event.source)
      try timeline.lose(tokenHash, owner, version: row.version, cause: .expired)
    }
    try step.remove(key)
  }
}
