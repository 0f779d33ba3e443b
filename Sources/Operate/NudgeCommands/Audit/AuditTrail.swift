import Kafka
import NudgeSchema

/// The records on `nudge.audit`.
struct AuditTrail {
  /// An event with its position.
  struct Entry {
    var event: AuditEvent
    var position: RecordPosition
  }

  /// In order within each replay.
  let entries: [Entry]

  init(entries: [Entry]) { self.entries = entries }

  /// Reads the whole topic, or one replay's records.
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

  /// Offsets of replayed and discarded dead letters, by partition.
  var handledDeadLetters: [Int32: Set<Int64>] {
    var handled: [Int32: Set<Int64>] = [:]
    for entry in entries {
      guard case .deadLettersHandled(let fields) = entry.event.body else { continue }
      for letters in fields.letters { handled[letters.partition, default: []].formUnion(letters.offsets) }
    }
    return handled
  }
}
