import NudgeSchema
import StreamRuntime
import Wording

extension AnalyzerStage {
  /// `person.asked`: answers what is known of a person, from their rows after all earlier records. It changes nothing.
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
  /// Whether the rows reflect a device's last event, or a later one.
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

/// Collects facts from a person's conversations, one after the other.
private struct ConversationsState {
  /// Only messages since this time are in the answer.
  let since: Milliseconds
  /// Conversations with their own level, whose ids are needed.
  let levels: Set<MessageKey>
  private(set) var levelIds: [MessageKey: String] = [:]
  private var unread: [(at: Milliseconds, conversationId: String, count: Int)] = []
  private var held: [Held] = []
  private var heldCount = 0

  private struct Held {
    var message: RecentMessage
    var conversationId: String
    var isRead: Bool
  }

  init(since: Milliseconds, levels: Set<MessageKey>) {
    self.since = since
    self.levels = levels
  }

  mutating func add(_ row: PersonConversationRow, _ id: String) {
    if !levels.isEmpty, levels.contains(MessageKey(id)) { levelIds[MessageKey(id)] = id }
    if row.unread > 0 { unread.append((row.lastEventAt ?? 0, id, row.unread)) }
    for message in row.recent
    where message.heldBack != nil && message.place.at >= since && !message.marks.contains(.withdrawn) {
      // A message that does not count on the badge has no mark that says whether it is read.
      let isRead =
        message.heldBack?.isCounted == false
        ? row.isRead(message.place, message) : !message.marks.contains(.unread)
      held.append(Held(message: message, conversationId: id, isRead: isRead))
      heldCount += 1
    }
    // Trimmed in bulk, so that a person with very many messages costs little memory.
    if held.count > 8 * PersonState.maxHeldBack { held = latest }
  }

  private var latest: [Held] {
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
      messages: latest.compactMap { held in
        let message = held.message
        return message.heldBack.map { reason in
          PersonState.HeldBack.Message(
            conversationId: held.conversationId, messageKey: Digest.key(message.key.bits), arrivedAt: message.place.at,
            presentation: message.marks.contains(.shown) ? .silent : reason.isCounted ? .badge : .none,
            reason: reason.rawValue, text: words.text(reason), isRead: held.isRead)
        }
      })
  }
}

extension HeldBackReason {
  /// Whether the message counts on the badge until it is read, as in `Case.counts`.
  fileprivate var isCounted: Bool { self != .mutedSender && self != .history }
}

/// A person as `GET /v1/me` returns them: without tokens, texts and other people's names.
struct PersonState: Encodable {
  /// How long the answer looks back for messages that did not alert.
  static let heldBackTime: Milliseconds = 86_400_000
  /// The most messages that did not alert in an answer. The latest are kept.
  static let maxHeldBack = 50
  /// The most conversations with unread messages in an answer. Those with the latest events are kept.
  static let maxUnread = 500

  struct Device: Encodable {
    var deviceId: String
    var platform: Platform
    /// false if the device signed out or its token is gone.
    var isReachable: Bool
    /// `fcm`, or the host of its push service; nil if the device cannot be reached.
    var pushService: String?
    var appVersion: String?
    var locale: String?
    var registeredAt: Milliseconds
    var lastSeenAt: Milliseconds

    /// A person's devices. Reachable devices come first.
    static func all(of userId: String, in step: Step<AnalyzerStage>) throws -> [Device] {
      try step.rows(below: AnalyzerRow.devicesKey(userId)).compactMap { key, row in
        guard case .device(let row) = row, let id = key.parts.last else { return nil }
        return Device(
          deviceId: id, platform: row.platform, isReachable: row.isReachable,
          pushService: row.isReachable ? row.webPush?.host ?? "fcm" : nil, appVersion: row.appVersion,
          locale: row.locale, registeredAt: row.registeredAt, lastSeenAt: row.lastSeenAt)
      }.sorted { ($0.isReachable ? 0 : 1, $0.deviceId) < ($1.isReachable ? 0 : 1, $1.deviceId) }
    }
  }

  struct Unread: Encodable {
    struct Conversation: Encodable {
      var conversationId: String
      var unread: Int
    }
    var messages: Int
    var conversations: Int
    var byConversation: [Conversation]
  }

  /// The smart analyses of the current hour (D4).
  struct Analyses: Encodable {
    var used: Int
    var limit: Int
    /// When the hour ends; nil until a first analysis begins one.
    var windowEndsAt: Milliseconds?
  }

  /// The alerts of the day (D20).
  struct Alerts: Encodable {
    var used: Int
    var limit: Int
  }

  struct CatchUp: Encodable {
    /// When the person catches up next; nil if they never do.
    var at: Milliseconds?
    /// Whether messages wait for it.
    var isPlanned: Bool
  }

