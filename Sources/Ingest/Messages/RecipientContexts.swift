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
    activeSpeakers = Self.read(turns, sender: message.senderId, into: &past)
  }

  /// Reads the last turns; returns how many different people spoke in them, the sender included.
  private static func read(
    _ turns: [Turn], sender: String, into past: inout [ExactText: RecipientContext]
  ) -> Int {
    var speakers = 0
    for (index, turn) in turns.enumerated() {
      let isSender = turn.userId.isExactly(sender)
      let before = index > 0 ? turns[index - 1].userId : nil
      if isSender {
        if let before, !before.isExactly(sender) { past[ExactText(before), default: RecipientContext()].exchange += 1 }
        // One turn counts once: not again for whom it addressed and answered to.
        for person in turn.addressed where before?.isExactly(person) != true {
          past[ExactText(person), default: RecipientContext()].exchange += 1
        }
        continue
      }
      var context = past[ExactText(turn.userId)] ?? RecipientContext()
      if context.lastSpokeAt == nil { speakers += 1 }
      context.lastSpokeAt = turn.at
      context.messagesSince = turns.count - index - 1
      if before?.isExactly(sender) == true || turn.addressed.contains(where: { $0.isExactly(sender) }) {
        context.exchange += 1
      }
      past[ExactText(turn.userId)] = context
    }
    return speakers + 1
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
