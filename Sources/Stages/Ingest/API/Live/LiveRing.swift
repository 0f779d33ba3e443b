import Kafka
import NudgeSchema

/// The latest events of `nudge.banners`, by person: they let a stream continue where another one ended. Bounded in bytes, for each
/// person and in all; the oldest go first.
struct LiveRing {
  /// An event as it is sent.
  struct Event: Sendable, Equatable {
    /// The offset behind it.
    var next: Int64
    var bytes: [UInt8]
  }

  /// The answer to a stream that continues at a place.
  enum Resumption: Equatable {
    /// These, and then what comes.
    case events([Event])
    /// Events before this offset are no longer kept.
    case older(than: Int64)
    /// It is ahead of what was read so far.
    case ahead
  }

  /// Events of one person, in their order. Those before `first` are gone.
  private struct Kept {
    var partition: Int32
    var events: [Event] = []
    var first = 0
    var bytes = 0
    /// The offset behind the last one that is gone.
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

  /// The most bytes kept of one person.
  static let bytesOfAPerson = 128 << 10
  /// The memory of an event besides its bytes.
  static let overhead = 192

  let limit: Int
  private(set) var bytes = 0
  /// The partitions of the topic; 0: nothing is known yet.
  private(set) var partitions: Int32 = 0
  /// The next offset to read, by partition.
  private(set) var next: [Int32: Int64] = [:]
  /// From where on all is kept that is not `goneBefore`.
  private var floors: [Int32: Int64] = [:]
  private var people: [ExactText: Kept] = [:]
  /// Whose event is the oldest, and so on; those before `dropped` are gone. An event that is gone leaves its entry.
  private var order: [(person: ExactText, next: Int64)] = []
  private var dropped = 0

  /// A ring of this many bytes.
  init(limit: Int) { self.limit = limit }

  private static func size(of event: Event) -> Int { event.bytes.count + overhead }

  /// The topic has this many partitions. A change empties the ring: people have moved.
  mutating func setPartitions(_ count: Int32) {
    guard count != partitions else { return }
    self = LiveRing(limit: limit)
    partitions = count
  }

  /// Where a person's events are.
  func partition(of person: ExactText) -> Int32 { Murmur2.partition(of: Array(person.text.utf8), count: partitions) }

  /// Where a person's stream begins that begins now.
  func position(of person: ExactText) -> LivePosition {
    let partition = partition(of: person)
    return LivePosition(partition: partition, next: next[partition] ?? 0)
  }

  /// A partition is read from here on, whatever was read before: what lay between is not known.
  mutating func begin(_ partition: Int32, at offset: Int64) {
    next[partition] = offset
    floors[partition] = offset
    for (person, kept) in people where kept.partition == partition {
      bytes -= kept.bytes
      people[person] = nil
    }
  }

  /// Reading came to an offset.
  mutating func advance(_ partition: Int32, to offset: Int64) {
    next[partition] = max(next[partition] ?? 0, offset)
  }

  /// An event was read. Returns it; nil: it was read before.
  mutating func add(_ content: [UInt8], of person: ExactText, partition: Int32, offset: Int64) -> Event? {
    guard offset >= next[partition] ?? 0 else { return nil }
    let event = Event(next: offset + 1, bytes: content)
    next[partition] = event.next
    var kept = people.removeValue(forKey: person) ?? Kept(partition: partition)
    // After a split a person's events are on two partitions: the ring keeps those of the latest one.
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
    // Else it is gone already.
    if !kept.isEmpty, kept.events[kept.first].next == oldest.next {
      floors[kept.partition] = max(floors[kept.partition] ?? 0, oldest.next)
      bytes -= kept.removeFirst()
    }
    // An empty entry goes only where the floor says the same.
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
