import Analyzer
import Dispatcher
import NudgeSchema

/// A message and a person, with every record from the event to what the person's devices show.
struct MessageStory: Encodable {
  var userId: String
  var conversationId: String
  var messageId: String
  /// The chat event; nil if retention has deleted it.
  var event: PlacedRecord?
  /// The candidate with this person as its only recipient; nil if retention has deleted it.
  var candidate: PlacedRecord?
  /// The decisions in order. There are several after a replay.
  var decisions: [PlacedRecord] = []
  /// The pushes of the message, as far as retention has kept them: of the decisions, of a catch-up without other messages, after an edit,
  /// and the second one if the message was pushed again.
  var pushes: [PlacedRecord] = []
  /// The escalation records for the webhook: at most one.
  var escalations: [PlacedRecord] = []
  /// Cancellations of waiting pushes.
  var cancellations: [PlacedRecord] = []
  /// One outcome for each push and device that has ended.
  var outcomes: [PlacedRecord] = []
  /// The receipts of the pushes, from reports of devices and reads on other devices.
  var receipts: [PlacedRecord] = []
  /// The state of each push on each device, from its outcome and its receipts.
  var ends: [DeliveryEnd] = []
  /// Pushes without an outcome that wait in the dispatcher's lanes.
  var waiting: [LaneView.Waiting] = []
  /// The catch-ups that contained it beside others, as far as retention has kept them: at most one.
  var catchUps: [PlacedRecord] = []
  /// The outcomes of these catch-ups.
  var catchUpOutcomes: [PlacedRecord] = []
  /// Later reads of the conversation, the app's feedback, edits and deletions.
  var later: [PlacedRecord] = []
  /// The message's current state; nil if unknown.
  var standing: PersonView.MessageStanding?
  /// What each device shows of it now, as far as the records show.
  var devices: [DeviceNow] = []

  struct DeviceNow: Encodable, Equatable {
    /// Whether it is visible on the device, as far as the records show.
    enum Shows: String, Encodable {
      /// The push service has accepted it, and no record says that it was removed.
      case notification
      /// Only the badge counts it.
      case badge
      /// It was opened or dismissed, or the conversation was read.
      case gone
      /// The push service has not accepted it yet, and still may.
      case pending
      /// The push service has not accepted it, and will not.
      case nothing
    }
    var deviceId: String
    var shows: Shows
    /// The state in words.
    var text: String
  }

  /// Whether a decision left it to the person's catch-up.
  var waitsForCatchUp: Bool { decisions.contains(where: \.leavesToCatchUp) }

  /// Whether a push is a catch-up that contains the message.
  func isTold(by push: JSONValue) -> Bool {
    (waitsForCatchUp || !pushIds.isEmpty) && Self.isCatchUp(push, of: messageId, in: conversationId)
  }

  /// Whether a push is a catch-up that tells of a message beside others.
  static func isCatchUp(_ push: JSONValue, of messageId: String, in conversationId: String?) -> Bool {
    let key = Digest.key(messageId)
    return (push["digest"]?["parts"]?.elements ?? []).contains { part in
      part["conversationId"]?.string == conversationId
        && (part["keys"]?.elements ?? []).contains { $0.string == key }
    }
  }

  /// Whether a record pushes a message to its devices, or to the webhook. Its id is not a decision's if it is a catch-up of this message
  /// alone, an edit, or a repeat.
  static func isPush(_ push: JSONValue, of messageId: String, in conversationId: String?) -> Bool {
    [Push.Kind.message.rawValue, Push.Kind.escalation.rawValue].contains(push["kind"]?.string)
      && push["messageId"]?.string == messageId && push["conversationId"]?.string == conversationId
  }

  var pushIds: Set<String> {
    Set((decisions + pushes + escalations).compactMap { $0.record["pushId"]?.string })
  }

  /// The outcomes of pushes to devices.
  var deviceOutcomes: [PlacedRecord] {
    let others = Set(escalations.compactMap { $0.record["pushId"]?.string })
    return others.isEmpty ? outcomes : outcomes.filter { !others.contains($0.record["pushId"]?.string ?? "") }
  }

  /// Determines what each device shows. `readPushes` are the conversation's pushes of the kind `read`, with their outcomes in
  /// `readOutcomes`.
  mutating func concludeDevices(readPushes: [PlacedRecord], readOutcomes: [PlacedRecord]) {
    var order: [String] = []
    for push in pushes {
      for target in push.record["targets"]?.elements ?? [] {
        if let device = target["deviceId"]?.string, !order.contains(device) { order.append(device) }
      }
    }
    // If the push is gone, its outcomes name the devices.
    for outcome in deviceOutcomes {
      if let device = outcome.record["deviceId"]?.string, !order.contains(device) { order.append(device) }
    }
    ends = deliveryEnds(order)
    devices = order.map { now(on: $0, readPushes: readPushes, readOutcomes: readOutcomes) }
  }

