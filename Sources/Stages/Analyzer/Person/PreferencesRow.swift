public import NudgeCodec
import NudgeSchema

/// A person's preferences (D8): each field with the event that set it last. A field that was never set has its default.
public struct PreferencesRow: Encodable, Sendable, Equatable {
  /// Bytes `muted` may take as JSON: about 100 conversations with ids of 36 characters.
  static let maxMutedBytes = 7_500
  /// Bytes `starredSenders` may take as JSON.
  static let maxStarredBytes = 2_500
  /// Bytes `keywords` may take as JSON.
  static let maxKeywordBytes = 1_500
  /// Bytes of a time zone's or locale's name.
  static let maxNameBytes = 64

  /// Whether the person wants notifications; default: yes.
  var enabled: Stamped<Bool>?
  /// Default: none.
  var quietHours: Stamped<QuietHours?>?
  /// Default: the policy's `analysesPerHour`.
  var maxAnalysesPerHour: Stamped<Int>?
  /// Default: `simple_rules`.
  var fallback: Stamped<AnalysisFallback>?
  /// Default: none.
  var muted: Stamped<[MutedConversation]>?
  /// Default: none.
  var starredSenders: Stamped<[String]>?
  /// Default: none.
  var keywords: Stamped<[String]>?
  /// Default: `conversations`.
  var badgeMode: Stamped<BadgeMode>?
  /// Default: yes.
  var showPreviews: Stamped<Bool>?
  /// Default: none, the device's own.
  var locale: Stamped<String>?
  /// Feedback up to this time is forgotten; default: none.
  var learnSince: Stamped<Milliseconds>?
  /// Default: the policy's `groupBurstSeconds`.
  var burstSeconds: Stamped<Int>?
  /// The level of direct conversations (D14); default: the policy's.
  var directLevel: Stamped<NotificationLevel>?
  /// The level of groups (D14); default: the policy's.
  var groupLevel: Stamped<NotificationLevel>?
  /// Conversations with a level of their own; default: none.
  var conversationLevels: Stamped<[KeyedLevel]>?
  /// Senders of whom nothing is shown in groups; default: none.
  var mutedSenders: Stamped<[MessageKey]>?
  /// When the person catches up; default: when quiet hours end.
  var digestTimes: Stamped<[String]?>?
  /// Default: that of quiet hours, else UTC.
  var timeZone: Stamped<String>?
  /// The most alerts in a day; default: the policy's `dailyAlerts`.
  var dailyAlerts: Stamped<Int?>?
  /// Elements of lists that were changed later than their lists; absent until there is one.
  var elements: [ListedElement]?
}

/// The level of a conversation, whose id a key stands for: 9 bytes of a row.
struct KeyedLevel: Encodable, Sendable, Equatable {
  var conversation: MessageKey
  var level: NotificationLevel
}

extension PreferencesRow {
  /// Forgets the level of a conversation that the person has left.
  mutating func forgetLevel(of conversationId: String) {
    let key = MessageKey(conversationId)
    conversationLevels?.value.removeAll { $0.conversation == key }
  }
}

/// A value and the event that set it.
struct Stamped<Value: Encodable & Sendable & Equatable>: Encodable, Sendable, Equatable {
  var value: Value
  var stamp: EventStamp
}

