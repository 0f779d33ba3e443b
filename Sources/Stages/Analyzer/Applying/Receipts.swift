import NudgeSchema
import StreamRuntime

/// Devices report what happened to the pushes of messages, and a read on another device removes notifications. Each
/// state of a push on a device is recorded once, within a day of the push (decision 95).
///
/// Nothing is written when a push is made. Its id is a function of its message, so a report can be checked without
/// stored pushes.
extension PersonContext {
  /// `notification.received`, `notification.opened`, `notification.dismissed`.
  mutating func receive(_ report: NotificationReport, _ state: ReceiptState) throws {
    guard let device = try device(report.deviceId) else { return ignore(.unknownDevice) }
    try confirm(report.deviceId, device)
    let before = try receipts(of: report.deviceId) ?? DeviceReceiptsRow()
    var row = before
    row.forget(at: step.now)
    var known = row.index(of: report.pushId)
    if known == nil {
      guard let push = try push(of: report) else { return ignore(.unknownPush) }
      known = row.add(push, at: step.now)
    }
    if let conversationId = report.conversationId, let messageId = report.messageId {
      try endEscalations(of: MessageKey(messageId), in: conversationId, as: .arrived)
    }
    guard let index = known else { return ignore(.tooLate) }
    let isFirst = row.pushes[index].states.isEmpty
    guard row.reach(state.mark, at: index) else { return ignore(.repeated) }
    if report.banner == true { try cancelShown(report) }
    try emit(state, of: row.pushes[index], on: report.deviceId, device)
    // A push that was opened or dismissed has arrived, even if its arrival is not reported.
    if isFirst, state != .arrived { count(.arrived, device) }
    if state == .arrived {
      step.count(.arrival(device.platform, ArrivalTime(cause.happenedAt - row.pushes[index].sentAt)))
    }
    if row.wasReadElsewhere(at: index), row.reach(.withdrawn, at: index) {
      try emit(.withdrawn, of: row.pushes[index], on: report.deviceId, device)
    }
    try keep(row, was: before, for: report.deviceId)
  }

  /// The device has shown the message through its stream, so a push that still waits for it is not sent (D22).
  private mutating func cancelShown(_ report: NotificationReport) throws {
    guard let conversationId = report.conversationId, let messageId = report.messageId else { return }
    try emit(
      .cancelled(
        PushCancelled(
          userId: userId, deviceId: report.deviceId, messageId: messageId, conversationId: conversationId,
          kind: .message)))
  }

  /// A conversation was read: its notifications are removed from the devices on which it was not read.
  ///
  /// - Parameters:
  ///   - time: Messages written until then are affected.
  ///   - excluded: The devices on which it was read.
  mutating func withdrawNotifications(
    of conversationId: String, upTo time: Milliseconds, except excluded: [String]
  ) throws {
    for deviceId in user.devices where !excluded.contains(where: { sameId($0, deviceId) }) {
      // A device without a row has never reported anything.
      guard let before = try receipts(of: deviceId), let device = try device(deviceId) else { continue }
      var row = before
      row.forget(at: step.now)
      row.record(.init(conversation: MessageKey(conversationId), upTo: time))
      for index in row.pushes.indices where row.wasReadElsewhere(at: index) {
        guard row.reach(.withdrawn, at: index) else { continue }
        try emit(.withdrawn, of: row.pushes[index], on: deviceId, device)
      }
      try keep(row, was: before, for: deviceId)
    }
  }

  /// Stores a push whose id or time does not follow from its message: an edit, a replay, or a delayed push.
  ///
  /// - Parameter hasOwnId: Whether the push is known to have the id that follows from its message. If false, that id is
  ///   computed and compared.
  func expectReceipts(of push: Push, hasOwnId: Bool) throws {
    guard push.kind == .message, let conversationId = push.conversationId, let messageId = push.messageId else {
      return
    }
    let messageAt = push.sentAt ?? cause.envelope.occurredAt
    let isPlain =
      step.now - messageAt < Self.prompt
      && (hasOwnId || sameId(push.pushId, ownPushId(conversationId: conversationId, messageId: messageId)))
    guard !isPlain else { return }
    for target in push.targets {
      guard let before = try receipts(of: target.deviceId) else { continue }
      var row = before
      row.forget(at: step.now)
      if row.index(of: push.pushId) == nil {
        _ = row.add(
          .init(
            pushId: push.pushId, conversation: MessageKey(conversationId), messageAt: messageAt, sentAt: step.now,
            states: []), at: step.now)
      }
      try keep(row, was: before, for: target.deviceId)
    }
  }

