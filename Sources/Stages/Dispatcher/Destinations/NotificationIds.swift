/// The ids by which a device replaces and removes notifications: 64 bytes of ASCII at most, because they travel in an HTTP header.
///
/// Apps compute the same (`NotificationId` of NudgeClient, docs/apps.md); `Schemas/app/notification-ids.json` has values for both.
enum NotificationIds {
  /// The id of a message's notification. Message ids are unique within a conversation only; the length keeps two pairs apart whose texts
  /// would be the same in a row.
  static func message(_ messageId: String, in conversationId: String, hash: (String) -> String) -> String {
    hash("\(conversationId.utf8.count):\(conversationId)\(messageId)")
  }

  /// The id of the one notification of a conversation. No message has an empty id.
  static func conversation(_ conversationId: String, hash: (String) -> String) -> String {
    message("", in: conversationId, hash: hash)
  }

  /// An id of Nudge's own, as it is where a header may have it.
  static func plain(_ id: String, hash: (String) -> String) -> String {
    let isLegal =
      !id.isEmpty && id.utf8.count <= FCMMessage.maxCollapseIdBytes
      && id.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
      }
    return isLegal ? id : hash(id)
  }
}