extension PreferencesRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "preferences"
  /// 2 has levels and muted senders, 3 times to catch up and the time zone, 4 the most alerts in a day, 5 changes of lists.
  public static var versions: RowVersions { RowVersions(5) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    var stamps: [EventStamp] = []
    for _ in 0..<(try row.count()) { stamps.append(try row.stamp()) }
    enabled = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.flag() }
    quietHours = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.quietHours() }
    maxAnalysesPerHour = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in Int(try row.signed()) }
    fallback = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.choice(of: AnalysisFallback.allCases)
    }
    muted = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.mutedConversations() }
    starredSenders = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.texts() }
    keywords = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.texts() }
    badgeMode = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.choice(of: BadgeMode.allCases)
    }
    showPreviews = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.flag() }
    locale = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.text() }
    learnSince = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.signed() }
    burstSeconds = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in Int(try row.signed()) }
    directLevel = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.choice(of: NotificationLevel.allCases)
    }
    groupLevel = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.choice(of: NotificationLevel.allCases)
    }
    conversationLevels = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      var levels: [KeyedLevel] = []
      for _ in 0..<(try row.count()) {
        levels.append(
          KeyedLevel(conversation: try row.key(), level: try row.choice(of: NotificationLevel.allCases)))
      }
      return levels
    }
    mutedSenders = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      var senders: [MessageKey] = []
      for _ in 0..<(try row.count()) { senders.append(try row.key()) }
      return senders
    }
    digestTimes = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.flag() ? try row.texts() : nil
    }
    timeZone = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in try row.text() }
    dailyAlerts = try row.stamped(flags.take(), stamps) { (row) throws(RowFormatError) in
      try row.flag() ? Int(try row.signed()) : nil
    }
    guard flags.take() else { return }
    var elements: [ListedElement] = []
    for _ in 0..<(try row.count()) {
      let list = try row.choice(of: ListedElement.List.allCases)
      elements.append(
        ListedElement(list: list, key: try row.key(), stamp: try row.stamp(of: stamps), isRemoved: try row.flag()))
    }
    self.elements = elements
  }

  /// Writes the fields. One event sets many of them, as a rule: each stamp is written once, and a field has its number.
  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    var stamps: [EventStamp] = []
    for stamp in fieldStamps {
      flags.add(stamp != nil)
      if let stamp, !stamps.contains(stamp) { stamps.append(stamp) }
    }
    flags.add(elements != nil)
    for element in elements ?? [] where !stamps.contains(element.stamp) { stamps.append(element.stamp) }
    row.unsigned(flags.bits)
    row.count(stamps.count)
    for stamp in stamps { row.stamp(stamp) }
    row.stamped(enabled, stamps) { $0.flag($1) }
    row.stamped(quietHours, stamps) { $0.quietHours($1) }
    row.stamped(maxAnalysesPerHour, stamps) { $0.signed($1) }
    row.stamped(fallback, stamps) { $0.choice($1, of: AnalysisFallback.allCases) }
    row.stamped(muted, stamps) { $0.mutedConversations($1) }
    row.stamped(starredSenders, stamps) { $0.texts($1) }
    row.stamped(keywords, stamps) { $0.texts($1) }
    row.stamped(badgeMode, stamps) { $0.choice($1, of: BadgeMode.allCases) }
    row.stamped(showPreviews, stamps) { $0.flag($1) }
    row.stamped(locale, stamps) { $0.text($1) }
    row.stamped(learnSince, stamps) { $0.signed($1) }
    row.stamped(burstSeconds, stamps) { $0.signed($1) }
    row.stamped(directLevel, stamps) { $0.choice($1, of: NotificationLevel.allCases) }
    row.stamped(groupLevel, stamps) { $0.choice($1, of: NotificationLevel.allCases) }
    row.stamped(conversationLevels, stamps) { (row, levels) in
      row.count(levels.count)
      for entry in levels {
        row.key(entry.conversation)
        row.choice(entry.level, of: NotificationLevel.allCases)
      }
    }
    row.stamped(mutedSenders, stamps) { (row, senders) in
      row.count(senders.count)
      for sender in senders { row.key(sender) }
    }
    row.stamped(digestTimes, stamps) { (row, times) in
      row.flag(times != nil)
      if let times { row.texts(times) }
    }
    row.stamped(timeZone, stamps) { $0.text($1) }
    row.stamped(dailyAlerts, stamps) { (row, alerts) in
      row.flag(alerts != nil)
      if let alerts { row.signed(alerts) }
    }
    guard let elements else { return }
    row.count(elements.count)
    for element in elements {
      row.choice(element.list, of: ListedElement.List.allCases)
      row.key(element.key)
      row.unsigned(UInt64(stamps.firstIndex(of: element.stamp) ?? 0))
      row.flag(element.isRemoved)
    }
  }

  /// The stamps of the fields, in the order they are written.
  private var fieldStamps: [EventStamp?] {
    [
      enabled?.stamp, quietHours?.stamp, maxAnalysesPerHour?.stamp, fallback?.stamp, muted?.stamp,
      starredSenders?.stamp, keywords?.stamp, badgeMode?.stamp, showPreviews?.stamp, locale?.stamp, learnSince?.stamp,
      burstSeconds?.stamp, directLevel?.stamp, groupLevel?.stamp, conversationLevels?.stamp, mutedSenders?.stamp,
      digestTimes?.stamp, timeZone?.stamp, dailyAlerts?.stamp,
    ]
  }
}

