import NudgeSchema

/// Selects records by person, conversation, reason and type.
struct TailFilter: Sendable {
  /// By key, `userId`, `senderId`, or among recipients.
  var user: String?
  /// By key or `conversationId`.
  var conversation: String?
  /// A decision's reason, an outcome's result, or a dead letter's code.
  var reason: String?
  var type: String?

  /// `value`: nil if it is not JSON.
  func matches(key: String?, value: JSONValue?, deadLetterCode: String?) -> Bool {
    if let user, !names(user, key, value) { return false }
    if let conversation, key != conversation, value?["conversationId"]?.string != conversation { return false }
    if let type, value?["type"]?.string != type { return false }
    if let reason {
      let found = [deadLetterCode, value?["reason"]?.string, value?["result"]?.string, value?["cause"]?.string]
      if !found.contains(reason) { return false }
    }
    return true
  }

  private func names(_ user: String, _ key: String?, _ value: JSONValue?) -> Bool {
    if key == user { return true }
    guard let value else { return false }
    if value["userId"]?.string == user || value["senderId"]?.string == user { return true }
    if value["device"]?["userId"]?.string == user || value["sender"]?["userId"]?.string == user { return true }
    return (value["recipients"]?.elements ?? []).contains { $0["userId"]?.string == user }
      || (value["userIds"]?.elements ?? []).contains { $0.string == user }
      || (value["members"]?.elements ?? []).contains { $0["userId"]?.string == user }
  }
}
