import Foundation

/// A banner for a message in a conversation other than the open one: a `banner` record of `nudge.banners`, as a real-time
/// gateway delivers it.
///
/// ```swift
/// let banner = try JSONDecoder().decode(InAppBanner.self, from: record)
/// view.title = banner.senderName
/// view.subtitle = banner.subtitle()  // "in Team", nil in a direct conversation
/// view.initials = banner.avatarUrl == nil ? banner.initials : nil
/// ```
public struct InAppBanner: Sendable, Equatable {
  /// The user the banner is for.
  public let userId: String
  /// The conversation of the message.
  public let conversationId: String
  /// The message's id.
  public let messageId: String
  /// The user id of the sender.
  public let senderId: String
  /// The sender's display name.
  public let senderName: String
  /// The sender's picture; nil: show `initials`.
  public let avatarUrl: String?
  /// The first characters of the message, 50 unless the operator's policy says otherwise.
  public let preview: String
  /// The group's name; nil in a direct conversation.
  public let groupName: String?
  /// When the message was sent, in milliseconds since the epoch.
  public let occurredAt: Int64
  /// The push of the same message; nil: none goes out with it. An app that opened its stream with `answers=true` answers a banner with it
  /// that it shows, by `ReceiptQueue.shown`.
  public let pushId: String?

  /// A banner from its parts.
  public init(
    userId: String, conversationId: String, messageId: String, senderId: String, senderName: String,
    avatarUrl: String? = nil, preview: String, groupName: String? = nil, occurredAt: Int64, pushId: String? = nil
  ) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.senderId = senderId
    self.senderName = senderName
    self.avatarUrl = avatarUrl
    self.preview = preview
    self.groupName = groupName
    self.occurredAt = occurredAt
    self.pushId = pushId
  }

  /// The line under the sender's name in a group: "in Team".
  public func subtitle(_ words: Words = .device) -> String? { groupName.map { words.inGroup(named: $0) } }

  /// The initials of the sender's first and last name, for a missing picture; "?" for a name that has none.
  public var initials: String {
    let letters = senderName.split(whereSeparator: \.isWhitespace).compactMap { word in
      word.first { $0.isLetter || $0.isNumber }
    }
    guard let first = letters.first, let last = letters.last else { return "?" }
    return (letters.count > 1 ? "\(first)\(last)" : "\(first)").uppercased()
  }

  /// The route a tap follows.
  public var route: Route { Route(conversationId: conversationId, messageId: messageId) }

  /// The same with another text.
  func with(preview: String) -> InAppBanner {
    InAppBanner(
      userId: userId, conversationId: conversationId, messageId: messageId, senderId: senderId, senderName: senderName,
      avatarUrl: avatarUrl, preview: preview, groupName: groupName, occurredAt: occurredAt, pushId: pushId)
  }

  /// When the message was sent.
  var sentAt: Date { Date(timeIntervalSince1970: TimeInterval(occurredAt) / 1_000) }
}

extension InAppBanner: Decodable {
  private enum Key: String, CodingKey {
    case schemaVersion, type, userId, conversationId, messageId, senderId, senderName, avatarUrl, preview, groupName
    case occurredAt, pushId
  }

  /// Decodes the record's JSON; ignores unknown fields.
  /// - Throws: `DecodingError` for another type or an unknown `schemaVersion`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    try GatewayRecord.checkVersion(decoder)
    guard try container.decode(String.self, forKey: .type) == "banner" else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "the record is not a banner")
    }
    self.init(
      userId: try container.decode(String.self, forKey: .userId),
      conversationId: try container.decode(String.self, forKey: .conversationId),
      messageId: try container.decode(String.self, forKey: .messageId),
      senderId: try container.decode(String.self, forKey: .senderId),
      senderName: try container.decode(String.self, forKey: .senderName),
      avatarUrl: try container.decodeIfPresent(String.self, forKey: .avatarUrl),
      preview: try container.decode(String.self, forKey: .preview),
      groupName: try container.decodeIfPresent(String.self, forKey: .groupName),
      occurredAt: try container.decode(Int64.self, forKey: .occurredAt),
      pushId: try container.decodeIfPresent(String.self, forKey: .pushId))
  }
}
