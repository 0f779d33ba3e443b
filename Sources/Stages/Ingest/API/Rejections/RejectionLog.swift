import NudgeSchema

/// The latest rejections of each producer, in memory, with cursors that mean the same on every instance.
struct RejectionLog {
  /// Rejections kept for each producer.
  static let perProducer = 2_000
  /// Producers with rejections in memory; beyond it the one heard of longest ago is forgotten.
  static let producers = 256
  /// Rejections in one answer.
  static let page = 1_000

  /// Where a reader continues, by partition of `nudge.dead-letters`.
  struct Cursor: Sendable, Equatable {
    var next: [Int32: Int64]

    init(next: [Int32: Int64]) { self.next = next }

    /// `0-17.1-20`: partition, offset. nil: the text is none.
    init?(_ text: String) {
      next = [:]
      guard text.utf8.count <= 8_192 else { return nil }
      for part in text.split(separator: ".", omittingEmptySubsequences: false) {
        let numbers = part.split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let partition = Int32(numbers[0]), let offset = Int64(numbers[1]),
          partition >= 0,
          offset >= 0, next.updateValue(offset, forKey: partition) == nil
        else { return nil }
      }
    }

    /// The text that `init` reads.
    var text: String {
      next.sorted { $0.key < $1.key }.map { "\($0.key)-\($0.value)" }.joined(separator: ".")
    }
  }

  /// What a reader has seen.
  enum Since: Sendable, Equatable {
    case time(Milliseconds)
    case cursor(Cursor)
  }

  private struct Entry {
    var partition: Int32
    var offset: Int64
    var rejection: ProducerRejection
  }

  private struct Producer {
    var entries: [Entry] = []
    /// The time of the latest rejection that is no longer kept.
    var forgottenAt: Milliseconds?
    var heardAt: Milliseconds = 0
  }

  /// A page of a producer's rejections.
  struct Page {
    var rejections: [ProducerRejection]
    var next: Cursor
    /// Earlier ones are not kept any more: up to this time some may be missing.
    var forgottenAt: Milliseconds?
  }

  private var known: [String: Producer] = [:]
  /// The next offset of each partition.
  private(set) var position: [Int32: Int64] = [:]

  /// Everything before an offset of a partition has been read.
  mutating func advance(_ partition: Int32, to offset: Int64) {
    position[partition] = max(offset, position[partition] ?? offset)
  }

  /// Adds a rejection, in the order of offsets in a partition.
  mutating func add(_ rejection: ProducerRejection, partition: Int32, offset: Int64) {
    guard offset >= position[partition] ?? 0 else { return }
    advance(partition, to: offset + 1)
    var producer = known[rejection.producer] ?? Producer()
    producer.entries.append(Entry(partition: partition, offset: offset, rejection: rejection))
    producer.heardAt = rejection.refusedAt
    if producer.entries.count > Self.perProducer + Self.perProducer / 4 {
      let forgotten = producer.entries.prefix(producer.entries.count - Self.perProducer)
      producer.forgottenAt = forgotten.map(\.rejection.refusedAt).max()
      producer.entries.removeFirst(forgotten.count)
    }
    known[rejection.producer] = producer
    if known.count > Self.producers,
      let oldest = known.min(by: { $0.value.heardAt < $1.value.heardAt })?.key
    {
      known[oldest] = nil
    }
  }

  /// A producer's next rejections, the earliest first.
  func page(of producer: String, since: Since) -> Page {
    let known = known[producer] ?? Producer()
    var found = known.entries.filter { entry in
      switch since {
      case .time(let time): entry.rejection.refusedAt >= time
      case .cursor(let cursor): entry.offset >= cursor.next[entry.partition] ?? 0
      }
    }
    // In a partition by offset, whatever its clocks said: what is left out of a page is then behind what is in it.
    var latest: [Int32: Milliseconds] = [:]
    let dated = found.map { entry in
      let time = max(entry.rejection.refusedAt, latest[entry.partition] ?? .min)
      latest[entry.partition] = time
      return (time: time, entry: entry)
    }
    found = dated.sorted {
      ($0.time, $0.entry.partition, $0.entry.offset) < (
        $1.time, $1.entry.partition, $1.entry.offset
      )
    }.map(\.entry)
    var next = position
    for entry in found.dropFirst(Self.page) {
      next[entry.partition] = min(next[entry.partition] ?? entry.offset, entry.offset)
    }
    return Page(
      rejections: found.prefix(Self.page).map(\.rejection), next: Cursor(next: next),
      forgottenAt: known.forgottenAt)
  }
}
