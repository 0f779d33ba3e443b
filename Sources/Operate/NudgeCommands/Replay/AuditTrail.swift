import Kafka
import NudgeSchema

/// What `nudge.audit` says.
struct AuditTrail {
  /// An event with its place.
  struct Entry {
    var event: AuditEvent
    var position: RecordPosition
  }

  /// In the order of each replay.
  let entries: [Entry]

  /// A trail of these.
  init(entries: [Entry]) { self.entries = entries }

  /// Reads all of it, or one replay's.
  init(_ browser: TopicBrowser, replayId: String? = nil) throws {
    var entries: [Entry] = []
    let wanted = replayId.map { Array($0.utf8) }
    let partitions = try replayId.map { [try browser.partition(of: $0, on: .audit)] }
    try browser.read(
      try browser.ranges(of: .audit, partitions: partitions), "reading \(browser.names(.audit))"
    ) { record in
      if let wanted, !record.hasKey(wanted) { return true }
      guard let value = record.value, let event = try? browser.coder.decode(AuditEvent.self, from: value) else {
        return true
      }
      entries.append(
        Entry(
          event: event,
          position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)))
      return true
    }
    self.entries = entries
  }

  /// Dead letters that were replayed or discarded: offsets by partition.
  var handledDeadLetters: [Int32: Set<Int64>] {
    var handled: [Int32: Set<Int64>] = [:]
    for entry in entries {
      guard case .deadLettersHandled(let fields) = entry.event.body else { continue }
      for letters in fields.letters { handled[letters.partition, default: []].formUnion(letters.offsets) }
    }
    return handled
  }
}
