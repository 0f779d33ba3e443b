import NudgeSchema

/// What a message and the last turns before it tell about each recipient.
struct RecipientContexts {
  /// How many different people wrote the last messages, this one included.
  let activeSpeakers: Int
  private let text: SearchedText?
  private let mentioned: Set<ExactText>
  private let answered: ExactText?
  private let lastSpeaker: ExactText?
  /// People the last turns tell something about; everybody else's context says nothing of the past.
  private var past: [ExactText: RecipientContext] = [:]

  init(_ message: MessageCreated, turns: [Turn]) {
    text = message.text.map { SearchedText($0) }
    mentioned = Set((message.mentions ?? []).map { ExactText($0) })
    answered = message.replyTo.flatMap { replyTo in
      turns.last { $0.messageId.isExactly(replyTo) }.map { ExactText($0.userId) }
    }
    lastSpeaker = turns.last.map { ExactText($0.userId) }
    let sender = ExactText(message.senderId)
    var speakers: Set<ExactText> = [sender]
    for (index, turn) in turns.enumerated() {
      let speaker = ExactText(turn.userId)
      speakers.insert(speaker)
      past[speaker, default: RecipientContext()].lastSpokeAt = turn.at
      past[speaker]?.messagesSince = turns.count - index - 1
      var partners = Set(turn.addressed.map { ExactText($0) })
      if index > 0 { partners.insert(ExactText(turns[index - 1].userId)) }
      partners.remove(speaker)
      if speaker == sender {
        for partner in partners { past[partner, default: RecipientContext()].exchange += 1 }
      } else if partners.contains(sender) {
        past[speaker]?.exchange += 1
      }
    }
    activeSpeakers = speakers.count
  }

  /// What is told of one member.
  func context(of member: Roster.Entry) -> RecipientContext {
    let userId = ExactText(member.userId)
    var context = past.isEmpty ? RecipientContext() : past[userId] ?? RecipientContext()
    context.mentioned = mentioned.contains(userId)
    context.answered = answered == userId
    if let text, let name = member.name { context.named = text.contains(name) }
    // The turn at hand.
    if lastSpeaker == userId || context.isAddressed { context.exchange += 1 }
    return context
  }
}
