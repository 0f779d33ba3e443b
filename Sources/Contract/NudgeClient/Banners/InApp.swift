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
  /// The URL of the sender's picture; nil to show `initials`.
  public let avatarUrl: String?
  /// The first characters of the message, 50 unless the operator's policy says otherwise.
  public let preview: String
  /// The group's name; nil in a direct conversation.
  public let groupName: String?
  /// When the message was sent, in milliseconds since the epoch.
  public let occurredAt: Int64
  /// The push of the same message; nil if no push goes out with it. An app that opened its stream with `answers=true`
  /// answers each banner that it shows and that has a push, with `ReceiptQueue.shown`.
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

  /// The initials of the sender's first and last name, for use without a picture; "?" if the name has none.
  public var initials: String {
    let letters = senderName.split(whereSeparator: \.isWhitespace).compactMap { word in
      word.first { $0.isLetter || $0.isNumber }
    }
    guard let first = letters.first, let last = letters.last else { return "?" }
    return (letters.count > 1 ? "\(first)\(last)" : "\(first)").uppercased()
  }

  /// Where a tap leads.
  public var route: Route { Route(conversationId: conversationId, messageId: messageId) }

  /// The banner with another text.
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

/// A notice from Nudge to a user, such as "Smart notification limit reached": a `notice` record of `nudge.banners`.
///
/// ```swift
/// let notice = try JSONDecoder().decode(InAppNotice.self, from: record)
/// if presenter.admits(notice) { perform(banners.receive(.notice(notice), at: now)) }
/// ```
public struct InAppNotice: Sendable, Equatable {
  /// The record's event id. A gateway that delivers a record twice delivers the same id.
  public let noticeId: String
  /// The user the notice is for.
  public let userId: String
  /// The subject of the notice, such as `analysis_limit`.
  public let code: String
  /// The text to show, in the user's language.
  public let text: String

  /// Creates a notice, for previews and tests.
  public init(noticeId: String, userId: String, code: String, text: String) {
    self.noticeId = noticeId
    self.userId = userId
    self.code = code
    self.text = text
  }
}

extension InAppNotice: Decodable {
  private enum Key: String, CodingKey {
    case type, eventId, userId, code, text
  }

  /// Decodes the record's JSON; ignores unknown fields.
  /// - Throws: `DecodingError` for another type or an unknown `schemaVersion`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    try GatewayRecord.checkVersion(decoder)
    guard try container.decode(String.self, forKey: .type) == "notice" else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "the record is not a notice")
    }
    self.init(
      noticeId: try container.decode(String.self, forKey: .eventId),
      userId: try container.decode(String.self, forKey: .userId),
      code: try container.decode(String.self, forKey: .code), text: try container.decode(String.self, forKey: .text))
  }
}

/// The unread numbers have changed: a `badge` record of `nudge.banners`.
public struct InAppBadge: Sendable, Equatable, Decodable {
  /// A conversation and its unread messages.
  public struct Conversation: Sendable, Equatable, Decodable {
    /// The conversation.
    public let conversationId: String
    /// Its unread messages.
    public let unread: Int
  }

  /// The user.
  public let userId: String
  /// The number for the app's icon: `BadgeCounter.reported(_:)`.
  public let badge: Int
  /// The conversations where it changed.
  public let conversations: [Conversation]
}

/// The user has read a conversation, perhaps on another device: a `read` record of `nudge.banners`.
public struct InAppRead: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The last message read; nil if the user read everything written until `sentAt`.
  public let messageId: String?
  /// When that message was sent, in milliseconds since the epoch.
  public let sentAt: Int64

  /// How far the conversation was read.
  public var mark: ReadMark {
    ReadMark(
      conversationId: conversationId, messageId: messageId,
      time: Date(timeIntervalSince1970: TimeInterval(sentAt) / 1_000))
  }
}

/// A message was edited: a `message.updated` record of `nudge.banners`.
public struct InAppUpdate: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The message.
  public let messageId: String
  /// The first characters of its new text.
  public let preview: String
}

/// A message was deleted: a `message.withdrawn` record of `nudge.banners`.
public struct InAppRemoval: Sendable, Equatable, Decodable {
  /// The user.
  public let userId: String
  /// The conversation.
  public let conversationId: String
  /// The message.
  public let messageId: String
}

/// A record of `nudge.banners`, as `GET /v1/live` or a real-time gateway delivers it to the app.
///
/// ```swift
/// switch try JSONDecoder().decode(GatewayRecord.self, from: record) {
/// case .banner(let banner) where presenter.admits(banner): perform(banners.receive(.message(banner), at: now))
/// case .notice(let notice) where presenter.admits(notice): perform(banners.receive(.notice(notice), at: now))
/// case .badge(let change) where change.userId == userId: setBadge(badge.reported(change.badge))
/// case .read(let read) where read.userId == userId:
///   presenter.conversationRead(read.mark)
///   perform(banners.conversationRead(read.mark, at: now))
/// case .updated(let update) where update.userId == userId: perform(banners.messageUpdated(update, at: now))
/// case .withdrawn(let removal) where removal.userId == userId:
///   presenter.messageWithdrawn(removal.messageId, in: removal.conversationId)
///   perform(banners.messageDeleted(removal.messageId, in: removal.conversationId, at: now))
/// default: break
/// }
/// ```
public enum GatewayRecord: Sendable, Equatable {
  /// A message arrived in a conversation other than the open one.
  case banner(InAppBanner)
  /// The services have something to tell the user.
  case notice(InAppNotice)
  /// The unread numbers have changed.
  case badge(InAppBadge)
  /// The user has read a conversation, perhaps on another device.
  case read(InAppRead)
  /// A message was edited.
  case updated(InAppUpdate)
  /// A message was deleted.
  case withdrawn(InAppRemoval)
}

extension GatewayRecord: Decodable {
  private enum Key: String, CodingKey {
    case schemaVersion, type
  }

  /// Decodes the record's JSON by its `type`.
  /// - Throws: `DecodingError` for a type or `schemaVersion` that this module does not know.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    switch try container.decode(String.self, forKey: .type) {
    case "banner": self = .banner(try InAppBanner(from: decoder))
    case "notice": self = .notice(try InAppNotice(from: decoder))
    case "badge": self = .badge(try Self.change(InAppBadge.self, decoder))
    case "read": self = .read(try Self.change(InAppRead.self, decoder))
    case "message.updated": self = .updated(try Self.change(InAppUpdate.self, decoder))
    case "message.withdrawn": self = .withdrawn(try Self.change(InAppRemoval.self, decoder))
    case let type:
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "\"\(type)\" is no type that this module knows")
    }
  }

  private static func change<Change: Decodable>(_: Change.Type, _ decoder: any Decoder) throws -> Change {
    try checkVersion(decoder)
    return try Change(from: decoder)
  }

  /// Throws unless the record has the `schemaVersion` that this module knows.
  static func checkVersion(_ decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let version = try container.decode(Int.self, forKey: .schemaVersion)
    guard version == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .schemaVersion, in: container, debugDescription: "schemaVersion \(version) is not supported; 1 is")
    }
  }
}
