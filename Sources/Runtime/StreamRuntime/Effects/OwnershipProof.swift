import NudgeSchema

/// Whether this thread may cause effects outside: only while it can prove that it owns its tasks.
///
/// The proof is a transaction with the group's metadata that the broker committed: at its start nobody else owned the
/// tasks. It holds for less than half a session time-out from that start, on a clock that runs while the machine sleeps,
/// so that a stopped process that wakes up has lost it before the group can have given its tasks away.
struct OwnershipProof {
  private var provenAt: Milliseconds?
  private let validity: Milliseconds

  init(sessionTimeout: Milliseconds) { validity = sessionTimeout / 2 }

  /// A transaction that began at this time of the steady clock has committed.
  mutating func proven(at start: Milliseconds) { provenAt = max(provenAt ?? start, start) }

  /// The assignment changed: what was proven is about the former one.
  mutating func forget() { provenAt = nil }

  func holds(at now: Milliseconds) -> Bool {
    guard let provenAt else { return false }
    return now - provenAt < validity
  }

  /// Milliseconds since the proof; nil without one.
  func age(at now: Milliseconds) -> Milliseconds? { provenAt.map { now - $0 } }
}
