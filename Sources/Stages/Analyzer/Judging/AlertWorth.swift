import NudgeSchema

extension AlertBudget {
  /// The worth of a message's alert, in thousandths: its score, shifted by the person's feedback. Without a model, the simple rules
  /// give high 0.9, medium 0.5 and low 0.1. High priority adds `highBonus`.
  static func value(of assessment: Assessment) -> Int {
    let score = min(max(assessment.score, 0), most)
    let value = assessment.priority == .high ? score + (most - score) * highBonus : score
    return Int((value * 1_000).rounded())
  }
}
