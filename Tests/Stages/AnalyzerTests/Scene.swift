import NudgeCodec
import NudgeSchema
import StreamRuntime

@testable import Analyzer

/// A stand-in for SHA-256 that spreads as it does: four runs of a 64-bit hash.
let standInHash: @Sendable ([UInt8]) -> [UInt8] = { bytes in
  (UInt64(1)...4).flatMap { run -> [UInt8] in
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 &* run
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash ^= hash >> 29
    hash = hash &* 0xbf58_476d_1ce4_e5b9
    return (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
  }
}

/// 2026-03-02T12:00:00Z, a Monday.
let noon: Milliseconds = 1_772_452_800_000
let second: Milliseconds = 1_000
let minute: Milliseconds = 60_000
let hour: Milliseconds = 3_600_000

extension Push {
  /// Stands for the messages that a catch-up tells of, which may be one message itself.
  var toldKeys: [String]? { digest?.parts?.flatMap(\.keys) ?? messageId.map { [Digest.key($0)] } }

  /// Whether a push that a timer made is a catch-up, where no alert waits.
  var isCatchUp: Bool { (kind == .digest || kind == .message) && replaces != true }
}

/// The records that one step wrote, by kind.
struct Written {
  var decisions: [Decision] = []
  var pushEvents: [PushEvent] = []
  var banners: [Banner] = []
  /// What an open app is told beside banners and notices.
  var changes: [BannerEventBody] = []
  var notices: [Notice] = []
  var answers: [PersonAnswered] = []
  var receipts: [Receipt] = []
  var rejection: Rejection?

  var decision: DecisionBody? { decisions.first?.body }
  var pushes: [Push] { pushEvents.compactMap { if case .push(let push) = $0.body { push } else { nil } } }
  var push: Push? { pushes.first }
  var cancelled: [PushCancelled] {
    pushEvents.compactMap { if case .cancelled(let cancelled) = $0.body { cancelled } else { nil } }
  }
  var isEmpty: Bool { decisions.isEmpty && pushEvents.isEmpty && banners.isEmpty && notices.isEmpty }
}

/// An analyzer and the world around it: events in, what was written out. The person is `ann` unless said otherwise.
final class Scene {
  let driver: StageDriver<AnalyzerStage>
  /// Encodes events and decodes pushes as the services do, in a tenth of the reference's time.
  private let codec = RecordCodec()
  /// Topics whose records a test does not look at. Reading them with the reference takes a good part of a random day's time.
  var unread: Set<Topic> = []
  private var chatOffset: Int64 = 0
  private var userOffset: Int64 = 0

  init(
    _ rules: AnalyzerRules = AnalyzerRules(hash: standInHash), now: Milliseconds = noon, cacheBytes: Int = 64 << 20
  ) {
    driver = StageDriver(AnalyzerStage(rules: rules), now: now, cacheBytes: cacheBytes)
  }

  /// With a phone that can be reached.
  static func withPhone(_ rules: AnalyzerRules = AnalyzerRules(hash: standInHash)) throws -> Scene {
    let scene = Scene(rules)
    try scene.gain("phone")
    return scene
  }

  /// With a phone, and smart analysis of direct conversations too, for those who set no level.
  static func smart(_ change: (inout NotificationPolicy) -> Void = { _ in }) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.directLevel = .smart
    change(&rules.policy)
    return try withPhone(rules)
  }

  func nextOrigin() -> Origin {
    chatOffset += 1
    return Origin(topic: "chat.events", partition: 0, offset: chatOffset)
  }

  @discardableResult
  func send(
    _ body: TimelineEventBody, at time: Milliseconds, eventId: String? = nil, origin: Origin? = nil,
    headers: [RecordHeaderField] = [], key: String = "any", arrivedAt: Milliseconds? = nil
  ) throws -> Written {
    userOffset += 1
    let origin = origin ?? Origin(topic: "user.events", partition: 0, offset: userOffset)
    let event = TimelineEvent(
      Envelope(eventId: eventId ?? "event-\(userOffset)", occurredAt: time), origin: origin, source: origin.position,
      arrivedAt: arrivedAt, body)
    return try written(
      driver.send(bytes: codec.encode(event), to: .timeline, key: Array(key.utf8), headers: headers))
  }

  func written(_ result: StageDriver<AnalyzerStage>.StepResult) throws -> Written {
    var written = Written(rejection: result.rejection)
    for output in result.outputs where !unread.contains(output.topic) {
      switch output.topic {
      case .decisions: written.decisions.append(try driver.decode(Decision.self, from: output))
      case .outcomes: written.receipts.append(try driver.decode(Receipt.self, from: output))
      case .pushes: written.pushEvents.append(try codec.decode(PushEvent.self, from: output.value ?? []))
      case .banners:
        let event = try driver.decode(BannerEvent.self, from: output)
        switch event.body {
        case .banner(let banner): written.banners.append(banner)
        case .notice(let notice): written.notices.append(notice)
        case .badge, .read, .updated, .withdrawn: written.changes.append(event.body)
        case .answered(let answer): written.answers.append(answer)
        }
      default: break
      }
    }
    return written
  }

  /// A candidate's fields; direct from `bob` unless a group is named.
  static func candidate(
    _ messageId: String, in conversationId: String = "c1", to userIds: [String] = ["ann"],
    _ context: RecipientContext = RecipientContext(), group: String? = nil, members: Int = 40,
    body: String = "hello there", title: String? = nil, replayId: String? = nil
  ) -> MessageCandidate {
    MessageCandidate(
      conversationId: conversationId, messageId: messageId,
      sender: Member(userId: "bob", displayName: "Bob", avatarUrl: "https://example.com/bob.png"),
      conversation: CandidateConversation(
        kind: group == nil ? .direct : .group, name: group, memberCount: group == nil ? 2 : members, activeSpeakers: 2),
      title: title ?? group.map { "Bob in \($0)" } ?? "Bob", body: body,
      recipients: userIds.map { Recipient(userId: $0, context: context) }, replayId: replayId)
  }

  /// A message for `ann`, decided `after` it was written.
  @discardableResult
  func message(
    _ messageId: String, in conversationId: String = "c1", at time: Milliseconds = noon,
    _ context: RecipientContext = RecipientContext(), group: String? = nil, members: Int = 40,
    body: String = "hello there", decidedAt now: Milliseconds? = nil, origin: Origin? = nil, possibleRepeat: Bool? = nil
  ) throws -> Written {
    driver.now = now ?? time
    var candidate = Self.candidate(messageId, in: conversationId, context, group: group, members: members, body: body)
    candidate.possibleRepeat = possibleRepeat
    return try send(.candidate(candidate), at: time, origin: origin ?? nextOrigin())
  }

  @discardableResult
  func redecide(
    _ messageId: String, in conversationId: String = "c1", at time: Milliseconds, now: Milliseconds? = nil
  ) throws -> Written {
    driver.now = now ?? time
    return try send(.redecide(Self.candidate(messageId, in: conversationId, replayId: "replay-1")), at: time)
  }

  @discardableResult
  func gain(
    _ deviceId: String, token: String? = nil, version: Int64 = 1, user: String = "ann", at time: Milliseconds = noon,
    eventId: String? = nil
  ) throws -> Written {
    try send(
      .deviceGained(
        DeviceGained(
          userId: user, deviceId: deviceId, token: token ?? "token-\(deviceId)", version: version, platform: .ios)),
      at: time, eventId: eventId)
  }

  @discardableResult
  func activity(
    _ deviceId: String, _ state: Activity.State = .foreground, in conversationId: String? = nil, at time: Milliseconds
  ) throws -> Written {
    try send(
      .user(
        .activity(Activity(userId: "ann", deviceId: deviceId, state: state, conversationId: conversationId))),
      at: time)
  }

  @discardableResult
  func read(
    _ conversationId: String = "c1", upTo messageId: String? = nil, at time: Milliseconds, on deviceId: String? = nil
  ) throws -> Written {
    try send(
      .user(
        .read(
          MessageRead(userId: "ann", conversationId: conversationId, messageId: messageId, deviceId: deviceId))),
      at: time)
  }

  @discardableResult
  func prefer(
    _ patch: PreferencesPatch, at time: Milliseconds = noon - hour, eventId: String? = nil
  ) throws -> Written {
    try send(
      .user(.preferences(PreferencesUpdated(userId: "ann", preferences: patch))), at: time, eventId: eventId)
  }

  @discardableResult
  func wrote(_ messageId: String, in conversationId: String = "c1", at time: Milliseconds) throws -> Written {
    try send(
      .sent(MessageSent(userId: "ann", conversationId: conversationId, messageId: messageId)), at: time,
      origin: nextOrigin())
  }

  @discardableResult
  func edit(
    _ messageId: String, in conversationId: String = "c1", body: String, title: String? = "Bob",
    from sender: String? = "Bob",
    at time: Milliseconds
  ) throws -> Written {
    try send(
      .withdrawn(
        MessageWithdrawn(
          userIds: ["ann"], conversationId: conversationId, messageId: messageId, cause: .edited, body: body,
          title: title, sender: sender.map { Member(userId: $0.lowercased(), displayName: $0) })),
      at: time, origin: nextOrigin())
  }

  @discardableResult
  func withdraw(
    _ messageId: String?, in conversationId: String = "c1", cause: MessageWithdrawn.Cause = .deleted,
    at time: Milliseconds
  ) throws -> Written {
    try send(
      .withdrawn(
        MessageWithdrawn(userIds: ["ann"], conversationId: conversationId, messageId: messageId, cause: cause)),
      at: time, origin: nextOrigin())
  }
}
