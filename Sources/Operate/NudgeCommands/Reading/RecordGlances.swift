package import NudgeSchema

// Only the fields that counting needs: decoding whole records would take the cores the services run on.

/// Fields of a record on `nudge.decisions`.
package struct DecisionGlance: Decodable {
  package let userId: String
  package let conversationId: String?
  package let messageId: String
  package let outcome: DecisionBody.Outcome
  package let reason: DecisionReason
  package let pushId: String?
  package let origin: Origin
  package let replayId: String?
  package let presentation: Presentation?
}

/// Fields of a push on `nudge.pushes`.
struct PushGlance: Decodable {
  struct Target: Decodable { let deviceId: String }
  struct Digest: Decodable { let parts: [NudgeSchema.Digest.Part]? }
  let pushId: String
  let targets: [Target]
  let userId: String
  let kind: Push.Kind
  let conversationId: String?
  let messageId: String?
  /// It shows another text of a message that was pushed before.
  let replaces: Bool?
  let digest: Digest?
}

/// Fields of a person's report about a notification, on `nudge.timeline`.
struct ReceiptGlance: Decodable {
  let type: String
  let deviceId: String
  let pushId: String

  /// The types that show that a notification reached its device.
  static let types = ["notification.received", "notification.opened", "notification.dismissed"]
}

/// A record on `nudge.outcomes`.
package enum OutcomesGlance: Decodable {
  case outcome(OutcomeGlance)
  case receipt(ReceiptRecordGlance)

  private enum Key: String, CodingKey { case type }

  package init(from decoder: any Decoder) throws {
    let type = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .type)
    self =
      type == EventType.receipt.rawValue
      ? .receipt(try ReceiptRecordGlance(from: decoder)) : .outcome(try OutcomeGlance(from: decoder))
  }

  var pushId: String {
    switch self {
    case .outcome(let outcome): outcome.pushId
    case .receipt(let receipt): receipt.pushId
    }
  }
}

/// Fields of a receipt on `nudge.outcomes`.
package struct ReceiptRecordGlance: Decodable {
  package let pushId: String
  package let deviceId: String
  package let state: ReceiptState
  package let platform: Platform
  /// When the device reached the state.
  package let occurredAt: Milliseconds
  /// When the message was written, or a later push of it was made.
  package let sentAt: Milliseconds
}

/// Fields of an outcome on `nudge.outcomes`.
package struct OutcomeGlance: Decodable {
  package let pushId: String
  package let deviceId: String
  package let result: OutcomeResult
  package let errorCode: String?
  /// The message is left to the person's catch-up.
  package let catchUp: Bool?
  package let origin: Origin
  /// When the event happened, by its own clock.
  package let occurredAt: Milliseconds
  package let finishedAt: Milliseconds
  /// Requests made for it.
  package let attempts: Int
}
