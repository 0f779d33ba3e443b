import NudgeSchema

/// How late each of the latest senders' events were, and how far their clocks run ahead: tells whether an event that is not
/// remembered may have been forgotten.
public struct SenderClocks: Sendable, Equatable {
  struct Sender: Sendable, Equatable {
    /// FNV-1a of the sender's id.
    var hash: Int64
    /// The time of the sender's latest event, by the sender's clock.
    var latest: Milliseconds
    /// How far ahead of ingest's clock an event of the sender was at most, in milliseconds.
    var lead: Milliseconds
  }

  /// Senders that are kept, those of the latest events. A row takes at most 16 × 20 bytes for them.
  static let limit = 16

  /// In no order.
  var senders: [Sender] = []
  /// The time of the latest event of senders that are no longer kept; nil: all senders are kept.
  var othersUpTo: Milliseconds?

  init() {}

  mutating func note(_ occurredAt: Milliseconds, cappedAt: Milliseconds, from hash: Int64, now: Milliseconds) {
    let lead = occurredAt - cappedAt
    if let index = senders.firstIndex(where: { $0.hash == hash }) {
      if senders[index].latest < occurredAt { senders[index].latest = occurredAt }
      if senders[index].lead < lead { senders[index].lead = lead }
      return
    }
    senders.append(Sender(hash: hash, latest: occurredAt, lead: lead))
    guard senders.count > Self.limit, let oldest = senders.indices.min(by: { senders[$0].latest < senders[$1].latest })
    else { return }
    let dropped = min(senders.remove(at: oldest).latest, now)
    othersUpTo = max(othersUpTo ?? dropped, dropped)
  }

  /// Whether an event may be one of the sender's that was forgotten, when events up to `horizon` were.
  func maySend(
    at occurredAt: Milliseconds, cappedAt: Milliseconds, from hash: Int64, before horizon: Milliseconds
  ) -> Bool {
    if let sender = senders.first(where: { $0.hash == hash }) {
      return occurredAt <= sender.latest && occurredAt - sender.lead <= horizon
    }
    return othersUpTo.map { cappedAt <= min($0, horizon) } ?? false
  }
}
