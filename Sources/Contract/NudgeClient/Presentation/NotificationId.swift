/// The id by which the device replaces and removes a notification: the tag on Android and the web, the request's identifier
/// (`apns-collapse-id`) on iOS.
///
/// Message ids are unique within a conversation only, and may hold any characters; this id is 32 hexadecimal digits. Apps without this
/// module compute it as docs/apps.md says.
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

  /// The id of the one notification that stands for all silent messages of a conversation, on Android devices whose app does not draw
  /// notifications itself.
  public static func conversation(_ conversationId: String) -> String { message("", in: conversationId) }
}
