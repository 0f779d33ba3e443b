import NudgeSchema

/// A message that waits: it may turn out to be read (decision 90).
struct Hold: Codable, Sendable, Equatable {
  /// Why it waits. Rows of state hold a kind by its place.
  enum Kind: Int, Codable, Sendable, CaseIterable {
    /// A device said that the conversation is open. It is on no badge, and its decision was `deferred`.
    case presence
    /// The same, of a message that another check has decided: only the badge waits.
    case badge
    /// Another device of the person is active: the alert waits for some seconds. It counts on the badge.
    case alert
  }

  var key: MessageKey
  var place: MessagePlace
  /// When the wait ends, by the wall clock.
  var due: Milliseconds
  var kind: Kind
}

extension PersonConversationRow {
  /// Messages held at a time.
  static let maxHolds = 16

  /// Whether the limit of held messages is reached, so that another one is decided at once.
  var isFull: Bool { holds.count >= Self.maxHolds }

  /// Holds a message.
  mutating func hold(_ hold: Hold) {
    holds.insert(hold, at: holds.firstIndex { hold.place < $0.place } ?? holds.endIndex)
  }

  /// Ends the waits of alerts.
  mutating func takeAlerts() -> [Hold] {
    let alerts = holds.filter { $0.kind == .alert }
    if !alerts.isEmpty { holds.removeAll { $0.kind == .alert } }
    return alerts
  }

  /// Ends the waits that are over. The messages count on the badge from now on.
  mutating func takeHolds(dueBy time: Milliseconds) -> [Hold] {
    let due = holds.filter { $0.due <= time }
    holds.removeAll { $0.due <= time }
    for hold in due { countUnread(hold) }
    return due
  }

  /// When the first of the waits ends; nil: nothing waits.
  var nextHoldDue: Milliseconds? { holds.lazy.map(\.due).min() }

  private mutating func countUnread(_ hold: Hold) {
    guard hold.kind != .alert else { return }
    if message(hold.key) != nil {
      mark(hold.key) { $0.insert(.unread) }
    } else {
      older.append(OlderMessage(key: hold.key, place: hold.place, isShown: false))
      older.sort { $0.place < $1.place }
      recount()
    }
  }
}

/// The reason why a hold ends.
enum HoldEnd: Equatable {
  /// The person has read it, or written after it.
  case read
  /// A device said once more that the conversation is open.
  case open(deviceId: String)
  /// Its time has come: it is decided, and by whoever took it.
  case due
}
