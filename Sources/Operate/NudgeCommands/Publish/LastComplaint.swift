import Synchronization

/// librdkafka's last warning: the only place that says why a broker does not answer.
final class LastComplaint: Sendable {
  private let line = Mutex("")

  func note(_ message: String) { line.withLock { $0 = message } }

  /// Text to append to an error; empty without a warning.
  var text: String {
    let line = line.withLock { $0 }
    return line.isEmpty ? "" : "\nlibrdkafka said last: \(line)"
  }
}
