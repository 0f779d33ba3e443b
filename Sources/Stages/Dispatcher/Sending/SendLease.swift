import Synchronization

/// The right to send, from the time a stream thread takes a task over until it gives it up. It is checked right before a
/// request leaves, so that requests still waiting in the process are not sent beside those of the task's next owner (P7).
public final class SendLease: Sendable {
  private let isRevoked = Atomic<Bool>(false)

  /// A valid lease.
  public init() {}

  var isValid: Bool { !isRevoked.load(ordering: .acquiring) }

  func revoke() { isRevoked.store(true, ordering: .releasing) }
}
