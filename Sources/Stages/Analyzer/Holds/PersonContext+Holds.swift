import NudgeSchema
import StreamRuntime
import Wording

/// The reason why a hold ends.
enum HoldEnd: Equatable {
  /// The person has read it, or written after it.
  case read
  /// A device said once more that the conversation is open.
  case open(deviceId: String)
  /// Its time has come: it is decided, and by whoever took it.
  case due
}

extension PersonContext {
  private static let holdTimerPrefix = "hold/"

  static func holdTimerName(_ userId: String, _ conversationId: String) -> String {
    "\(holdTimerPrefix)\(userId)/\(conversationId)"
  }

  /// The conversation whose held messages a timer is about; nil: it is another timer.
  func conversationId(ofHoldTimer name: String) -> String? {
    let prefix = Self.holdTimerName(userId, "")
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Whether a timer is one of held messages.
  static func isHoldTimer(_ name: String) -> Bool { name.utf8.starts(with: holdTimerPrefix.utf8) }

  /// Sets the timer for the first wait that ends, unless it is set. One that is set for something that was read meanwhile
  /// stays: when it fires it finds nothing.
  mutating func armHolds(of conversation: inout PersonConversationRow, _ conversationId: String) throws {
    guard let due = conversation.nextHoldDue else { return }
    let name = Self.holdTimerName(userId, conversationId)
    if let armed = conversation.holdTimerAt {
      if armed <= due { return }
      step.cancelTimer(name, due: armed)
    }
    conversation.holdTimerAt = due
    try step.setTimer(
      name, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin,
      source: cause.source)
  }

  /// A device says that the conversation is open, after messages of it were written: they are read.
  mutating func confirmOpen(_ conversationId: String, on deviceId: String) throws {
    let before = try conversation(conversationId)
    guard let newest = before.holds.last(where: { $0.place.at < cause.happenedAt }) else { return }
    var conversation = before
    conversation.read(upTo: newest.place)
    try keep(conversation, was: before, for: conversationId, holdsEnd: .open(deviceId: deviceId))
    try cancelRead(conversation, was: before, for: conversationId, last: nil)
    if conversation.unread < before.unread {
      try pushRead(
        conversationId, upTo: nil, at: newest.place.at, except: devices(showing: conversationId))
    }
  }

  // MARK: Waiting before an alert

  /// The device because of which an alert waits, and for how long, in milliseconds: the person may be about to read the message there.
  /// nil: it does not wait.
  func wait(
    beforeAlertOf message: CandidateMessage, _ priority: Priority, mentioned: Bool, on targets: [PushTarget]
  ) -> (device: DeviceActivity, wait: Milliseconds)? {
    guard let device = user.activeDevice(at: step.now, notShowing: message.candidate.conversationId, rules) else {
      return nil
    }
    let policy = rules.policy
    let seconds = priority == .high ? policy.highWaitSeconds : policy.mediumWaitSeconds
    guard seconds > 0, targets.contains(where: { !sameId($0.deviceId, device.deviceId) }),
      !(mentioned && message.isUrgent)
    else { return nil }
    return (device, Milliseconds(seconds) * 1_000)
  }

  // MARK: Rows

  func heldMessage(_ key: MessageKey, in conversationId: String) throws -> HeldMessageRow? {
    guard case .held(let row)? = try step.row(AnalyzerRow.heldKey(userId, conversationId, key)) else { return nil }
    return row
  }

  /// Keeps a message until its final decision.
  func keepHeld(_ message: CandidateMessage, for recipient: Recipient, _ analysis: AnalysisUse?) throws {
    let row = HeldMessageRow(
      message.candidate, for: recipient, sentAt: message.sentAt, heldAt: step.now, source: cause.source,
      headers: step.inheritedHeaders.map { HeldMessageRow.Header(name: $0.name, value: $0.value) },
      analysis: analysis)
    try step.set(.held(row), for: AnalyzerRow.heldKey(userId, message.candidate.conversationId, message.key))
  }

  /// An edit reaches what is held: it is shown with its last text.
  func editHeld(_ key: MessageKey, in conversationId: String, body: String) throws {
    guard var row = try heldMessage(key, in: conversationId) else { return }
    row.candidate.body = body
    row.fit()
    try step.set(.held(row), for: AnalyzerRow.heldKey(userId, conversationId, key))
  }

  /// Takes the row of a held message.
  mutating func takeHeld(_ key: MessageKey, in conversationId: String) throws -> HeldMessageRow? {
    guard let row = try heldMessage(key, in: conversationId) else { return nil }
    try step.remove(AnalyzerRow.heldKey(userId, conversationId, key))
    return row
  }

  // MARK: The end without a push

  /// Writes the final decisions on messages that are held no longer.
  mutating func endHolds(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String, by end: HoldEnd
  ) throws {
    guard end != .due else { return }
    for hold in before.holds where !after.holds.contains(where: { $0.key == hold.key }) && hold.kind != .badge {
      // What is held no longer and is not read is sent: whoever took it decides.
      let (reason, why, inputs) = Self.why(hold, after, end)
      if end == .read, reason == .alreadyRead, !after.isRead(hold.place, after.message(hold.key)) { continue }
      guard let held = try takeHeld(hold.key, in: conversationId) else { continue }
      let preferences = EffectivePreferences(try preferences(), rules: rules)
      let text = Explanation(why).text(in: try words(preferences))
      try causing(held) { person in
        try person.emit(
          DecisionBody(
            userId: person.userId, messageId: held.candidate.messageId, conversationId: conversationId,
            outcome: .suppress, reason: reason, text: text,
            checks: [Check(check: reason.rawValue, result: .suppress, inputs: inputs)],
            badge: person.user.badge(preferences.badgeMode), policy: person.rules.policyVersion.version,
            mode: person.rules.mode(sentAt: held.sentAt, decidedAt: held.heldAt), decidedAt: person.step.now))
      }
      step.count(DecisionTally.place(reason, nil))
    }
  }

  private static func why(
    _ hold: Hold, _ after: PersonConversationRow, _ end: HoldEnd
  ) -> (DecisionReason, ReasonCode, CheckInputs) {
    let marks = after.message(hold.key)?.marks ?? []
    if marks.contains(.withdrawn) || after.withdrawnUpTo.map({ hold.place.at <= $0 }) ?? false {
      return (.withdrawn, .withdrawn, [:])
    }
    if case .open(let deviceId) = end {
      return (.activeConversation, .activeConversation, ["deviceId": .text(deviceId), "confirmed": true])
    }
    var inputs = CheckInputs()
    inputs["readUpTo"] = after.readUpTo.map { .number($0.at) }
    return (.alreadyRead, .alreadyRead, inputs)
  }

  /// Runs `body`. Records that it writes name the held message's chat event as their source, and have its headers.
  mutating func causing(_ held: HeldMessageRow, _ body: (inout PersonContext) throws -> Void) throws {
    source = held.source
    defer { source = nil }
    try step.inheriting(held.headers.map { RecordHeaderField($0.name, $0.value) }) { try body(&self) }
  }
}

extension UserRow {
  /// The device that reported last that the app is open, and not with this conversation, where it is no older than the horizon.
  fileprivate func activeDevice(
    at time: Milliseconds, notShowing conversationId: String, _ rules: AnalyzerRules
  ) -> DeviceActivity? {
    activities.first {
      $0.state == .foreground && time - $0.stamp.occurredAt <= rules.activityHorizon
        && !($0.conversationId.map { sameId($0, conversationId) } ?? false)
    }
  }
}

extension AnalyzerRules {
  /// Whether a message was decided shortly after it was written.
  func mode(sentAt: Milliseconds, decidedAt: Milliseconds) -> DecisionMode {
    decidedAt - sentAt > catchingUpAfter ? .catchingUp : .live
  }
}
