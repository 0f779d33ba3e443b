import Dispatch

/// Writes the stores of a stream thread on a thread of its own, so that the stream thread goes on meanwhile: with the next
/// records, or in a restore with reading the changelog. One step at a time, whichever store it is of: memory holds one step
/// beside what is in work, and the disk has one writer.
final class StoreWriter: Sendable {
  private let queue = DispatchQueue(label: "nudge-store-writer", qos: .userInitiated)
  private let isFree = DispatchSemaphore(value: 1)

  /// Begins a step once the one before has ended, and returns.
  func begin(_ step: @escaping @Sendable () -> Void) {
    isFree.wait()
    queue.async { [isFree] in
      step()
      isFree.signal()
    }
  }

  /// Returns once no step is under way.
  func wait() {
    isFree.wait()
    isFree.signal()
  }
}
