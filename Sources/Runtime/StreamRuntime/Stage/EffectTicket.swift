/// Identifies an effect over the assignments of its task, so that a reply finds the effect it belongs to after the task was lost
/// and returned.
public struct EffectTicket: Sendable, Hashable {
  /// What the effect is to achieve. The stage asks with the same key when it asks for the same thing again.
  public var effect: RowKey
  /// Which attempt at it this is, as the stage counts.
  public var attempt: Int

  /// A ticket of the attempt at an effect.
  public init(_ effect: RowKey, attempt: Int) {
    self.effect = effect
    self.attempt = attempt
  }
}
