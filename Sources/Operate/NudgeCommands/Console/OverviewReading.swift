import Foundation
import JSONCodec
import Kafka
import NudgeConsole
import NudgeSchema
import ServiceKit

/// What the page Overview shows.
struct Overview: Encodable {
  struct Input: Encodable, Equatable {
    var stage: String
    var topic: String
    /// Offsets that are not processed.
    var records: Int64
    /// The age of the oldest of them; 0: there is none.
    var ageMs: Milliseconds
  }

  var row = "overview"
  var now: Milliseconds
  var stepMs: Milliseconds
  var slots: [OverviewSlots.Slot]
  var lag: [Input]
  var services: [ServiceGlance]
  /// What could not be read.
  var notes: [String]
}

/// Reads topics, lag and the services' metrics for all pages that show the overview: once, however many there are.
///
/// The first look reads the last 15 minutes. Later ones read what came since, so that the cost follows the load.
final class OverviewReading: @unchecked Sendable {
  // Safe to send: `lock` guards all that changes.

  /// How often topics are read.
  private static let topicsEvery: Milliseconds = 4_000
  /// How often offsets and metrics are asked for.
  private static let lagEvery: Milliseconds = 15_000
  private static let topics: [Topic] = [.chatEvents, .decisions, .outcomes, .deadLetters]

  private let cluster: ClusterSettings
  /// `HOST:PORT` of services.
  private let services: [String]
  private let lock = NSLock()
  private var slots = OverviewSlots()
  private var next: [TopicPartition: Int64] = [:]
  private var readAt: Milliseconds?
  private var lagReadAt: Milliseconds?
  private var lag: [Overview.Input] = []
  private var glances: [ServiceGlance] = []
  private var notes: [String] = []

  init(cluster: ClusterSettings, services: [String]) {
    self.cluster = cluster
    self.services = services
  }

  /// The overview at a time. `browser` is the caller's.
  func look(_ browser: TopicBrowser, now: Milliseconds) throws -> Overview {
    lock.lock()
    defer { lock.unlock() }
    if let readAt, now - readAt > slots.step * Milliseconds(slots.count) { self.readAt = nil }
    if now - (readAt ?? 0) >= Self.topicsEvery {
      do {
        try read(browser, now: now)
      } catch {
        // Half a piece must not be counted twice.
        readAt = nil
        throw error
      }
    }
    if now - (lagReadAt ?? 0) >= Self.lagEvery {
      notes = []
      readLag(browser, now: now)
      glances = services.map { ServiceGlance(of: $0) }
      lagReadAt = now
    }
    return Overview(
      now: now, stepMs: slots.step, slots: slots.slots(now: now), lag: lag, services: glances, notes: notes)
  }

  private func read(_ browser: TopicBrowser, now: Milliseconds) throws {
    try browser.find(Self.topics)
    if readAt == nil {
      slots = OverviewSlots(step: slots.step, count: slots.count)
      next = [:]
    }
    let parser = JSONParser(maximumDepth: 512)
    let created = Array("\"message.created\"".utf8)
    let start = slots.start(now: now)
    for topic in Self.topics {
      var ranges = try browser.ranges(of: topic, from: readAt == nil ? start : nil)
      for index in ranges.indices {
        if let known = next[ranges[index].place] { ranges[index].from = max(ranges[index].from, known) }
      }
      try browser.read(ranges, "reading \(browser.names(topic))") { record in
        let time = record.timestamp
        guard time >= start else { return true }
        switch topic {
        case .chatEvents: if record.valueContains(created) { slots.message(at: time) }
        case .deadLetters: slots.deadLetter(at: time)
        case .decisions:
          guard let value = record.value, let node = try? parser.parse(value), let reason = node["reason"]?.string
          else { return true }
          slots.decision(at: time, reason: reason, shape: Self.shape(node))
        default:
          guard let value = record.value, let node = try? parser.parse(value), node["type"]?.string == "outcome",
            let result = node["result"]?.string
          else { return true }
          var latency: Milliseconds?
          if result == OutcomeResult.sent.rawValue, record.header(RecordHeader.replayId) == nil,
            let end = node["finishedAt"]?.int64, let begin = node["occurredAt"]?.int64
          {
            latency = end - begin
          }
          slots.outcome(at: time, result: result, latency: latency)
        }
        return true
      }
      for range in ranges { next[range.place] = max(range.to, next[range.place] ?? 0) }
    }
    readAt = now
  }

  /// How it appeared; decisions of releases without presentations say so by priority.
  private static func shape(_ node: JSONNode) -> String {
    guard node["outcome"]?.string == "notify" else { return "none" }
    if let presentation = node["presentation"]?.string { return presentation }
    switch node["priority"]?.string {
    case "high": return "alert"
    case "low": return "badge"
    default: return "silent"
    }
  }

  private func readLag(_ browser: TopicBrowser, now: Milliseconds) {
    do {
      let report = try LagReading(browser: browser, cluster: cluster).report(of: DoctorChecks.stages, now: now)
      // A group that never committed, as on the embedded broker, says nothing of what its stage has done.
      let known = report.inputs.filter { $0.behind.isEmpty || $0.behind.contains { $0.committed != nil } }
      if known.count < report.inputs.count { notes.append("Some lag is not known: no offsets were committed.") }
      lag = known.map {
        Overview.Input(stage: $0.stage, topic: $0.topic, records: $0.records, ageMs: $0.age)
      }
      for input in lag { slots.lag(at: now, stage: input.stage, age: input.ageMs) }
    } catch {
      lag = []
      notes.append("The lag could not be read: \(error)")
    }
  }
}

/// What a service says of itself on its own port.
struct ServiceGlance: Encodable, Equatable {
  var address: String
  var ready = false
  /// FCM projects and platforms that are not sent to, by reason.
  var pauses: [String: Int] = [:]
  /// Pushes that are in flight or wait in lanes.
  var lanes: Int?
  /// Why nothing is known.
  var error: String?

  /// Asks the service, for at most a second.
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
  /// The overview, every few seconds, until nobody looks.
  func showOverview(_ job: ConsoleJob) throws {
    try reading(for: job) { browser in
      while !job.isCancelled {
        try job.write(try overview.look(browser, now: SystemClock.milliseconds()))
        for _ in 0..<20 where !job.isCancelled { Thread.sleep(forTimeInterval: 0.25) }
      }
    }
  }
}
