import NudgeSchema
import StreamRuntime
import Wording

extension AnalyzerStage {
  /// `person.asked`: what is known of a person, from their rows as they are behind all records before it. It changes nothing.
  mutating func answer(_ question: PersonAsked, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    guard !step.isRebuilding, step.now - cause.happenedAt < PersonAsked.lifetime else { return }
    let person = try context(of: question.userId, because: cause, in: step)
    var answer = PersonAnswered(
      userId: question.userId, questionId: cause.envelope.eventId, person: nil,
      isBehind: try question.device.map { try !person.knows($0) } ?? false)
    if try !isDropped(question.userId, because: cause, in: step), let state = try person.state(zones: &zones) {
      answer.person = String(decoding: try step.coder.encode(state), as: UTF8.self)
    }
    try person.emit(.answered(answer))
  }
}

extension PersonContext {
  /// Whether a device is known as its last event left it, or as a later one did.
  fileprivate func knows(_ device: PersonAsked.Device) throws -> Bool {
    guard let row = try self.device(device.deviceId) else { return !device.isRegistered }
    return row.stamp >= device.stamp || !device.isRegistered && !row.isReachable
  }

  /// The person's state; nil if nothing is known of them.
  fileprivate func state(zones: inout TimeZones) throws -> PersonState? {
    let row = try preferences()
    let devices = try PersonState.Device.all(of: userId, in: step)
    guard before != nil || row != PreferencesRow() || !devices.isEmpty else { return nil }
    let preferences = EffectivePreferences(row, rules: rules)
    let now = step.now
    var conversations = ConversationsState(
      since: now - PersonState.heldBackTime, levels: Set(preferences.conversationLevels.map(\.conversation)))
    var next: RowKey?
    repeat {
      let page = try step.page(below: AnalyzerRow.conversationsKey(userId), from: next, limit: 512)
      for case (let key, .conversation(let row)) in page.rows {
        if let id = key.parts.last { conversations.add(row, id) }
      }
      next = page.next
    } while next != nil
    let words = try words(preferences)
    let window = user.window.flatMap { now - $0.startedAt < AnalysisWindow.length ? $0 : nil }
    let offset = rules.catchUpOffset(of: userId)
    return PersonState(
      userId: userId, answeredAt: now,
      preferences: PreferencesState(row, preferences, conversations.levelIds), devices: devices,
      badge: user.badge(preferences.badgeMode), unread: conversations.unread(user),
      analyses: .init(
        used: window?.used ?? 0, limit: preferences.maxAnalysesPerHour,
        windowEndsAt: window.map { $0.startedAt + AnalysisWindow.length }),
      alerts: preferences.dailyAlerts.map { limit in
        let today = preferences.localDay(at: now, zones: &zones).number
        return .init(used: user.spentAlerts?.used(on: today) ?? 0, limit: limit)
      },
      catchUp: .init(
        at: user.catchUpAt ?? preferences.catchUpTime(after: now, zones: &zones).map { $0 + offset },
        isPlanned: user.catchUpAt != nil),
      heldBack: conversations.heldBack(in: words))
  }
}

/// Facts of a person's conversations, read one after the other.
private struct ConversationsState {
  /// Only messages from then on are in the answer.
  let since: Milliseconds
  /// Conversations with a level, whose ids are wanted.
  let levels: Set<MessageKey>
  private(set) var levelIds: [MessageKey: String] = [:]
  private var unread: [(at: Milliseconds, conversationId: String, count: Int)] = []
  private var held: [(message: RecentMessage, conversationId: String)] = []
  private var heldCount = 0

  init(since: Milliseconds, levels: Set<MessageKey>) {
    self.since = since
    self.levels = levels
  }

  mutating func add(_ row: PersonConversationRow, _ id: String) {
    if !levels.isEmpty, levels.contains(MessageKey(id)) { levelIds[MessageKey(id)] = id }
    if row.unread > 0 { unread.append((row.lastEventAt ?? 0, id, row.unread)) }
    for message in row.recent
    where message.heldBack != nil && message.place.at >= since && !message.marks.contains(.withdrawn) {
      held.append((message, id))
      heldCount += 1
    }
    // In bulk, so that a person with very many costs little memory.
    if held.count > 8 * PersonState.maxHeldBack { held = latest }
  }

  private var latest: [(message: RecentMessage, conversationId: String)] {
    Array(held.sorted { $0.message.place > $1.message.place }.prefix(PersonState.maxHeldBack))
  }

  func unread(_ user: UserRow) -> PersonState.Unread {
    PersonState.Unread(
      messages: user.unreadMessages, conversations: user.unreadConversations,
      byConversation: unread.sorted { ($0.at, $0.conversationId) > ($1.at, $1.conversationId) }
        .prefix(PersonState.maxUnread).map { .init(conversationId: $0.conversationId, unread: $0.count) })
  }

  func heldBack(in words: Wording) -> PersonState.HeldBack {
    PersonState.HeldBack(
      since: since, count: heldCount,
      messages: latest.compactMap { message, id in
        message.heldBack.map { reason in
          PersonState.HeldBack.Message(
            conversationId: id, messageKey: Digest.key(message.key.bits), arrivedAt: message.place.at,
            presentation: message.marks.contains(.shown) ? .silent : .badge, reason: reason.rawValue,
            text: words.text(reason), isRead: !message.marks.contains(.unread))
        }
      })
  }
}