  private func now(on device: String, readPushes: [PlacedRecord], readOutcomes: [PlacedRecord]) -> DeviceNow {
    func said(_ shows: DeviceNow.Shows, _ text: String) -> DeviceNow {
      DeviceNow(deviceId: device, shows: shows, text: text)
    }
    let ended = outcomes.filter { $0.record["deviceId"]?.string == device }
    guard let sent = ended.last(where: { $0.record["result"]?.string == "sent" }) else {
      if let item = waiting.last(where: { $0.deviceId == device }) { return said(.pending, Self.words(item)) }
      guard let last = ended.last else {
        return said(.pending, "no outcome yet, and it waits in no lane: it is on its way")
      }
      return said(.nothing, OutcomeWords.of(last.record))
    }
    if let removed = receipts.last(where: {
      $0.record["pushId"] == sent.record["pushId"] && $0.record["deviceId"]?.string == device
        && ["opened", "dismissed", "withdrawn"].contains($0.record["state"]?.string ?? "")
    }), let state = removed.record["state"]?.string {
      let what = state == "withdrawn" ? "removed, because \(removalReason(removed))," : "\(state) there"
      return said(.gone, "\(what) at \(Self.time(removed.record["occurredAt"]?.integer ?? removed.timestamp))")
    }
    let at = sent.record["finishedAt"]?.integer ?? sent.timestamp
    let pushId = sent.record["pushId"]?.string
    let presentation =
      pushes.last { $0.record["pushId"]?.string == pushId }?.record["presentation"]?.string
      ?? decisions.last { $0.record["pushId"]?.string == pushId }?.record["presentation"]?.string
    if let report = later.last(where: { event in
      event.record["pushId"]?.string == pushId && event.record["deviceId"]?.string == device
        && ["notification.opened", "notification.dismissed"].contains(event.record["type"]?.string ?? "")
    }) {
      let what = report.record["type"]?.string == "notification.opened" ? "opened" : "dismissed"
      return said(.gone, "\(what) there at \(Self.time(report.record["occurredAt"]?.integer ?? report.timestamp))")
    }
    if let removal = removal(from: device, after: sent, readPushes, readOutcomes) { return said(.gone, removal) }
    if presentation == "badge" { return said(.badge, "badge only, since \(Self.time(at))") }
    let manner = presentation == "alert" ? "an alert" : presentation == "silent" ? "a silent entry" : "a notification"
    var text = "\(manner) since \(Self.time(at))"
    let received = (later + receipts).contains {
      ($0.record["type"]?.string == "notification.received" || $0.record["state"]?.string == "arrived")
        && $0.record["pushId"]?.string == pushId && $0.record["deviceId"]?.string == device
    }
    text +=
      received ? ", which the app confirmed" : "; the app has not confirmed it (a device that is off has not got it)"
    if standing?.isWithdrawn == true { text += "; the message was taken back since: it goes when the app is opened" }
    return said(.notification, text)
  }

  /// Why the notification was removed, if a later read shows it.
  private func removal(
    from device: String, after sent: PlacedRecord, _ readPushes: [PlacedRecord], _ readOutcomes: [PlacedRecord]
  ) -> String? {
    if let read = later.last(where: {
      $0.record["type"]?.string == "message.read" && $0.record["deviceId"]?.string == device
    }) {
      return "the conversation was read on it at \(Self.time(read.record["occurredAt"]?.integer ?? read.timestamp))"
    }
    let position = sent.record["finishedAt"]?.integer ?? sent.timestamp
    for push in readPushes.reversed() where push.timestamp >= position - 1_000 {
      let outcome = readOutcomes.first {
        $0.record["pushId"] == push.record["pushId"] && $0.record["deviceId"]?.string == device
      }
      if outcome?.record["result"]?.string == "sent" {
        return "\(removalReason(push)); the device was told at \(Self.time(outcome?.timestamp ?? push.timestamp))"
      }
    }
    return standing?.isRead == true ? "the conversation was read since" : nil
  }

  /// Why a record removed notifications of the conversation, by the event that caused it. A removal from the group and a
  /// deletion make the same records as a read on another device.
  func removalReason(_ record: PlacedRecord) -> String {
    let cause = ExplainSearch.position(record.record["origin"])
    let withdrawn = later.last { $0.record["type"]?.string == "message.withdrawn" && $0.position == cause }
    return withdrawn.map { LaterWords.of($0.record) } ?? "the conversation was read elsewhere"
  }

