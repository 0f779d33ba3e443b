import Analyzer
import Dispatcher
import Ingest
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// The three stages one behind the other, without Kafka and FCM: each gets the records that the one before wrote, at the time that the day
/// says. Push services answer by the push, device and attempt alone. So the same records have the same outputs, rows and requests.
///
/// It needs nothing of the lab, so that it can be compiled into an older release and fed with a day that a later one recorded.
final class DayStages {
  typealias Request = DispatcherStage.Effect

  /// A push that a device, or the webhook, took.
  struct Delivery {
    var at: Milliseconds
    var request: Request
  }

  private struct Answer {
    var at: Milliseconds
    var partition: Int32
    var request: Request
    var answer: PushAnswer
    var startedAt: Milliseconds
  }

  /// A task of a stage.
  private struct Task: Hashable {
    var stage: String
    var partition: Int32
  }

  static let partitions: Int32 = 2
  /// Records between commits of all tasks.
  private static let commitSize = 1_000
  /// Records between crashes: all tasks of all stages begin again from their rows, and requests in flight have no answers.
  private static let restartAfter = 25_000
  private static let mostAtOnce = 100_000
  /// Rows of a task that stay decoded: few, so that most are read from their bytes.
  private static let cacheBytes = 1 << 20

  let digest: DayDigest
  private let ingest: StageDriver<IngestStage>
  private let analyzer: StageDriver<AnalyzerStage>
  private let dispatcher: StageDriver<DispatcherStage>
  private let services: DayServices
  private var now: Milliseconds
  private var waiting: [OutputRecord] = []
  private var wakes: [Task: Milliseconds] = [:]
  /// By the time they arrive, the next one last.
  private var answers: [Answer] = []
  private var uncommitted = 0
  private var sinceRestart = 0
  /// How often time did not pass.
  private var stillSince = 0
  /// The next offset of each partition of the timeline.
  private var timelineOffsets: [Int32: Int64] = [:]
  /// Gets the pushes that are taken.
  var delivered: ((Delivery) -> Void)?
  /// Gets ingest's records of the timeline with their places.
  var wroteTimeline: ((OutputRecord, RecordPosition) -> Void)?

  init(from start: Milliseconds, digest: DayDigest) {
    self.digest = digest
    now = start
    services = DayServices(from: start)
    var rules = AnalyzerRules(hash: { SHA256Digest.of($0) })
    rules.policy.dailyAlerts = 20
    rules.policy.againSeconds = 120
    var delivery = DispatcherRules()
    delivery.hasWebhook = true
    func driver<S: Stage>(_ stage: S) -> StageDriver<S> {
      StageDriver(stage, partitions: Self.partitions, now: start, cacheBytes: Self.cacheBytes)
    }
    ingest = driver(IngestStage(IngestRules()))
    analyzer = driver(AnalyzerStage(rules: rules))
    dispatcher = driver(DispatcherStage(rules: delivery))
  }

  // MARK: Time

  /// When something happens next without a record: an answer, a timer or a wake-up. Absent: nothing does.
  var nextDue: Milliseconds? {
    var due = min(answers.last?.at ?? .max, wakes.values.min() ?? .max)
    for partition in 0..<Self.partitions {
      due = min(due, ingest.nextTimer(partition: partition) ?? .max)
      due = min(due, analyzer.nextTimer(partition: partition) ?? .max)
    }
    return due == .max ? nil : max(now, due)
  }

  /// Lets time pass up to the next of these.
  func passTime() throws {
    guard let due = nextDue else { return }
    stillSince = due > now ? 0 : stillSince + 1
    guard stillSince < Self.mostAtOnce else {
      throw DayError("time stands still at \(now): something is due without end")
    }
    setTime(due)
    while let answer = answers.last, answer.at <= now {
      answers.removeLast()
      try receive(answer)
    }
    for (task, _) in wakes.filter({ $0.value <= now }).sorted(by: Self.isEarlier) {
      wakes[task] = nil
      switch task.stage {
      case Self.name(ingest): try take(ingest.wake(partition: task.partition), of: ingest, task.partition)
      case Self.name(analyzer): try take(analyzer.wake(partition: task.partition), of: analyzer, task.partition)
      default: try takeRequests(dispatcher.wake(partition: task.partition), task.partition)
      }
    }
    try fireTimers()
    try passOn()
  }

