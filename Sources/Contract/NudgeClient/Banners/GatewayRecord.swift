/// A record of `nudge.banners`, as a real-time gateway delivers it to the app.
///
/// ```swift
/// switch try JSONDecoder().decode(GatewayRecord.self, from: record) {
/// case .banner(let banner) where presenter.admits(banner): perform(banners.receive(.message(banner), at: now))
/// case .notice(let notice) where presenter.admits(notice): perform(banners.receive(.notice(notice), at: now))
/// default: break
/// }
/// ```
public enum GatewayRecord: Sendable, Equatable {
  /// A message arrived in a conversation other than the open one.
  case banner(InAppBanner)
  /// The services have something to tell the user.
  case notice(InAppNotice)
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
    case let type:
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "\"\(type)\" is neither a banner nor a notice")
    }
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