  struct HeldBack: Encodable {
    /// How the message appeared.
    enum Shown: String, Encodable, CaseIterable {
      /// It was shown without a sound.
      case silent
      /// It only counts on the badge.
      case badge
      /// Neither.
      case none
    }
    struct Message: Encodable {
      var conversationId: String
      /// `Digest.key` of the message's id.
      var messageKey: String
      var arrivedAt: Milliseconds
      var presentation: Shown
      var reason: String
      /// The reason in the person's language.
      var text: String
      var isRead: Bool
    }
    var since: Milliseconds
    /// The number of messages. It may exceed the length of `messages`, which is limited.
    var count: Int
    /// The messages, the latest first.
    var messages: [Message]
  }

  var userId: String
  var answeredAt: Milliseconds
  var preferences: PreferencesState
  var devices: [Device]
  var badge: Int
  var unread: Unread
  var analyses: Analyses
  /// The alerts of the day; nil if the person has no limit.
  var alerts: Alerts?
  var catchUp: CatchUp
  var heldBack: HeldBack
}

/// A person's preferences, each with its source.
struct PreferencesState: Encodable {
  /// The source of a value.
  enum Source: String, Encodable {
    /// The person set it.
    case person
    /// The operator's policy sets it.
    case policy
    /// Neither the person nor the operator set it.
    case standard = "default"
  }

  struct Field<Value: Encodable>: Encodable {
    var value: Value?
    var source: Source
    /// When the person set it.
    var setAt: Milliseconds?

    private enum CodingKeys: String, CodingKey { case value, source, setAt }

    /// Writes a value that is nil as null.
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(value, forKey: .value)
      try fields.encode(source, forKey: .source)
      try fields.encodeIfPresent(setAt, forKey: .setAt)
    }
  }

  struct Levels: Encodable {
    var direct: Field<NotificationLevel>
    var group: Field<NotificationLevel>
  }

  /// A conversation with its own level. If the person has no message of it, only the key of its id is known.
  struct Level: Encodable {
    var conversationId: String?
    var conversationKey: String
    var level: NotificationLevel
  }

  var enabled: Field<Bool>
  var quietHours: Field<QuietHours>
  var maxAnalysesPerHour: Field<Int>
  var fallback: Field<AnalysisFallback>
  var muted: Field<[MutedConversation]>
  var starredSenders: Field<[String]>
  var keywords: Field<[String]>
  var badgeMode: Field<BadgeMode>
  var showPreviews: Field<Bool>
  var locale: Field<String>
  var learnSince: Field<Milliseconds>
  var burstSeconds: Field<Int>
  var defaultLevels: Levels
  var conversationLevels: Field<[Level]>
  /// `Digest.key` of the senders' ids.
  var mutedSenders: Field<[String]>
  var digestTimes: Field<[String]>
  var timeZone: Field<String>
  var dailyAlerts: Field<Int>

  /// - Parameter ids: The ids of conversations, as far as they are known.
  init(_ row: PreferencesRow, _ effective: EffectivePreferences, _ ids: [MessageKey: String]) {
    func field<Set, Value>(_ own: Stamped<Set>?, _ value: Value?, else source: Source = .standard) -> Field<Value> {
      Field(value: value, source: own == nil ? source : .person, setAt: own?.stamp.occurredAt)
    }
    func list<Set, Value>(_ list: ListedElement.List, _ own: Stamped<Set>?, _ value: Value) -> Field<Value> {
      var field = field(own, value)
      field.setAt = own.map { row.lastChange(of: list, $0.stamp) }
      return field
    }
    enabled = field(row.enabled, effective.enabled)
    quietHours = field(row.quietHours, effective.quietHours)
    maxAnalysesPerHour = field(row.maxAnalysesPerHour, effective.maxAnalysesPerHour, else: .policy)
    fallback = field(row.fallback, effective.fallback)
    muted = list(.muted, row.muted, effective.muted)
    starredSenders = list(.starredSenders, row.starredSenders, effective.starredSenders)
    keywords = list(.keywords, row.keywords, effective.keywords)
    badgeMode = field(row.badgeMode, effective.badgeMode, else: .policy)
    showPreviews = field(row.showPreviews, effective.showPreviews)
    locale = field(row.locale, effective.locale)
    learnSince = field(row.learnSince, effective.learnSince)
    burstSeconds = field(row.burstSeconds, Int(effective.groupBurst / 1_000), else: .policy)
    defaultLevels = Levels(
      direct: field(row.directLevel, effective.directLevel.level, else: .policy),
      group: field(row.groupLevel, effective.groupLevel.level, else: .policy))
    conversationLevels = list(
      .conversationLevels, row.conversationLevels,
      effective.conversationLevels.map {
        Level(
          conversationId: ids[$0.conversation], conversationKey: Digest.key($0.conversation.bits), level: $0.level)
      })
    mutedSenders = list(
      .mutedSenders, row.mutedSenders, effective.mutedSenders.map { Digest.key($0.bits) })
    digestTimes = field(row.digestTimes, effective.digestTimes)
    // If the person set no zone, that of quiet hours counts as theirs.
    timeZone = field(row.timeZone, effective.timeZone)
    // If it was set to null, the operator's number applies again.
    dailyAlerts = field(
      (row.dailyAlerts?.value ?? nil) == nil ? nil : row.dailyAlerts, effective.dailyAlerts, else: .policy)
  }
}
