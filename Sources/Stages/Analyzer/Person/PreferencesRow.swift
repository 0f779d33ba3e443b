public import NudgeCodec
import NudgeSchema

/// A person's preferences (D8). Each field has the event that last set it. A field that was never set has its default.
public struct PreferencesRow: Encodable, Sendable, Equatable {
  /// The most bytes of `muted` as JSON: about 100 conversations with ids of 36 characters.
  static let maxMutedBytes = 7_500
  /// The most bytes of `starredSenders` as JSON.
  static let maxStarredBytes = 2_500
  /// The most bytes of `keywords` as JSON.
  static let maxKeywordBytes = 1_500
  /// The most bytes of a time zone's or locale's name.
  static let maxNameBytes = 64

  /// Whether the person wants notifications. Default: yes.
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
  /// Default: none, so the device's locale applies.
  var locale: Stamped<String>?
  /// Feedback up to this time is ignored. Default: none.
  var learnSince: Stamped<Milliseconds>?
  /// Default: the policy's `groupBurstSeconds`.
  var burstSeconds: Stamped<Int>?
  /// The level of direct conversations (D14). Default: the policy's.
  var directLevel: Stamped<NotificationLevel>?
  /// The level of groups (D14). Default: the policy's.
  var groupLevel: Stamped<NotificationLevel>?
  /// Conversations with their own level. Default: none.
  var conversationLevels: Stamped<[KeyedLevel]>?
  /// Senders whose messages are neither shown nor counted. Default: none.
  var mutedSenders: Stamped<[MessageKey]>?
  /// When the person catches up. Default: at the end of quiet hours.
  var digestTimes: Stamped<[String]?>?
  /// Default: the zone of quiet hours, or else UTC.
  var timeZone: Stamped<String>?
  /// The most alerts per day. Default: the policy's `dailyAlerts`.
  var dailyAlerts: Stamped<Int?>?
  /// List elements that were changed later than their lists; absent until there is one.
  var elements: [ListedElement]?
}

/// The level of a conversation, which is named by a key: 9 bytes of a row.
struct KeyedLevel: Encodable, Sendable, Equatable {
  var conversation: MessageKey
  var level: NotificationLevel
}

extension PreferencesRow {
  /// Removes the level of a conversation that the person has left.
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
  /// Version 2 added levels and muted senders, 3 catch-up times and the time zone, 4 the most alerts per day, 5 changes of lists.
  public static var versions: RowVersions { RowVersions(5) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    try row.flags()
    let stamps = try [EventStamp](packed: &row)
    var reader = StampedReader(row: row, stamps: stamps)
    try stamped(&reader)
    row = reader.row
    try row.optional(&elements, as: ElementsForm(stamps: stamps))
  }

  /// Writes the fields. One event usually sets many of them, so each stamp is written once and the fields refer to it by number.
  public func pack(into row: inout RowWriter) {
    var value = self
    var collector = StampCollector(row: FlagCollector(version: row.version))
    value.stamped(&collector)
    let hasElements = collector.row.flag(elements != nil)
    for element in elements ?? [] { collector.add(element.stamp) }
    row.unsigned(collector.row.collected.bits)
    collector.stamps.pack(into: &row)
    var writer = StampedWriter(row: row, stamps: collector.stamps)
    value.stamped(&writer)
    row = writer.row
    row.field(&value.elements, as: OptionalForm(ElementsForm(stamps: collector.stamps), isThere: hasElements))
  }

  private mutating func stamped<Row: StampedCoding & ~Copyable>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&enabled)
    try row.field(&quietHours)
    try row.field(&maxAnalysesPerHour)
    try row.field(&fallback)
    try row.field(&muted)
    try row.field(&starredSenders)
    try row.field(&keywords)
    try row.field(&badgeMode)
    try row.field(&showPreviews)
    try row.field(&locale)
    try row.field(&learnSince)
    try row.field(&burstSeconds)
    try row.field(&directLevel)
    try row.field(&groupLevel)
    try row.field(&conversationLevels)
    try row.field(&mutedSenders)
    try row.field(&digestTimes)
    try row.field(&timeZone)
    try row.field(&dailyAlerts)
  }
}

/// Goes through the fields that an event sets, as `RowCoding` does through others.
private protocol StampedCoding: ~Copyable {
  associatedtype Failure: Error
  mutating func field<Value: PackedValue>(_ field: inout Stamped<Value>?) throws(Failure)
}

private struct StampCollector: StampedCoding {
  var row: FlagCollector
  private(set) var stamps: [EventStamp] = []

  mutating func field<Value: PackedValue>(_ field: inout Stamped<Value>?) {
    if row.flag(field != nil), let field { add(field.stamp) }
  }

