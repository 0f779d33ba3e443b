import Dispatcher
import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Measures the stages' lag from committed offsets, the inputs' end offsets, and the time of the oldest record in between.
struct LagReading {
  /// The number of offsets that are read first to find the oldest record. In rare cases they contain only transaction markers.
  private static let firstPiece: Int64 = 200

  let browser: TopicBrowser
  let cluster: ClusterSettings

  /// - Parameter readsPushes: Whether to search for pushes without an outcome, in the records of up to two hours.
  func report(of stages: [StageDefinition], now: Milliseconds, readsPushes: Bool = false) throws -> LagReport {
    try browser.find(stages.flatMap(\.inputs))
    var report = LagReport(
      inputs: try stages.flatMap { stage in
        let offsets = try GroupOffsets(cluster, stage: stage)
        return try stage.inputs.map { try input($0, of: stage, offsets, now: now) }
      })
    if readsPushes {
      try browser.find([.pushes, .outcomes])
      var reading = OpenPushesReading()
      let standing = try reading.read(browser, now: now)
      report.pushes = LagReport.Pushes(standing, isPartial: reading.isPartial)
      (report.held, report.catchUps) = try held(now: now)
    }
    return report
  }

  /// A catch-up is made within a day plus its spread. Messages are held only for minutes.
  private static let holdWindow: Milliseconds = 26 * 3_600_000
  /// The most decisions that are read, newest first.
  private static let mostDecisions: Int64 = 200_000

