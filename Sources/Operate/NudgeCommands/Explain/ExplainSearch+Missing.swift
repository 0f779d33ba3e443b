import Analyzer
import Ingest
import Kafka
import NudgeSchema
import StreamRuntime

/// A message without a decision.
extension ExplainSearch {
  /// Follows a message without a decision from its event to the point where it stopped.
  func missing(_ messageId: String) throws -> MissingDecision {
    let events = EventSearch(
      browser: browser, redaction: redaction, now: question.now, conversationId: question.conversationId,
      since: question.since)
    let found = try events.find(messageId)
    if let found, let text = found.textOfOthers {
      return MissingDecision(cause: .severalConversations, text: text)
    }
    guard let event = found?.event else {
      return MissingDecision(
        cause: .noEvent,
        text:
          "no message.created with this messageId is on \(browser.names(.chatEvents)): it was never published, or is "
          + "older than the topic keeps records. Ask the producer; 'nudge dead-letters list' shows what was refused")
    }
    if let letter = try events.deadLetter(of: event) {
      return MissingDecision(cause: .deadLettered, text: letter.refusal, event: event, deadLetter: letter)
    }
    if event.record["senderId"]?.string == question.userId {
      return MissingDecision(
        cause: .sender, text: "the person sent the message: nobody is notified of their own messages", event: event)
    }
    let (candidate, isCandidateAnywhere) = try findCandidate(messageId, of: event)
    if let candidate {
      let place = TopicPartition(topic: candidate.position.topic, partition: candidate.position.partition)
      let next = try committed(AnalyzerStage.definition, place)
      guard let next, next > candidate.position.offset else {
        return MissingDecision(
          cause: .notDecided,
          text:
            "the analyzer has not come to it: it is at offset \(next.map { String($0) } ?? "none") of \(place), the "
            + "candidate is at \(candidate.position.offset). 'nudge lag' shows how far each stage is behind",
          event: event, candidate: candidate)
      }
      return MissingDecision(
        cause: .repeated,
        text:
          "the analyzer is beyond it and decided nothing: a repeat of a record seen before, or its decision is older "
          + "than \(browser.names(.decisions)) keeps records",
        event: event, candidate: candidate)
    }
    let place = TopicPartition(topic: event.position.topic, partition: event.position.partition)
    let next = try committed(IngestStage.definition, place)
    guard let next, next > event.position.offset else {
      return MissingDecision(
        cause: .notIngested,
        text:
          "ingest has not come to it: it is at offset \(next.map { String($0) } ?? "none") of \(place), the event is at "
          + "\(event.position.offset). 'nudge lag' shows how far each stage is behind",
        event: event)
    }
    return MissingDecision(
      cause: .noRecipient,
      text: isCandidateAnywhere
        ? "the message was on others' timelines and not on this person's: they took no part in the conversation when it was "
          + "written"
        : "ingest is beyond the event and put it on the timeline of nobody on this person's partition: they took no part in "
          + "the conversation when it was written, or the event is a repeat of one seen before",
      event: event)
  }

  private func committed(_ stage: StageDefinition, _ place: TopicPartition) throws -> Int64? {
    let offsets = try GroupOffsets(cluster, stage: stage)
    return try offsets.committed([place])[place]
  }

  /// The candidate with this person, and whether there is one for others on the same partition.
  private func findCandidate(_ messageId: String, of event: PlacedRecord) throws -> (PlacedRecord?, Bool) {
    var found: PlacedRecord?
    var isAnywhere = false
    let partitions = try browser.partitions(of: question.userId, on: .timeline)
    let needle = browser.coder.needle(messageId)
    let ranges = try browser.ranges(of: .timeline, partitions: partitions, from: event.timestamp - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.timeline))") { record in
      guard record.valueContains(needle), let candidate = placed(record, .timeline),
        candidate.record["type"]?.string == "message.candidate", candidate.record["messageId"]?.string == messageId
      else { return true }
      isAnywhere = true
      guard
        candidate.record["recipients"]?.elements.contains(where: { $0["userId"]?.string == question.userId }) == true
      else { return true }
      found = Self.onlyRecipient(question.userId, of: candidate)
      return false
    }
    return (found, isAnywhere)
  }
}

/// Finds a message's own event on `chat.events`.
struct EventSearch {
  let browser: TopicBrowser
  let redaction: Redaction
  /// The wall clock.
  let now: Milliseconds
  /// The message's conversation if known; then only one partition is read.
  var conversationId: String?
  /// How far back to search; nil for the whole topic.
  var since: Milliseconds?

  /// A message's `message.created`.
  struct Found {
    var event: PlacedRecord
    /// Other conversations with a message of this id: ids are unique within a conversation only.
    var others: [String] = []

    /// Names all of its conversations; nil if there is one.
    var textOfOthers: String? {
      guard !others.isEmpty else { return nil }
      let all = [event.record["conversationId"]?.string ?? ""] + others
      let named = all.prefix(5).joined(separator: ", ") + (all.count > 5 ? " …" : "")
      return
        "\(all.count) conversations have a message with this id, the newest first: \(named). --conversation says which is meant"
    }
  }

  /// The newest message with this id; nil if there is none. The first event of a message counts, if a producer repeated it.
  func find(_ messageId: String) throws -> Found? {
    var found: [PlacedRecord] = []
    // Producers may escape ids differently from Nudge, so only plain ids can be searched as bytes.
    let isPlain = messageId.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C && $0 != 0x2F }
    let needle = isPlain ? Array(messageId.utf8) : []
    let partitions = try conversationId.map { try browser.partitions(of: $0, on: .chatEvents) }
    try TopicBrowser.searchBack(now: now) { from, until in
      if let since, let until, until < since { return true }
      let ranges = try browser.ranges(of: .chatEvents, partitions: partitions, from: from, until: until)
      try browser.read(ranges, "reading \(browser.names(.chatEvents))") { record in
        guard record.valueContains(needle), let event = PlacedRecord(record, of: .chatEvents, redaction: redaction),
          event.record["messageId"]?.string == messageId, event.record["type"]?.string == "message.created",
          conversationId.map({ event.record["conversationId"]?.string == $0 }) ?? true,
          !found.contains(where: { $0.record["conversationId"]?.string == event.record["conversationId"]?.string })
        else { return true }
        found.append(event)
        return conversationId == nil
      }
      return !found.isEmpty
    }
    found.sort { ($1.timestamp, $0.position.partition) < ($0.timestamp, $1.position.partition) }
    return found.first.map { event in
      Found(event: event, others: found.dropFirst().compactMap { $0.record["conversationId"]?.string })
    }
  }

  /// The dead letter of an event; nil if it was not refused.
  func deadLetter(of event: PlacedRecord) throws -> DeadLetterFacts? {
    var found: DeadLetterFacts?
    let ranges = try browser.ranges(of: .deadLetters, from: event.timestamp - ExplainSearch.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.deadLetters))") { record in
      let letter = DeadLetterFacts(record)
      guard letter.origin == event.position else { return true }
      found = letter
      return false
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
    // A producer may have used another number of partitions.
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
