public import NudgeSchema
import Relevance

/// A group conversation outside of the pipeline, read by the pipeline's code: measures on chat logs what a candidate's context is worth.
public struct OfflineConversation {
  private var row = ConversationRow()
  private var roster = Roster(version: 0, entries: [], stampedRows: 0)

  /// A group without members.
  public init() { row.kind = .group }

  /// Adds a member, unless they are one.
  public mutating func join(_ userId: String, displayName: String) {
    guard roster[userId] == nil else { return }
    roster.put(
      Roster.Entry(
        userId: userId, partition: 0, row: MemberRow(stamp: nil, takesPart: true, displayName: displayName)))
    row.memberCount += 1
  }

  /// The candidate of a message, with these of the members as recipients; the message is then one of the last ones.
  public mutating func candidate(
    of message: MessageCreated, at time: Milliseconds, for recipients: [String]
  ) -> MessageCandidate {
    let contexts = RecipientContexts(message, at: time, to: roster.entries, in: row)
    let candidate = MessageCandidate(
      conversationId: message.conversationId, messageId: message.messageId,
      sender: Member(userId: message.senderId, displayName: message.senderId),
      conversation: CandidateConversation(
        kind: .group, memberCount: row.memberCount, activeSpeakers: contexts.activeSpeakers,
        features: contexts.messageFeatures),
      title: message.senderId, body: message.text ?? "",
      recipients: recipients.map { Recipient(userId: $0, context: contexts.context(of: $0)) })
    row.talk.append(
      contexts.traits, from: message.senderId, at: time, messageId: message.messageId, addressed: contexts.addressed,
      partner: contexts.partner)
    return candidate
  }

  /// The text without the names of members, and without the colon or comma behind one.
  public func text(withoutNames text: String) -> String {
    SearchedText.removing(roster.entries.compactMap { $0.displayName.flatMap { SearchedName($0) } }, from: text)
  }
}
