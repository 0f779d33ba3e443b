package import NudgeSchema

// Only the fields needed for counting, because decoding whole records would take CPU from the services.

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
  /// true if it shows another text of a message that was pushed before.
  let replaces: Bool?
  let digest: Digest?
}

/// The fields that are read from a person's report about a notification, on `nudge.timeline`.
struct ReceiptGlance: Decodable {
  let type: String
  let deviceId: String
  let pushId: String

  /// The types that prove that a notification reached its device.
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
  /// When the message was written, or when a later push of it was made.
  package let sentAt: Milliseconds
}

/// Fields of an outcome on `nudge.outcomes`.
package struct OutcomeGlance: Decodable {
  package let pushId: String
  package let deviceId: String
  package let result: OutcomeResult
  package let errorCode: String?
  /// true if the message is left to the person's catch-up.
  package let catchUp: Bool?
  package let origin: Origin
  /// When the event happened, by its own clock.
  package let occurredAt: Milliseconds
  package let finishedAt: Milliseconds
  /// The number of requests.
  package let attempts: Int
}

/// How far a push to a device got, in two bytes: its outcome and its receipts.
struct DeliveryGlance: Equatable {
  private static let none: UInt8 = 0xFF
  /// Combined with the index of a result: its error code shows that the push was not withdrawn.
  private static let failure: UInt8 = 0x40

  private var outcome = DeliveryGlance.none
  private var reached: UInt8 = 0

  mutating func end(_ result: OutcomeResult, errorCode: String?) {
    outcome = UInt8(OutcomeResult.allCases.firstIndex(of: result) ?? 0)
    if errorCode.map(PushEndState.failures.contains) ?? false { outcome |= Self.failure }
  }

  mutating func reach(_ state: ReceiptState) { reached |= Self.bit(of: state) }

  /// The result; nil if there is no outcome.
  var result: OutcomeResult? {
    outcome == Self.none ? nil : OutcomeResult.allCases[Int(outcome & ~Self.failure)]
  }

  func has(_ state: ReceiptState) -> Bool { reached & Self.bit(of: state) != 0 }

  /// Whether a push service accepted it, or the device reported it.
  var isTaken: Bool { result == .sent || reached != 0 }
  /// Whether the device received it.
  var hasArrived: Bool { has(.arrived) || has(.opened) || has(.dismissed) }

  var state: PushEndState {
    let isFailure = outcome != Self.none && outcome & Self.failure != 0
    return PushEndState(
      result, errorCode: isFailure ? PushEndState.failures.first : nil,
      receipts: reached == 0 ? [] : Set(ReceiptState.allCases.filter(has)))
  }

  /// Identifies a push on a device: a hash of the push's hash and the device's id.
  static func key(push: UInt64, deviceId: String) -> UInt64 {
    (push &* 0x9E37_79B9_7F4A_7C15) ^ FNV1a.hash(deviceId)
  }

  private static func bit(of state: ReceiptState) -> UInt8 {
    1 << UInt8(ReceiptState.allCases.firstIndex(of: state) ?? 0)
  }
}