  /// The work that the analyzer must do at a later time: decisions about held messages, and catch-ups.
  private func held(now: Milliseconds) throws -> (LagReport.Held, LagReport.CatchUps) {
    try browser.find([.decisions, .timeline, .analyzerState])
    var ranges = try browser.ranges(of: .decisions, from: now - Self.holdWindow)
    let share = max(1, Self.mostDecisions / Int64(max(1, ranges.count)))
    let isPartial = ranges.contains { $0.count > share }
    for index in ranges.indices { ranges[index].from = max(ranges[index].from, ranges[index].to - share) }
    var holds = OpenHolds()
    var catchUps = OpenCatchUps()
    let parser = JSONParser(maximumDepth: 512)
    let deferred = Array(#""deferred""#.utf8), waits = Array(#""catch_up""#.utf8)
    try browser.read(ranges, "reading \(browser.names(.decisions))") { record in
      let mayWait = record.valueContains(waits)
      // Most decisions are neither, and those that end a hold are recent.
      guard mayWait || record.valueContains(deferred) || record.timestamp >= now - OpenHolds.longest,
        let value = record.value, let node = try? parser.parse(value), let user = node["userId"]?.string,
        let conversation = node["conversationId"]?.string, let message = node["messageId"]?.string
      else { return true }
      if record.timestamp >= now - OpenHolds.longest {
        let isHeld = node["outcome"]?.string == DecisionBody.Outcome.deferred.rawValue
        holds.decided(user, conversation, message, heldUntil: isHeld ? node["heldUntil"]?.int64 : nil)
      }
      if mayWait, let due = Self.catchUp(node) {
        catchUps.add(user, in: try browser.partition(of: user, on: .timeline), due: due)
      }
      return true
    }
    for (task, time) in try lastChanges(of: catchUps.tasks) { catchUps.madeAll(of: task, dueBy: time) }
    return (
      LagReport.Held(waiting: holds.count, late: holds.lateness(now: now) ?? 0),
      LagReport.CatchUps(
        waiting: catchUps.count, next: catchUps.next(after: now), late: catchUps.lateness(now: now) ?? 0,
        isPartial: isPartial)
    )
  }

  /// When a message's catch-up is due, by its decision; nil if it waits for none.
  private static func catchUp(_ decision: JSONNode) -> Milliseconds? {
    guard let checks = decision["checks"]?.elements else { return nil }
    for check in checks where check["check"]?.string == "catch_up" { return check["inputs"]?["dueAt"]?.int64 }
    return nil
  }

  /// The time of the last change of state of each of these analyzer tasks. By then a task has done everything that was due earlier.
  private func lastChanges(of tasks: [Int32]) throws -> [Int32: Milliseconds] {
    let known = try browser.partitionCount(of: .analyzerState)
    let ranges = try browser.ranges(of: .analyzerState, partitions: tasks.filter { $0 < known }).map {
      PartitionRange(place: $0.place, from: max($0.from, $0.to - 64), to: $0.to)
    }
    var changes: [Int32: Milliseconds] = [:]
    try browser.read(ranges, "reading the ends of \(browser.names(.analyzerState))") { record in
      changes[record.partition] = max(changes[record.partition] ?? 0, record.timestamp)
      return true
    }
    return changes
  }

  private func input(_ topic: Topic, of stage: StageDefinition, _ offsets: GroupOffsets, now: Milliseconds) throws
    -> LagReport.Input
  {
    // Committed offsets are read first. Later commits then make the lag too large, but never negative.
    let places = (0..<(try browser.partitionCount(of: topic))).map {
      TopicPartition(topic: browser.names(topic), partition: $0)
    }
    let committed = try offsets.committed(places)
    let ranges = try browser.ranges(of: topic)
    var open = ranges.map {
      PartitionRange(place: $0.place, from: max($0.from, committed[$0.place] ?? $0.from), to: $0.to)
    }.filter { $0.count > 0 }
    var oldest: [TopicPartition: (offset: Int64, timestamp: Milliseconds)] = [:]
    for piece in [Self.firstPiece, Int64.max] {
      let wanted = open.filter { oldest[$0.place] == nil }.map { range in
        PartitionRange(
          place: range.place, from: range.from, to: piece < range.count ? range.from + piece : range.to)
      }
      try browser.read(wanted, "reading \(browser.names(topic))") { record in
        if oldest[record.topicPartition] == nil { oldest[record.topicPartition] = (record.offset, record.timestamp) }
        return oldest.count < open.count
      }
      // A range that was read to its end without a record contains only markers.
      open.removeAll { oldest[$0.place] == nil && $0.count <= piece }
    }
    let ends = Dictionary(uniqueKeysWithValues: ranges.map { ($0.place, $0.to) })
    let behind = oldest.map { place, first in
      LagReport.Input.Partition(
        partition: place.partition, committed: committed[place], end: ends[place] ?? 0,
        records: (ends[place] ?? 0) - first.offset, oldest: first.timestamp, age: max(0, now - first.timestamp))
    }
    return LagReport.Input(
      stage: stage.name, topic: browser.names(topic), partitions: ranges.count,
      behind: behind.sorted { ($1.age, $0.partition) < ($0.age, $1.partition) })
  }
}

/// Reads a stage's committed offsets. Its connections end with it.
final class GroupOffsets {
  private let consumer: Consumer
  private let cluster: ClusterSettings
  private let stage: StageDefinition

  /// Uses the group's id but never joins the group.
  init(_ cluster: ClusterSettings, stage: StageDefinition) throws(KafkaError) {
    self.cluster = cluster
    self.stage = stage
    consumer = try Consumer(
      cluster.client(.consumer(bootstrapServers: cluster.bootstrapServers, group: stage.group(cluster.topics))),
      name: "nudge-offsets")
  }

  /// The committed offsets, without partitions that have none. Throws if the coordinator does not answer, which also happens while a
  /// transaction with offsets is open.
  func committed(_ places: [TopicPartition]) throws -> [TopicPartition: Int64] {
    var offsets: [TopicPartition: Int64] = [:]
    do throws(KafkaError) {
      for found in try consumer.committed(places, timeout: TopicBrowser.answerTimeout) {
        offsets[found.topicPartition] = found.offset
      }
    } catch {
      // librdkafka retries until its time-out if this user may not see the group. Describing the group returns the actual error.
      if error.isTimedOut { _ = try cluster.members(of: stage, timeout: .seconds(3)) }
      throw error
    }
    return offsets
  }
}

/// The people whose messages wait for a catch-up, from the decisions that were read. It is a value.
struct OpenCatchUps: Sendable {
  /// When each is due, by the analyzer's task and by person. A person has only one at a time.
  private var due: [Int32: [UInt64: Milliseconds]] = [:]

