import Kafka
import NudgeSchema

/// Selects dead letters by place, code, stage, topic, key and time.
struct DeadLetterSelection: Sendable, Equatable {
  /// `PARTITION@OFFSET` on `nudge.dead-letters`.
  struct Place: Hashable, Sendable {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) {
      self.partition = partition
      self.offset = offset
    }

    /// nil if the text is not a place.
    init?(_ text: String) {
      let parts = text.split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0, offset >= 0
      else { return nil }
      self.init(partition: partition, offset: offset)
    }
  }

  /// Only these; empty: all.
  var places: [Place] = []
  var reason: String?
  var stage: String?
  var topic: String?
  var key: String?
  /// The name of the API key that the event came with.
  var producer: String?
  /// Only those written at or after this time, in milliseconds since the epoch.
  var since: Milliseconds?
  /// Only those written before this time; nil: up to now.
  var until: Milliseconds?
  /// Whether replayed and discarded ones are selected too.
  var includesHandled = false

  func contains(_ letter: DeadLetterFacts, handled: [Int32: Set<Int64>]) -> Bool {
    if !includesHandled, handled[letter.position.partition]?.contains(letter.position.offset) == true { return false }
    let place = Place(partition: letter.position.partition, offset: letter.position.offset)
    if !places.isEmpty, !places.contains(place) { return false }
    if let reason, letter.code != reason { return false }
    if let stage, letter.stage != stage { return false }
    if let topic, letter.origin?.topic != topic { return false }
    if let key, letter.key != key { return false }
    if let producer, letter.producer != producer { return false }
    return true
  }

  /// Reads the selected dead letters with their records, in order within a partition, until `body` returns false.
  func read(_ browser: TopicBrowser, _ body: (DeadLetterFacts, ConsumerRecord) throws -> Bool) throws {
    try browser.find([.deadLetters, .audit])
    let handled = includesHandled ? [:] : try AuditTrail(browser).handledDeadLetters
    var ranges = try browser.ranges(
      of: .deadLetters, from: places.isEmpty ? since : nil, until: places.isEmpty ? until : nil)
    if !places.isEmpty {
      // Places are read from the first to the last of each partition.
      ranges = ranges.compactMap { range in
        let offsets = places.filter { $0.partition == range.place.partition }.map(\.offset)
        guard let first = offsets.min(), let last = offsets.max() else { return nil }
        return PartitionRange(place: range.place, from: max(range.from, first), to: min(range.to, last + 1))
      }
    }
    try browser.read(ranges, "reading \(browser.names(.deadLetters))") { record in
      let letter = DeadLetterFacts(record)
      guard contains(letter, handled: handled) else { return true }
      return try body(letter, record)
    }
  }
}
