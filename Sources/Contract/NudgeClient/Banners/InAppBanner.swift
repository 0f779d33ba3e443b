import Foundation

/// A banner for a message in a conversation other than the one on the screen: a `banner` record of `nudge.banners`, as
/// a real-time gateway brings it.
public struct InAppBanner: Sendable, Equatable {
  /// Whom it is for.
  public let userId: String
  /// The message's conversation.
  public let conversationId: String
  /// The message.
  public let messageId: String
  /// Who wrote it.
  public let senderId: String
  /// The name of who wrote it.
  public let senderName: String
  /// A picture of who wrote it.
  public let avatarUrl: String?
  /// The beginning of the message.
  public let preview: String
  /// The group's name; nil in a direct conversation.
  public let groupName: String?
  /// When the message was sent, in milliseconds since the epoch.
  public let occurredAt: Int64

  /// A banner from its parts.
  public init(
    userId: String, conversationId: String, messageId: String, senderId: String, senderName: String,
    avatarUrl: String? = nil, preview: String, groupName: String? = nil, occurredAt: Int64
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
  }

  /// The line under the name, in a group.
  public var subtitle: String? { groupName.map { "in \($0)" } }

  /// What stands in place of a missing picture: the first letters of the first and the last word of the name, or "?".
  public var initials: String {
    let letters = senderName.split(whereSeparator: \.isWhitespace).compactMap { word in
      word.first { $0.isLetter || $0.isNumber }
    }
    guard let first = letters.first, let last = letters.last else { return "?" }
    return (letters.count > 1 ? "\(first)\(last)" : "\(first)").uppercased()
  }

  /// Where a tap leads.
  public var route: Route { Route(conversationId: conversationId, messageId: messageId) }
}

extension InAppBanner: Decodable {
  private enum Key: String, CodingKey {
    case schemaVersion, type, userId, conversationId, messageId, senderId, senderName, avatarUrl, preview, groupName
    case occurredAt
  }

  /// From the record's JSON. Throws for another type or an unknown major version; unknown fields are ignored.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let version = try container.decode(Int.self, forKey: .schemaVersion)
    guard version == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .schemaVersion, in: container, debugDescription: "schemaVersion \(version) is not known; 1 is")
    }
    guard try container.decode(String.self, forKey: .type) == "banner" else {
      throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "the record is no banner")
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
      occurredAt: try container.decode(Int64.self, forKey: .occurredAt))
  }
}
