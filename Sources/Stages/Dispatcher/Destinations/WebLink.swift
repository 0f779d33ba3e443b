import NudgeSchema
public import ServiceKit

/// Where a click on a notification leads on the web: the app's own address of a conversation.
public struct WebLink: Sendable, Equatable {
  private let template: String

  /// - Parameter template: an https address, in which `{conversationId}` and `{messageId}` are replaced.
  /// - Throws: `SettingValueError` where a browser would not open it.
  public init(_ template: String) throws(SettingValueError) {
    let sample = Self.filled(template, conversationId: "c", messageId: "m")
    guard PictureAddress.isUsable(sample) else {
      throw SettingValueError(allowed: "an https address such as https://chat.example.com/c/{conversationId}")
    }
    self.template = template
  }

  /// The address of a message in its conversation.
  func address(conversationId: String, messageId: String?) -> String {
    Self.filled(template, conversationId: conversationId, messageId: messageId ?? "")
  }

  private static func filled(_ template: String, conversationId: String, messageId: String) -> String {
    // Ids are percent-encoded, so that none of them looks like a place.
    template.replacing("{conversationId}", with: PercentEncoding.segment(conversationId))
      .replacing("{messageId}", with: PercentEncoding.segment(messageId))
  }
}
