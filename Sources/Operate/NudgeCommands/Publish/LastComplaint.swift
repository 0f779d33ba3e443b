import Synchronization

/// The last thing librdkafka complained of: why a broker does not answer stands nowhere else.
final class LastComplaint: Sendable {
  private let line = Mutex("")

  func note(_ message: String) { line.withLock { $0 = message } }

  /// To be put behind an error; empty where nothing was complained of.
  var text: String {
    let line = line.withLock { $0 }
    return line.isEmpty ? "" : "\nlibrdkafka said last: \(line)"
  }
}
