public import NudgeSchema

/// What the analyzer's decisions depend on beside the events. Every instance of a deployment must have the same.
public struct AnalyzerRules: Sendable {
  /// How long after a message's time people are told of it, in milliseconds. Default: 1 hour.
  public var freshness: Milliseconds = 3_600_000
  /// How old a device's report may be to count (D1), in milliseconds. Default: 2 minutes; apps report every 60 s.
  public var activityHorizon: Milliseconds = 120_000
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
  /// What the signals of smart analysis count.
  public var weights = SignalWeights()
  /// The score from which a message has high priority. Default: 0.7.
  public var highFrom = 0.7
  /// The score from which a message has medium priority. Default: 0.3.
  public var mediumFrom = 0.3
  /// SHA-256: the 32 bytes of a digest. Push ids and what stands for a token are made with it.
  public var hash: @Sendable ([UInt8]) -> [UInt8]

  /// Rules with the defaults.
  public init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.hash = hash }
}

/// What a whole unit of each signal adds to the score. The score is their sum, at most 1.
public struct SignalWeights: Sendable, Equatable {
  /// The conversation is direct. Default: 0.5, medium on its own.
  public var direct = 0.5
  /// The person is mentioned by id. Default: 0.75, high on its own.
  public var mentioned = 0.75
  /// The text has the person's name. Default: 0.6.
  public var named = 0.6
  /// The message answers one of the person's. Default: 0.6.
  public var answered = 0.6
  /// Sender and person speak in turns; whole from 4 turns on. Default: 0.2.
  public var exchange = 0.2
  /// The person wrote in the last 15 minutes; falls with each message of others since, to nothing at 10. Default: 0.15.
  public var recency = 0.15
  /// The person starred the sender. Default: 0.4.
  public var starredSender = 0.4
  /// The text has one of the person's keywords. Default: 0.4.
  public var keyword = 0.4
  /// The text has a word of `MessageText.urgentWords`. Default: 0.3.
  public var urgentWords = 0.3
  /// The text asks something. Default: 0.1.
  public var question = 0.1

  /// The default weights.
  public init() {}
}
