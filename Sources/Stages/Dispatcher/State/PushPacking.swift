import NudgeCodec
import NudgeSchema

extension Push {
  init(packed row: inout RowReader) throws(RowFormatError) {
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

  func pack(into row: inout RowWriter) {
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
  init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(
      kind: try row.choice(of: Kind.allCases), key: try row.text(), messages: Int(try row.signed()),
      conversations: Int(try row.signed()))
  }

  func pack(into row: inout RowWriter) {
    row.choice(kind, of: Kind.allCases)
    row.text(key)
    row.signed(messages)
    row.signed(conversations)
  }
}

extension Escalation {
  init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    self.init(
      pushedAt: try row.signed(), pushedAgainAt: flags.take() ? try row.signed() : nil,
      senderName: flags.take() ? try row.text() : nil, groupName: flags.take() ? try row.text() : nil)
  }

  func pack(into row: inout RowWriter) {
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
  init(packed row: inout RowReader) throws(RowFormatError) {
    let senderName = try row.text()
    let kind = try row.choice(of: ConversationKind.allCases)
    self.init(senderName: senderName, kind: kind, name: try row.byte() == 0 ? nil : try row.text())
  }

  func pack(into row: inout RowWriter) {
    row.text(senderName)
    row.choice(kind, of: ConversationKind.allCases)
    row.byte(name == nil ? 0 : 1)
    if let name { row.text(name) }
  }
}

/// A catch-up without its parts, which no device is sent.
extension Digest {
  init(packed row: inout RowReader) throws(RowFormatError) {
    let (messages, conversations) = (Int(try row.signed()), Int(try row.signed()))
    var lines: [Line] = []
    for _ in 0..<(try row.count()) {
      lines.append(
        Line(
          conversationId: try row.text(), messageId: try row.text(), title: try row.text(), text: try row.text()))
    }
    self.init(messages: messages, conversations: conversations, lines: lines)
  }

  func pack(into row: inout RowWriter) {
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
  init(packed row: inout RowReader) throws(RowFormatError) {
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

  func pack(into row: inout RowWriter) {
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

extension WaitingPush {
  private static let maxBodyBytes = 3600
  private static let maxTitleBytes = 1024
  private static let maxImageUrlBytes = 2048
  private static let maxAvatarUrlBytes = 704
  private static let maxNameBytes = 256
  private static let maxLanguageBytes = 16
  /// The limit of preferences (`SchemaLimits.timeZoneBytes`).
  private static let maxTimeZoneBytes = 64

  /// Cuts what FCM would refuse anyway, so that every push fits a row. Sizes are those of the JSON.
  mutating func fitRow() {
    push.digest?.fitRow()
    push.escalation?.fitRow()
    if push.language?.utf8.count ?? 0 > Self.maxLanguageBytes { push.language = nil }
    push.body = push.body.flatMap {
      TextCut.shortened($0, toBytes: Self.maxBodyBytes, measuring: TextCut.jsonBytes)
    }
    push.title = push.title.flatMap {
      TextCut.shortened($0, toBytes: Self.maxTitleBytes, measuring: TextCut.jsonBytes)
    }
    if let url = push.imageUrl, TextCut.jsonBytes(url[...]) > Self.maxImageUrlBytes { push.imageUrl = nil }
    if let url = push.avatarUrl, TextCut.jsonBytes(url[...]) > Self.maxAvatarUrlBytes { push.avatarUrl = nil }
    if var conversation = push.conversation {
      conversation.senderName = Self.cutName(conversation.senderName)
      conversation.name = conversation.name.map(Self.cutName)
      push.conversation = push.digest == nil ? conversation : nil
    }
    if let hours = push.quietHours, QuietSpan(hours) == nil || hours.timeZone?.utf8.count ?? 0 > Self.maxTimeZoneBytes {
      push.quietHours = nil
    }
  }

  private static func cutName(_ name: String) -> String {
    TextCut.shortened(name, toBytes: maxNameBytes, measuring: TextCut.jsonBytes) ?? ""
  }

  /// A cheap estimate of its bytes: the long texts, and a constant for the rest.
  var approximateBytes: Int {
    700 + (push.title?.utf8.count ?? 0) + (push.body?.utf8.count ?? 0) + target.address.utf8.count
  }

  /// An upper bound of its bytes in a row.
  var rowBytes: Int {
    func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
    // Numbers, codes and lengths, with room to grow. A test compares the bound with the real encoding.
    var bytes = 1280
    bytes += size(push.pushId) + size(push.userId) + size(push.title) + size(push.body) + size(push.imageUrl)
    bytes += size(push.conversation?.senderName) + size(push.conversation?.name)
    bytes += size(push.avatarUrl) + size(push.quietHours?.timeZone)
    bytes += size(push.conversationId) + size(push.messageId) + size(push.senderId)
    bytes += size(target.deviceId) + size(target.address) + size(target.projectId)
    bytes += size(target.webPush?.p256dh) + size(target.webPush?.auth)
    bytes += size(target.sealing?.p256dh) + size(target.sealing?.auth)
    bytes += size(cause.topic) + size(origin.topic) + size(source.topic)
    bytes += size(traceparent) + size(replayId)
    if let escalation = push.escalation { bytes += size(escalation.senderName) + size(escalation.groupName) + 32 }
    for line in push.digest?.lines ?? [] {
      bytes += size(line.conversationId) + size(line.messageId) + size(line.title) + size(line.text) + 32
    }
    return bytes
  }
}

extension Escalation {
  private static let maxNameBytes = 512

  /// Cuts what no analyzer writes.
  fileprivate mutating func fitRow() {
    func cut(_ name: String?) -> String? {
      name.flatMap { TextCut.shortened($0, toBytes: Self.maxNameBytes, measuring: TextCut.jsonBytes) }
    }
    senderName = cut(senderName)
    groupName = cut(groupName)
  }
}

extension Digest {
  private static let maxTextBytes = 512

  /// Forgets what only people look for, and cuts what no analyzer writes.
  fileprivate mutating func fitRow() {
    parts = nil
    lines = lines.prefix(Self.maxLines).map { line in
      var line = line
      line.title =
        TextCut.shortened(line.title, toBytes: Self.maxTextBytes, measuring: TextCut.jsonBytes) ?? ""
      line.text = TextCut.shortened(line.text, toBytes: Self.maxTextBytes, measuring: TextCut.jsonBytes) ?? ""
      return line
    }
  }
}

/// Cuts text between grapheme clusters.
enum TextCut {
  /// The text if it takes at most `limit` bytes, else as many of its grapheme clusters as fit before `…`; nil where `…` itself
  /// does not fit. `bytes` measures text; the default is its UTF-8 bytes.
  static func shortened(
    _ text: String, toBytes limit: Int, measuring bytes: (Substring) -> Int = { $0.utf8.count }
  ) -> String? {
    if bytes(text[...]) <= limit { return text }
    let ellipsis = "…"
    var room = limit - ellipsis.utf8.count
    guard room >= 0 else { return nil }
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      room -= bytes(text[end..<next])
      guard room >= 0 else { break }
      end = next
    }
    return text[..<end] + ellipsis
  }

  /// The bytes of a text inside a JSON string.
  static func jsonBytes(_ text: Substring) -> Int {
    text.utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
  }
}
