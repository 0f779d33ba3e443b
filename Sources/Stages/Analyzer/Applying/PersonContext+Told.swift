import NudgeSchema
import StreamRuntime
import Wording

/// A catch-up that devices show is changed there, without a sound, when one of its messages is read, deleted or edited (D18).
extension PersonContext {
  /// Remembers a catch-up of several messages, in place of the one before.
  func rememberTold(_ told: [(conversationId: String, row: MissedRow)], _ pushId: String, _ words: Wording) throws {
    let all = told.flatMap { part in part.row.entries.map { (part.conversationId, part.row.group, $0) } }
    let lines = all.filter { $0.2.line != nil }.sorted { $1.2.isLess(than: $0.2) }.prefix(ToldRow.maxLines)
    let row = ToldRow(
      pushId: pushId, toldAt: step.now, messages: told.reduce(0) { $0 + $1.row.count }, conversations: told.count,
      keys: all.suffix(ToldRow.maxKeys).map(\.2.key),
      lines: lines.compactMap { conversationId, group, entry in
        entry.line.map { line in
          ToldRow.Line(
            key: entry.key, conversationId: conversationId, messageId: line.messageId,
            title: group.map { words.title(of: line.sender, in: $0) } ?? line.sender,
            text: MissedRow.Line.short(line.text))
        }
      })
    try step.set(.told(row), for: AnalyzerRow.toldKey(userId))
  }

  /// A conversation changed: what was read or taken back there is in the catch-up no longer.
  mutating func settleTold(_ after: PersonConversationRow, was before: PersonConversationRow) throws {
    guard let told = before.late?.told, after.unread < before.unread || after.withdrawnUpTo != before.withdrawnUpTo
    else { return }
    func waits(_ key: MessageKey) -> Bool {
      guard let known = after.message(key) else { return before.message(key).map { after.isUnread($0.place) } ?? false }
      return known.marks.contains(.unread)
    }
    let gone = told.filter { !waits($0) }
    guard !gone.isEmpty, var row = try toldRow(), row.remove(gone, leaving: told.filter(waits)) else { return }
    try showTold(row)
  }

  /// A message that the catch-up tells of has another text. Returns whether it has one that says so.
  mutating func editTold(_ key: MessageKey, text: String) throws -> Bool {
    guard var row = try toldRow(), row.keys.contains(key) else { return false }
    guard let index = row.lines.firstIndex(where: { $0.key == key }) else { return true }
    row.lines[index].text = MissedRow.Line.short(MissedRow.Line.cut(text))
    try showTold(row)
    return true
  }

  private func toldRow() throws -> ToldRow? {
    if case .told(let row)? = try step.row(AnalyzerRow.toldKey(userId)) { return row }
    return nil
  }

  /// Shows the catch-up as it is now, in place of what is shown. Without messages it goes off the screen.
  private mutating func showTold(_ row: ToldRow) throws {
    let isEmpty = row.messages == 0
    if isEmpty {
      try step.remove(AnalyzerRow.toldKey(userId))
    } else {
      try step.set(.told(row), for: AnalyzerRow.toldKey(userId))
    }
    let preferences = try effectivePreferences()
    guard preferences.enabled, step.now < row.toldAt + ToldRow.shownFor else { return }
    let targets = isEmpty ? try silentTargets() : try targets()
    guard !targets.isEmpty else { return }
    let words = try words(preferences)
    let lines = preferences.showPreviews ? Array(row.lines.prefix(Digest.maxLines)) : []
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    try emit(
      .push(
        Push(
          pushId: row.pushId, kind: .digest, userId: userId, targets: targets,
          title: isEmpty ? nil : words.catchUp(messages: row.messages, conversations: max(1, row.conversations)),
          body: lines.isEmpty ? nil : lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n"),
          priority: isEmpty ? .low : .medium, presentation: isEmpty ? .badge : .silent, replaces: true, badge: badge,
          language: words.tag,
          digest: Digest(
            messages: row.messages, conversations: isEmpty ? 0 : max(1, row.conversations),
            lines: lines.map {
              Digest.Line(
                conversationId: $0.conversationId, messageId: $0.messageId, title: $0.title, text: $0.text)
            }), ttlSeconds: rules.ttlSeconds, expiresAt: step.now + rules.policy.freshness, decidedAt: step.now)))
  }
}
