import Foundation
import NudgeSchema
import StreamRuntime

@testable import Dispatcher

/// A dispatcher without Kafka and FCM: pushes in, requests and outcomes out, answers by hand.
final class DispatcherBench {
  let driver: StageDriver<DispatcherStage>
  private let monitor: LaneMonitor?
  /// Requests without an answer, in order.
  private(set) var air: [SendRequest] = []
  private(set) var outcomes: [OutcomeBody] = []
  private(set) var outcomeRecords: [OutputRecord] = []
  private(set) var invalidated: [DeviceInvalidated] = []
  private(set) var missed: [PushMissed] = []
  private(set) var missedRecords: [OutputRecord] = []
  private(set) var missedIds: [String] = []
  private(set) var rejections: [Rejection] = []
  private(set) var deadLetters: [OutputRecord] = []
  private(set) var wakeAt: Milliseconds?
  private var causes: Int64 = 0

  static let start: Milliseconds = 1_800_000_000_000

  init(
    monitor: LaneMonitor? = nil, partitions: Int32 = 1, cacheBytes: Int = 64 << 20,
    _ change: (inout DispatcherRules) -> Void = { _ in }
  ) {
    var rules = DispatcherRules()
    change(&rules)
    self.monitor = monitor
    driver = StageDriver(
      DispatcherStage(rules: rules), partitions: partitions, now: Self.start, cacheBytes: cacheBytes)
  }

  var now: Milliseconds {
    get { driver.now }
    set { driver.now = newValue }
  }

  func nextCause() -> Origin {
    causes += 1
    return Origin(topic: "nudge.timeline", partition: 0, offset: causes)
  }

  static func push(
    _ id: String, user: String = "ann", devices: [String] = ["phone"], kind: Push.Kind = .message,
    presentation: Presentation = .alert, conversation: String? = "c1", expiresIn: Milliseconds = 3_600_000,
    at now: Milliseconds = start, version: Int64 = 1, platform: Platform = .ios, body: String = "Hello"
  ) -> Push {
    Push(
      pushId: id, kind: kind, userId: user,
      targets: devices.map {
        PushTarget(deviceId: $0, token: "token-\($0)-\(version)", version: version, platform: platform)
      },
      title: "Bob", body: body, priority: presentation == .alert ? .high : presentation == .silent ? .medium : .low,
      presentation: presentation, reason: .relevant, badge: 3, conversationId: conversation, messageId: "m-" + id,
      senderId: "bob", ttlSeconds: 2_419_200, expiresAt: now + expiresIn, decidedAt: now)
  }

  @discardableResult
  func send(_ push: Push, cause: Origin? = nil, headers: [RecordHeaderField] = []) throws
    -> StageDriver<DispatcherStage>.StepResult
  {
    try send(.push(push), user: push.userId, cause: cause, headers: headers)
  }

  @discardableResult
  func cancel(
    user: String = "ann", device: String? = nil, message: String? = nil, conversation: String? = nil,
    cause: Origin? = nil
  ) throws -> StageDriver<DispatcherStage>.StepResult {
    let body = PushCancelled(userId: user, deviceId: device, messageId: message, conversationId: conversation)
    return try send(.cancelled(body), user: user, cause: cause)
  }

  @discardableResult
  func send(_ body: PushEventBody, user: String, cause: Origin?, headers: [RecordHeaderField] = []) throws
    -> StageDriver<DispatcherStage>.StepResult
  {
    let cause = cause ?? nextCause()
    let event = PushEvent(
      Envelope(eventId: "e\(cause.offset)-\(cause.index ?? 0)", occurredAt: now), origin: cause,
      source: RecordPosition(topic: "chat.events", partition: 3, offset: 77), body)
    return try take(driver.send(event, to: .pushes, key: user, headers: headers))
  }

