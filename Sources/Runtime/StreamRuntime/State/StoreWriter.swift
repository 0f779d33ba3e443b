import Dispatch

/// Writes the stores of a stream thread in the background, while the stream thread processes records or restores from the changelog.
///
/// It writes one batch at a time for all stores of the thread, which bounds the memory of waiting batches to one.
final class StoreWriter: Sendable {
  private let queue = DispatchQueue(label: "nudge-store-writer", qos: .userInitiated)
  private let isFree = DispatchSemaphore(value: 1)

  /// Waits for the previous write to end, starts this one, and returns.
  func begin(_ step: @escaping @Sendable () -> Void) {
    isFree.wait()
    queue.async { [isFree] in
      step()
      isFree.signal()
    }
  }

  /// Waits until no write is in progress.
  func wait() {
    isFree.wait()
    isFree.signal()
  }
}
