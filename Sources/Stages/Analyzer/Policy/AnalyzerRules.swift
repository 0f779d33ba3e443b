public import NudgeSchema
public import Relevance

/// The parameters of the analyzer's decisions. Every instance of a deployment must have the same ones.
public struct AnalyzerRules: Sendable {
  /// The age up to which a device's report counts (D1), in milliseconds. Default: 2 minutes; apps report every 60 s.
  public var reportHorizon: Milliseconds = 120_000
  /// How much the clocks of different senders may differ, in milliseconds (D11). A message from up to this long before
  /// the read position is treated as unread. Default: 2 s.
  public var clockTolerance: Milliseconds = 2_000
  /// How long FCM stores a push for a device that is off, in seconds. Default: 4 weeks, which is FCM's maximum.
  public var ttlSeconds = 2_419_200
  /// The age in milliseconds above which a message's decision has the mode `catching_up`. Default: 1 minute.
  public var catchingUpAfter: Milliseconds = 60_000
  /// How long a device may be inactive before it is dropped (T5), in milliseconds. Default: 270 days, as in FCM.
  public var tokenLifetime: Milliseconds = 270 * 86_400_000
  /// How often one replay may notify one person. Default: 20.
  public var replayPerPerson = 20
  /// How often one replay may notify by force in one partition. Default: 100, the maximum of `nudge replay force`.
  public var replayForced = 100
  /// How many conversations are kept for each person.
  var conversationBound = ConversationBound()
  /// The model for how likely a group's message is for a person (docs/relevance.md).
  public var model = RelevanceModel.current
  /// SHA-256; returns the 32 bytes of a digest. Push ids, token hashes and the policy's version are derived from it.
  public let hash: @Sendable ([UInt8]) -> [UInt8]
  /// The policy in force, with its version.
  public private(set) var policyVersion: PolicyVersion

  /// The operator's policy. Setting it creates a new version.
  public var policy: NotificationPolicy {
    get { policyVersion.policy }
    set { policyVersion = PolicyVersion(newValue, hash: hash) }
  }

  /// Rules with the defaults.
  public init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.hash = hash
    policyVersion = PolicyVersion(NotificationPolicy(), hash: hash)
  }

  /// These rules with another policy.
  func with(_ policy: PolicyVersion) -> AnalyzerRules {
    var rules = self
    if rules.policyVersion !== policy { rules.policyVersion = policy }
    return rules
  }
}

/// How many conversations are kept for each person (decision 40).
struct ConversationBound: Equatable, Sendable {
  /// The number of conversations above which the oldest are removed.
  var conversations = 4_096
  /// How long a conversation must be inactive before it may be removed. Messages of that age notify nobody anyway.
  var idle: Milliseconds = 28 * 86_400_000

  /// How far the number may exceed the bound before the rows are checked again. A check reads all of the person's
  /// conversations.
  var slack: Int { max(1, conversations / 8) }
}
