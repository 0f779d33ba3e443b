extension ChatEventBody {
  func validate() throws(SchemaViolation) {
    switch self {
    case .conversationUpdated(let fields): try fields.validate()
    case .memberAdded(let fields), .memberRemoved(let fields): try fields.validate()
    case .messageCreated(let fields): try fields.validate()
    case .messageEdited(let fields):
      try fields.validate()
      guard let text = fields.text, !text.isEmpty else {
        throw SchemaViolation(field: "text", rule: "must be there, and not empty, when a message was edited")
      }
    case .messageDeleted(let fields): try fields.validate()
    case .conversationDeleted(let fields): try FieldRule.id(fields.conversationId, "conversationId")
    }
  }
}

extension ConversationUpdated {
  func validate() throws(SchemaViolation) {
    try FieldRule.id(conversationId, "conversationId")
    try snapshot.validate(at: "")
  }
}

extension ConversationSnapshot {
  /// `path` is what stands before the fields' names: empty, or a field and a dot.
  func validate(at path: String) throws(SchemaViolation) {
    try FieldRule.count(members.count, atMost: SchemaLimits.members, "\(path)members")
    var known = Set<ExactText>(minimumCapacity: members.count)
    for (index, member) in members.enumerated() {
      try FieldRule.id(member.userId, "\(path)members[\(index)].userId")
      guard known.insert(ExactText(member.userId)).inserted else {
        throw SchemaViolation(field: "\(path)members[\(index)].userId", rule: "must not be there twice")
      }
    }
  }
}

extension MembershipChange {
  func validate() throws(SchemaViolation) {
    try FieldRule.id(conversationId, "conversationId")
    try FieldRule.id(userId, "userId")
  }
}

extension MessageCreated {
  func validate() throws(SchemaViolation) {
    try FieldRule.id(conversationId, "conversationId")
    try FieldRule.id(messageId, "messageId")
    try FieldRule.id(senderId, "senderId")
    if let text { try FieldRule.text(text, "text") }
    if let attachments { try FieldRule.count(attachments.count, atMost: SchemaLimits.attachments, "attachments") }
    guard text?.isEmpty == false || attachments?.isEmpty == false else {
      throw SchemaViolation(field: "text", rule: "must not be missing or empty where there is no attachment")
    }
    try FieldRule.id(ifPresent: replyTo, "replyTo")
    if let mentions {
      try FieldRule.count(mentions.count, atMost: SchemaLimits.mentions, "mentions")
      for (index, userId) in mentions.enumerated() { try FieldRule.id(userId, "mentions[\(index)]") }
    }
    if let conversation { try conversation.validate(at: "conversation.") }
  }
}

extension MessageRevision {
  func validate() throws(SchemaViolation) {
    try FieldRule.id(conversationId, "conversationId")
    try FieldRule.id(messageId, "messageId")
    if let text { try FieldRule.text(text, "text") }
  }
}
