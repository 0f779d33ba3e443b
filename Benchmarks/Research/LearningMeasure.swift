import Analyzer
import NudgeLab
import NudgeSchema

/// Measures how much feedback improves the score, by a simulation over annotated logs.
///
/// Each candidate of a log is a person with a taste. They give feedback on the first `signals` messages that are shown to them, or that
/// they would have wanted, whether each helped. After that they are silent, and it is counted how often the score, with and
/// without what they taught, tells what they want.
struct LearningMeasure {
  /// The wishes of people.
  enum People: Sendable {
    /// The log's annotation: messages that answer them.
    case average
    /// All messages of a quarter of the senders, none of another quarter, and otherwise what the log says. The seed decides
    /// which senders.
    case different(seed: UInt64)
  }

  private let people: People
  private let signals: Int
  private let scoring: RelevanceScoring
  private var trials: [String: (trial: LearningTrial, given: Int)] = [:]
  private var log = ""

  /// The counts after the last signal.
  private(set) var count = LearningCount()

  /// - Parameter signals: How often each person gives feedback.
  init(_ people: People, signals: Int, scoring: RelevanceScoring) {
    self.people = people
    self.signals = signals
    self.scoring = scoring
  }

  /// Adds the next pair; the pairs of one log come together, in its order.
  mutating func add(_ pair: RelevanceMeasure.Pair) {
    if pair.log != log {
      trials.removeAll()
      log = pair.log
    }
    let person = pair.recipient.userId
    var (trial, given) = trials[person] ?? (LearningTrial(scoring), 0)
    let (model, shifted) = trial.scores(pair.candidate, for: pair.recipient, at: pair.at)
    let isWanted = wants(pair)
    if given == signals {
      count.add(isWanted: isWanted, without: model >= scoring.threshold, with: shifted >= scoring.threshold)
    } else if shifted >= scoring.shownFrom || isWanted {
      trial.teach(isHelpful: isWanted, about: pair.candidate, score: shifted, at: pair.at)
      given += 1
      if given == signals { count.people += 1 }
      trials[person] = (trial, given)
    }
  }

  private func wants(_ pair: RelevanceMeasure.Pair) -> Bool {
    guard case .different(let seed) = people else { return pair.isTrue }
    var hash = FNV1a(seed: seed)
    for text in [pair.log, pair.recipient.userId, pair.candidate.sender.userId] {
      hash.combine(text.utf8)
      hash.combine(0xFF as UInt8)
    }
    switch (hash.value >> 33) % 4 {
    case 0: return true
    case 1: return false
    default: return pair.isTrue
    }
  }
}

/// The messages that people wanted, and got, after their feedback.
struct LearningCount: Encodable, Equatable {
  /// People who gave all of their signals.
  var people = 0
  /// The model alone.
  private(set) var without = RelevanceCount()
  /// The model with their feedback.
  private(set) var with = RelevanceCount()

  mutating func add(isWanted: Bool, without: Bool, with: Bool) {
    self.without.add(isTrue: isWanted, isFound: without)
    self.with.add(isTrue: isWanted, isFound: with)
  }
}
