import NudgeSchema

/// A change of one element of a list of preferences that is later than the list: each element is last-writer-wins (D12).
struct ListedElement: Codable, Sendable, Equatable {
  enum List: String, Codable, Sendable, CaseIterable {
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
struct ListedPreference<Element: Codable & Sendable & Equatable>: Sendable {
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
