import Analyzer
import Ingest
import JSONCodec
import NudgeCommands
import NudgeLab
import NudgeSchema
import StreamRuntime

/// Measures the alerts that policies cost people, and the messages meant for them that are shown, on annotated chat logs.
///
/// Each log is a group, and each message is decided by the analyzer for the last 20 different other speakers, with bursts and
/// hourly limits. Nobody has the app open. Writing reads the group.
struct CostMeasure {
  /// The policies that are compared.
  enum Policy: String, CaseIterable, Encodable {
    case all
    case smart
    case smartVisible = "smart, small groups visible"
    /// A name in the text stands for a mention: nobody is mentioned by id in the logs.
    case mentions
  }

  /// Sums of one log, or of several.
  struct Sums {
    /// People and the days on which they wrote.
    var days = 0
    var alerts = 0
    /// Messages that answer the person.
    var meant = 0
    var meantAlerting = 0
    var meantVisible = 0
    /// Alerts of messages that answer somebody else, or nobody.
    var strayAlerts = 0
    /// Messages that are annotated, times their recipients.
    var pairs = 0

    static func += (a: inout Sums, b: Sums) {
      a.days += b.days
      a.alerts += b.alerts
      a.meant += b.meant
      a.meantAlerting += b.meantAlerting
      a.meantVisible += b.meantVisible
      a.strayAlerts += b.strayAlerts
      a.pairs += b.pairs
    }
  }

  private(set) var logs: [Policy: [Sums]] = [:]
  /// Alerts of each person and day, by log.
  private(set) var counts: [Policy: [[Int]]] = [:]

  private struct PersonDay: Hashable {
    var userId: String
    var day: Milliseconds
  }

  /// Decides a log's messages by each policy.
  mutating func add(_ log: [ChatMessage]) throws {
    for policy in Policy.allCases {
      let (sums, alerts) = try Self.decide(log, by: policy)
      logs[policy, default: []].append(sums)
      counts[policy, default: []].append(alerts)
    }
  }

  private static func rules(_ policy: Policy) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: { _ in Array(repeating: 0, count: 32) })
    switch policy {
    case .all: rules.policy.groupLevel = .all
    case .smart: rules.policy.smallGroupMembers = 0
    case .smartVisible: break
    case .mentions: rules.policy.groupLevel = .mentions
    }
    return rules
  }

  private static func decide(_ log: [ChatMessage], by policy: Policy) throws -> (Sums, [Int]) {
    let driver = StageDriver(AnalyzerStage(rules: rules(policy)))
    let parser = JSONParser()
    var conversation = OfflineConversation()
    var speakers = LogSpeakers()
    var known: Set<String> = []
    var sums = Sums()
    var alerts: [PersonDay: Int] = [:]
    var offset: Int64 = 0
    func send(_ body: TimelineEventBody, at time: Milliseconds) throws -> [SimulatedDecision] {
      offset += 1
      let origin = Origin(topic: "chat.events", partition: 0, offset: offset)
      let step = try driver.send(
        TimelineEvent(
          Envelope(eventId: "e\(offset)", occurredAt: time), origin: origin, source: origin.position, body),
        to: .timeline, key: "log")
      return step.outputs.filter { $0.topic == .decisions }.compactMap { output in
        (output.value ?? []).withUnsafeBytes { SimulatedDecision($0, parser: parser) }
      }
    }
    for message in log {
      let sender = ChatNames.user(message.nick)
      driver.now = message.at
      conversation.join(sender, displayName: message.nick)
      if known.insert(sender).inserted {
        _ = try send(
          .deviceGained(
            DeviceGained(userId: sender, deviceId: "phone", token: "t-\(sender)", version: 1, platform: .ios)),
          at: message.at)
      }
      let day = message.at / 86_400_000
      if alerts[PersonDay(userId: sender, day: day)] == nil { alerts[PersonDay(userId: sender, day: day)] = 0 }
      let recipients = speakers.recipients(of: sender)
      var candidate = conversation.candidate(
        of: MessageCreated(
          conversationId: message.log, messageId: String(message.number), senderId: sender,
          text: message.text.isEmpty ? nil : message.text), at: message.at, for: recipients)
      candidate.conversation.memberCount = RelevanceMeasure.candidates
      if policy == .mentions {
        for index in candidate.recipients.indices where candidate.recipients[index].context.named {
          candidate.recipients[index].context.mentioned = true
        }
      }
      _ = try send(
        .sent(MessageSent(userId: sender, conversationId: message.log, messageId: String(message.number))),
        at: message.at)
      let truth = speakers.answered(by: message)
      for decision in recipients.isEmpty ? [] : try send(.candidate(candidate), at: message.at) {
        let result = decision.result
        // Only days on which the person was active count.
        if result.alerts { alerts[PersonDay(userId: decision.userId, day: day)]? += 1 }
        guard let truth else { continue }
        sums.pairs += 1
        guard truth.contains(decision.userId) else {
          if result.alerts { sums.strayAlerts += 1 }
          continue
        }
        sums.meant += 1
        if result.alerts { sums.meantAlerting += 1 }
        if result.presentation == .alert || result.presentation == .silent { sums.meantVisible += 1 }
      }
      speakers.wrote(message, sender)
      try driver.commit()
    }
    sums.days = alerts.count
    sums.alerts = alerts.values.reduce(0, +)
    return (sums, Array(alerts.values))
  }
}

