import NudgeSchema
import Wording

/// A message that is not shown as it would be, and waits for the person's catch-up.
struct Missed: Equatable {
  /// How much it matters, in thousandths.
  var rank: Int
  /// It would have alerted.
  var alerts: Bool
  /// Nudge was late with it, and the person has no time of their own to catch up: they are told soon.
  var isLate = false
}

extension Judge {
  /// How a message stands in the person's catch-up; nil: it is not in one, because it is shown, or was not wanted.
  ///
  /// Without times of their own, people catch up on what would have been shown. With them, also on what only changed the badge, or was
  /// silenced by a burst. Those who have set nothing catch up on what came too late. A message that a budget silenced is in every catch-up, and makes none sound.
  func missed(_ verdict: Verdict, _ presentation: Presentation?) -> Missed? {
    guard replay == nil, preferences.catchesUp || verdict.reason == .expired && preferences.digestTimes == nil else {
      return nil
    }
    if trail.isOverBudget, verdict.reason.notifies { return missed(trail.assessment, as: .silent) }
    // A message that Nudge was late with is in everybody's.
    guard preferences.catchesUpOnAll || verdict.reason == .expired else { return nil }
    let hasTimes = preferences.digestTimes != nil
    switch verdict.reason {
    case .relevant, .simpleRules, .notifyAll:
      guard hasTimes, presentation == .badge || presentation == .silent && trail.hasBurst else { return nil }
      return missed(trail.assessment, as: .silent)
    case .quietHours, .noDevice:
      let wanted = self.presentation(trail.assessment?.priority ?? .low)
      return wanted == .badge && !hasTimes ? nil : missed(trail.assessment, as: wanted)
    case .conversationMuted, .expired, .analysisLimit:
      guard message.candidate.possibleRepeat != true,
        verdict.reason != .conversationMuted || !preferences.isMutedForGood(message.candidate.conversationId)
      else { return nil }
      // The checks ended before they came to the level and the priority.
      var further = self
      further.trail = Trail()
      guard further.level() == nil else { return nil }
      let assessment = rules.policy.simpleRules.assess(traits(lookingAtWords: true))
      let wanted = further.presentation(assessment.priority)
      if wanted == .badge, !hasTimes { return nil }
      var missed = missed(assessment, as: wanted)
      missed.isLate = verdict.reason == .expired && !preferences.catchesUpOnAll
      return missed
    case .duplicate, .notificationsDisabled, .alreadyRead, .activeConversation, .activeElsewhere, .withdrawn, .level,
      .replayStopped, .replayLimit, .history, .mutedSender:
      return nil
    }
  }

  private func missed(_ assessment: Assessment?, as wanted: Presentation) -> Missed {
    Missed(rank: Int(((assessment?.score ?? 0) * 1_000).rounded()), alerts: wanted == .alert)
  }
}
