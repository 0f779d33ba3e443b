import NudgeCodec
import NudgeSchema

extension WaitingPush {
  /// The version of rows with pushes. Version 2 added the fields of edits, quiet hours, mentions and the time budget, 3 catch-ups, 4
  /// escalations, answers and names, 5 languages and collapse keys, 6 the number of targets, 7 unread messages and apps that draw, 8
  /// subscriptions and keys for sealing.
  static var rowVersions: RowVersions { RowVersions(8) }

  init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(
      push: try Push(packed: &row), target: try PushTarget(packed: &row), cause: try row.origin(),
      origin: try row.origin(), source: try row.position(), occurredAt: try row.signed())
    attempts = Int(try row.signed())
    notBefore = try row.signed()
    var flags = RowFlags(bits: try row.unsigned())
    inAir = flags.take()
    traceparent = flags.take() ? try row.text() : nil
    replayId = flags.take() ? try row.text() : nil
    firstAttemptAt = flags.take() ? try row.signed() : nil
    httpStatus = flags.take() ? Int(try row.signed()) : nil
    errorCode = flags.take() ? try row.text() : nil
    withdrawn = flags.take() ? try row.choice(of: Withdrawal.allCases) : nil
    // Since version 2.
    failingSince = flags.take() ? try row.signed() : nil
    // Since version 5.
    collapse = flags.take() ? try Collapse(packed: &row) : nil
    isCounted = flags.take()
    // Since version 6.
    devices = flags.take() ? Int(try row.signed()) : nil
  }

  func pack(into row: inout RowWriter) {
    push.pack(into: &row)
    target.pack(into: &row)
    row.origin(cause)
    row.origin(origin)
    row.position(source)
    row.signed(occurredAt)
    row.signed(attempts)
    row.signed(notBefore)
    var flags = RowFlags()
    flags.add(inAir)
    flags.add(traceparent != nil)
    flags.add(replayId != nil)
    flags.add(firstAttemptAt != nil)
    flags.add(httpStatus != nil)
    flags.add(errorCode != nil)
    flags.add(withdrawn != nil)
    flags.add(failingSince != nil)
    flags.add(collapse != nil)
    flags.add(isCounted)
    flags.add(devices != nil)
    row.unsigned(flags.bits)
    if let traceparent { row.text(traceparent) }
    if let replayId { row.text(replayId) }
    if let firstAttemptAt { row.signed(firstAttemptAt) }
    if let httpStatus { row.signed(httpStatus) }
    if let errorCode { row.text(errorCode) }
    if let withdrawn { row.choice(withdrawn, of: Withdrawal.allCases) }
    if let failingSince { row.signed(failingSince) }
    collapse?.pack(into: &row)
    if let devices { row.signed(devices) }
  }
}

/// A push without its targets, each of which has its own copy.
extension Push {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    let (pushId, userId) = (try row.text(), try row.text())
    let kind = try row.choice(of: Kind.allCases)
    let priority = try row.choice(of: Priority.allCases)
    let presentation = try row.choice(of: Presentation.allCases)
    let (badge, ttlSeconds) = (Int(try row.signed()), Int(try row.signed()))
    let (expiresAt, decidedAt) = (try row.signed(), try row.signed())
    var flags = RowFlags(bits: try row.unsigned())
    self.init(
      pushId: pushId, kind: kind, userId: userId, targets: [],
      title: flags.take() ? try row.text() : nil, body: flags.take() ? try row.text() : nil,
      imageUrl: flags.take() ? try row.text() : nil, priority: priority, presentation: presentation,
      reason: flags.take() ? try row.choice(of: DecisionReason.allCases) : nil, badge: badge,
      conversationId: flags.take() ? try row.text() : nil, messageId: flags.take() ? try row.text() : nil,
      senderId: flags.take() ? try row.text() : nil, ttlSeconds: ttlSeconds, expiresAt: expiresAt,
      decidedAt: decidedAt)
    // Since version 2.
    if flags.take() { avatarUrl = try row.text() }
    if flags.take() { replaces = try row.byte() != 0 }
    if flags.take() { mentioned = try row.byte() != 0 }
    if flags.take() {
      let (start, end) = (try row.text(), try row.text())
      quietHours = QuietHours(start: start, end: end, timeZone: try row.byte() == 0 ? nil : try row.text())
    }
    if flags.take() { sentAt = try row.signed() }
    // Since version 3.
    if flags.take() { digest = try Digest(packed: &row) }
    // Since version 4.
    if flags.take() { escalation = try Escalation(packed: &row) }
    if flags.take() { answered = try row.byte() != 0 }
    if flags.take() { conversation = try PushConversation(packed: &row) }
    // Since version 5.
    if flags.take() { language = try row.text() }
    // Since version 7.
    if flags.take() { unread = Int(try row.signed()) }
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.text(pushId)
    row.text(userId)
    row.choice(kind, of: Kind.allCases)
    row.choice(priority, of: Priority.allCases)
    row.choice(presentation, of: Presentation.allCases)
    row.signed(badge)
    row.signed(ttlSeconds)
    row.signed(expiresAt)
    row.signed(decidedAt)
    var flags = RowFlags()
    flags.add(title != nil)
    flags.add(body != nil)
    flags.add(imageUrl != nil)
    flags.add(reason != nil)
    flags.add(conversationId != nil)
    flags.add(messageId != nil)
    flags.add(senderId != nil)
    flags.add(avatarUrl != nil)
    flags.add(replaces != nil)
    flags.add(mentioned != nil)
    flags.add(quietHours != nil)
    flags.add(sentAt != nil)
    flags.add(digest != nil)
    flags.add(escalation != nil)
    flags.add(answered != nil)
    flags.add(conversation != nil)
    flags.add(language != nil)
    flags.add(unread != nil)
    row.unsigned(flags.bits)
    if let title { row.text(title) }
    if let body { row.text(body) }
    if let imageUrl { row.text(imageUrl) }
    if let reason { row.choice(reason, of: DecisionReason.allCases) }
    if let conversationId { row.text(conversationId) }
    if let messageId { row.text(messageId) }
    if let senderId { row.text(senderId) }
    if let avatarUrl { row.text(avatarUrl) }
    if let replaces { row.byte(replaces ? 1 : 0) }
    if let mentioned { row.byte(mentioned ? 1 : 0) }
    if let quietHours {
      row.text(quietHours.start)
      row.text(quietHours.end)
      row.byte(quietHours.timeZone == nil ? 0 : 1)
      if let timeZone = quietHours.timeZone { row.text(timeZone) }
    }
    if let sentAt { row.signed(sentAt) }
    if let digest { digest.pack(into: &row) }
    if let escalation { escalation.pack(into: &row) }
    if let answered { row.byte(answered ? 1 : 0) }
    if let conversation { conversation.pack(into: &row) }
    if let language { row.text(language) }
    if let unread { row.signed(unread) }
  }
}

