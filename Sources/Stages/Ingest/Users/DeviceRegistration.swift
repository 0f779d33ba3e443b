public import NudgeCodec
public import NudgeSchema
import StreamRuntime
import WebPush

/// The person's part of token ownership (T1, T2): which token each device has. The token's own task decides who owns it.
extension IngestStage {
  /// `device.registered` or `device.unregistered`. A retry is recognised by its event id: if the device's clock is ahead, the retry has a
  /// later stamp than the event and would undo later events.
  func processDeviceEvent(
    _ event: UserEvent, _ ignored: IgnoredFields, _ record: InputRecord, in step: Step<IngestStage>
  ) throws {
    var memory = try EventMemory(.state, of: event.body.userId, in: step)
    let identity = EventMemory.Identity(event, byUser: record.isByUser)
    if try memory.verdict(on: identity) == .repeated { return }
    try memory.remember(identity)
    ignored.count(in: step)
    switch event.body {
    case .deviceRegistered(let device): try register(device, ignored, event.envelope, record, in: step)
    case .deviceUnregistered(let device): try unregister(device, event.envelope, record, in: step)
    default: break
    }
  }

  /// `device.registered`: claims the token, and releases the device's former one.
  private func register(
    _ device: DeviceRegistered, _ ignored: IgnoredFields, _ envelope: Envelope, _ record: InputRecord,
    in step: Step<IngestStage>
  ) throws {
    let key = RowKey("d", device.userId, device.deviceId)
    let known = try deviceRow(key, in: step)
    let stamp = EventStamp(envelope, takenAt: step.now)
    if let known, stamp <= known.stamp { return }
    let hash = rules.hash(device.address)
    var claims = ClaimWriter(step, codec, envelope: envelope, cause: record.position)
    if let former = known?.tokenHash, former != hash {
      try claims.release(former, userId: device.userId, deviceId: device.deviceId, cause: .tokenReplaced)
    }
    try claims.write(.registered(TokenClaimed(tokenHash: hash, device: device)), tokenHash: hash, ignored)
    try step.set(.device(RegistrationRow(tokenHash: hash, stamp: stamp)), for: key)
    if known?.tokenHash == nil { try signOutOldestDevices(of: device.userId, &claims, in: step) }
  }

  /// Enforces the limit on a person's devices: those that registered longest ago are signed out. At most forty per record, so that a person
  /// who had more before the limit existed does not cause a long step.
  private func signOutOldestDevices(
    of userId: String, _ claims: inout ClaimWriter, in step: Step<IngestStage>
  ) throws {
    var registered: [(stamp: EventStamp, key: RowKey, tokenHash: String)] = []
    for case (let key, .device(let row)) in try step.rows(below: RowKey("d", userId)) {
      if let tokenHash = row.tokenHash { registered.append((row.stamp, key, tokenHash)) }
    }
    guard registered.count > rules.devicesPerUser else { return }
    registered.sort { $0.stamp < $1.stamp }
    for device in registered.prefix(min(40, registered.count - rules.devicesPerUser)) {
      let deviceId = device.key.parts.last ?? ""
      try claims.release(device.tokenHash, userId: userId, deviceId: deviceId, cause: .signedOut)
      try step.set(.device(RegistrationRow(tokenHash: nil, stamp: device.stamp)), for: device.key)
    }
    try forgetSignOuts(of: userId, in: step)
  }

  /// `device.unregistered`: releases the device's token.
  private func unregister(
    _ device: DeviceUnregistered, _ envelope: Envelope, _ record: InputRecord, in step: Step<IngestStage>
  ) throws {
    let key = RowKey("d", device.userId, device.deviceId)
    let known = try deviceRow(key, in: step)
    let stamp = EventStamp(envelope, takenAt: step.now)
    if let known, stamp <= known.stamp { return }
    if let hash = known?.tokenHash {
      var claims = ClaimWriter(step, codec, envelope: envelope, cause: record.position)
      try claims.release(hash, userId: device.userId, deviceId: device.deviceId, cause: .signedOut)
    }
    try step.set(.device(RegistrationRow(tokenHash: nil, stamp: stamp)), for: key)
    try forgetSignOuts(of: device.userId, in: step)
  }

  private func deviceRow(_ key: RowKey, in step: Step<IngestStage>) throws -> RegistrationRow? {
    if case .device(let row)? = try step.row(key) { return row }
    return nil
  }

  /// Keeps only the latest sign-outs, because each installation of the app has its own device id and leaves a row.
  private func forgetSignOuts(of userId: String, in step: Step<IngestStage>) throws {
    var signedOut: [(stamp: EventStamp, key: RowKey)] = []
    for case (let key, .device(let row)) in try step.rows(below: RowKey("d", userId)) where row.tokenHash == nil {
      signedOut.append((row.stamp, key))
    }
    signedOut.sort { $0.stamp < $1.stamp }
    for (_, key) in signedOut.dropLast(rules.signedOutDevices) { try step.remove(key) }
  }
}

/// Writes the claims of one user event.
struct ClaimWriter {
  /// The header of a claim that is for every task, regardless of its key's partition.
  static let everyTask = "nudge-every-task"

