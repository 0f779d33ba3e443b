import NudgeSchema

/// How far a push got on a device, in two bytes: its outcome and its receipts.
struct DeliveryGlance: Equatable {
  private static let none: UInt8 = 0xFF
  /// Stands beside the place of a result: its error code says that nobody took the push back.
  private static let failure: UInt8 = 0x40

  private var outcome = DeliveryGlance.none
  private var reached: UInt8 = 0

  mutating func end(_ result: OutcomeResult, errorCode: String?) {
    outcome = UInt8(OutcomeResult.allCases.firstIndex(of: result) ?? 0)
    if errorCode.map(PushEndState.failures.contains) ?? false { outcome |= Self.failure }
  }

  mutating func reach(_ state: ReceiptState) { reached |= Self.bit(of: state) }

  /// nil: there is no outcome.
  var result: OutcomeResult? {
    outcome == Self.none ? nil : OutcomeResult.allCases[Int(outcome & ~Self.failure)]
  }

  func has(_ state: ReceiptState) -> Bool { reached & Self.bit(of: state) != 0 }

  /// Whether a push service took it, or the device reported it.
  var isTaken: Bool { result == .sent || reached != 0 }
  /// Whether the device had it.
  var hasArrived: Bool { has(.arrived) || has(.opened) || has(.dismissed) }

  var state: PushEndState {
    let isFailure = outcome != Self.none && outcome & Self.failure != 0
    return PushEndState(
      result, errorCode: isFailure ? PushEndState.failures.first : nil,
      receipts: reached == 0 ? [] : Set(ReceiptState.allCases.filter(has)))
  }

  /// Stands for a push and device: a hash of the push's hash and the device's id.
  static func key(push: UInt64, deviceId: String) -> UInt64 {
    (push &* 0x9E37_79B9_7F4A_7C15) ^ FNV1a.hash(deviceId)
  }

  private static func bit(of state: ReceiptState) -> UInt8 {
    1 << UInt8(ReceiptState.allCases.firstIndex(of: state) ?? 0)
  }
}
