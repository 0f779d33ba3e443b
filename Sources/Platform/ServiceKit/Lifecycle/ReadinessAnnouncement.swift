import Synchronization

/// Logs `ready` the first time, the line that people and scripts wait for. Later changes have other messages.
final class ReadinessAnnouncement: Sendable {
  private let wasReady = Atomic<Bool>(false)
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// Called for each change, one at a time.
  func announce(_ isReady: Bool) {
    let earlier = wasReady.load(ordering: .relaxed)
    switch (isReady, earlier) {
    case (true, false):
      wasReady.store(true, ordering: .relaxed)
      logger.info("ready")
    case (true, true): logger.notice("is ready again")
    case (false, true): logger.warning("is no longer ready")
    case (false, false): break
    }
  }
}
