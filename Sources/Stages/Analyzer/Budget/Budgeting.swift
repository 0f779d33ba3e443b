import NudgeSchema
import StreamRuntime
import Wording

extension DecisionChecks {
  /// Whether the alert is on no budget: the message mentions the person, or a starred sender wrote to them alone.
  var isFree: Bool {
    context.mentioned
      || message.candidate.conversation.kind == .direct && preferences.isStarred(message.candidate.sender.userId)
  }
}

extension AnalyzerStage {
  /// Asks the person's budget for the alert of a message that is to make one now. Without it the message is shown silently, and is in
  /// the next catch-up. People without a budget pay a look at their preferences.
  ///
  /// - Parameter burst: The conversation's before this message: an alert that does not sound silences none after it.
  mutating func budget(
    _ presentation: Presentation?, _ verdict: inout Verdict, _ decisionChecks: inout DecisionChecks,
    in conversation: inout PersonConversationRow, burst: Burst?, for person: inout PersonContext
  ) -> Presentation? {
    guard presentation == .alert, let limit = decisionChecks.preferences.dailyAlerts,
      let assessment = decisionChecks.checks.assessment, !decisionChecks.isFree
    else { return presentation }
    let today = decisionChecks.preferences.localDay(at: person.step.now, zones: &zones)
    let answer = person.user.spendAlert(of: limit, today: today, value: AlertBudget.value(of: assessment))
    decisionChecks.checks.note(answer)
    if answer.allows { return .alert }
    conversation.burst = burst
    verdict.explanation = verdict.explanation.framed(by: .overBudget, dailyAlerts: limit)
    return .silent
  }
}