/// The cost and benefit of a policy, with intervals that hold 95 of 100 resamples of the logs.
struct CostSummary: Encodable {
  let policy: CostMeasure.Policy
  let personDays: Int
  let alertsPerDay: ResampledFigure
  let medianAlerts: ResampledFigure
  let p90Alerts: ResampledFigure
  let meant: Int
  let meantAlerting: ResampledFigure
  let meantVisible: ResampledFigure
  let meantNothing: ResampledFigure
  /// The share of alerts, for annotated messages, that were not meant for the person.
  let alertsNotMeant: ResampledFigure

  /// - Parameters:
  ///   - logs: The sums of each log.
  ///   - counts: The alerts of each person and day, by log.
  init(_ policy: CostMeasure.Policy, _ logs: [CostMeasure.Sums], _ counts: [[Int]], seed: UInt64) {
    self.policy = policy
    let all = logs.reduce(into: CostMeasure.Sums()) { $0 += $1 }
    personDays = all.days
    meant = all.meant
    let resampling = Resampling(logs: logs.count, seed: seed)
    let resamples = resampling.draws.map { draw in draw.reduce(into: CostMeasure.Sums()) { $0 += logs[$1] } }
    func figure(_ value: (CostMeasure.Sums) -> Double) -> ResampledFigure { resampling.figure(all, resamples, value) }
    // How many person-days have a number of alerts, by that number.
    let tallies = counts.map { $0.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 } }
    func quantile(_ share: Double) -> ResampledFigure {
      resampling.figure(Array(logs.indices), resampling.draws) { draw in
        var tally: [Int: Int] = [:]
        for log in draw { tally.merge(tallies[log], uniquingKeysWith: +) }
        let total = tally.values.reduce(0, +)
        var left = min(total - 1, Int(Double(total) * share))
        for (alerts, days) in tally.sorted(by: { $0.key < $1.key }) {
          left -= days
          if left < 0 { return Double(alerts) }
        }
        return 0
      }
    }
    medianAlerts = quantile(0.5)
    p90Alerts = quantile(0.9)
    func share(_ part: Int, _ whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }
    alertsPerDay = figure { share($0.alerts, $0.days) }
    meantAlerting = figure { share($0.meantAlerting, $0.meant) }
    meantVisible = figure { share($0.meantVisible, $0.meant) }
    meantNothing = figure { 1 - share($0.meantVisible, $0.meant) }
    alertsNotMeant = figure { share($0.strayAlerts, $0.strayAlerts + $0.meantAlerting) }
  }
}
