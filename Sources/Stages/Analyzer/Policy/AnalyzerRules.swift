public import NudgeSchema
public import Relevance

/// The parameters of the analyzer's decisions. Every instance of a deployment must have the same.
public struct AnalyzerRules: Sendable {
  /// How old a device's report may be to count (D1), in milliseconds. Default: 2 minutes; apps report every 60 s.
  public var reportHorizon: Milliseconds = 120_000
  /// How far the clocks of different senders may differ, in milliseconds (D11). A message dated up to this long before the place that
  /// was read up to is treated as unread. Default: 2 s.
  public var clockTolerance: Milliseconds = 2_000
  /// How long FCM keeps a push for a device that is off, in seconds. Default: 4 weeks, the most FCM takes.
  public var ttlSeconds = 2_419_200
  /// A message older than this when it is decided is decided as `catching_up`, in milliseconds. Default: 1 minute.
  public var catchingUpAfter: Milliseconds = 60_000
  /// A device not heard of for longer is dropped (T5), in milliseconds. Default: 270 days, as FCM does.
  public var tokenLifetime: Milliseconds = 270 * 86_400_000
  /// How often one replay may notify one person. Default: 20.
  public var replayPerPerson = 20
  /// How often one replay may notify by force, in one partition. Default: 100, the most that `nudge replay force` asks for.
  public var replayForced = 100
  /// How many conversations are kept for a person.
  var conversationBound = ConversationBound()
  /// Tells how likely a group's message is for somebody (docs/relevance.md).
  public var model = RelevanceModel.current
  /// SHA-256: the 32 bytes of a digest. Push ids, token hashes and the policy's version are made with it.
  public let hash: @Sendable ([UInt8]) -> [UInt8]
  /// The policy that decides, with its version.
  public private(set) var policyVersion: PolicyVersion

  /// The operator's policy. Setting it gives it a version of its own.
  public var policy: NotificationPolicy {
    get { policyVersion.policy }
    set { policyVersion = PolicyVersion(newValue, hash: hash) }
  }

  /// Rules with the defaults.
  public init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.hash = hash
    policyVersion = PolicyVersion(NotificationPolicy(), hash: hash)
  }

  /// These rules with the policy in force.
  func with(_ policy: PolicyVersion) -> AnalyzerRules {
    var rules = self
    if rules.policyVersion !== policy { rules.policyVersion = policy }
    return rules
  }
}

/// How many conversations are kept for a person (decision 40).
struct ConversationBound: Equatable, Sendable {
  /// Conversations beyond which the oldest are forgotten.
  var conversations = 4_096
  /// How long nothing has happened in a conversation before it may be: messages as old as that notify nobody, whatever is known
  /// of them.
  var idle: Milliseconds = 28 * 86_400_000

  /// How many more than the bound a person may have before somebody looks again: a look reads all of their rows.
  var slack: Int { max(1, conversations / 8) }
}