  /// A push made later than this after its message, in milliseconds, counts from the time it was made.
  private static var prompt: Milliseconds { 3_600_000 }

  /// The push that a report is about, by the message it names; nil if the person has no such push.
  private func push(of report: NotificationReport) throws -> DeviceReceiptsRow.Known? {
    guard let conversationId = report.conversationId, let messageId = report.messageId,
      sameId(report.pushId, ownPushId(conversationId: conversationId, messageId: messageId))
        || rules.policy.escalates
          && sameId(report.pushId, ownPushId(conversationId: conversationId, messageId: messageId, anew: .again))
    else { return nil }
    let conversation = try conversation(conversationId)
    let time: Milliseconds
    if let message = conversation.message(MessageKey(messageId)) {
      guard message.marks.contains(.notified) else { return nil }
      time = message.place.at
    } else {
      // The message is too old to be known individually, so the report's own time counts.
      guard let sentAt = report.sentAt, let forgotten = conversation.forgottenUpTo, sentAt <= forgotten.at else {
        return nil
      }
      time = sentAt
    }
    return .init(
      pushId: report.pushId, conversation: MessageKey(conversationId), messageAt: time, sentAt: time, states: [])
  }

  /// Whether a device has reported that the last push of a message is no longer on its screen.
  func isGone(
    _ messageId: String, _ conversation: PersonConversationRow, _ conversationId: String, on target: PushTarget
  ) throws -> Bool {
    guard let row = try receipts(of: target.deviceId) else { return false }
    let ownIds = [nil, PushCause.Anew.again].map {
      ownPushId(conversationId: conversationId, messageId: messageId, anew: $0)
    }
    // Ids of later pushes do not say which message they show; its time does, unless another message has the same.
    let known = conversation.message(MessageKey(messageId))
    let time = known.flatMap { known in
      conversation.recent.count { $0.place.at == known.place.at } == 1 ? known.place.at : nil
    }
    let last = row.pushes.last { push in
      ownIds.contains { sameId($0, push.pushId) }
        || push.messageAt == time && push.conversation == MessageKey(conversationId)
    }
    return last.map { !$0.states.isDisjoint(with: .gone) } ?? false
  }

  /// The id of a message's first or a later push. The ids of pushes for edits follow from their records.
  func ownPushId(
    conversationId: String, messageId: String, senderId: String? = nil, anew: PushCause.Anew? = nil
  ) -> String {
    rules.pushId(
      userId: userId, kind: .message,
      cause: .message(conversationId: conversationId, messageId: messageId, senderId: senderId, anew: anew))
  }

  func receipts(of deviceId: String) throws -> DeviceReceiptsRow? {
    if case .receipts(let row) = try step.row(AnalyzerRow.receiptsKey(userId, deviceId)) { return row }
    return nil
  }

  private func keep(_ row: DeviceReceiptsRow, was before: DeviceReceiptsRow, for deviceId: String) throws {
    if row != before { try step.set(.receipts(row), for: AnalyzerRow.receiptsKey(userId, deviceId)) }
  }

  private func ignore(_ reason: AnalyzerMetric.IgnoredReport) { step.count(.ignoredReport(reason)) }

  private func count(_ state: ReceiptState?, _ device: PersonDeviceRow) {
    let app = device.appVersion.map { AnalyzerMetric.AppVersion(version: $0, person: userId) }
    step.count(.push(state, device.platform, app))
  }

  /// Counts the pushes of a message by device.
  func countMade(_ push: Push) throws {
    guard push.kind == .message else { return }
    for target in push.targets {
      if let device = try device(target.deviceId) { count(nil, device) }
    }
  }

  private mutating func emit(
    _ state: ReceiptState, of push: DeviceReceiptsRow.Known, on deviceId: String, _ device: PersonDeviceRow
  ) throws {
    // If it was reported as opened before, it has already been counted.
    if state != .arrived || push.states == .arrived { count(state, device) }
    try emit(
      ReceiptBody(
        pushId: push.pushId, userId: userId, deviceId: deviceId, state: state, platform: device.platform,
        appVersion: device.appVersion, sentAt: push.sentAt))
  }
}

extension ReceiptState {
  fileprivate var mark: DeviceReceiptsRow.States {
    switch self {
    case .arrived: .arrived
    case .opened: .opened
    case .dismissed: .dismissed
    case .withdrawn: .withdrawn
    }
  }
}
