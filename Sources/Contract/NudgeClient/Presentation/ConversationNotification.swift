public import Foundation

/// A message in the form in which phones show conversations: sender, conversation and picture. Phones rank and group
/// such notifications as conversations.
///
/// On iOS a notification service extension turns it into an intent:
///
/// ```swift
/// guard let shown = ConversationNotification(push) else { return contentHandler(content) }
/// let sender = INPerson(
///   personHandle: INPersonHandle(value: shown.sender.key, type: .unknown), nameComponents: nil,
///   displayName: shown.sender.name, image: avatar, contactIdentifier: nil, customIdentifier: shown.sender.key)
/// let intent = INSendMessageIntent(
///   recipients: nil, outgoingMessageType: .outgoingMessageText, content: shown.text,
///   speakableGroupName: shown.groupName.map(INSpeakableString.init(spokenPhrase:)),
///   conversationIdentifier: shown.conversationId, serviceName: nil, sender: sender, attachments: nil)
/// let interaction = INInteraction(intent: intent, response: nil)
/// interaction.direction = .incoming
/// try? await interaction.donate()
/// contentHandler((try? content.updating(from: intent)) ?? content)
/// ```
///
/// On Android an app that shows the notification itself uses `NotificationCompat.MessagingStyle`; ``style(with:)`` has its parts.
public struct ConversationNotification: Sendable, Equatable {
  /// The person who wrote a message.
  public struct Person: Sendable, Equatable {
    /// The user id: `INPerson.customIdentifier`, `Person.Builder.setKey`.
    public let key: String
    /// The name.
    public let name: String
    /// The address of the picture, if there is one.
    public let avatarURL: URL?
  }

  /// The conversation: `conversationIdentifier` on iOS, the shortcut's id on Android.
  public let conversationId: String
  /// The message's id.
  public let messageId: String
  /// The sender.
  public let sender: Person
  /// Whether more than two people can take part.
  public let isGroup: Bool
  /// The group's name; nil for a direct conversation or a group without a name.
  public let groupName: String?
  /// The text; nil if it was not given. On Android the app passes it to `PushPayload(data:title:body:)`.
  public let text: String?
  /// When the message was written, to the second.
  public let sentAt: Date?
  /// How much the message matters.
  public let priority: PushPayload.Priority
  /// Where a tap leads.
  public var route: Route { Route(conversationId: conversationId, messageId: messageId) }

  /// The message of a push. Nil if the push shows no message, or does not name its sender, as from older services and
  /// for the edit of an old message. Show such a push unchanged.
  public init?(_ push: PushPayload) {
    guard case .message(let message) = push.content, message.presentation != .badge, let names = push.names,
      let senderId = message.senderId
    else { return nil }
    conversationId = message.conversationId
    messageId = message.messageId
    sender = Person(key: senderId, name: names.sender, avatarURL: names.avatarURL)
    isGroup = names.isGroup
    groupName = names.isGroup ? names.group : nil
    text = push.body
    sentAt = push.timestamp
    priority = message.priority
  }
}

extension ConversationNotification {
  /// The parts of Android's `NotificationCompat.MessagingStyle` for one conversation with its latest messages.
  ///
  /// | part | goes to |
  /// |---|---|
  /// | `shortcutId` | `ShortcutInfoCompat.Builder(context, shortcutId).setLongLived(true)`, `NotificationCompat.Builder.setShortcutId` |
  /// | `conversationTitle`, `isGroupConversation` | the setters of these names; the title is nil in a direct conversation, as Android asks |
  /// | `messages` | `addMessage(text, time, Person.Builder().setKey(key).setName(name).build())` |
  /// | `tag` | `NotificationManagerCompat.notify(tag, 0, notification)`: one notification a conversation |
  public struct MessagingStyle: Sendable, Equatable {
    /// A message of the conversation.
    public struct Message: Sendable, Equatable {
      /// The sender.
      public let sender: Person
      /// The text; empty if the push has none.
      public let text: String
      /// When it was written, in milliseconds since the epoch.
      public let time: Int64
    }

    /// The id of the conversation's shortcut.
    public let shortcutId: String
    /// The group's name; nil for a direct conversation.
    public let conversationTitle: String?
    /// Whether more than two people can take part.
    public let isGroupConversation: Bool
    /// The messages, the oldest first.
    public let messages: [Message]
    /// The notification's tag.
    public var tag: String { shortcutId }
  }

  /// The most messages that Android shows of one conversation.
  public static let mostMessages = 25

  /// The conversation with this message and the messages that its notification already shows. Messages of other
  /// conversations are left out. If `earlier` contains this message, it is taken once, with this text.
  public func style(with earlier: [ConversationNotification] = []) -> MessagingStyle {
    let others = earlier.filter { $0.conversationId == conversationId && $0.messageId != messageId }
    let messages = (others + [self]).enumerated().sorted {
      ($0.element.sentAt ?? .distantPast, $0.offset) < ($1.element.sentAt ?? .distantPast, $1.offset)
    }.suffix(Self.mostMessages).map { _, shown in
      MessagingStyle.Message(
        sender: shown.sender, text: shown.text ?? "",
        time: shown.sentAt.map { Int64($0.timeIntervalSince1970 * 1_000) } ?? 0)
    }
    return MessagingStyle(
      shortcutId: conversationId, conversationTitle: isGroup ? groupName ?? "" : nil, isGroupConversation: isGroup,
      messages: messages)
  }
}

/// The id by which the device replaces and removes a notification: the tag on Android and the web, the request's
/// identifier (`apns-collapse-id`) on iOS.
///
/// Message ids are unique only within a conversation, and may contain any characters. This id has 32 hexadecimal
/// digits. Apps without this module compute it as described in docs/apps.md.
public enum NotificationId {
  /// The id of a message's notification.
  ///
  /// - Parameters:
  ///   - messageId: The message.
  ///   - conversationId: Its conversation.
  public static func message(_ messageId: String, in conversationId: String) -> String {
    let text = "\(conversationId.utf8.count):\(conversationId)\(messageId)"
    return SHA256.digest(Array(text.utf8)).prefix(16).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }

  /// The id of the single notification for all silent messages of a conversation, on Android devices whose app does not
  /// draw notifications itself.
  public static func conversation(_ conversationId: String) -> String { message("", in: conversationId) }
}

/// SHA-256 (FIPS 180-4), because this module depends on nothing but Foundation.
enum SHA256 {
  private static let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  /// The 32 bytes of a message's hash.
  static func digest(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [
      0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    // A one bit, zeros, and the length in bits in the last eight bytes of a block of 64.
    var padded = message + [0x80]
    padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
    padded += (0..<8).map { UInt8(truncatingIfNeeded: (UInt64(message.count) * 8) >> (56 - 8 * UInt64($0))) }
    for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = turned(early, 7) ^ turned(early, 18) ^ early >> 3
      let second = turned(late, 17) ^ turned(late, 19) ^ late >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let choice = (e & f) ^ (~e & g)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let first =
        h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice &+ roundConstants[index] &+ words[index]
      let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
  }

  private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }
}
