/// Does what a stage asked for outside, on threads of its own, and calls back with the reply.
public protocol EffectPerformer<Effect, Reply>: Sendable {
  /// What is asked for.
  associatedtype Effect: Sendable
  /// What comes back.
  associatedtype Reply: Sendable
  /// Does it; `reply` is called exactly once, from any thread.
  func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void)
  /// Gives up what is under way; nothing more is asked for.
  func stop()
}
