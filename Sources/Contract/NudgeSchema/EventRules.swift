extension ChatEventBody {
  func validate() throws(SchemaViolation) {
    switch self {
    case .conversationUpdated(let fields): try fields.validate()
    case .memberAdded(let fields), .memberRemoved(let fields): try fields.validate()
    case .messageCreated(let fields): try fields.validate()
    case .messageEdited(let fields):
      try fields.validate()
      guard let text = fields.text, !text.isEmpty else {
        throw SchemaViolation(field: "text", rule: "must be present and not empty in message.edited")
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
  /// `path` is the prefix of the fields' names: empty, or a field and a dot.
  func validate(at path: String) throws(SchemaViolation) {
    try FieldRule.count(members.count, atMost: SchemaLimits.members, "\(path)members")
    var known = Set<ExactText>(minimumCapacity: members.count)
    for (index, member) in members.enumerated() {
      try FieldRule.id(member.userId, "\(path)members[\(index)].userId")
      guard known.insert(ExactText(member.userId)).inserted else {
        throw SchemaViolation(field: "\(path)members[\(index)].userId", rule: "must not be listed twice")
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
      throw SchemaViolation(field: "text", rule: "must be present and not empty unless there is an attachment")
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

extension UserEventBody {
  func validate() throws(SchemaViolation) {
    try FieldRule.id(userId, "userId")
    switch self {
    case .activity(let fields):
      try FieldRule.id(fields.deviceId, "deviceId")
      try FieldRule.id(ifPresent: fields.conversationId, "conversationId")
      if let lastInputAt = fields.lastInputAt { try FieldRule.time(lastInputAt, "lastInputAt") }
      try FieldRule.id(ifPresent: fields.tabId, "tabId")
    case .read(let fields):
      try FieldRule.id(fields.conversationId, "conversationId")
      try FieldRule.id(ifPresent: fields.messageId, "messageId")
      try FieldRule.id(ifPresent: fields.deviceId, "deviceId")
    case .preferences(let fields):
      try fields.preferences.validate()
    case .deviceRegistered(let fields):
      try FieldRule.id(fields.deviceId, "deviceId")
      try fields.validateAddress()
      try FieldRule.projectId(ifPresent: fields.projectId, "projectId")
    case .deviceUnregistered(let fields):
      try FieldRule.id(fields.deviceId, "deviceId")
    case .feedback(let fields):
      try FieldRule.id(fields.conversationId, "conversationId")
      try FieldRule.id(fields.messageId, "messageId")
    case .notificationReceived(let fields), .notificationOpened(let fields), .notificationDismissed(let fields):
      try FieldRule.id(fields.deviceId, "deviceId")
      try FieldRule.id(fields.pushId, "pushId")
      try FieldRule.id(ifPresent: fields.conversationId, "conversationId")
      try FieldRule.id(ifPresent: fields.messageId, "messageId")
      if let sentAt = fields.sentAt { try FieldRule.time(sentAt, "sentAt") }
    case .deleted: break
    }
  }
}

extension PreferencesPatch {
  func validate() throws(SchemaViolation) {
    if case .set(let hours?) = quietHours {
      try FieldRule.minuteOfDay(hours.start, "preferences.quietHours.start")
      try FieldRule.minuteOfDay(hours.end, "preferences.quietHours.end")
      if let zone = hours.timeZone { try FieldRule.timeZone(zone, "preferences.quietHours.timeZone") }
    }
    if let limit = maxAnalysesPerHour, !(0...SchemaLimits.analysesPerHour).contains(limit) {
      throw SchemaViolation(
        field: "preferences.maxAnalysesPerHour", rule: "must be from 0 to \(SchemaLimits.analysesPerHour)")
    }
    if let learnSince { try FieldRule.time(learnSince, "preferences.learnSince") }
    if let burstSeconds, !(0...SchemaLimits.burstSeconds).contains(burstSeconds) {
      throw SchemaViolation(field: "preferences.burstSeconds", rule: "must be from 0 to \(SchemaLimits.burstSeconds)")
    }
    try validateMuted()
    if let conversationLevels = conversationLevels ?? changes.conversationLevels?.add {
      let field = "preferences.conversationLevels"
      try FieldRule.count(conversationLevels.count, atMost: SchemaLimits.conversationLevels, field)
      for (index, entry) in conversationLevels.enumerated() {
        try FieldRule.id(entry.conversationId, "\(field)[\(index)].conversationId")
      }
    }
    if let mutedSenders = mutedSenders ?? changes.mutedSenders?.add {
      let field = "preferences.mutedSenders"
      try FieldRule.count(mutedSenders.count, atMost: SchemaLimits.mutedSenders, field)
      for (index, userId) in mutedSenders.enumerated() { try FieldRule.id(userId, "\(field)[\(index)]") }
    }
    if case .set(let times?) = digestTimes {
      let field = "preferences.digestTimes"
      try FieldRule.count(times.count, atMost: SchemaLimits.digestTimes, field)
      for (index, time) in times.enumerated() { try FieldRule.minuteOfDay(time, "\(field)[\(index)]") }
    }
    if let timeZone { try FieldRule.timeZone(timeZone, "preferences.timeZone") }
    if case .set(let alerts?) = dailyAlerts, !(0...SchemaLimits.dailyAlerts).contains(alerts) {
      throw SchemaViolation(field: "preferences.dailyAlerts", rule: "must be from 0 to \(SchemaLimits.dailyAlerts)")
    }
    try validateStarredSenders()
    try validateKeywords()
    try changes.validateRemoved()
  }

  private func validateMuted() throws(SchemaViolation) {
    guard let muted = muted ?? changes.muted?.add else { return }
    let field = "preferences.muted"
    try FieldRule.count(muted.count, atMost: SchemaLimits.muted, field)
    for (index, entry) in muted.enumerated() {
      try FieldRule.id(entry.conversationId, "\(field)[\(index)].conversationId")
      if let until = entry.until { try FieldRule.time(until, "\(field)[\(index)].until") }
    }
    try Self.size(sizeAsJSON(muted.map(\.sizeAsJSON)), atMost: SchemaLimits.mutedBytes, field)
  }

  private func validateStarredSenders() throws(SchemaViolation) {
    guard let starredSenders = starredSenders ?? changes.starredSenders?.add else { return }
    let field = "preferences.starredSenders"
    try FieldRule.count(starredSenders.count, atMost: SchemaLimits.starredSenders, field)
    for (index, userId) in starredSenders.enumerated() { try FieldRule.id(userId, "\(field)[\(index)]") }
    try Self.size(starredSenders.sizeAsJSON, atMost: SchemaLimits.starredSendersBytes, field)
  }

  private func validateKeywords() throws(SchemaViolation) {
    guard let keywords = keywords ?? changes.keywords?.add else { return }
    let field = "preferences.keywords"
    try FieldRule.count(keywords.count, atMost: SchemaLimits.keywords, field)
    for (index, keyword) in keywords.enumerated() {
      try FieldRule.characters(keyword, 1...SchemaLimits.keywordCharacters, "\(field)[\(index)]")
      try FieldRule.noControlCharacters(keyword, "\(field)[\(index)]")
    }
    try Self.size(keywords.sizeAsJSON, atMost: SchemaLimits.keywordsBytes, field)
  }

  private static func size(_ size: Int, atMost limit: Int, _ field: String) throws(SchemaViolation) {
    guard size <= limit else {
      throw SchemaViolation(field: field, rule: "must have at most \(limit) bytes as JSON")
    }
  }
}

extension ListChanges {
  fileprivate func validateRemoved() throws(SchemaViolation) {
    try ids(muted?.remove, "muted", atMost: SchemaLimits.muted)
    try ids(starredSenders?.remove, "starredSenders", atMost: SchemaLimits.starredSenders)
    try ids(conversationLevels?.remove, "conversationLevels", atMost: SchemaLimits.conversationLevels)
    try ids(mutedSenders?.remove, "mutedSenders", atMost: SchemaLimits.mutedSenders)
    guard let words = keywords?.remove else { return }
    try FieldRule.count(words.count, atMost: SchemaLimits.keywords, "preferences.keywords.remove")
    for (index, word) in words.enumerated() {
      try FieldRule.characters(word, 1...SchemaLimits.keywordCharacters, "preferences.keywords.remove[\(index)]")
    }
  }

  private func ids(_ ids: [String]?, _ name: String, atMost limit: Int) throws(SchemaViolation) {
    guard let ids else { return }
    let field = "preferences.\(name).remove"
    try FieldRule.count(ids.count, atMost: limit, field)
    for (index, id) in ids.enumerated() { try FieldRule.id(id, "\(field)[\(index)]") }
  }
}

extension String {
  /// The number of bytes as a JSON string, including quotes. The text must have no control characters.
  fileprivate var sizeAsJSON: Int {
    utf8.reduce(2) { $0 + ($1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : 1) }
  }
}

extension [String] {
  /// The number of bytes as a JSON array.
  fileprivate var sizeAsJSON: Int { NudgeSchema.sizeAsJSON(map(\.sizeAsJSON)) }
}

extension MutedConversation {
  /// The number of bytes as a JSON object, without absent fields.
  fileprivate var sizeAsJSON: Int {
    var size = #"{"conversationId":}"#.utf8.count + conversationId.sizeAsJSON
    if let exceptMentions { size += #","exceptMentions":"#.utf8.count + "\(exceptMentions)".utf8.count }
    if let until { size += #","until":"#.utf8.count + "\(until)".utf8.count }
    return size
  }
}

/// The number of bytes of a JSON array of elements of these sizes: brackets, elements, and a comma between two.
private func sizeAsJSON(_ elements: [Int]) -> Int { 2 + elements.reduce(0, +) + max(0, elements.count - 1) }
