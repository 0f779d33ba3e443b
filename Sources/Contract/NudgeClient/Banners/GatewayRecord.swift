/// A record of `nudge.banners`, as `GET /v1/live` or a real-time gateway brings it to the app.
///
/// ```swift
/// switch try JSONDecoder().decode(GatewayRecord.self, from: record) {
/// case .banner(let banner) where presenter.admits(banner): perform(banners.receive(.message(banner), at: now))
/// case .notice(let notice) where presenter.admits(notice): perform(banners.receive(.notice(notice), at: now))
/// case .badge(let change) where change.userId == userId: setBadge(badge.told(change.badge))
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
  /// A message was taken back.
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