extension RowWriter {
  fileprivate mutating func stamped<Value>(
    _ field: Stamped<Value>?, _ stamps: [EventStamp], _ write: (inout RowWriter, Value) -> Void
  ) {
    guard let field, let index = stamps.firstIndex(of: field.stamp) else { return }
    unsigned(UInt64(index))
    write(&self, field.value)
  }

  fileprivate mutating func flag(_ value: Bool) { byte(value ? 1 : 0) }

  fileprivate mutating func key(_ key: MessageKey) { fixed(key.bits) }

  fileprivate mutating func texts(_ values: [String]) {
    count(values.count)
    for value in values { text(value) }
  }

  fileprivate mutating func quietHours(_ hours: QuietHours?) {
    flag(hours != nil)
    guard let hours else { return }
    text(hours.start)
    text(hours.end)
    flag(hours.timeZone != nil)
    if let timeZone = hours.timeZone { text(timeZone) }
  }

  fileprivate mutating func mutedConversations(_ conversations: [MutedConversation]) {
    count(conversations.count)
    for conversation in conversations {
      var flags = RowFlags()
      flags.add(conversation.until != nil)
      flags.add(conversation.exceptMentions != nil)
      flags.add(conversation.exceptMentions == true)
      unsigned(flags.bits)
      text(conversation.conversationId)
      if let until = conversation.until { signed(until) }
    }
  }
}

extension RowReader {
  fileprivate mutating func stamped<Value>(
    _ isSet: Bool, _ stamps: [EventStamp], _ read: (inout RowReader) throws(RowFormatError) -> Value
  ) throws(RowFormatError) -> Stamped<Value>? {
    guard isSet else { return nil }
    let stamp = try stamp(of: stamps)
    return Stamped(value: try read(&self), stamp: stamp)
  }

  fileprivate mutating func stamp(of stamps: [EventStamp]) throws(RowFormatError) -> EventStamp {
    let index = try unsigned()
    guard index < UInt64(stamps.count) else { throw error("a field has stamp \(index) of \(stamps.count)") }
    return stamps[Int(index)]
  }

  fileprivate mutating func flag() throws(RowFormatError) -> Bool { try byte() != 0 }

  fileprivate mutating func key() throws(RowFormatError) -> MessageKey {
    MessageKey(try fixed())
  }

  fileprivate mutating func texts() throws(RowFormatError) -> [String] {
    var values: [String] = []
    for _ in 0..<(try count()) { values.append(try text()) }
    return values
  }

  fileprivate mutating func quietHours() throws(RowFormatError) -> QuietHours? {
    guard try flag() else { return nil }
    let (start, end) = (try text(), try text())
    return QuietHours(start: start, end: end, timeZone: try flag() ? try text() : nil)
  }

