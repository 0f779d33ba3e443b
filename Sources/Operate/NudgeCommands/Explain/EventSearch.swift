import Kafka
import NudgeSchema

/// Finds a message's own event on `chat.events`.
struct EventSearch {
  let browser: TopicBrowser
  let redaction: Redaction
  /// The wall clock.
  let now: Milliseconds
  /// The message's conversation, if known: one partition is read instead of all.
  var conversationId: String?
  /// How far back to look; nil: as far as the topic goes.
  var since: Milliseconds?

  /// The message's `message.created`, the newest with this id; nil: there is none.
  func find(_ messageId: String) throws -> PlacedRecord? {
    var found: PlacedRecord?
    // Producers may escape ids in other ways than we do: only plain ids can be searched for as bytes.
    let isPlain = messageId.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C && $0 != 0x2F }
    let needle = isPlain ? Array(messageId.utf8) : []
    let partitions = try conversationId.map { try browser.partitions(of: $0, on: .chatEvents) }
    try TopicBrowser.searchBack(now: now) { from, until in
      if let since, let until, until < since { return true }
      let ranges = try browser.ranges(of: .chatEvents, partitions: partitions, from: from, until: until)
      try browser.read(ranges, "reading \(browser.names(.chatEvents))") { record in
        guard record.valueContains(needle), let event = PlacedRecord(record, of: .chatEvents, redaction: redaction),
          event.record["messageId"]?.string == messageId, event.record["type"]?.string == "message.created",
          conversationId.map({ event.record["conversationId"]?.string == $0 }) ?? true
        else { return true }
        found = event
        return false
      }
      return found != nil
    }
    return found
  }

  /// Finds the edits and the deletion of a message.
  func changes(of event: PlacedRecord) throws -> [PlacedRecord] {
    guard let messageId = event.record["messageId"]?.string else { return [] }
    var changes: [PlacedRecord] = []
    let types = ["message.edited", "message.deleted"]
    let needle = Array("\"message.".utf8)
    let conversationId = event.record["conversationId"]?.string ?? ""
    let partition = event.position.partition
    var partitions = try browser.partitions(of: conversationId, on: .chatEvents)
    // A producer may have computed the partition from another number of partitions.
    if !partitions.contains(partition) { partitions.append(partition) }
    var ranges = try browser.ranges(
      of: .chatEvents, partitions: partitions, from: partitions == [partition] ? nil : event.timestamp)
    for index in ranges.indices where ranges[index].place.partition == partition {
      ranges[index].from = max(ranges[index].from, event.position.offset + 1)
    }
    let key = Array(conversationId.utf8)
    try browser.read(ranges, "reading \(browser.names(.chatEvents))") { record in
      guard record.hasKey(key), record.valueContains(needle),
        let change = PlacedRecord(record, of: .chatEvents, redaction: redaction),
        change.record["messageId"]?.string == messageId, types.contains(change.record["type"]?.string ?? "")
      else { return true }
      changes.append(change)
      return true
    }
    return changes
  }
}