  static func time(_ time: Milliseconds) -> String { RFC3339.text(time) }

  /// A waiting push in words.
  static func words(_ item: LaneView.Waiting) -> String {
    if item.isInAir {
      return "attempt \(item.attempts) is under way, or its answer was lost; again from \(time(item.notBefore))"
    }
    var text =
      item.attempts == 0 ? "waits for its first attempt" : "waits after \(OutcomeWords.attempts(item.attempts))"
    if let answer = OutcomeWords.answer(status: item.httpStatus, code: item.errorCode) {
      text += ", last answer \(answer)"
    }
    if item.notBefore > 0 { text += ", next not before \(time(item.notBefore))" }
    return text + ", given up at the end of its freshness, \(time(item.expiresAt))"
  }
}

enum OutcomeWords {
  /// How it ended, after how many attempts, with the service's answer.
  ///
  /// - Parameter older: The service that answered, if the record is older than the field `destination`.
  static func of(_ outcome: JSONValue, by older: String = "FCM") -> String {
    let destination = outcome["destination"]?.string.flatMap { OutcomeDestination(rawValue: $0) }
    let receiver = destination.map(Self.receiver) ?? older
    let result = outcome["result"]?.string ?? "?"
    let code = outcome["errorCode"]?.string
    let meaning =
      switch OutcomeResult(rawValue: result) {
      case .sent:
        outcome["collapseKey"] == nil
          ? "\(receiver) took it"
          : "\(receiver) took it in place of an earlier one: the phone has confirmed nothing for long, and seems to be off"
      case .expired: "its freshness had ended before the first attempt"
      case .invalidToken:
        "\(receiver) does not know the \(destination == .webPush ? "subscription" : "token"): the device is dropped"
      case .quarantined: "FCM says the token is another sender's: nothing is sent to it before it registers again"
      case .rejected: "\(receiver) refused the request itself"
      case .gaveUp: code == "lane_full" ? "too many waited for the device" : "its time ran out between attempts"
      case .cancelled:
        code == "no_webhook"
          ? "the dispatcher has no --escalation-url"
          : code == "superseded"
            ? "a later push said all that this one said"
            : code == "shown_live" ? "the app showed the message by its live stream" : "taken back while it waited"
      case nil: "unknown result"
      }
    var text = "\(result): \(meaning)"
    if let count = outcome["attempts"]?.integer { text += ", \(attempts(Int(count)))" }
    if let first = outcome["firstAttemptAt"]?.integer { text += ", first \(RFC3339.text(first))" }
    if let end = outcome["finishedAt"]?.integer { text += ", ended \(RFC3339.text(end))" }
    let status = outcome["httpStatus"]?.integer.map { Int($0) }
    if let answer = answer(status: status, code: code) { text += ", last answer \(answer)" }
    if let name = outcome["fcmName"]?.string { text += ", \(name)" }
    if outcome["catchUp"]?.bool == true { text += "; the person's catch-up tells of it" }
    return text
  }

  private static func receiver(_ destination: OutcomeDestination) -> String {
    switch destination {
    case .fcm: "FCM"
    case .webPush: "the push service"
    case .webhook: "the webhook"
    }
  }

  static func attempts(_ count: Int) -> String { count.counted("attempt") }

  /// The last answer; nil if it adds nothing.
  static func answer(status: Int?, code: String?) -> String? {
    guard status != nil || code != nil else { return nil }
    return [status.map { "HTTP \($0)" }, code].compactMap { $0 }.joined(separator: " ")
  }
}

/// The state of a push on a device.
struct DeliveryEnd: Encodable, Equatable {
  /// A state with the time when the device reached it.
  struct Reached: Encodable, Equatable {
    var state: ReceiptState
    var at: Milliseconds
  }
  var pushId: String
  var deviceId: String
  var state: PushEndState
  /// In the order of their times.
  var reached: [Reached]

  /// The state as text, such as `opened: arrived 2026-11-22T10:30:01Z, opened 2026-11-22T10:31:00Z`.
  var text: String {
    let receipts = reached.map { "\($0.state.rawValue) \(RFC3339.text($0.at))" }
    return receipts.isEmpty ? state.words : "\(state.words): \(receipts.joined(separator: ", "))"
  }
}

extension PushEndState {
  /// The state for a person. A push that the push service accepted has left, but is not known to be on the device.
  var words: String { self == .taken ? "left" : rawValue }
}

extension MessageStory {
  /// The end states of all pushes on these devices.
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

extension PlacedRecord {
  /// Whether a decision leaves its message to the person's catch-up.
  var leavesToCatchUp: Bool { (record["checks"]?.elements ?? []).contains { $0["check"]?.string == "catch_up" } }
}