  fileprivate mutating func mutedConversations() throws(RowFormatError) -> [MutedConversation] {
    var conversations: [MutedConversation] = []
    for _ in 0..<(try count()) {
      var flags = RowFlags(bits: try unsigned())
      let (hasUntil, hasException, exception) = (flags.take(), flags.take(), flags.take())
      conversations.append(
        MutedConversation(
          conversationId: try text(), until: hasUntil ? try signed() : nil,
          exceptMentions: hasException ? exception : nil))
    }
    return conversations
  }
}

/// A change of one element of a list of preferences that is later than the list: each element is last-writer-wins (D12).
struct ListedElement: Encodable, Sendable, Equatable {
  enum List: String, Encodable, Sendable, CaseIterable {
    case muted, starredSenders, keywords, conversationLevels, mutedSenders
  }

  /// Elements of a list whose changes are known. With one more, the list counts as set when the first of them was.
  static let maxKnown = 24

  var list: List
  /// Stands for the element's id.
  var key: MessageKey
  /// The event that changed it last.
  var stamp: EventStamp
  /// It was taken out.
  var isRemoved: Bool
}

/// A list of preferences and its changes.
struct ListedPreference<Element: Encodable & Sendable & Equatable>: Sendable {
  let list: ListedElement.List
  let field: any WritableKeyPath<PreferencesRow, Stamped<[Element]>?> & Sendable
  let key: @Sendable (Element) -> MessageKey
}

extension PreferencesRow {
  /// Sets a whole list, unless a later event did. Elements that later events changed stay as those left them.
  mutating func set<Element>(_ values: [Element], _ preference: ListedPreference<Element>, by stamp: EventStamp) {
    let before = self[keyPath: preference.field]
    if let before, stamp <= before.stamp { return }
    var values = values
    for element in changes(of: preference.list) where stamp < element.stamp {
      let kept = element.isRemoved ? nil : before?.value.first { preference.key($0) == element.key }
      values.put(kept, for: element.key, preference.key)
    }
    self[keyPath: preference.field] = Stamped(value: values, stamp: stamp)
    forgetChanges(of: preference.list, upTo: stamp)
  }

  /// Puts an element in, or with nil takes it out, unless a later event changed it.
  mutating func change<Element>(
    _ key: MessageKey, to value: Element?, _ preference: ListedPreference<Element>, by stamp: EventStamp
  ) {
    var current =
      self[keyPath: preference.field] ?? Stamped(value: [], stamp: EventStamp(occurredAt: 0, eventId: ""))
    let known = elements?.firstIndex { $0.list == preference.list && $0.key == key }
    if stamp < known.flatMap({ elements?[$0].stamp }) ?? current.stamp { return }
    current.value.put(value, for: key, preference.key)
    self[keyPath: preference.field] = current
    if let known { elements?.remove(at: known) }
    elements =
      (elements ?? []) + [
        ListedElement(list: preference.list, key: key, stamp: stamp, isRemoved: value == nil)
      ]
    let changes = changes(of: preference.list)
    guard changes.count > ListedElement.maxKnown, let oldest = changes.map(\.stamp).min() else { return }
    self[keyPath: preference.field]?.stamp = max(current.stamp, oldest)
    forgetChanges(of: preference.list, upTo: oldest)
  }

  private func changes(of list: ListedElement.List) -> [ListedElement] { (elements ?? []).filter { $0.list == list } }

  private mutating func forgetChanges(of list: ListedElement.List, upTo stamp: EventStamp) {
    elements?.removeAll { $0.list == list && $0.stamp <= stamp }
    if elements?.isEmpty ?? false { elements = nil }
  }
}

extension Array {
  /// Puts an element in place of the one with its key, or with nil takes that out.
  fileprivate mutating func put(_ value: Element?, for key: MessageKey, _ keyOf: (Element) -> MessageKey) {
    if let value, let index = firstIndex(where: { keyOf($0) == key }) {
      self[index] = value
    } else if let value {
      append(value)
    } else {
      removeAll { keyOf($0) == key }
    }
  }
}