  private static func isEarlier(_ a: (key: Task, value: Milliseconds), _ b: (key: Task, value: Milliseconds)) -> Bool {
    (a.value, a.key.stage, a.key.partition) < (b.value, b.key.stage, b.key.partition)
  }

  private func setTime(_ time: Milliseconds) {
    now = time
    (ingest.now, analyzer.now, dispatcher.now) = (time, time, time)
  }

  private func fireTimers() throws {
    for partition in 0..<Self.partitions {
      for result in try ingest.fireTimers(partition: partition) { try take(result, of: ingest, partition) }
      for result in try analyzer.fireTimers(partition: partition) {
        timelineOffsets[partition, default: 0] += 1
        try take(result, of: analyzer, partition)
      }
    }
  }

  // MARK: Records

  /// Takes a record of the day, and all that follows from it at once.
  func take(_ record: DayRecord) throws {
    setTime(max(now, record.at))
    let key = Array(record.key.utf8)
    let output = OutputRecord(
      topic: record.topic, partition: record.partition ?? Self.partition(of: key), key: key, value: record.value,
      headers: record.header.map { [RecordHeaderField($0.name, $0.value)] } ?? [])
    try pass(output)
    try passOn()
    uncommitted += 1
    sinceRestart += 1
    if sinceRestart == Self.restartAfter { return try restart() }
    if uncommitted == Self.commitSize { try commit() }
  }

  private static func partition(of key: [UInt8]) -> Int32 { Murmur2.partition(of: key, count: partitions) }