  private let step: Step<IngestStage>
  private let codec: RecordCodec
  private let envelope: Envelope
  private let cause: RecordPosition
  private var written: Int32 = 0

  init(_ step: Step<IngestStage>, _ codec: RecordCodec, envelope: Envelope, cause: RecordPosition) {
    self.step = step
    self.codec = codec
    self.envelope = envelope
    self.cause = cause
  }

  mutating func release(
    _ tokenHash: String, userId: String, deviceId: String, cause: DeviceLost.Cause
  ) throws {
    try write(
      .unregistered(TokenReleased(tokenHash: tokenHash, userId: userId, deviceId: deviceId, cause: cause)),
      tokenHash: tokenHash)
  }

  /// Writes a claim to each partition.
  mutating func emitToEveryTask(_ body: DeviceClaimBody, key: String) throws {
    let claim = DeviceClaim(
      envelope, origin: Origin(cause, index: written), source: cause, takenAt: envelope.takenAt(step.now), body)
    let bytes = codec.encode(claim)
    for partition in 0..<step.partitionCount(.deviceClaims) {
      try step.emit(
        bytes: bytes, to: .deviceClaims, key: key, partition: partition,
        headers: [RecordHeaderField(Self.everyTask, "1")])
    }
    written += 1
  }

  /// Writes a claim, with the event's fields that were ignored.
  mutating func write(
    _ body: DeviceClaimBody, tokenHash: String, _ ignored: IgnoredFields = IgnoredFields()
  ) throws {
    let claim = DeviceClaim(
      envelope, origin: Origin(cause, index: written), source: cause, takenAt: envelope.takenAt(step.now), body)
    try step.emit(bytes: codec.encode(claim), to: .deviceClaims, key: tokenHash, headers: ignored.headers)
    written += 1
  }
}

extension UserEvent {
  /// Checks the event against its schema and, for a registration, the address to which texts will be sent against the rules. Throws the
  /// first broken rule.
  func validate(_ rules: IngestRules) throws(SchemaViolation) {
    try validate()
    guard case .deviceRegistered(let device) = body else { return }
    if let webPush = device.webPush {
      do {
        _ = try rules.endpoints.endpoint(webPush.endpoint)
      } catch {
        throw SchemaViolation(field: "webPush.endpoint", rule: "\(error)")
      }
      try Self.requireKeys(webPush.p256dh, webPush.auth, of: "webPush")
    }
    if let sealing = device.sealing { try Self.requireKeys(sealing.p256dh, sealing.auth, of: "sealing") }
  }

  /// The schema checks only their form. A point must also be on the curve.
  private static func requireKeys(_ p256dh: String, _ auth: String, of field: String) throws(SchemaViolation) {
    do throws(WebPushKeys.Invalid) {
      _ = try WebPushKeys(p256dh: p256dh, auth: auth)
    } catch {
      throw SchemaViolation(field: "\(field).\(error.rawValue)", rule: error.rule)
    }
  }
}

/// The owner of a token (T2). The token's hash is in the row's key.
public struct OwnerRow: Sendable, Equatable, Encodable {
  public struct Owner: Sendable, Equatable, Encodable {
    public internal(set) var userId: String
    /// The device, as that person's registration named it.
    public internal(set) var deviceId: String

    /// Compares bytes. Swift would compare by canonical equivalence.
    public static func == (a: Owner, b: Owner) -> Bool {
      sameId(a.userId, b.userId) && sameId(a.deviceId, b.deviceId)
    }
  }

  /// The owner. Absent once the token was given up.
  public internal(set) var owner: Owner?
  /// The last registration's.
  public internal(set) var stamp: EventStamp
  /// The last registration's. Each registration raises it, to the registration's time if that is more. So versions do not start again if the
  /// row is lost, and a prune meant for an older registration does not match.
  public internal(set) var version: Int64
  /// When the timer is due that checks whether the token was registered again (T5). Absent if no timer is set.
  public internal(set) var timerAt: Milliseconds?
}

/// The token hash of a person's device. Person and device are in the row's key. The token itself is only in the claim.
public struct RegistrationRow: Sendable, Equatable, Encodable {
  /// The hash of the device's token. Absent after a sign-out: the row stays, so that an older registration does not bring the token back.
  public internal(set) var tokenHash: String?
  /// The stamp of the registration or the sign-out.
  public internal(set) var stamp: EventStamp
}

extension RegistrationRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "device"
  public static var blank: Self { Self(stamp: .blank) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&tokenHash)
    try row.field(&stamp)
  }
}

extension OwnerRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "owner"
  /// Version 2 has the timer.
  public static var versions: RowVersions { RowVersions(2) }
  public static var blank: Self { Self(stamp: .blank, version: 0) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&owner)
    try row.field(&stamp)
    try row.field(&version)
    try row.optional(&timerAt)
  }
}

extension OwnerRow.Owner: PackedFields {
  public static var blank: Self { Self(userId: "", deviceId: "") }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&userId)
    try row.field(&deviceId)
  }
}
