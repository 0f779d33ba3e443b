import Kafka
import NudgeSchema

/// The latest events of `nudge.banners` by person, with which a stream can continue where another one ended. The bytes are limited for each
/// person and in total; the oldest events are removed first.
struct LiveRing {
  /// An event in the form in which it is sent.
  struct Event: Sendable, Equatable {
    /// The offset after it.
    var next: Int64
    var bytes: [UInt8]
  }

  /// The result for a stream that continues at a position.
  enum Resumption: Equatable {
    /// Send these events, and then new ones.
    case events([Event])
    /// Events before this offset are no longer kept.
    case older(than: Int64)
    /// The position is ahead of what was read so far.
    case ahead
  }

  /// The events of one person in order. Those before `first` have been removed.
  private struct Kept {
    var partition: Int32
    var events: [Event] = []
    var first = 0
    var bytes = 0
    /// The offset after the last removed event.
    var goneBefore: Int64 = 0

    var isEmpty: Bool { first == events.count }

    mutating func removeFirst() -> Int {
      let event = events[first]
      events[first].bytes = []
      first += 1
      goneBefore = event.next
      let bytes = LiveRing.size(of: event)
      self.bytes -= bytes
      if first > 32, first * 2 > events.count {
        events.removeFirst(first)
        first = 0
      }
      return bytes
    }
  }

  /// The most bytes kept for one person.
  static let bytesOfAPerson = 128 << 10
  /// The memory of an event in addition to its bytes.
  static let overhead = 192

  let limit: Int
  private(set) var bytes = 0
  /// The number of the topic's partitions; 0 until it is known.
  private(set) var partitions: Int32 = 0
  /// The next offset to read, by partition.
  private(set) var next: [Int32: Int64] = [:]
  /// By partition: the offset from which all events are kept, except those before a person's `goneBefore`.
  private var floors: [Int32: Int64] = [:]
  private var people: [ExactText: Kept] = [:]
  /// The owners of the events, the oldest event first. Entries before `dropped` are obsolete. A removed event leaves its entry.
  private var order: [(person: ExactText, next: Int64)] = []
  private var dropped = 0

  /// A ring that holds this many bytes.
  init(limit: Int) { self.limit = limit }

  private static func size(of event: Event) -> Int { event.bytes.count + overhead }

  /// Sets the number of partitions. A change empties the ring, because people may be on other partitions.
  mutating func setPartitions(_ count: Int32) {
    guard count != partitions else { return }
    self = LiveRing(limit: limit)
    partitions = count
  }

  /// The partition of a person's events.
  func partition(of person: ExactText) -> Int32 { Murmur2.partition(of: Array(person.text.utf8), count: partitions) }

  /// Where a person's new stream begins.
  func position(of person: ExactText) -> LivePosition {
    let partition = partition(of: person)
    return LivePosition(partition: partition, next: next[partition] ?? 0)
  }

  /// A partition is read from this offset on. Whatever lies between it and earlier reading is unknown.
  mutating func begin(_ partition: Int32, at offset: Int64) {
    next[partition] = offset
    floors[partition] = offset
    for (person, kept) in people where kept.partition == partition {
      bytes -= kept.bytes
      people[person] = nil
    }
  }

  /// Reading has reached an offset.
  mutating func advance(_ partition: Int32, to offset: Int64) {
    next[partition] = max(next[partition] ?? 0, offset)
  }

  /// An event was read. Returns it; nil if it was read before.
  mutating func add(_ content: [UInt8], of person: ExactText, partition: Int32, offset: Int64) -> Event? {
    guard offset >= next[partition] ?? 0 else { return nil }
    let event = Event(next: offset + 1, bytes: content)
    next[partition] = event.next
    var kept = people.removeValue(forKey: person) ?? Kept(partition: partition)
    // After a split a person's events are on two partitions. The ring keeps those of the later one.
    if kept.partition != partition {
      bytes -= kept.bytes
      kept = Kept(partition: partition)
    }
    kept.events.append(event)
    kept.bytes += Self.size(of: event)
    bytes += Self.size(of: event)
    order.append((person, event.next))
    while kept.bytes > Self.bytesOfAPerson, !kept.isEmpty { bytes -= kept.removeFirst() }
    people[person] = kept
    while bytes > limit, dropped < order.count { dropOldest() }
    if order.count > 4_096, dropped * 2 > order.count {
      order.removeFirst(dropped)
      dropped = 0
    }
    return event
  }

  private mutating func dropOldest() {
    let oldest = order[dropped]
    dropped += 1
    guard var kept = people.removeValue(forKey: oldest.person) else { return }
    // Otherwise the event has already been removed.
    if !kept.isEmpty, kept.events[kept.first].next == oldest.next {
      floors[kept.partition] = max(floors[kept.partition] ?? 0, oldest.next)
      bytes -= kept.removeFirst()
    }
    // An empty entry is removed only if the floor says the same.
    if !kept.isEmpty || kept.goneBefore > floors[kept.partition] ?? 0 { people[oldest.person] = kept }
  }

  /// The events for a person's stream that has seen everything before an offset of their partition.
  func resume(_ person: ExactText, from offset: Int64) -> Resumption {
    let partition = partition(of: person)
    guard offset <= next[partition] ?? 0 else { return .ahead }
    let kept = people[person].flatMap { $0.partition == partition ? $0 : nil }
    let floor = max(floors[partition] ?? 0, kept?.goneBefore ?? 0)
    guard offset >= floor else { return .older(than: floor) }
    return .events((kept?.events[(kept?.first ?? 0)...] ?? []).filter { $0.next > offset })
  }
}
