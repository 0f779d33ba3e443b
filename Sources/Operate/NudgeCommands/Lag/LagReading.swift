import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Measures the stages' lag: committed offsets, the inputs' end offsets, and the time of the oldest record between them.
struct LagReading {
  /// Offsets read first to find the oldest record; beyond them are, rarely, transaction markers only.
  private static let firstPiece: Int64 = 200

  let browser: TopicBrowser
  let cluster: ClusterSettings

  /// - Parameter readsPushes: Also looks for pushes without an outcome, in the records of up to two hours.
  func report(of stages: [StageDefinition], now: Milliseconds, readsPushes: Bool = false) throws -> LagReport {
    try browser.find(stages.flatMap(\.inputs))
    var report = LagReport(
      inputs: try stages.flatMap { stage in
        let offsets = try GroupOffsets(cluster, stage: stage)
        defer { offsets.close() }
        return try stage.inputs.map { try input($0, of: stage, offsets, now: now) }
      })
    if readsPushes {
      try browser.find([.pushes, .outcomes])
      var reading = OpenPushesReading()
      let standing = try reading.look(browser, now: now)
      report.pushes = LagReport.Pushes(standing, isPartial: reading.isPartial)
      report.held = try held(now: now)
    }
    return report
  }

  /// Messages are held for minutes at most.
  private static let holdWindow: Milliseconds = 15 * 60_000
  /// The most decisions that are looked at, newest first.
  private static let mostDecisions: Int64 = 100_000

  private func held(now: Milliseconds) throws -> LagReport.Held {
    try browser.find([.decisions])
    var ranges = try browser.ranges(of: .decisions, from: now - Self.holdWindow)
    let share = max(1, Self.mostDecisions / Int64(max(1, ranges.count)))
    for index in ranges.indices { ranges[index].from = max(ranges[index].from, ranges[index].to - share) }
    var holds = OpenHolds()
    let parser = JSONParser(maximumDepth: 512)
    try browser.read(ranges, "reading \(browser.names(.decisions))") { record in
      guard let value = record.value, let node = try? parser.parse(value), let user = node["userId"]?.string,
        let conversation = node["conversationId"]?.string, let message = node["messageId"]?.string
      else { return true }
      let isHeld = node["outcome"]?.string == DecisionBody.Outcome.deferred.rawValue
      holds.decided(user, conversation, message, heldUntil: isHeld ? node["heldUntil"]?.int64 : nil)
      return true
    }
    return LagReport.Held(waiting: holds.count, late: holds.lateness(now: now) ?? 0)
  }

  private func input(_ topic: Topic, of stage: StageDefinition, _ offsets: GroupOffsets, now: Milliseconds) throws
    -> LagReport.Input
  {
    // Committed offsets first: later commits then make the lag too large, never negative.
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
      // A range that was read to its end without a record has only markers.
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