  /// Answers a request, by default the oldest.
  func answer(_ answer: PushAnswer, to request: SendRequest? = nil, requests: Int = 1) throws {
    let request = request ?? air[0]
    air.removeAll { $0.id == request.id }
    let reply = SendReply(
      id: request.id, answer: answer, requests: requests, startedAt: now, finishedAt: now)
    try take(driver.receive(reply, partition: 0))
  }

  /// Cancels a request, by default the oldest.
  func cancelEffect(_ request: SendRequest? = nil) throws {
    let request = request ?? air[0]
    air.removeAll { $0.id == request.id }
    try take(driver.cancel(request, partition: 0))
  }

  /// The answer to a request of a former epoch is here.
  func replyIsHere(to effect: EffectTicket) throws { try take(driver.replyIsHere(to: effect)) }

  /// Moves the clocks to the wake-up that was asked for, and wakes.
  func wake() throws {
    guard let time = wakeAt else { return }
    now += max(0, time - driver.steadyNow)
    wakeAt = nil
    try take(driver.wake())
  }

  /// Sets the wall clock forward, or back; the steady clock does not change.
  func setWallClock(by milliseconds: Milliseconds) {
    driver.wallClockOffset += milliseconds
    now += milliseconds
  }

  /// Wakes until there is a request, or nothing to wait for.
  func wakeUntilSent() throws {
    while air.isEmpty, wakeAt != nil { try wake() }
  }

  /// Loses the requests in flight and their answers.
  func restart() throws {
    air = []
    wakeAt = nil
    try take(driver.restart())
  }

  /// The outcomes so far are forgotten; for benches with very many.
  func forgetOutcomes() {
    outcomes = []
    outcomeRecords = []
  }

  @discardableResult
  private func take(_ result: StageDriver<DispatcherStage>.StepResult) throws
    -> StageDriver<DispatcherStage>.StepResult
  {
    // As the runtime does.
    if let monitor, let statistics = driver.stage.statistics(now: now) { monitor.report(statistics, thread: 0) }
    air += result.effects
    if let time = result.wakeAt { wakeAt = min(wakeAt ?? .max, time) }
    if let rejection = result.rejection { rejections.append(rejection) }
    for output in result.outputs {
      switch output.topic {
      case .outcomes:
        outcomeRecords.append(output)
        outcomes.append(try driver.decode(Outcome.self, from: output).body)
      case .timeline:
        let event = try driver.decode(TimelineEvent.self, from: output)
        switch event.body {
        case .deviceInvalidated(let body): invalidated.append(body)
        case .pushMissed(let body):
          missed.append(body)
          missedRecords.append(output)
          missedIds.append(event.envelope.eventId)
        default: break
        }
      case .deadLetters: deadLetters.append(output)
      default: break
      }
    }
    return result
  }

  func lane(_ device: String = "phone", user: String = "ann") throws -> LaneRow? {
    let key = DeviceKey(userId: user, deviceId: device)
    guard case .lane(let row)? = try driver.row(key.lane)?.content else { return nil }
    return row
  }
}

extension SendRequest {
  var deviceId: String { subject.deviceId }
  var attempt: Int { subject.attempt }

  /// The push, as the body's data names it.
  var pushId: String? {
    let root = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    return ((root?["message"] as? [String: Any])?["data"] as? [String: Any])?["pushId"] as? String
  }
}

extension PushAnswer {
  static let sent = PushAnswer(.sent(name: "projects/p/messages/1"), httpStatus: 200)
  static let unavailable = PushAnswer(.serverFailed, httpStatus: 503, errorCode: "UNAVAILABLE")
  static let unregistered = PushAnswer(.invalidToken, httpStatus: 404, errorCode: "UNREGISTERED")
  static let noProject = PushAnswer(.projectRefused, httpStatus: 404, errorCode: "NOT_FOUND")
  static let noPlatform = PushAnswer(
    .platformRefused, httpStatus: 401, errorCode: "THIRD_PARTY_AUTH_ERROR")
  static let reset = PushAnswer(.unreachable, errorCode: "connection_reset")
}
