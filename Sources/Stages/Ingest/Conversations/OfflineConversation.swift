public import NudgeSchema
import Relevance

/// A group conversation outside of the pipeline, processed by the pipeline's code. It is used to measure a candidate's context on chat
/// logs.
public struct OfflineConversation {
  private var row = ConversationRow()
  private var roster = Roster(version: 0, entries: [], stampedRows: 0)

  /// A group without members.
  public init() { row.kind = .group }

  /// Adds a person who is not a member yet.
  public mutating func join(_ userId: String, displayName: String) {
    guard roster[userId] == nil else { return }
    roster.put(
      Roster.Entry(
        userId: userId, partition: 0, row: MemberRow(stamp: nil, takesPart: true, displayName: displayName)))
    row.memberCount += 1
  }

  /// The candidate of a message with these members as recipients. The message then is among the last ones.
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

  /// The text without the names of members, and without a colon or comma after a name.
  public func text(withoutNames text: String) -> String {
    SearchedText.removing(roster.entries.compactMap { $0.displayName.flatMap { SearchedName($0) } }, from: text)
  }
}
