import Analyzer
import Ingest
import NudgeLab
import NudgeSchema

/// Measures what a budget of alerts loses against knowing the day beforehand, on annotated chat logs (decision 92).
///
/// Each log is a group. Each message that smart analysis finds of high priority for one of the last 20 other speakers would alert that
/// person. The budget decides message by message; the clairvoyant choice is of the same number of messages a person and day, those worth
/// most.
struct BudgetMeasure {
  /// A message that would alert a person.
  struct Item: Equatable {
    var at: Milliseconds
    /// In thousandths.
    var value: Int
    /// The log says that it answers the person.
    var isMeant: Bool
  }

  /// Sums of one log, or of several.
  struct Sums: Equatable {
    /// People and days with an alert.
    var days = 0
    /// Those of them with more alerts than the budget has.
    var busyDays = 0
    /// Messages that would alert without a budget.
    var items = 0
    var meant = 0
    var alerts = 0
    var value = 0
    var meantAlerting = 0
    /// The same of the clairvoyant choice.
    var bestAlerts = 0
    var bestValue = 0
    var bestMeantAlerting = 0
    /// Both values on busy days alone.
    var busyValue = 0
    var busyBestValue = 0

    static func += (a: inout Sums, b: Sums) {
      a.days += b.days
      a.busyDays += b.busyDays
      a.items += b.items
      a.meant += b.meant
      a.alerts += b.alerts
      a.value += b.value
      a.meantAlerting += b.meantAlerting
      a.bestAlerts += b.bestAlerts
      a.bestValue += b.bestValue
      a.bestMeantAlerting += b.bestMeantAlerting
      a.busyValue += b.busyValue
      a.busyBestValue += b.busyBestValue
    }
  }

  let scoring: RelevanceScoring
  /// The messages of each person that would alert, in order, by log.
  private(set) var logs: [[[Item]]] = []

  init(_ scoring: RelevanceScoring = RelevanceMeasure().scoring) { self.scoring = scoring }

  /// Scores the messages of one log, given in order.
  mutating func add(_ log: [ChatMessage]) {
    var conversation = OfflineConversation()
    var speakers = LogSpeakers()
    var items: [String: [Item]] = [:]
    for message in log {
      let sender = ChatNames.user(message.nick)
      conversation.join(sender, displayName: message.nick)
      let candidate = conversation.candidate(
        of: MessageCreated(
          conversationId: message.log, messageId: String(message.number), senderId: sender,
          text: message.text.isEmpty ? nil : message.text), at: message.at, for: speakers.recipients(of: sender))
      let truth = speakers.answered(by: message) ?? []
      for recipient in candidate.recipients {
        let score = scoring.score(candidate, for: recipient)
        guard score >= scoring.threshold else { continue }
        items[recipient.userId, default: []].append(
          Item(
            at: message.at, value: BudgetTrial.value(ofScore: score, scoring),
            isMeant: truth.contains(recipient.userId)))
      }
      speakers.wrote(message, sender)
    }
    logs.append(items.sorted { $0.key < $1.key }.map(\.value))
  }

  /// The sums of each log with a budget.
  func sums(dailyAlerts limit: Int) -> [Sums] {
    logs.map { people in
      var sums = Sums()
      for items in people {
        var trial = BudgetTrial(dailyAlerts: limit, scoring)
        let sounds = items.map { trial.alerts($0.value, at: $0.at) }
        let days = Dictionary(grouping: items.indices) { items[$0].at / 86_400_000 }
        for indices in days.values { sums += Self.day(indices.map { (items[$0], sounds[$0]) }, limit) }
      }
      return sums
    }
  }

  /// One person's day: each message with whether it alerted.
  static func day(_ items: [(item: Item, sounds: Bool)], _ limit: Int) -> Sums {
    // The first of equals: a later one is known, but no better.
    let best = items.enumerated().sorted {
      ($1.element.item.value, $0.offset) < ($0.element.item.value, $1.offset)
    }.prefix(limit).map(\.element.item)
    let chosen = items.filter(\.sounds).map(\.item)
    func value(_ items: [Item]) -> Int { items.reduce(0) { $0 + $1.value } }
    let isBusy = items.count > limit
    return Sums(
      days: 1, busyDays: isBusy ? 1 : 0, items: items.count, meant: items.count { $0.item.isMeant },
      alerts: chosen.count, value: value(chosen), meantAlerting: chosen.count(where: \.isMeant),
      bestAlerts: best.count, bestValue: value(best), bestMeantAlerting: best.count(where: \.isMeant),
      busyValue: isBusy ? value(chosen) : 0, busyBestValue: isBusy ? value(best) : 0)
  }
}

/// The share of the clairvoyant choice that a budget reaches, with intervals that hold 95 of 100 resamples of the logs.
struct BudgetSummary: Encodable {
  let dailyAlerts: Int
  let personDays: Int
  /// Those with more messages that would alert.
  let busyDays: Int
  /// Messages that would alert without a budget, and those of them that the log says are meant for the person.
  let wouldAlert: Int
  let meant: Int
  /// The share of the clairvoyant choice's value.
  let valueReached: ResampledFigure
  let valueReachedOnBusyDays: ResampledFigure
  /// Messages meant for the person with a sound, for each with one by the clairvoyant choice.
  let meantReached: ResampledFigure
  let alerts: Int
  let bestAlerts: Int
  let meantAlerting: Int
  let bestMeantAlerting: Int

  init(dailyAlerts: Int, _ logs: [BudgetMeasure.Sums], seed: UInt64) {
    self.dailyAlerts = dailyAlerts
    let all = logs.reduce(into: BudgetMeasure.Sums()) { $0 += $1 }
    (personDays, busyDays, wouldAlert, meant) = (all.days, all.busyDays, all.items, all.meant)
    (alerts, bestAlerts) = (all.alerts, all.bestAlerts)
    (meantAlerting, bestMeantAlerting) = (all.meantAlerting, all.bestMeantAlerting)
    let resampling = Resampling(logs: logs.count, seed: seed)
    let resamples = resampling.draws.map { draw in draw.reduce(into: BudgetMeasure.Sums()) { $0 += logs[$1] } }
    func figure(_ part: KeyPath<BudgetMeasure.Sums, Int>, _ whole: KeyPath<BudgetMeasure.Sums, Int>) -> ResampledFigure
    {
      resampling.figure(all, resamples) { sums in
        sums[keyPath: whole] == 0 ? 1 : Double(sums[keyPath: part]) / Double(sums[keyPath: whole])
      }
    }
    valueReached = figure(\.value, \.bestValue)
    valueReachedOnBusyDays = figure(\.busyValue, \.busyBestValue)
    meantReached = figure(\.meantAlerting, \.bestMeantAlerting)
  }
}
