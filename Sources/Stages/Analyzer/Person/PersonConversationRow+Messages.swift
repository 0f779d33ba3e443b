import NudgeSchema

extension PersonConversationRow {
  /// Records the chat event that caused the current record. Returns false if the event is a repeat.
  ///
  /// Only origins of one topic and partition can be compared. A different one means that the conversation's events now come from elsewhere
  /// (records with other keys, more partitions). It counts as new, and later origins are compared with it.
  mutating func advance(to origin: Origin) -> Bool {
    if let last = lastOrigin, last.isComparable(to: origin), !origin.isLater(than: last) { return false }
    lastOrigin = origin
    return true
  }

  /// The entry of a message; nil if it is not among the last ones.
  func message(_ key: MessageKey) -> RecentMessage? { recent.last { $0.key == key } }

  /// The place of a message that arrives now. A conversation's order is the order in which its messages reached Nudge.
  ///
  /// - Parameter time: When it arrived.
  func place(arrivingAt time: Milliseconds, order: OriginOrder) -> MessagePlace {
    let place = MessagePlace(at: time, order: order)
    guard let last = recent.last?.place, place <= last else { return place }
    return MessagePlace(at: last.order < order ? last.at : last.at + 1, order: order)
  }

  /// The key of a message with an id and a sender.
  func key(of id: MessageKey, from sender: Int64) -> MessageKey {
    guard let other = message(id)?.sender, other != sender else { return id }
    return id.apart(from: sender)
  }

  /// The keys of the messages with an id. There are several if several senders used the id.
  func keys(of messageId: String) -> [MessageKey] {
    let key = MessageKey(messageId)
    let known = recent.filter { $0.isNamed(key) }.map(\.key)
    return known.isEmpty ? [key] : known
  }

  /// Records the person's last word on notifications of this conversation. A word that is older than the last one changes nothing.
  mutating func record(_ word: LastWord) {
    if word.at >= lastWord?.at ?? .min { lastWord = word }
  }

  /// Whether a message that is decided now counts as already read: the person has read everything up to a time, and it had arrived by then.
  ///
  /// Clocks differ (D11). A message from up to `tolerance` before that time may in fact be later. It counts as unread, because a doubtful
  /// message must notify.
  func hasRead(_ place: MessagePlace, tolerance: Milliseconds) -> Bool {
    readUpTo.map { place.at + tolerance < $0.at } ?? false
  }

  /// Whether a message that arrived earlier, at this place, is read.
  /// - Parameter known: The message, if the row still has it.
  func isRead(_ place: MessagePlace, _ known: RecentMessage?) -> Bool {
    known?.marks.contains(.unread) != true && readUpTo.map { place <= $0 } ?? false
  }

  /// Removes a deleted unread message that is older than those in `recent`. Returns it; nil if it is not known here.
  mutating func removeOlder(_ key: MessageKey) -> OlderMessage? {
    guard let index = older.firstIndex(where: { $0.key == key }) else { return nil }
    defer { recount() }
    return older.remove(at: index)
  }

  /// Removes and returns the oldest messages if the row has too many.
  mutating func takePage() -> [OlderMessage]? {
    guard older.count >= Self.maxOlder else { return nil }
    let page = Array(older.prefix(OlderMessagesRow.size))
    older.removeFirst(page.count)
    return page
  }

  /// Stores the ids of messages that were read and are not in `recent`.
  mutating func see(_ keys: [MessageKey]) { seen = Array((seen + keys.map(\.short)).suffix(Self.maxSeen)) }

  /// Whether a message that is not known individually may have arrived before: it was read, or is one of too many unread ones.
  func mayHaveSeen(_ key: MessageKey) -> Bool { olderUnread > 0 || seen.contains(key.short) }

  /// Whether a text is known to be an outdated text of a message.
  func isFormerText(_ text: String, of key: MessageKey) -> Bool {
    guard let last = edits?.first(where: { $0.key == key })?.text else { return false }
    return last != MessageEdit.short(text)
  }

  /// The person has read everything that had arrived up to a place. `readUpTo` never moves backwards (D7).
  mutating func read(upTo place: MessagePlace) {
    if readUpTo.map({ $0 < place }) ?? true { readUpTo = place }
    for index in recent.indices where recent[index].place <= place { recent[index].marks.remove(.unread) }
    if !holds.isEmpty { holds.removeAll { $0.place <= place } }
    readOlder { $0.place <= place }
    // Messages that were removed from `recent` are older than those in it.
    if let forgottenUpTo, place >= forgottenUpTo { (pages, olderUnread) = (nil, 0) }
    forgetReadEdits()
    recount()
  }

  /// The person has read up to a message that is older than those in `recent`. Returns false if it is not known here.
  mutating func readOlder(upTo key: MessageKey) -> Bool {
    guard let message = older.first(where: { $0.key == key }) else { return false }
    if readUpTo.map({ $0 < message.place }) ?? true { readUpTo = message.place }
    readOlder { $0.place <= message.place }
    recount()
    return true
  }

  private mutating func readOlder(where isRead: (OlderMessage) -> Bool) {
    guard let last = older.lastIndex(where: isRead) else { return }
    see(older[...last].map(\.key))
    older.removeFirst(last + 1)
    // Messages in separate rows are older.
    (pages, olderUnread) = (nil, 0)
  }

  /// Whether an unread message is shown on the person's devices, as far as this row knows.
  func isShown(_ key: MessageKey) -> Bool {
    guard let known = message(key) else {
      return older.contains { $0.key == key && $0.isShown }
    }
    return known.marks.isSuperset(of: [.shown, .unread]) && !known.marks.contains(.withdrawn)
  }

  /// Withdraws everything in the conversation.
  mutating func withdrawAll(at time: Milliseconds) {
    withdrawnUpTo = max(withdrawnUpTo ?? time, time)
    for index in recent.indices where recent[index].place.at <= time {
      recent[index].marks.remove(.unread)
      recent[index].marks.insert(.withdrawn)
    }
    if !holds.isEmpty { holds.removeAll { $0.place.at <= time } }
    readOlder { $0.place.at <= time }
    if let forgottenUpTo, forgottenUpTo.at <= time { (pages, olderUnread) = (nil, 0) }
    recount()
  }
}
