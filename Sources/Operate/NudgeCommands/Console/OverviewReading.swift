import Foundation
import JSONCodec
import Kafka
import NudgeConsole
import NudgeSchema
import ServiceKit
import Synchronization

/// The answer of the page Overview.
struct Overview: Encodable {
  struct Input: Encodable, Equatable {
    var stage: String
    var topic: String
    /// The number of offsets that are not processed.
    var records: Int64
    /// The age of the oldest of them; 0 if there is none.
    var ageMs: Milliseconds
  }

  var row = "overview"
  var now: Milliseconds
  var stepMs: Milliseconds
  var slots: [OverviewSlots.Slot]
  var lag: [Input]
  /// Pushes without an outcome; nil if unknown.
  var pushes: LagReport.Pushes?
  var services: [ServiceGlance]
  /// The level; nil if unknown.
  var level: OverviewLevel?
  /// Missing parts, with the reason.
  var notes: [String]
}

/// The level in force, and the releases of running services.
struct OverviewLevel: Encodable, Equatable {
  var inForce: Int32
  /// The highest level that this release knows.
  var latest: Int32
  /// The releases of the members of the stages' groups.
  var releases: [String]

  init(_ report: UpgradeReport) {
    inForce = report.level
    latest = report.latest
    releases = report.releases
  }
}

/// Reads topics, lag and the services' metrics once for all pages that show the overview.
///
/// The first reading covers the last 15 minutes. Later ones read only new records, so that the cost follows the load.
final class OverviewReading: Sendable {
  private struct Content: Sendable {
    var slots = OverviewSlots()
    var next: [TopicPartition: Int64] = [:]
    var readAt: Milliseconds?
    var lagReadAt: Milliseconds?
    var lag: [Overview.Input] = []
    var open = OpenPushesReading()
    var pushes: LagReport.Pushes?
    var glances: [ServiceGlance] = []
    var notes: [String] = []
    var level: OverviewLevel?
    var levelReadAt: Milliseconds?
  }

  /// The time between two readings of levels, which change only with releases.
  private static let levelEvery: Milliseconds = 60_000
  /// The time between two readings of the topics.
  private static let topicsEvery: Milliseconds = 4_000
  /// The time between two readings of offsets and metrics.
  private static let lagEvery: Milliseconds = 15_000
  /// Decisions come before outcomes, because outcomes count for the pushes that decisions name.
  private static let topics: [Topic] = [.chatEvents, .decisions, .outcomes, .deadLetters]

  private let cluster: ClusterSettings
  /// `HOST:PORT` of services.
  private let services: [String]
  private let content = Mutex(Content())

  init(cluster: ClusterSettings, services: [String]) {
    self.cluster = cluster
    self.services = services
  }

  /// The overview at a time. `browser` belongs to the caller.
  func read(_ browser: TopicBrowser, now: Milliseconds) throws -> Overview {
    try content.withLock { content in try read(&content, browser, now: now) }
  }

  private func read(_ content: inout Content, _ browser: TopicBrowser, now: Milliseconds) throws -> Overview {
    let step = content.slots.step
    if let readAt = content.readAt, now - readAt > step * Milliseconds(content.slots.count) { content.readAt = nil }
    if now - (content.readAt ?? 0) >= Self.topicsEvery {
      do {
        try readTopics(&content, browser, now: now)
        content.pushes = LagReport.Pushes(try content.open.read(browser, now: now), isPartial: content.open.isPartial)
      } catch {
        // A partly read piece must not be counted twice.
        content.readAt = nil
        content.open = OpenPushesReading()
        throw error
      }
    }
    if now - (content.lagReadAt ?? 0) >= Self.lagEvery {
      content.notes = []
      readLag(&content, browser, now: now)
      content.glances = services.map { ServiceGlance(of: $0) }
      content.lagReadAt = now
    }
    if now - (content.levelReadAt ?? 0) >= Self.levelEvery {
      content.level = try? OverviewLevel(UpgradeCommand.report(on: cluster))
      content.levelReadAt = now
    }
    let slots = content.slots.slots(now: now)
    let partial = content.slots.isPartial ? ["There are too many pushes to follow how each ends."] : []
    return Overview(
      now: now, stepMs: step, slots: slots, lag: content.lag, pushes: content.pushes, services: content.glances,
      level: content.level, notes: content.notes + partial)
  }

  private func readTopics(_ content: inout Content, _ browser: TopicBrowser, now: Milliseconds) throws {
    try browser.find(Self.topics + [.pushes])
    if content.readAt == nil {
      content.slots = OverviewSlots()
      content.next = [:]
    }
    let start = content.slots.start(now: now)
    var pieces: [(topic: Topic, ranges: [PartitionRange])] = []
    // The ends of outcomes are read before those of decisions, so that the decisions for all these outcomes are among those that are read.
    for topic in Self.topics.reversed() {
      var ranges = try browser.ranges(of: topic, from: content.readAt == nil ? start : nil)
      for index in ranges.indices {
        if let known = content.next[ranges[index].place] { ranges[index].from = max(ranges[index].from, known) }
      }
      pieces.append((topic, ranges))
    }
    let parser = JSONParser(maximumDepth: 512)
    for (topic, ranges) in pieces.reversed() {
      try browser.read(ranges, "reading \(browser.names(topic))") { record in
        if record.timestamp >= start { Self.count(record, of: topic, parser, in: &content.slots) }
        return true
      }
      for range in ranges { content.next[range.place] = max(range.to, content.next[range.place] ?? 0) }
    }
    content.readAt = now
  }

