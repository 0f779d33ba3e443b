/// Performs a stage's effects on threads of its own, and calls back with the replies.
public protocol EffectPerformer<Effect, Reply>: Sendable {
  associatedtype Effect: Sendable
  associatedtype Reply: Sendable
  /// Performs an effect. Must call `reply` exactly once, from any thread.
  func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void)
  /// Cancels effects in flight. No effect follows.
  func stop()
}