  /// A message waits for its person's catch-up. A person's decisions come in order, so the last one's time counts.
  mutating func add(_ user: String, in task: Int32, due time: Milliseconds) {
    due[task, default: [:]][FNV1a.hash(user)] = time
  }

  /// A task has done everything that was due by this time. A catch-up whose messages were read meanwhile is made without a push.
  mutating func madeAll(of task: Int32, dueBy time: Milliseconds) {
    due[task] = due[task]?.filter { $0.value > time }
  }

  /// The tasks with a waiting catch-up.
  var tasks: [Int32] { due.keys.sorted() }

  private var times: [Milliseconds] { due.values.flatMap(\.values) }

  var count: Int { due.values.reduce(0) { $0 + $1.count } }

  /// When the next is due; nil if none is due later.
  func next(after now: Milliseconds) -> Milliseconds? { times.filter { $0 > now }.min() }

  /// How long the first overdue catch-up has been due; nil if none is late.
  func lateness(now: Milliseconds) -> Milliseconds? { times.min().flatMap { $0 < now ? now - $0 : nil } }
}

/// Tracks deliveries without an outcome, from records of `nudge.pushes` and `nudge.outcomes`. It finds pushes that do not leave, whatever the
/// reason: FCM is unavailable or refuses, a quota is used up, a project is paused, a lane is full, a dispatcher is down.
struct OpenPushes: Sendable {
  private static let judged: Set<OutcomeResult> = [.sent, .invalidToken, .quarantined, .rejected]

  /// When each push was decided, by delivery.
  private var open: [UInt64: Milliseconds] = [:]
  /// The deliveries that have an outcome, and whose pushes were not read yet.
  private(set) var early: Set<UInt64> = []
  private var judgedAt: Milliseconds?
  private let most: Int
  /// Whether deliveries were left out at the limit.
  private(set) var isFull = false

  /// - Parameter most: The most open deliveries to track, at about 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push for a device was decided.
  mutating func decided(_ pushId: String, on deviceId: String, at time: Milliseconds) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if early.remove(key) != nil { return }
    guard open.count < most else { return isFull = true }
    open[key] = time
  }

  /// A delivery got its outcome.
  /// - Parameter attempts: The number of requests; 0 if the destination received none.
  mutating func ended(
    _ pushId: String, on deviceId: String, _ result: OutcomeResult, attempts: Int, at time: Milliseconds
  ) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if attempts > 0, Self.judged.contains(result) { judgedAt = max(judgedAt ?? 0, time) }
    if open.removeValue(forKey: key) == nil { early.insert(key) }
  }

  /// Drops the outcomes whose pushes were not read, once all pushes from before those outcomes have been read. Such a push is older than what
  /// is read, or beyond the limit.
  mutating func dropEarly() { early = [] }

  /// Drops older pushes, which have an outcome or whose records are gone.
  mutating func forget(before time: Milliseconds) {
    open = open.filter { $0.value >= time }
    if open.count < most { isFull = false }
  }

  /// The state of these pushes.
  func standing(now: Milliseconds) -> DeliveryStanding {
    DeliveryStanding(
      waiting: open.count, oldestAge: open.values.min().map { max(0, now - $0) },
      sinceJudged: judgedAt.map { max(0, now - $0) })
  }
}

/// Tracks messages that are held (`deferred`) and have no final decision yet.
struct OpenHolds: Sendable {
  /// The longest time for which messages are held.
  static let longest: Milliseconds = 15 * 60_000

  /// When each hold is due to end.
  private var held: [UInt64: Milliseconds] = [:]

  mutating func decided(_ user: String, _ conversation: String, _ message: String, heldUntil: Milliseconds?) {
    let key = FNV1a.hash("\(user)\u{1}\(conversation)\u{1}\(message)")
    held[key] = heldUntil
  }

  var count: Int { held.count }

