import Dispatcher
import JSONCodec
import Kafka
import NudgeSchema

/// Reads the pushes that have no outcome. The first look reads the latest records; later ones what came since, so that the cost follows the
/// load.
struct OpenPushesReading: Sendable {
  /// The time that is looked at: longer than the usual freshness, within which every push gets its outcome.
  private static let window: Milliseconds = 2 * 3_600_000
  /// The most records of `nudge.pushes` that the first look reads, newest first.
  private static let most: Int64 = 200_000

  private var pushes = OpenPushes()
  private var next: [TopicPartition: Int64] = [:]
  private var since: Milliseconds?
  /// Older pushes were not read: the numbers are at least what they say.
  private(set) var isPartial = false

  /// Reads on.
  mutating func look(_ browser: TopicBrowser, now: Milliseconds) throws -> DeliveryStanding {
    let isFirst = since == nil
    // The ends of pushes before those of outcomes: the outcomes of all these pushes, as far as there are any, are then read.
    var decided = try browser.ranges(of: .pushes, from: isFirst ? now - Self.window : nil)
    if isFirst {
      let share = max(1, Self.most / Int64(max(1, decided.count)))
      for index in decided.indices where decided[index].count > share {
        decided[index].from = decided[index].to - share
        isPartial = true
      }
    }
    goOn(&decided)
    var first = now - Self.window
    let parser = JSONParser(maximumDepth: 512)
    var begun: Set<Int32> = []
    try browser.read(decided, "reading \(browser.names(.pushes))") { record in
      if isFirst, isPartial, begun.insert(record.partition).inserted { first = max(first, record.timestamp) }
      Self.readPush(record, parser, &pushes)
      return true
    }
    if let since { first = max(since, now - Self.window) }
    since = first
    var ended = try browser.ranges(of: .outcomes, from: isFirst ? first : nil)
    goOn(&ended)
    try browser.read(ended, "reading \(browser.names(.outcomes))") { record in
      Self.readOutcome(record, parser, &pushes)
      return true
    }
    pushes.forget(before: first)
    if pushes.isFull { isPartial = true }
    return pushes.standing(now: now)
  }

  /// Each record once.
  private mutating func goOn(_ ranges: inout [PartitionRange]) {
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