  private func passOn() throws {
    var next = 0
    while next < waiting.count {
      let output = waiting[next]
      next += 1
      try pass(output)
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Gives a record to the stage that reads its topic.
  private func pass(_ output: OutputRecord) throws {
    func send<S: Stage>(to driver: StageDriver<S>) -> StageDriver<S>.StepResult {
      driver.send(
        bytes: output.value, to: output.topic, key: output.key, partition: output.partition, headers: output.headers)
    }
    switch output.topic {
    case .chatEvents, .userEvents, .deviceClaims:
      try take(send(to: ingest), of: ingest, output.partition)
    case .timeline:
      let offset = timelineOffsets[output.partition, default: 0]
      timelineOffsets[output.partition] = offset + 1
      wroteTimeline?(
        output, RecordPosition(topic: output.topic.rawValue, partition: output.partition, offset: offset))
      try take(send(to: analyzer), of: analyzer, output.partition)
    case .pushes: try takeRequests(send(to: dispatcher), output.partition)
    default: break
    }
  }

  private func take<S: Stage>(
    _ result: StageDriver<S>.StepResult, of driver: StageDriver<S>, _ partition: Int32
  ) throws {
    let stage = Self.name(driver)
    for output in result.outputs { try digest.count(output, of: stage) }
    waiting += result.outputs
    if let rejection = result.rejection { try digest.count(rejection, of: stage) }
    if let wake = result.wakeAt {
      let task = Task(stage: stage, partition: partition)
      wakes[task] = min(wakes[task] ?? .max, wake)
    }
  }

  private static func name<S: Stage>(_ driver: StageDriver<S>) -> String { S.definition.name }

  // MARK: Requests

  private func takeRequests(_ result: StageDriver<DispatcherStage>.StepResult, _ partition: Int32) throws {
    try take(result, of: dispatcher, partition)
    for request in result.effects {
      let subject = request.subject
      try digest.count(
        request: request.body,
        to: "\(subject.userId)\t\(subject.deviceId)\t\(request.token)\t\(subject.pushId)\t\(subject.attempt)",
        of: Self.name(dispatcher), kind: subject.attempt > 1 ? "again" : "first")
      let reply = services.answer(subject.userId, subject.deviceId, subject.pushId, subject.attempt, at: now)
      let answer = Answer(
        at: now + reply.after, partition: partition, request: request, answer: reply.answer, startedAt: now)
      let index = answers.firstIndex { $0.at < answer.at || $0.at == answer.at && $0.request.id < request.id }
      answers.insert(answer, at: index ?? answers.count)
    }
  }

  private func receive(_ answer: Answer) throws {
    if case .sent = answer.answer.verdict { delivered?(Delivery(at: now, request: answer.request)) }
    try takeRequests(
      dispatcher.receive(
        SendReply(
          id: answer.request.id, answer: answer.answer, startedAt: answer.startedAt, finishedAt: now),
        partition: answer.partition), answer.partition)
  }

  // MARK: State

  /// Writes the changed rows of all tasks.
  func commit() throws {
    uncommitted = 0
    for partition in 0..<Self.partitions {
      try commit(ingest, partition)
      try commit(analyzer, partition)
      try commit(dispatcher, partition)
    }
  }

  private func commit<S: Stage>(_ driver: StageDriver<S>, _ partition: Int32) throws {
    var rows: [(key: RowKey, bytes: [UInt8]?)] = []
    try driver.commit(partition: partition) { rows.append(($0, $1)) }
    for row in rows.sorted(by: { $0.key < $1.key }) {
      try digest.count(row: row.key, row.bytes, of: Self.name(driver))
    }
  }

  private func restart() throws {
    try commit()
    sinceRestart = 0
    answers = []
    wakes = [:]
    for partition in 0..<Self.partitions {
      try take(ingest.restart(partition: partition), of: ingest, partition)
      try take(analyzer.restart(partition: partition), of: analyzer, partition)
      try takeRequests(dispatcher.restart(partition: partition), partition)
    }
    try passOn()
  }
}

/// Push services and the webhook, as they answer on the day.
struct DayServices {
  /// When everything fails, from the start of the day, and when nothing answers.
  private static let failure: Range<Milliseconds> = 14_400_000..<20_400_000
  private static let silence: Range<Milliseconds> = 25_200_000..<25_800_000

  private let start: Milliseconds

  init(from start: Milliseconds) { self.start = start }

  /// The answer to a request, and how long it takes.
  func answer(
    _ userId: String, _ deviceId: String, _ pushId: String, _ attempt: Int, at now: Milliseconds
  ) -> (answer: PushAnswer, after: Milliseconds) {
    let digest = SHA256Digest.of(Array("\(userId)\t\(deviceId)\t\(pushId)\t\(attempt)".utf8))
    let after = 40 + Milliseconds(digest[0])
    if Self.failure.contains(now - start) {
      return (PushAnswer(.serverFailed, httpStatus: 503, errorCode: "UNAVAILABLE"), after)
    }
    if Self.silence.contains(now - start) { return (PushAnswer(.unreachable, errorCode: "timeout"), after + 10_000) }
    switch Int(digest[1]) << 8 | Int(digest[2]) {
    case ..<60: return (PushAnswer(.invalidToken, httpStatus: 404, errorCode: "UNREGISTERED"), after)
    case ..<90: return (PushAnswer(.senderMismatch, httpStatus: 403, errorCode: "SENDER_ID_MISMATCH"), after)
    case ..<150: return (PushAnswer(.rejected, httpStatus: 400, errorCode: "INVALID_ARGUMENT"), after)
    case ..<900: return (PushAnswer(.serverFailed, httpStatus: 500, errorCode: "INTERNAL"), after)
    case ..<1_300: return (PushAnswer(.unreachable, errorCode: "connection_reset"), after)
    case ..<1_600:
      return (
        PushAnswer(
          .quotaExceeded(.device), httpStatus: 429, errorCode: "QUOTA_EXCEEDED", retryAfter: 60_000), after
      )
    case ..<1_620:
      return (
        PushAnswer(.quotaExceeded(.project), httpStatus: 429, errorCode: "QUOTA_EXCEEDED", retryAfter: 5_000), after
      )
    case ..<1_900: return (PushAnswer(.notSent), after)
    default: return (PushAnswer(.sent(name: "projects/day/messages/1"), httpStatus: 200), after)
    }
  }
}