  private static let created = Array("\"message.created\"".utf8)

  static func count(
    _ record: ConsumerRecord, of topic: Topic, _ parser: JSONParser, in slots: inout OverviewSlots
  ) {
    let time = record.timestamp
    switch topic {
    case .chatEvents: if record.valueContains(created) { slots.message(at: time) }
    case .deadLetters: slots.deadLetter(at: time)
    case .decisions:
      guard let value = record.value, let node = try? parser.parse(value), let reason = node["reason"]?.string else {
        return
      }
      // A final decision follows a deferred one.
      guard node["outcome"]?.string != "deferred" else { return }
      let shape = Self.shape(node)
      slots.decision(
        at: time, reason: reason, shape: shape, pushId: shape == "badge" ? nil : node["pushId"]?.string)
    default:
      guard let value = record.value, let node = try? parser.parse(value), let pushId = node["pushId"]?.string,
        let deviceId = node["deviceId"]?.string
      else { return }
      if let state = node["state"]?.string.flatMap(ReceiptState.init(rawValue:)) {
        slots.receipt(
          at: time, of: pushId, on: deviceId, state,
          latency: state == .arrived ? span(node["sentAt"], node["occurredAt"]) : nil)
      } else if let result = node["result"]?.string.flatMap(OutcomeResult.init(rawValue:)) {
        let isOwn = result == .sent && record.header(RecordHeader.replayId) == nil
        slots.outcome(
          at: time, of: pushId, on: deviceId, result, errorCode: node["errorCode"]?.string,
          latency: isOwn ? span(node["occurredAt"], node["finishedAt"]) : nil)
      }
    }
  }

  private static func span(_ begin: JSONNode?, _ end: JSONNode?) -> Milliseconds? {
    guard let begin = begin?.int64, let end = end?.int64 else { return nil }
    return end - begin
  }

  /// How it appeared. Decisions of releases without presentations imply that by the priority.
  private static func shape(_ node: JSONNode) -> String {
    guard node["outcome"]?.string == "notify" else { return "none" }
    if let presentation = node["presentation"]?.string { return presentation }
    switch node["priority"]?.string {
    case "high": return "alert"
    case "low": return "badge"
    default: return "silent"
    }
  }

  private func readLag(_ content: inout Content, _ browser: TopicBrowser, now: Milliseconds) {
    do {
      let report = try LagReading(browser: browser, cluster: cluster).report(of: DoctorChecks.stages, now: now)
      // If a group never committed, as on the embedded broker, its offsets do not show what the stage has done.
      let known = report.inputs.filter { $0.behind.isEmpty || $0.behind.contains { $0.committed != nil } }
      if known.count < report.inputs.count { content.notes.append("Some lag is not known: no offsets were committed.") }
      content.lag = known.map {
        Overview.Input(stage: $0.stage, topic: $0.topic, records: $0.records, ageMs: $0.age)
      }
      for input in content.lag { content.slots.lag(at: now, stage: input.stage, age: input.ageMs) }
    } catch {
      content.lag = []
      content.notes.append("The lag could not be read: \(error)")
    }
  }
}

/// The state of a service, as reported on its own port.
struct ServiceGlance: Encodable, Equatable {
  var address: String
  var ready = false
  /// FCM projects and platforms to which nothing is sent, by reason.
  var pauses: [String: Int] = [:]
  /// The number of pushes that are in flight or wait in lanes.
  var lanes: Int?
  /// Why nothing is known.
  var error: String?

  /// Asks the service and waits at most one second.
  init(of address: String) {
    switch PageReader.get(address, "/metrics", timeout: 1) {
    case .success(let page): self.init(address: address, metrics: page)
    case .failure(let failure):
      self.init(address: address, metrics: "")
      error = "\(failure)"
    }
  }

  init(address: String, metrics: String) {
    self.address = address
    for line in metrics.split(separator: "\n") where line.hasPrefix("nudge_") {
      guard let end = line.lastIndex(of: " "), let value = Double(line[line.index(after: end)...]) else { continue }
      let name = line[..<end]
      if name == "nudge_ready" {
        ready = value == 1
      } else if name == "nudge_lane_pushes" {
        lanes = Int(value)
      } else if name.hasPrefix("nudge_fcm_pauses{"), value > 0,
        let reason = name.firstMatch(of: /reason="([^"]*)"/)
      {
        pauses[String(reason.1), default: 0] += Int(value)
      }
    }
  }
}

extension CommandAnswers {
  /// Writes the overview every few seconds until nobody reads it.
  func showOverview(_ job: ConsoleJob) throws {
    try reading(for: job) { browser in
      while !job.isCancelled {
        try job.write(try overview.read(browser, now: SystemClock.milliseconds()))
        job.wait(atMost: .seconds(5))
      }
    }
  }
}
