import NudgeCodec
import NudgeSchema
import StreamRuntime

extension IngestStage {
  /// Processes a record of `user.events`. Device events go to the claims, everything else unchanged to the person's timeline.
  mutating func processUserEvent(_ record: InputRecord, key: String, in step: Step<IngestStage>) throws {
    if record.header(RecordHeader.question) != nil { return try passQuestion(record, key: key, in: step) }
    var event = try RecordReading.decode(
      from: record, maxBytes: rules.maxRecordBytes, frame: rules.frame, coder: step.coder, codec: codec
    ) {
      codec.read(UserEvent.self, from: $0)
    }
    let ignored = event.normalize()
    try RecordReading.hold { () throws(SchemaViolation) in try event.validate(rules) }
    let userId = event.body.userId
    try RecordReading.require(key: key, toBe: userId, of: .userEvents)
    try RecordReading.requireTime(event.envelope, now: step.now, rules: rules)
    switch event.body {
    case .deleted: return try delete(event, record, in: step)
    case .deviceRegistered: try restore(userId, event.envelope, record, in: step)
    // A deleted person's stream may stay open until its token expires. Its reports come from the API, so nobody could correct them.
    case .activity(let activity) where activity.live != nil:
      if try isRefused(userId, EventStamp(event.envelope, takenAt: step.now), step) { return }
    default: try requireNotErased(userId, EventStamp(event.envelope, takenAt: step.now), step)
    }
    switch event.body {
    case .deviceRegistered, .deviceUnregistered: try processDeviceEvent(event, ignored, record, in: step)
    case .activity, .read, .preferences: try pass(event, ignored, .state, record, userId: userId, in: step)
    case .feedback, .notificationReceived, .notificationOpened, .notificationDismissed:
      try pass(event, ignored, .reports, record, userId: userId, in: step)
    case .deleted: break
    }
  }

  private func pass(
    _ event: UserEvent, _ ignored: IgnoredFields, _ scope: EventMemory.Scope, _ record: InputRecord, userId: String,
    in step: Step<IngestStage>
  ) throws {
    var memory = try EventMemory(scope, of: userId, in: step)
    let identity = EventMemory.Identity(event, byUser: record.isByUser)
    switch try memory.verdict(on: identity) {
    case .repeated: return
    case .repeatedByBackend where scope == .reports: return
    case .beyondMemory where scope == .reports:
      // If it is a retry, it would count twice.
      throw Rejection(
        .tooOld, "occurredAt is before the last \(EventMemory.archiveLimit * scope.archives) reports of the user")
    // The last writer wins, so a change of state may come twice. A backend's event must not be lost because a user has used its id.
    case .new, .beyondMemory, .repeatedByBackend: break
    }
    try memory.remember(identity)
    ignored.count(in: step)
    var timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.envelope.takenAt(step.now), cause: step.origin(of: record),
      source: record.position, headers: ignored.headers)
    try timeline.write(.user(event.body), to: userId)
  }
}

extension IngestStage {
  /// The age up to which a question waits for a device's event, which reaches the timeline through the claims.
  private static let claimTime: Milliseconds = 60_000

  /// Passes `person.asked` on to the person's timeline, after all of their earlier events. A question about an erased person is also passed
  /// on, because the analyzer knows about the erasure.
  /// passes, too: the analyzer knows of the erasure.
  func passQuestion(_ record: InputRecord, key: String, in step: Step<IngestStage>) throws {
    let event = try RecordReading.decode(
      from: record, maxBytes: rules.maxRecordBytes, coder: step.coder, codec: codec
    ) { _ in nil as Event<PersonAsked>? }
    try RecordReading.require(key: key, toBe: event.body.userId, of: .userEvents)
    guard step.now - event.envelope.occurredAt < PersonAsked.lifetime else { return }
    var timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.envelope.takenAt(step.now), cause: step.origin(of: record),
      source: record.position)
    let device = try latestDevice(of: event.body.userId, in: step)
    try timeline.write(.asked(PersonAsked(userId: event.body.userId, device: device)), to: event.body.userId)
  }

  /// The device that registered or signed out last; nil if none did recently.
  private func latestDevice(of userId: String, in step: Step<IngestStage>) throws -> PersonAsked.Device? {
    var latest: PersonAsked.Device?
    for case (let key, .device(let row)) in try step.rows(below: RowKey("d", userId))
    where row.stamp.occurredAt > step.now - Self.claimTime && latest.map({ row.stamp > $0.stamp }) ?? true {
      latest = PersonAsked.Device(
        deviceId: key.parts.last ?? "", stamp: row.stamp, isRegistered: row.tokenHash != nil)
    }
    return latest
  }
}
