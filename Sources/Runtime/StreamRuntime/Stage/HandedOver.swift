/// A former owner's knowledge of an effect, for the task's present owner.
public struct HandedOver<Reply: Sendable>: Sendable {
  /// The request that left.
  public var ticket: EffectTicket
  /// nil: it is in flight, and its reply follows.
  public var reply: Reply?
  /// Whether the reply ends the effect; otherwise it may be performed again.
  public var decides: Bool

  public init(_ ticket: EffectTicket, reply: Reply?, decides: Bool = true) {
    self.ticket = ticket
    self.reply = reply
    self.decides = decides
  }
}
