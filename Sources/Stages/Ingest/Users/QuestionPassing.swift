import NudgeCodec
import NudgeSchema
import StreamRuntime

extension IngestStage {
  /// How long ago a device's event may be for a question to wait for it: it comes by way of the claims.
  private static let claimTime: Milliseconds = 60_000

  /// Passes `person.asked` on to the person's timeline, behind all of their events that came before it. A question about a person who was erased
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

  /// The device that registered or signed out last; nil: none did lately.
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
