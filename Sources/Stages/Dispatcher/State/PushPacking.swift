public import NudgeCodec
import NudgeSchema

/// Without its targets, each of which has its own copy.
extension Push: PackedFields {
  static var blank: Self {
    Self(
      pushId: "", kind: .message, userId: "", targets: [], priority: .low, presentation: .silent, badge: 0,
      ttlSeconds: 0, expiresAt: 0, decidedAt: 0)
  }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&pushId)
    try row.field(&userId)
    try row.field(&kind)
    try row.field(&priority)
    try row.field(&presentation)
    try row.field(&badge)
    try row.field(&ttlSeconds)
    try row.field(&expiresAt)
    try row.field(&decidedAt)
    try row.flags()
    try row.optional(&title)
    try row.optional(&body)
    try row.optional(&imageUrl)
    try row.optional(&reason)
    try row.optional(&conversationId)
    try row.optional(&messageId)
    try row.optional(&senderId)
    // Since version 2.
    try row.optional(&avatarUrl)
    try row.optional(&replaces)
    try row.optional(&mentioned)
    try row.optional(&quietHours)
    try row.optional(&sentAt)
    // Since version 3.
    try row.optional(&digest)
    // Since version 4.
    try row.optional(&escalation)
    try row.optional(&answered)
    try row.optional(&conversation)
    // Since version 5.
    try row.optional(&language)
    // Since version 7.
    try row.optional(&unread)
    // Since version 8.
    try row.optional(&urgent)
  }
}

extension Escalation: PackedFields {
  static var blank: Self { Self(pushedAt: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.field(&pushedAt)
    try row.optional(&pushedAgainAt)
    try row.optional(&senderName)
    try row.optional(&groupName)
  }
}

extension PushConversation: PackedFields {
  static var blank: Self { Self(senderName: "", kind: .direct) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&senderName)
    try row.field(&kind)
    try row.field(&name)
  }
}

/// A catch-up without its parts, which are not sent to devices.
extension Digest: PackedFields {
  static var blank: Self { Self(messages: 0, conversations: 0, lines: []) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&messages)
    try row.field(&conversations)
    try row.field(&lines)
  }
}

extension Digest.Line: PackedFields {
  static var blank: Self { Self(conversationId: "", messageId: "", title: "", text: "") }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&conversationId)
    try row.field(&messageId)
    try row.field(&title)
    try row.field(&text)
  }
}

extension PushTarget: PackedFields {
  static var blank: Self { Self(deviceId: "", version: 0, platform: .android) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    var address = self.address
    try row.field(&deviceId)
    try row.field(&address)
    try row.field(&version)
    try row.field(&platform)
    // Before version 7 this was a byte, which was 1 for a project. The bits are the same.
    try row.flags()
    try row.optional(&projectId)
    row.optionalFlag(&renders)
    row.optionalFlag(&foreground)
    // Since version 8. The endpoint is the address.
    var keys = webPush.map { SealingKeys(p256dh: $0.p256dh, auth: $0.auth) }
    try row.optional(&keys)
    try row.optional(&sealing)
    guard Row.isReading else { return }
    token = keys == nil ? address : nil
    webPush = keys.map { WebPushSubscription(endpoint: address, p256dh: $0.p256dh, auth: $0.auth) }
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
    // Numbers, codes and lengths, with reserve. A test compares the bound with the actual encoding.
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

  /// Removes what only people read, and cuts what no analyzer writes.
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
  /// The text if it takes at most `limit` bytes, otherwise as many of its grapheme clusters as fit before `…`; nil if `…` does not fit.
  /// `bytes` measures text; the default is its UTF-8 bytes.
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

  /// The bytes of a text within a JSON string.
  static func jsonBytes(_ text: Substring) -> Int {
    text.utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
  }
}
