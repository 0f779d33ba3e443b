/// Identifies an effect across the assignments of its task, so that a reply finds its effect even after the task was lost and returned.
public struct EffectTicket: Sendable, Hashable {
  /// The purpose of the effect. A stage that requests the same thing again uses the same key.
  public var effect: RowKey
  /// The number of the attempt, which the stage counts.
  public var attempt: Int

  /// Makes the ticket of an attempt at an effect.
  public init(_ effect: RowKey, attempt: Int) {
    self.effect = effect
    self.attempt = attempt
  }
}

/// A former owner's knowledge of an effect, for the task's present owner.
public struct HandedOver<Reply: Sendable>: Sendable {
  /// The request that was sent.
  public var ticket: EffectTicket
  /// The reply. Absent while the request is in flight: its reply follows.
  public var reply: Reply?
  /// Whether the reply ends the effect. Else the effect may be performed again.
  public var decides: Bool

  public init(_ ticket: EffectTicket, reply: Reply?, decides: Bool = true) {
    self.ticket = ticket
    self.reply = reply
    self.decides = decides
  }
}

/// Performs a stage's effects on threads of its own, and calls back with the replies.
public protocol EffectPerformer<Effect, Reply>: Sendable {
  associatedtype Effect: Sendable
  associatedtype Reply: Sendable
  /// Performs an effect. Must call `reply` exactly once, from any thread.
  func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void)
  /// Cancels effects in flight. No effect is requested after this call.
  func stop()
}

/// Shares a thread's effects among groups, such as the projects that requests go to, so that a slow group cannot use up all of them.
///
/// A group may have as many effects, waiting or in flight, as are free for all groups together (a dynamic threshold). One group alone gets
/// half of the limit, and two groups get a third each. Some effects always stay free for a group that has none. One thread uses it.
final class EffectBudget {
  private let limit: Int
  private(set) var total = 0
  private var counts: [String: Int] = [:]

  init(limit: Int) { self.limit = limit }

  func hasRoom(for group: String) -> Bool { counts[group, default: 0] < max(1, limit - total) }

  func add(_ group: String?) {
    total += 1
    if let group { counts[group, default: 0] += 1 }
  }

  func remove(_ group: String?) {
    total -= 1
    guard let group, let count = counts[group] else { return }
    counts[group] = count > 1 ? count - 1 : nil
  }
}