  mutating func add(_ stamp: EventStamp) { if !stamps.contains(stamp) { stamps.append(stamp) } }
}

private struct StampedReader: StampedCoding {
  var row: RowReader
  let stamps: [EventStamp]

  mutating func field<Value: PackedValue>(_ field: inout Stamped<Value>?) throws(RowFormatError) {
    guard row.flag(false) else { return }
    let stamp = try row.stamp(of: stamps)
    field = Stamped(value: try Value(packed: &row), stamp: stamp)
  }
}

private struct StampedWriter: ~Copyable, StampedCoding {
  var row: RowWriter
  let stamps: [EventStamp]

  mutating func field<Value: PackedValue>(_ field: inout Stamped<Value>?) {
    guard let field else { return }
    row.stamp(field.stamp, of: stamps)
    field.value.pack(into: &row)
  }
}

extension RowReader {
  /// A stamp, by its number.
  fileprivate mutating func stamp(of stamps: [EventStamp]) throws(RowFormatError) -> EventStamp {
    let index = try unsigned()
    guard index < UInt64(stamps.count) else { throw error("a field has stamp \(index) of \(stamps.count)") }
    return stamps[Int(index)]
  }
}

extension RowWriter {
  /// A stamp, by its number.
  fileprivate mutating func stamp(_ stamp: EventStamp, of stamps: [EventStamp]) {
    unsigned(UInt64(stamps.firstIndex(of: stamp) ?? 0))
  }
}

private struct ElementsForm: PackedForm {
  let stamps: [EventStamp]

  func read(from row: inout RowReader) throws(RowFormatError) -> [ListedElement] {
    var elements: [ListedElement] = []
    for _ in 0..<(try row.count()) {
      elements.append(
        ListedElement(
          list: try ListedElement.List(packed: &row), key: try MessageKey(packed: &row),
          stamp: try row.stamp(of: stamps), isRemoved: try Bool(packed: &row)))
    }
    return elements
  }

  func write(_ elements: [ListedElement], into row: inout RowWriter) {
    row.count(elements.count)
    for element in elements {
      element.list.pack(into: &row)
      element.key.pack(into: &row)
      row.stamp(element.stamp, of: stamps)
      element.isRemoved.pack(into: &row)
    }
  }
}

extension ListedElement.List: PackedChoice {}

extension KeyedLevel: PackedFields {
  static var blank: Self { Self(conversation: .blank, level: .all) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&conversation)
    try row.field(&level)
  }
}

extension MutedConversation: PackedFields {
  static var blank: Self { Self(conversationId: "") }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    let hasUntil = row.flag(until != nil)
    row.optionalFlag(&exceptMentions)
    try row.field(&conversationId)
    try row.field(&until, if: hasUntil)
  }
}

/// A change of one element of a preference list that is later than the list. The last writer wins for each element (D12).
struct ListedElement: Encodable, Sendable, Equatable {
  enum List: String, Encodable, Sendable, CaseIterable {
    case muted, starredSenders, keywords, conversationLevels, mutedSenders
  }

  /// The most changed elements of a list. With one more, the list counts as set at the time of the earliest change.
  static let maxKnown = 24

  var list: List
  /// The key of the element's id.
  var key: MessageKey
  /// The event that last changed it.
  var stamp: EventStamp
  /// Whether it was removed.
  var isRemoved: Bool
}

/// A preference list and its changes.
struct ListedPreference<Element: Encodable & Sendable & Equatable>: Sendable {
  let list: ListedElement.List
  let field: any WritableKeyPath<PreferencesRow, Stamped<[Element]>?> & Sendable
  let key: @Sendable (Element) -> MessageKey
}

extension PreferencesRow {
  /// Sets a whole list, unless a later event did. Elements changed by later events keep those changes.
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

  /// Adds an element, or removes it if the value is nil, unless a later event changed it.
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

  /// When a list was last set or changed.
  /// - Parameter whole: The event that last set the whole list.
  func lastChange(of list: ListedElement.List, _ whole: EventStamp) -> Milliseconds {
    changes(of: list).map(\.stamp).reduce(whole) { max($0, $1) }.occurredAt
  }

  private func changes(of list: ListedElement.List) -> [ListedElement] { (elements ?? []).filter { $0.list == list } }

  private mutating func forgetChanges(of list: ListedElement.List, upTo stamp: EventStamp) {
    elements?.removeAll { $0.list == list && $0.stamp <= stamp }
    if elements?.isEmpty ?? false { elements = nil }
  }
}

extension Array {
  /// Replaces the element with the key, or removes it if the value is nil.
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
