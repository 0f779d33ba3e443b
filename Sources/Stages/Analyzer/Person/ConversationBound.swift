import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// Counts a conversation of which there was no row. Where the person has too many of them, those in which nothing has happened for
  /// longest are forgotten, with what was unread in them.
  ///
  /// It goes by the events' own times, so that a replay forgets the same. A person with more active conversations than the bound
  /// happened within `ConversationBound.idle` keeps them all.
  mutating func beginConversation(_ conversationId: String) throws {
    let bound = rules.conversationBound
    // Without a count, the person's row is of a release before there was one.
    let known = try user.conversations ?? step.rows(below: AnalyzerRow.conversationsKey(userId)).count
    user.conversations = known + 1
    guard known >= bound.conversations, (known - bound.conversations) % bound.slack == 0 else { return }

    let idleSince = cause.happenedAt - max(bound.idle, 2 * rules.policy.freshness)
    var rows: [(key: RowKey, row: PersonConversationRow, at: Milliseconds)] = []
    for (key, row) in try step.rows(below: AnalyzerRow.conversationsKey(userId)) {
      guard case .conversation(let row) = row else { continue }
      // Without a time there is but the origin of an edit or a deletion, which is no message to count: it is kept.
      rows.append((key, row, row.lastEventAt ?? .max))
    }
    user.conversations = rows.count + 1
    let forgettable = rows.filter { $0.at < idleSince }.sorted { ($0.at, $0.key) < ($1.at, $1.key) }
    for (key, row, _) in forgettable.prefix(rows.count + 1 + bound.slack - bound.conversations) {
      user.count(unreadBefore: row.unread, after: 0)
      if let conversationId = key.parts.last {
        try forgetMissed(in: conversationId)
        try removePages(nil, was: row, of: conversationId)
      }
      try step.remove(key)
      user.conversations? -= 1
    }
  }
}

extension PersonConversationRow {
  /// The latest time of anything known of the conversation; nil: nothing has one.
  var lastEventAt: Milliseconds? {
    [
      recent.map(\.place.at).max(), forgottenUpTo?.at, readUpTo?.at, readAhead?.stamp.occurredAt, withdrawnUpTo,
      burst?.alertedAt,
    ].compactMap { $0 }.max()
  }
}