  /// How long the most overdue of them has been due; nil if none is late.
  func lateness(now: Milliseconds) -> Milliseconds? { held.values.min().flatMap { $0 < now ? now - $0 : nil } }
}

/// Reads the deliveries without an outcome. The first reading covers the latest records, and each later one only new records, so its cost
/// follows the load.
struct OpenPushesReading: Sendable {
  /// How far back the first reading goes. It is longer than the usual freshness, within which every push gets its outcome.
  private static let window: Milliseconds = 2 * 3_600_000
  /// The most records of `nudge.pushes` in the first reading, newest first.
  private static let most: Int64 = 200_000

  private(set) var pushes = OpenPushes()
  private var next: [TopicPartition: Int64] = [:]
  private var since: Milliseconds?
  /// Whether older pushes were not read, so that the numbers are lower bounds.
  private(set) var isPartial = false

  /// Reads the new records.
  mutating func read(_ browser: TopicBrowser, now: Milliseconds) throws -> DeliveryStanding {
    let isFirst = since == nil
    // The end of pushes is fixed before that of outcomes. So every outcome that exists for a push read here is read too.
    var decided = try browser.ranges(of: .pushes, from: isFirst ? now - Self.window : nil)
    if isFirst {
      let share = max(1, Self.most / Int64(max(1, decided.count)))
      for index in decided.indices where decided[index].count > share {
        decided[index].from = decided[index].to - share
        isPartial = true
      }
    }
    skipRead(&decided)
    var first = now - Self.window
    let parser = JSONParser(maximumDepth: 512)
    var begun: Set<Int32> = []
    try browser.read(decided, "reading \(browser.names(.pushes))") { record in
      if isFirst, isPartial, begun.insert(record.partition).inserted { first = max(first, record.timestamp) }
      Self.readPush(record, parser, &pushes)
      return true
    }
    pushes.dropEarly()
    if let since { first = max(since, now - Self.window) }
    since = first
    var ended = try browser.ranges(of: .outcomes, from: isFirst ? first : nil)
    skipRead(&ended)
    try browser.read(ended, "reading \(browser.names(.outcomes))") { record in
      Self.readOutcome(record, parser, &pushes)
      return true
    }
    pushes.forget(before: first)
    if pushes.isFull { isPartial = true }
    return pushes.standing(now: now)
  }

  /// Leaves out of the ranges what was read before, and stores their ends for the next reading.
  private mutating func skipRead(_ ranges: inout [PartitionRange]) {
    for index in ranges.indices {
      let place = ranges[index].place
      ranges[index].from = max(ranges[index].from, next[place] ?? 0)
      next[place] = max(ranges[index].to, next[place] ?? 0)
    }
  }

  private static func readPush(_ record: ConsumerRecord, _ parser: JSONParser, _ pushes: inout OpenPushes) {
    guard let value = record.value, let node = try? parser.parse(value),
      node["type"]?.string == EventType.push.rawValue,
      let pushId = node["pushId"]?.string
    else { return }
    let time = node["decidedAt"]?.int64 ?? record.timestamp
    if node["kind"]?.string == Push.Kind.escalation.rawValue {
      pushes.decided(pushId, on: PushTarget.webhookDevice, at: time)
    }
    guard let targets = node["targets"]?.elements else { return }
    for target in targets {
      if let deviceId = target["deviceId"]?.string { pushes.decided(pushId, on: deviceId, at: time) }
    }
  }

  private static func readOutcome(_ record: ConsumerRecord, _ parser: JSONParser, _ pushes: inout OpenPushes) {
    guard let value = record.value, let node = try? parser.parse(value),
      let result = node["result"]?.string.flatMap(OutcomeResult.init(rawValue:)), let pushId = node["pushId"]?.string,
      let deviceId = node["deviceId"]?.string
    else { return }
    pushes.ended(
      pushId, on: deviceId, result, attempts: Int(node["attempts"]?.int64 ?? 0),
      at: node["finishedAt"]?.int64 ?? record.timestamp)
  }
}
