import NudgeSchema

/// How a push stands on a device.
struct DeliveryEnd: Encodable, Equatable {
  /// A state and when the device reached it.
  struct Reached: Encodable, Equatable {
    var state: ReceiptState
    var at: Milliseconds
  }
  var pushId: String
  var deviceId: String
  var state: PushEndState
  /// In the order of their times.
  var reached: [Reached]

  /// Such as `opened: arrived 2026-11-22T10:30:01Z, opened 2026-11-22T10:31:00Z`.
  var text: String {
    let receipts = reached.map { "\($0.state.rawValue) \(RFC3339.text($0.at))" }
    return receipts.isEmpty ? state.words : "\(state.words): \(receipts.joined(separator: ", "))"
  }
}

extension PushEndState {
  /// For a person: a push that the push service took has left, and is not on the device yet as far as anybody knows.
  var words: String { self == .taken ? "left" : rawValue }
}

extension MessageStory {
  /// The ends of all pushes on these devices.
  func deliveryEnds(_ devices: [String]) -> [DeliveryEnd] {
    var ids: [String] = []
    for record in decisions + outcomes + receipts {
      if let id = record.record["pushId"]?.string, !ids.contains(id) { ids.append(id) }
    }
    return ids.flatMap { pushId in
      devices.compactMap { device -> DeliveryEnd? in
        func its(_ records: [PlacedRecord]) -> [PlacedRecord] {
          records.filter { $0.record["pushId"]?.string == pushId && $0.record["deviceId"]?.string == device }
        }
        let target = pushes.contains { push in
          push.record["pushId"]?.string == pushId
            && (push.record["targets"]?.elements ?? []).contains { $0["deviceId"]?.string == device }
        }
        let (outcome, reports) = (its(outcomes).last, its(receipts))
        guard target || outcome != nil || !reports.isEmpty else { return nil }
        let reached = reports.compactMap { receipt in
          receipt.record["state"]?.string.flatMap(ReceiptState.init(rawValue:)).map {
            DeliveryEnd.Reached(state: $0, at: receipt.record["occurredAt"]?.integer ?? receipt.timestamp)
          }
        }
        return DeliveryEnd(
          pushId: pushId, deviceId: device,
          state: PushEndState(
            outcome?.record["result"]?.string.flatMap(OutcomeResult.init(rawValue:)),
            errorCode: outcome?.record["errorCode"]?.string, receipts: Set(reached.map(\.state))),
          reached: reached.sorted { ($0.at, $0.state.rawValue) < ($1.at, $1.state.rawValue) })
      }
    }
  }
}
