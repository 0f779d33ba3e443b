import NudgeSchema

// What the account needs of the pipeline's records, and no more: it reads beside the services, on the same cores.

/// Of a record on `nudge.timeline`.
struct TimelineGlance: Decodable {
  struct Recipient: Decodable { let userId: String }
  let type: String
  let origin: Origin
  let userId: String?
  let deviceId: String?
  let messageId: String?
  let recipients: [Recipient]?
}

/// Of a record on `nudge.decisions`.
struct DecisionGlance: Decodable {
  let userId: String
  let conversationId: String?
  let messageId: String
  let reason: DecisionReason
  let pushId: String?
  let origin: Origin
  let replayId: String?
}

/// Of a record on `nudge.pushes`; a `push.cancelled` has no push id.
struct PushGlance: Decodable {
  struct Target: Decodable { let deviceId: String }
  let pushId: String?
  let kind: Push.Kind?
  let replaces: Bool?
  let messageId: String?
  let targets: [Target]?
  let origin: Origin

  /// The message it was decided for; nil for badges, reads, and edited and deleted messages, which were decided before.
  var decidedMessageId: String? { kind == .deleted || replaces == true ? nil : messageId }
}

/// Of a record on `nudge.outcomes`.
struct OutcomeGlance: Decodable {
  let pushId: String
  let deviceId: String
  let result: OutcomeResult
  let origin: Origin
  /// The event's own time.
  let occurredAt: Milliseconds
  let finishedAt: Milliseconds
}

/// Of a line of the emulator's record of requests.
struct RequestGlance: Decodable {
  struct Message: Decodable {
    struct Fields: Decodable {
      let pushId: String?
      let messageId: String?
    }
    let token: String?
    let data: Fields?
  }
  struct Body: Decodable { let message: Message? }
  let time: Milliseconds
  let path: String
  let status: Int
  let body: Body?

  private enum CodingKeys: String, CodingKey { case time, path, status, body }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    time = try fields.decode(Milliseconds.self, forKey: .time)
    path = try fields.decode(String.self, forKey: .path)
    status = try fields.decode(Int.self, forKey: .status)
    // A body that was no JSON is there as a text.
    body = try? fields.decode(Body.self, forKey: .body)
  }
}
