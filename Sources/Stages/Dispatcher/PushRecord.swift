import NudgeCodec
import NudgeSchema
import StreamRuntime

/// Reads and checks records of `nudge.pushes`. The analyzer wrote them, but a faulty one must not stop the partition.
enum PushRecord {
  /// Throws a `Rejection` that names the field, never a value (T4).
  static func read(_ record: InputRecord, codec: RecordCodec) throws -> PushEvent {
    guard let key = record.key, !key.isEmpty else { throw Rejection(.missingKey, "the record has no key") }
    guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
    let event: PushEvent
    do {
      event = try codec.decode(PushEvent.self, from: value)
    } catch let error as EventFormatError {
      throw Rejection(error)
    } catch let error as DecodingError {
      throw Rejection(error)
    } catch let error as SchemaViolation {
      throw Rejection(.schemaViolation, error.description)
    }
    guard key.elementsEqual(event.body.userId.utf8) else {
      throw Rejection(.keyMismatch, "the key is not userId")
    }
    try check(event.body)
    return event
  }

  /// One item for each target, as it waits in that target's lane. `inherited` are the step's headers, which later records also get.
  static func items(
    of push: Push, in event: PushEvent, _ record: InputRecord, inherited: [RecordHeaderField]
  ) -> [WaitingPush] {
    var untargeted = push
    untargeted.targets = []
    func header(_ name: String) -> String? {
      // Nudge never writes a longer header; it would not fit a row.
      inherited.first { $0.name == name }.flatMap {
        $0.value.count <= 256 ? String(decoding: $0.value, as: UTF8.self) : nil
      }
    }
    let traceparent = header(RecordHeader.traceparent)
    let replayId = header(RecordHeader.replayId)
    let recipients = push.kind == .escalation ? [.webhook] : push.targets
    return recipients.enumerated().map { index, target in
      var item = WaitingPush(
        push: untargeted, target: target, cause: event.origin,
        origin: Origin(record.position, index: Int32(index)), source: event.source,
        occurredAt: event.envelope.occurredAt, traceparent: traceparent, replayId: replayId)
      item.devices = push.targets.count > 1 ? push.targets.count : nil
      item.fitRow()
      return item
    }
  }

  private static func check(_ body: PushEventBody) throws {
    try check(id: body.userId, "userId")
    switch body {
    case .push(let push):
      try check(id: push.pushId, "pushId")
      for (id, field) in [
        (push.conversationId, "conversationId"), (push.messageId, "messageId"), (push.senderId, "senderId"),
      ] {
        if let id { try check(id: id, field) }
      }
      guard !push.targets.isEmpty || push.kind == .escalation else {
        throw Rejection(.schemaViolation, "targets is empty")
      }
      var devices = Set<RowKey>()
      for (index, target) in push.targets.enumerated() {
        try check(id: target.deviceId, "targets[\(index)].deviceId")
        if let projectId = target.projectId { try check(id: projectId, "targets[\(index)].projectId") }
        // Most people have only one device.
        guard push.targets.count == 1 || devices.insert(RowKey(target.deviceId)).inserted else {
          throw Rejection(.schemaViolation, "targets[\(index)].deviceId names a device a second time")
        }
        try check(address: target, "targets[\(index)]")
      }
    case .answered(let answered):
      try check(id: answered.pushId, "pushId")
      try check(id: answered.deviceId, "deviceId")
    case .cancelled(let cancelled):
      guard
        cancelled.deviceId != nil || cancelled.messageId != nil || cancelled.conversationId != nil
          || cancelled.replayId != nil || cancelled.erased == true || cancelled.senderId != nil
          || cancelled.conversationKind != nil || cancelled.showPreviews != nil || cancelled.quietHours != nil
      else {
        throw Rejection(
          .schemaViolation,
          "push.cancelled names no device, message, conversation, sender or replay, is no erasure, and changes nothing")
      }
      if let target = cancelled.target {
        guard sameId(cancelled.deviceId, target.deviceId) else {
          throw Rejection(.schemaViolation, "target is not of deviceId")
        }
        try check(address: target, "target")
        if let projectId = target.projectId { try check(id: projectId, "target.projectId") }
      }
      if let hours = cancelled.quietHours, QuietSpan(hours) == nil {
        throw Rejection(.schemaViolation, "quietHours: start and end must be HH:MM, 00:00 to 23:59")
      }
    }
  }

  private static func check(address target: PushTarget, _ field: String) throws(Rejection) {
    do throws(SchemaViolation) {
      try target.validateAddress(in: "\(field).")
    } catch {
      throw Rejection(.schemaViolation, error.description)
    }
  }

  private static func check(id: String, _ field: String) throws {
    guard (1...256).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Rejection(.schemaViolation, "\(field) is not 1 to 256 bytes without control characters")
    }
  }
}
