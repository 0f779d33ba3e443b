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
