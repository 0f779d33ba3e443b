/// What the sentence of a decision may say (D10). Each language has words for all of them.
///
/// For and against: what speaks for a message being meant for the person, and what against it.
public enum ReasonCode: Int, Sendable, CaseIterable {
  // Sentences about how much a message matters; `{reasons}` stands for what made it so.
  case highPriority, mediumPriority, lowPriority
  /// Said where nothing else is to be said: of low priority, and of others.
  case nothingForYou, allInAll

  // Signals.
  case direct, mentioned, answered, named, notNamed, namedNewcomer
  case wroteLately, notWroteLately
  case askedSomething, askedNothing
  case senderWritesToYou, senderWritesToOthers
  case talking, notTalking
  case noOtherAnswered, talkingWithOthers
  case yourTopic, notYourTopic
  case readsLikeAnswer, notLikeAnswer
  case senderInTalk, senderNotInTalk
  case starredSender, keyword, urgentWords, question
  case senderMatters, senderRarelyMatters
  case conversationMatters, conversationRarelyMatters
  case likesToBeTold, likesQuiet

  // Why nobody was notified.
  case duplicate, notifiedBefore, notifiedUnknown, withdrawn, disabled, muted
  /// `{time}`
  case mutedUntil
  case alreadyRead
  /// `{time}`
  case expired
  case possibleRepeat, activeConversation
  /// `{start}`, `{end}`, `{zone}`, `{time}`
  case quietHours
  case noDevice

  // The hourly limit is reached, `{limit}`; `{reasons}` stands for the sentence of the fallback.
  case limitReached
  case limitNotifiesAll, limitSuppressesAll

  /// An alert was held back, because one of the same group came shortly before; `{reasons}` stands for why it was one.
  case heldBack

  // What a replay asked for, beyond what a replay may.
  case replayStopped, replayLimit, replayForcedLimit
}

/// What takes the place of a sentence's `{…}`.
public struct ReasonValues: Sendable, Equatable {
  /// The name shown for who wrote the message.
  public var sender = ""
  /// A time, or a time of day.
  public var time = ""
  /// When quiet hours begin, `HH:MM`.
  public var start = ""
  /// When they end, `HH:MM`.
  public var end = ""
  /// The time zone of quiet hours.
  public var zone = ""
  /// Smart analyses in an hour.
  public var limit = ""
  /// What other words say.
  public var reasons = ""

  /// No values.
  public init() {}
}
