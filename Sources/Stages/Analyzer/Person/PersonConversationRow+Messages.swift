import NudgeSchema

extension PersonConversationRow {
  /// Notes the chat event that caused the current record. False: the event is a repeat.
  ///
  /// Only origins of one topic and partition can be compared. Another one means that the conversation's events now come
  /// from elsewhere (re-keyed records, more partitions): that counts as new, and from then on it is what is compared with.
  mutating func advance(to origin: Origin) -> Bool {
    if let last = lastOrigin, last.isComparable(to: origin), !origin.isLater(than: last) { return false }
    lastOrigin = origin
    return true
  }

  /// The entry of a message; nil: it is not among the last ones.
  func message(_ key: MessageKey) -> RecentMessage? { recent.last { $0.key == key } }

  /// The place of what arrives now: the order of a conversation is the order in which it reached Nudge.
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

  /// The keys of the messages with an id: one, or where several senders used the id, theirs.
  func keys(of messageId: String) -> [MessageKey] {
    let key = MessageKey(messageId)
    let known = recent.filter { $0.isNamed(key) }.map(\.key)
    return known.isEmpty ? [key] : known
  }

  /// Records what the person says of being told of messages here. An older word than the last one changes nothing.
  mutating func record(_ word: LastWord) {
    if word.at >= lastWord?.at ?? .min { lastWord = word }
  }

  /// Whether a message that is decided now counts as read before: the person has read everything up to a time, and it had arrived by then.
  ///
  /// Clocks differ (D11). So a message that came up to `tolerance` before that time may have come after it: it is unread, because a doubtful
  /// message must notify.
  func hasRead(_ place: MessagePlace, tolerance: Milliseconds) -> Bool {
    readUpTo.map { place.at + tolerance < $0.at } ?? false
  }

  /// Whether a message at this place, which arrived before, is read.
  /// - Parameter known: The message, if the row still has it.
  func isRead(_ place: MessagePlace, _ known: RecentMessage?) -> Bool {
    known?.marks.contains(.unread) != true && readUpTo.map { place <= $0 } ?? false
  }

  /// An unread message older than those in `recent` is taken back. Returns it; nil: it is not known here.
  mutating func removeOlder(_ key: MessageKey) -> OlderMessage? {
    guard let index = older.firstIndex(where: { $0.key == key }) else { return nil }
    defer { recount() }
    return older.remove(at: index)
  }

  /// Takes the oldest messages of a row that has too many.
  mutating func takePage() -> [OlderMessage]? {
    guard older.count >= Self.maxOlder else { return nil }
    let page = Array(older.prefix(OlderMessagesRow.size))
    older.removeFirst(page.count)
    return page
  }

  /// Remembers the ids of messages that were read, and are not in `recent`.
  mutating func see(_ keys: [MessageKey]) { seen = Array((seen + keys.map(\.short)).suffix(Self.maxSeen)) }

  /// Whether a message that is not known one by one has been here: it was read before, or is one of too many.
  func mayHaveSeen(_ key: MessageKey) -> Bool { olderUnread > 0 || seen.contains(key.short) }

  /// Whether a text is known not to be a message's last one.
  func isFormerText(_ text: String, of key: MessageKey) -> Bool {
    guard let last = edits?.first(where: { $0.key == key })?.text else { return false }
    return last != MessageEdit.short(text)
  }

  /// The person has read what arrived so far up to a place. `readUpTo` never moves backwards (D7).
  mutating func read(upTo place: MessagePlace) {
    if readUpTo.map({ $0 < place }) ?? true { readUpTo = place }
    for index in recent.indices where recent[index].place <= place { recent[index].marks.remove(.unread) }
    if !holds.isEmpty { holds.removeAll { $0.place <= place } }
    readOlder { $0.place <= place }
    // Messages that fell out of `recent` are older than those in it.
    if let forgottenUpTo, place >= forgottenUpTo { (pages, olderUnread) = (nil, 0) }
    forgetReadEdits()
    recount()
  }

  /// The person has read up to a message older than those in `recent`. False: it is not known here.
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
    // Those in rows of their own came before.
    (pages, olderUnread) = (nil, 0)
  }

  /// Whether an unread message is shown on the person's devices, as far as is known here.
  func isShown(_ key: MessageKey) -> Bool {
    guard let known = message(key) else {
      return older.contains { $0.key == key && $0.isShown }
    }
    return known.marks.isSuperset(of: [.shown, .unread]) && !known.marks.contains(.withdrawn)
  }

  /// Nothing of the conversation counts any more.
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
