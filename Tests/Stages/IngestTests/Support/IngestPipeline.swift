import Foundation
import Ingest
import Kafka
import NudgeSchema
import StreamRuntime

/// The ingest stage on a driver, with events in a few words.
final class IngestPipeline {
  /// The time of the first events.
  static let start: Milliseconds = 1_800_000_000_000
  /// How long after they happened events are taken.
  static let transit: Milliseconds = 2_000
  typealias Result = StageDriver<IngestStage>.StepResult

  let driver: StageDriver<IngestStage>
  private var nextEvent = 0

  init(partitions: Int32 = 1, rules: IngestRules? = nil) {
    driver = StageDriver(
      IngestStage(rules ?? Self.rules()), partitions: partitions, now: Self.start + Self.transit)
  }

  /// Rules with a stand-in for SHA-256 that shows the token.
  static func rules(_ change: (inout IngestRules) -> Void = { _ in }) -> IngestRules {
    var rules = IngestRules(hash: { "hash-of-\($0)" })
    change(&rules)
    return rules
  }

  /// An envelope of an event that is taken `transit` after it happened, or that much later or earlier, with an event id of its own.
  func envelope(_ eventId: String? = nil, after: Milliseconds = 0) -> Envelope {
    nextEvent += 1
    return Envelope(eventId: eventId ?? "event-\(nextEvent)", occurredAt: driver.now - Self.transit + after)
  }

  @discardableResult
  func chat(_ body: ChatEventBody, _ envelope: Envelope? = nil, headers: [RecordHeaderField] = []) throws -> Result {
    try driver.send(
      ChatEvent(envelope ?? self.envelope(), body), to: .chatEvents, key: body.conversationId, headers: headers)
  }

  @discardableResult
  func user(_ body: UserEventBody, _ envelope: Envelope? = nil) throws -> Result {
    try driver.send(UserEvent(envelope ?? self.envelope(), body), to: .userEvents, key: body.userId)
  }

  /// A group of the people of these ids, whose names are the ids with a capital.
  @discardableResult
  func group(
    _ userIds: [String], in conversationId: String = "c", name: String? = "Hikers", kind: ConversationKind = .group,
    envelope: Envelope? = nil
  ) throws -> Result {
    try chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: conversationId, kind: kind, name: name, members: userIds.map { Self.member($0) })), envelope)
  }

  static func member(_ userId: String) -> Member { Member(userId: userId, displayName: userId.capitalized) }

  @discardableResult
  func message(
    _ conversationId: String = "c", _ messageId: String = "m", from senderId: String, _ text: String? = "hello",
    replyTo: String? = nil, mentions: [String]? = nil, envelope: Envelope? = nil
  ) throws -> Result {
    try chat(
      .messageCreated(
        MessageCreated(
          conversationId: conversationId, messageId: messageId, senderId: senderId, text: text, replyTo: replyTo,
          mentions: mentions)), envelope)
  }

  /// The task of a key.
  func partition(of key: String) -> Int32 { Murmur2.partition(of: Array(key.utf8), count: driver.partitions) }

  // MARK: What came out

  func timeline(_ result: Result) throws -> [TimelineEvent] {
    try result.outputs.filter { $0.topic == .timeline }.map { try driver.decode(TimelineEvent.self, from: $0) }
  }

  func timeline(_ results: [Result]) throws -> [TimelineEvent] { try results.flatMap { try timeline($0) } }

  func claims(_ result: Result) throws -> [DeviceClaim] {
    try result.outputs.filter { $0.topic == .deviceClaims }.map { try driver.decode(DeviceClaim.self, from: $0) }
  }

  func candidates(_ result: Result) throws -> [MessageCandidate] {
    try timeline(result).compactMap { if case .candidate(let candidate) = $0.body { candidate } else { nil } }
  }

  /// The recipients of a message, sorted.
  func recipients(_ result: Result) throws -> [String] {
    try candidates(result).flatMap { $0.recipients.map(\.userId) }.sorted()
  }

  func context(of userId: String, in result: Result) throws -> RecipientContext? {
    try candidates(result).flatMap(\.recipients).first { $0.userId == userId }?.context
  }

  func withdrawals(_ result: Result) throws -> [MessageWithdrawn] {
    try timeline(result).compactMap { if case .withdrawn(let fields) = $0.body { fields } else { nil } }
  }
}

/// Both Testing and NudgeSchema have an `Attachment`.
typealias ChatAttachment = NudgeSchema.Attachment
