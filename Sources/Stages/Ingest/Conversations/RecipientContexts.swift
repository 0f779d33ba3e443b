import NudgeSchema
import Relevance

/// What a message and the last messages of its conversation say about each recipient.
struct RecipientContexts {
  /// The number of people who wrote the last messages, including this one's sender.
  let activeSpeakers: Int
  /// The people whom the message addresses: first the one it answers, then those it mentions, then those it names, each in the order of the
  /// text.
  let addressed: [String]
  /// The person to whom the message most likely speaks: the first of `addressed`, or in a group one inferred from the last messages; nil if
  /// neither shows anybody.
  let partner: String?
  /// The features of the text without the names of the people it addresses. Empty in a direct conversation.
  let traits: TextTraits
  /// `TalkReading.messageFeatures` as text; nil in a direct conversation, where the one recipient needs no telling apart.
  let messageFeatures: String?

  private let reading: TalkReading
  /// The contexts of people about whom the conversation or the message reveals something. Everybody else's context is `unknown`.
  private var contexts: [ExactText: RecipientContext] = [:]
  private let unknown = RecipientContext()

  /// Reads a message for these members, without the sender.
  ///
  /// - Parameter answered: The author of the message that it answers, if the caller knows; nil to look among the last messages.
  init(
    _ message: MessageCreated, at time: Milliseconds, to members: [Roster.Entry], in conversation: ConversationRow,
    answered known: String? = nil
  ) {
    let talk = conversation.talk
    let isDirect = conversation.kind == .direct
    let mentioned = Set((message.mentions ?? []).map { ExactText($0) })
    let answered = (known ?? message.replyTo.flatMap { talk.sender(of: $0) }).map { ExactText($0) }
    let text = message.text.map { SearchedText($0) }
    // The members whose names the text may contain, in the order of members.
    let names =
      text.map { text in
        members.indices.compactMap { index in text.name(of: members[index]).map { (index: index, name: $0) } }
      } ?? []
    let longNames = text?.placesOfLongNames(names.lazy.map(\.name)) ?? []
    var nextName = 0

    var found: [(rank: Int, place: Int, member: Roster.Entry, context: RecipientContext)] = []
    // By index: a copy of a member would retain and release its strings.
    for index in members.indices {
      var name: SearchedName?
      if nextName < names.count, names[nextName].index == index {
        name = names[nextName].name
        nextName += 1
      }
      guard !sameId(members[index].userId, message.senderId) else { continue }
      var context = RecipientContext()
      if !mentioned.isEmpty { context.mentioned = mentioned.contains(ExactText(members[index].userId)) }
      if let answered, sameId(answered.text, members[index].userId) { context.answered = true }
      let place = name.flatMap { text?.place(of: $0, besides: longNames)?.lowerBound }
      context.named = place != nil
      guard context.isAddressed else { continue }
      found.append((context.answered ? 0 : context.mentioned ? 1 : 2, place ?? 0, members[index], context))
    }
    if found.count > 1 { found.sort { ($0.rank, $0.place) < ($1.rank, $1.place) } }

    addressed = found.map(\.member.userId)
    traits = isDirect ? TextTraits() : text?.traits(without: found.compactMap(\.member.displayName)) ?? TextTraits()
    // A mention or an answer addresses a person as clearly as a name at the beginning of the message.
    reading = TalkReading(
      talk, sender: message.senderId, at: time, text: traits,
      addressed: found.map { item in
        TalkReading.Addressed(
          userId: item.member.userId, isAtStart: item.rank < 2 || (text?.isAtStart(item.place) ?? false))
      })
    activeSpeakers = reading.activeSpeakers
    partner = addressed.first ?? (isDirect ? nil : reading.continuedPartner)
    messageFeatures = isDirect ? nil : Base64Text.encode(reading.messageFeatures)

    contexts.reserveCapacity(found.count + talk.people.count)
    for item in found { contexts[ExactText(item.member.userId)] = item.context }
    for (place, person) in talk.people.enumerated()
    where reading.hasTraces(of: place) && !sameId(person, message.senderId) {
      var context = (found.isEmpty ? nil : contexts[ExactText(person)]) ?? RecipientContext()
      if let last = reading.lastSpoke(at: place) {
        context.lastSpokeAt = last.time
        context.messagesSince = last.messagesSince
      }
      context.exchange = reading.exchange(at: place, isAddressed: context.isAddressed)
      if !isDirect { context.features = Base64Text.encode(reading.personFeatures(at: place)) }
      contexts[ExactText(person)] = context
    }
    // To address somebody who has not written yet is the first turn of an exchange with them.
    for item in found {
      let userId = ExactText(item.member.userId)
      if contexts[userId]?.exchange == 0 { contexts[userId]?.exchange = 1 }
    }
  }

  /// The context of one member.
  func context(of userId: String) -> RecipientContext {
    contexts.isEmpty ? unknown : contexts[ExactText(userId)] ?? unknown
  }
}
