import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// Sets the timer for the first wait that ends, unless it is set. A timer for a message that was read meanwhile
  /// stays; when it fires, nothing is due.
  mutating func armHolds(of conversation: inout PersonConversationRow, _ conversationId: String) throws {
    guard let due = conversation.nextHoldDue else { return }
    let name = PersonTimer.hold(conversationId: conversationId).name(of: userId)
    if let armed = conversation.holdTimerAt {
      if armed <= due { return }
      step.cancelTimer(name, due: armed)
    }
    conversation.holdTimerAt = due
    try step.setTimer(
      name, due: due, key: userId, eventId: cause.envelope.eventId, origin: cause.ownOrigin,
      source: cause.source)
  }

  /// A device reports the conversation as open after messages of it were written, so they are read: up to the first one
  /// that needs a sign of a person, and came after the last sign. These are messages that have alerted, and urgent ones.
  /// The wait of the latter ends.
  mutating func confirmOpen(_ conversationId: String, by claim: DeviceActivity) throws {
    let before = try conversation(conversationId)
    let shown = before.holds.filter { $0.place.at < cause.happenedAt }
    guard !shown.isEmpty else { return }
    let urgent = try shown.filter { try claim.lastSign <= $0.place.at && isUrgent($0, in: conversationId) }
    let unseen = [before.firstAlert(since: claim.lastSign), urgent.first?.place].compactMap { $0 }.min()
    let newest = shown.last { hold in unseen.map { hold.place < $0 } ?? true }
    guard newest != nil || !urgent.isEmpty else { return }
    var conversation = before
    if let newest { conversation.read(upTo: newest.place) }
    if !urgent.isEmpty {
      conversation.endWaits(of: urgent, at: step.now)
      try armHolds(of: &conversation, conversationId)
    }
    try keep(conversation, was: before, for: conversationId, holdsEnd: .open(deviceId: claim.deviceId))
    try cancelRead(conversation, was: before, for: conversationId, last: nil)
    if let newest, conversation.unread < before.unread {
      try pushRead(
        conversationId, upTo: nil, at: newest.place.at, except: devices(showing: conversationId))
    }
  }

  /// Whether a message that waits because its conversation is open is urgent.
  private func isUrgent(_ hold: Hold, in conversationId: String) throws -> Bool {
    guard hold.kind == .presence, let held = try heldMessage(hold.key, in: conversationId) else { return false }
    return CandidateMessage(held.candidate, sentAt: held.sentAt, policy: rules.policyVersion).isUrgent
  }

  // MARK: Rows

  func heldMessage(_ key: MessageKey, in conversationId: String) throws -> HeldMessageRow? {
    guard case .held(let row)? = try step.row(AnalyzerRow.heldKey(userId, conversationId, key)) else { return nil }
    return row
  }

  /// Stores a message until its final decision.
  ///
  /// - Parameter pushedTo: Devices that already have a push of it.
  func keepHeld(
    _ message: CandidateMessage, _ context: RecipientContext, _ analysis: AnalysisUse? = nil, pushedTo: [String] = []
  ) throws {
    let row = HeldMessageRow(
      message.candidate, for: Recipient(userId: userId, context: context), sentAt: message.sentAt, heldAt: step.now,
      source: source ?? cause.source,
      headers: step.inheritedHeaders.map { HeldMessageRow.Header(name: $0.name, value: $0.value) },
      analysis: analysis, pushedTo: pushedTo)
    try step.set(.held(row), for: AnalyzerRow.heldKey(userId, message.candidate.conversationId, message.key))
  }

  /// Applies an edit to a held message, which is then shown with its last text and its sender's current name.
  func editHeld(_ key: MessageKey, in conversationId: String, _ edited: MessageWithdrawn, body: String) throws {
    guard var row = try heldMessage(key, in: conversationId) else { return }
    row.candidate.body = body
    // The editor is not always the author, because a moderator may edit.
    if let sender = edited.sender, let title = edited.title, sameId(sender.userId, row.candidate.sender.userId) {
      (row.candidate.sender, row.candidate.title) = (sender, title)
    }
    row.fit()
    try step.set(.held(row), for: AnalyzerRow.heldKey(userId, conversationId, key))
  }

  /// Removes the row of a held message.
  func forgetHeld(_ key: MessageKey, in conversationId: String) throws {
    try step.remove(AnalyzerRow.heldKey(userId, conversationId, key))
  }

  // MARK: The end without a push

  /// Writes the final decisions on messages that are no longer held.
  mutating func endHolds(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String, by end: HoldEnd
  ) throws {
    guard end != .due else { return }
    for hold in before.holds where !after.holds.contains(where: { $0.key == hold.key }) && hold.kind != .badge {
      // A message that is no longer held and not read is sent; the code that ended its hold decides that.
      let (reason, why, inputs) = Self.why(hold, after, end)
      if end == .read, reason == .alreadyRead, !after.isRead(hold.place, after.message(hold.key)) { continue }
      guard let held = try heldMessage(hold.key, in: conversationId), let recipient = held.recipient else { continue }
      try forgetHeld(hold.key, in: conversationId)
      var trail = Trail()
      guard let verdict = trail.suppress(reason, inputs, Explanation(why)) else { continue }
      let facts = Case(
        message: CandidateMessage(held.candidate, sentAt: held.sentAt, policy: rules.policyVersion).apart(in: after),
        context: recipient.context, occasion: .held(.init(held)),
        person: PersonSnapshot(
          userId: userId, user: user, preferences: try effectivePreferences(),
          conversation: after, conversationBefore: before, learned: LearnedPreferences(), rows: rows),
        place: hold.place, isRead: true, rules: rules, now: step.now)
      try causing(held) { try $0.conclude(facts, Ruling(verdict: verdict, trail: trail), in: after) }
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

  /// Runs `body`. The records that it writes have the held message's chat event as their source, and its headers.
  mutating func causing(_ held: HeldMessageRow, _ body: (inout PersonContext) throws -> Void) throws {
    source = held.source
    defer { source = nil }
    try step.inheriting(held.headers.map { RecordHeaderField($0.name, $0.value) }) { try body(&self) }
  }
}

extension UserRow {
  /// The device that last reported the app as open with another conversation, if that report is within the horizon.
  func activeDevice(
    at time: Milliseconds, notShowing conversationId: String, _ rules: AnalyzerRules
  ) -> DeviceActivity? {
    activities.first {
      rules.activityHorizon.holds($0, at: time)
        && !($0.conversationId.map { sameId($0, conversationId) } ?? false)
    }
  }
}

extension AnalyzerRules {
  /// Whether a message was decided soon after it was written.
  func mode(sentAt: Milliseconds, decidedAt: Milliseconds) -> DecisionMode {
    decidedAt - sentAt > catchingUpAfter ? .catchingUp : .live
  }
}