extension Collapse {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(
      kind: try row.choice(of: Kind.allCases), key: try row.text(), messages: Int(try row.signed()),
      conversations: Int(try row.signed()))
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.choice(kind, of: Kind.allCases)
    row.text(key)
    row.signed(messages)
    row.signed(conversations)
  }
}

extension Escalation {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    self.init(
      pushedAt: try row.signed(), pushedAgainAt: flags.take() ? try row.signed() : nil,
      senderName: flags.take() ? try row.text() : nil, groupName: flags.take() ? try row.text() : nil)
  }

  fileprivate func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(pushedAgainAt != nil)
    flags.add(senderName != nil)
    flags.add(groupName != nil)
    row.unsigned(flags.bits)
    row.signed(pushedAt)
    if let pushedAgainAt { row.signed(pushedAgainAt) }
    if let senderName { row.text(senderName) }
    if let groupName { row.text(groupName) }
  }
}

extension PushConversation {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    let senderName = try row.text()
    let kind = try row.choice(of: ConversationKind.allCases)
    self.init(senderName: senderName, kind: kind, name: try row.byte() == 0 ? nil : try row.text())
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.text(senderName)
    row.choice(kind, of: ConversationKind.allCases)
    row.byte(name == nil ? 0 : 1)
    if let name { row.text(name) }
  }
}

/// A catch-up without its parts, which no device is sent.
extension Digest {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    let (messages, conversations) = (Int(try row.signed()), Int(try row.signed()))
    var lines: [Line] = []
    for _ in 0..<(try row.count()) {
      lines.append(
        Line(
          conversationId: try row.text(), messageId: try row.text(), title: try row.text(), text: try row.text()))
    }
    self.init(messages: messages, conversations: conversations, lines: lines)
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.signed(messages)
    row.signed(conversations)
    row.count(lines.count)
    for line in lines {
      row.text(line.conversationId)
      row.text(line.messageId)
      row.text(line.title)
      row.text(line.text)
    }
  }
}

extension PushTarget {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    let (deviceId, address, version) = (try row.text(), try row.text(), try row.signed())
    let platform = try row.choice(of: Platform.allCases)
    // Before version 7 this was a byte, 1 for a project: the same bits.
    var flags = RowFlags(bits: try row.unsigned())
    self.init(
      deviceId: deviceId, token: address, version: version, platform: platform,
      projectId: flags.take() ? try row.text() : nil)
    renders = flags.take() ? flags.take() : nil
    foreground = flags.take() ? flags.take() : nil
    // Since version 8.
    if flags.take() {
      token = nil
      webPush = WebPushSubscription(endpoint: address, p256dh: try row.text(), auth: try row.text())
    }
    sealing = flags.take() ? SealingKeys(p256dh: try row.text(), auth: try row.text()) : nil
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.text(deviceId)
    row.text(address)
    row.signed(version)
    row.choice(platform, of: Platform.allCases)
    var flags = RowFlags()
    flags.add(projectId != nil)
    for flag in [renders, foreground] {
      flags.add(flag != nil)
      if let flag { flags.add(flag) }
    }
    flags.add(webPush != nil)
    flags.add(sealing != nil)
    row.unsigned(flags.bits)
    if let projectId { row.text(projectId) }
    if let webPush {
      row.text(webPush.p256dh)
      row.text(webPush.auth)
    }
    if let sealing {
      row.text(sealing.p256dh)
      row.text(sealing.auth)
    }
  }
}
