/// A reason that the sentence of a decision gives (D10). Each language has words for all of them.
///
/// Signals come in pairs: for, and against, the message being meant for the person.
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
  case possibleRepeat, activeConversation, activeElsewhere
  /// `{start}`, `{end}`, `{zone}`, `{time}`
  case quietHours
  case noDevice

  // The hourly limit is reached, `{limit}`; `{reasons}` stands for the sentence of the fallback.
  case limitReached
  case limitNotifiesAll, limitSuppressesAll

  /// An alert was held back, because one of the same conversation came shortly before; `{reasons}` stands for why it was one.
  case heldBack
  /// An alert was not within the person's `{budget}` alerts a day; `{reasons}` stands for why it would have been one.
  case overBudget

  // The person's level for the conversation (D14): from the default for its kind, or for this conversation alone.
  case allDirect, allInGroups, allHere
  case mentionsDirect, mentionsInGroups, mentionsHere
  case noneDirect, noneInGroups, noneHere
  /// `{sender}`
  case mutedSender
  /// `{time}`, when it was written
  case history
  /// The message alerts because the person starred `{sender}`; `{reasons}` stands for why it would be shown otherwise.
  case alertOfStarred
  /// The message is shown because few people are in the group; `{reasons}` stands for why it would not be.
  case shownInSmallGroup

  // A replay was stopped, or has reached its limit.
  case replayStopped, replayLimit, replayForcedLimit
}

/// The values for the places `{…}` of a sentence.
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
  /// The most alerts in a day.
  public var dailyAlerts = ""
  /// Other reasons, as a sentence.
  public var reasons = ""

  public init() {}
}
