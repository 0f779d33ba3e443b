public import NudgeSchema
public import Relevance

/// What the analyzer's decisions depend on beside the events. Every instance of a deployment must have the same.
public struct AnalyzerRules: Sendable {
  /// How long after a message's time people are told of it, in milliseconds. Default: 1 hour.
  public var freshness: Milliseconds = 3_600_000
  /// How old a device's report may be to count (D1), in milliseconds. Default: 2 minutes; apps report every 60 s.
  public var activityHorizon: Milliseconds = 120_000
  /// How far the clocks of different senders may differ, in milliseconds (D11). A message dated up to this long before the place that
  /// was read up to is treated as unread. Default: 2 s.
  public var clockTolerance: Milliseconds = 2_000
  /// Characters (grapheme clusters) of a push's body, the `…` of a cut one included. Default: 240, about what the
  /// lock screens of iOS and Android show.
  public var pushBodyLimit = 240
  /// How long FCM keeps a push for a device that is off, in seconds. Default: 4 weeks, the most FCM takes.
  public var ttlSeconds = 2_419_200
  /// Smart analyses in an hour of a person who set no limit (D4). Default: 10.
  public var analysesPerHour = 10
  /// A message older than this when it is decided is decided as `catching_up`, in milliseconds. Default: 1 minute.
  public var catchingUpAfter: Milliseconds = 60_000
  /// A device not heard of for longer is dropped (T5), in milliseconds. Default: 270 days, as FCM does.
  public var tokenLifetime: Milliseconds = 270 * 86_400_000
  /// How often one replay may notify one person. Default: 20.
  public var replayPerPerson = 20
  /// How often one replay may notify by force, in one partition. Default: 100, all that `nudge replay force` ever asks for.
  public var replayForced = 100
  /// How many conversations are kept for a person.
  var conversationBound = ConversationBound()
  /// For so many seconds after an alert in a group, its messages are shown without one, for people who set nothing else.
  /// Default: 60.
  public var burstSeconds = 60
  /// Tells how likely a group's message is for somebody (docs/relevance.md).
  public var model = RelevanceModel.current
  /// What else counts in smart analysis.
  public var weights = SignalWeights()
  /// The score from which a message has high priority. Default: of a group's messages above it 84 in 100 were for the
  /// person on the validation logs, where F1 is highest.
  public var highFrom = 0.4
  /// The score from which a message has medium priority. Default: of a group's messages above it 63 in 100 were for the
  /// person on the validation logs, and 93 in 100 of those for them are above it.
  public var mediumFrom = 0.1
  /// The rules past the hourly limit; they may change while the analyzer runs, and are asked for anew for each message.
  public var simpleRules: @Sendable () -> SimpleRules = { .standard }
  /// SHA-256: the 32 bytes of a digest. Push ids and what stands for a token are made with it.
  public var hash: @Sendable ([UInt8]) -> [UInt8]

  /// Rules with the defaults.
  public init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.hash = hash }
}

/// What each signal beside the model takes of what a score lacks to 1, from 0 to 1.
public struct SignalWeights: Sendable, Equatable {
  /// Where the score of a direct conversation begins. Default: 0.3, medium on its own.
  public var direct = 0.3
  /// The person is mentioned by id. Default: 0.9, high on its own.
  public var mentioned = 0.9
  /// The message answers one of the person's, by its own word. Default: 0.8, high on its own.
  public var answered = 0.8
  /// The person starred the sender. Default: 0.3, medium on its own; with a keyword high.
  public var starredSender = 0.3
  /// The text has one of the person's keywords. Default: 0.3.
  public var keyword = 0.3
  /// In a group, the text has the name of somebody who is not among the last speakers. Default: 0.6, high on its own.
  public var namedNewcomer = 0.6
  /// In a direct conversation, the text has the person's name. Default: 0.3.
  public var named = 0.3
  /// In a direct conversation, both write in turns; whole from 4 turns on. Default: 0.2.
  public var exchange = 0.2
  /// In a direct conversation, the text has a word of `MessageText.urgentWords`. They are English: in groups they do not
  /// count. Default: 0.3.
  public var urgentWords = 0.3
  /// In a direct conversation, the text asks something. Default: 0.1.
  public var question = 0.1

  /// The default weights.
  public init() {}
}
