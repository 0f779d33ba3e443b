/// Does what a stage asked for with `Step.perform`, outside of any stream thread.
public protocol EffectPerformer<Effect, Reply>: Sendable {
  /// What is asked for.
  associatedtype Effect: Sendable
  /// The answer to it.
  associatedtype Reply: Sendable

  /// Starts an effect and returns at once. `reply` is called exactly once, on any thread.
  func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void)

  /// Starts nothing more. What is in the air ends within the performer's grace, and is replied to.
  func stop()
}
