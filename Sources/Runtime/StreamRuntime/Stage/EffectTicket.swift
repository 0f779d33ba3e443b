/// Identifies an effect over the assignments of its task, so that a reply finds the effect it belongs to after the task was lost
/// and returned.
public struct EffectTicket: Sendable, Hashable {
  /// The purpose of the effect. A stage that asks for the same thing again uses the same key.
  public var effect: RowKey
  /// The number of the attempt, as the stage counts.
  public var attempt: Int

  /// A ticket of the attempt at an effect.
  public init(_ effect: RowKey, attempt: Int) {
    self.effect = effect
    self.attempt = attempt
  }
}
