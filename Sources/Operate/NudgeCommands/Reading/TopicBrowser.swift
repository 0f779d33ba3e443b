import Foundation
import Kafka
import NudgeCodec
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Reads committed records for commands without a consumer group. It finds offsets by time and key, and reads up to an end. Its
/// connections end with it. Not thread-safe.
final class TopicBrowser {
  /// The time limit for a broker's answer. If no broker answers, a command ends within ten seconds.
  static let answerTimeout: Duration = .seconds(8)
  /// How long a read waits for its next record.
  private static let readTimeout: Duration = .seconds(15)

  let names: TopicNames
  let coder = RecordCoder()
  /// Reads the events that it can read faster than `coder` does.
  let codec = RecordCodec()
  private let consumer: Consumer
  private let progress: ReadingProgress
  private let bootstrapServers: String
  private var counts: [Topic: Int32] = [:]
  /// Whether the broker finds offsets by time. librdkafka's mock broker does not.
  private var findsTimes: Bool?
  /// Returns whether to stop a search early. It is called while records are read.
  private let isCancelled: () -> Bool

  /// Connects in the background. The first call fails if no broker answers.
  ///
  /// - Parameters:
  ///   - queueBytes: The most bytes of fetched records that wait to be read.
  ///   - isCancelled: Returns whether to end a read with an error.
  init(
    _ cluster: ClusterSettings, progress: ReadingProgress = .standardError(), queueBytes: Int = 256 << 20,
    isCancelled: @escaping () -> Bool = { false }
  ) throws(KafkaError) {
    names = cluster.topics
    self.isCancelled = isCancelled
    self.progress = progress
    bootstrapServers = cluster.bootstrapServers
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: cluster.bootstrapServers, group: nil, reportsEndOfPartition: true)
    // librdkafka 2.0.2 pauses fetching for 1 s when the queue is full. So the queue must hold the records that arrive while a piece is
    // processed, hundreds of thousands per second.
    configuration.set("queued.min.messages", "300000")
    configuration.set("queued.max.messages.kbytes", String(queueBytes >> 10))
    configuration.set("fetch.message.max.bytes", "262144")
    // A read waits for the fetch in flight, so a longer wait would delay each of several successive reads.
    configuration.set("fetch.wait.max.ms", "10")
    consumer = try Consumer(cluster.client(configuration), name: "nudge-reader")
  }

  // MARK: Finding

  /// Whether the broker finds offsets by time, as far as is known. If not, every time window is the whole partition.
  var findsByTime: Bool { findsTimes != false }

  func partitionCount(of topic: Topic) throws -> Int32 {
    if let count = counts[topic] { return count }
    try find([topic])
    return counts[topic] ?? 0
  }

  /// Looks up the partitions and leaders of topics in one request.
  func find(_ topics: [Topic]) throws {
    let unknown = topics.filter { counts[$0] == nil }
    guard !unknown.isEmpty else { return }
    try connect(unknown[0])
    let found = try asking { () throws(KafkaError) in
      try consumer.partitionCounts(of: unknown.map { names($0) }, timeout: Self.answerTimeout)
    }
    for topic in unknown {
      guard let count = found[names(topic)], count > 0 else {
        throw CommandError(
          "the topic \(names(topic)) is not on \(bootstrapServers): is --topic-prefix right? "
            + "'nudge topics create' makes the topics")
      }
      counts[topic] = Int32(clamping: count)
    }
    try asking { () throws(KafkaError) in
      try consumer.warmUp(topics: unknown.map { names($0) }, timeout: Self.answerTimeout)
    }
  }

  /// The partition of a key's records.
  func partition(of key: String, on topic: Topic) throws -> Int32 {
    Murmur2.partition(of: Array(key.utf8), count: try partitionCount(of: topic))
  }

  /// The topic's current offsets in all or some partitions, since one time and before another.
  func ranges(
    of topic: Topic, partitions: [Int32]? = nil, from: Milliseconds? = nil, until: Milliseconds? = nil
  ) throws -> [PartitionRange] {
    let count = try partitionCount(of: topic)
    if let unknown = partitions?.first(where: { !(0..<count).contains($0) }) {
      throw CommandError("\(names(topic)) has no partition \(unknown): it has \(count), numbered from 0")
    }
    let places = (partitions ?? Array(0..<count)).map { TopicPartition(topic: names(topic), partition: $0) }
    let low = try offsets(places, at: Offset.beginning)
    let high = try offsets(places, at: Offset.end)
    var ranges = places.map { PartitionRange(place: $0, from: low[$0] ?? 0, to: high[$0] ?? 0) }
    let all = ranges
    if let from { try cut(&ranges, all, at: from) { $0.from = max($0.from, $1 ?? $0.to) } }
    if let until { try cut(&ranges, all, at: until) { $0.to = min($0.to, $1 ?? $0.to) } }
    return ranges
  }

  private func cut(
    _ ranges: inout [PartitionRange], _ all: [PartitionRange], at time: Milliseconds,
    _ apply: (inout PartitionRange, Int64?) -> Void
  ) throws {
    if findsTimes == false { return }
    let found = try offsets(ranges.map(\.place), at: max(0, time))
    if found.isEmpty, findsTimes == nil, let longest = all.max(by: { $0.count < $1.count }), longest.count > 0 {
      // No partition has a record that late, or the broker cannot search by time, so the last records decide.
      var latest: Milliseconds = .min
      let end = PartitionRange(place: longest.place, from: max(longest.from, longest.to - 64), to: longest.to)
      try read([end], "looking for the end of \(longest.place)") { record in
        latest = max(latest, record.timestamp)
        return true
      }
      if latest >= time {
        findsTimes = false
        return
      }
    }
    if !found.isEmpty { findsTimes = true }
    for index in ranges.indices { apply(&ranges[index], found[ranges[index].place]) }
  }

  /// Offsets by time, without partitions that have none.
  private func offsets(_ places: [TopicPartition], at time: Int64) throws -> [TopicPartition: Int64] {
    guard !places.isEmpty else { return [:] }
    let times = Dictionary(uniqueKeysWithValues: places.map { ($0, time) })
    return try asking { () throws(KafkaError) in
      try consumer.offsets(forTimes: times, timeout: Self.answerTimeout)
    }.compactMapValues { $0 }
  }

  // MARK: Reading

  /// Passes the records of ranges to `body`, in order within a partition, until it returns false.
  func read(_ ranges: [PartitionRange], _ what: String, _ body: (ConsumerRecord) throws -> Bool) throws {
    var open = Dictionary(
      uniqueKeysWithValues: ranges.filter { $0.count > 0 }.map { ($0.place, $0.to) })
    guard !open.isEmpty else { return }
    let starts = Dictionary(uniqueKeysWithValues: ranges.map { ($0.place, $0.from) })
    let total = ranges.reduce(0) { $0 + $1.count }
    progress.begin(what, total: total)
    try asking { () throws(KafkaError) in
      try consumer.assign(open.keys.sorted().map { TopicPartitionOffset($0, offset: starts[$0] ?? 0) })
    }
    // An assigned partition is fetched even if nobody polls it.
    defer { try? consumer.assign([]) }
    var done: Int64 = 0
    var deadline = ContinuousClock.now + Self.readTimeout
    // Most records are on the same partition as the previous one. An end of 0 means that the partition was not requested or is complete.
    var current = (place: TopicPartition(topic: "", partition: -1), end: Int64(0))
    var goesOn = true
    var failure: (any Error)?
    while !open.isEmpty {
      if isCancelled() { throw CommandError("taken back") }
      var count = 0
      let event = consumer.poll(maxRecords: 5_000, maxBytes: 16 << 20, timeout: .milliseconds(100)) { record in
        count += 1
        guard goesOn else { return }
        if record.partition != current.place.partition || record.topic != current.place.topic {
          let place = record.topicPartition
          current = (place, open[place] ?? 0)
        }
        let isBeyond = record.offset >= current.end
        if record.offset >= current.end - 1 {
          open[current.place] = nil
          current.end = 0
        }
        guard !isBeyond else { return }
        done += 1
        do {
          goesOn = try body(record)
        } catch {
          failure = error
          goesOn = false
        }
      }
      if let failure { throw failure }
      guard goesOn else { return progress.end() }
      if count > 0 {
        deadline = ContinuousClock.now + Self.readTimeout
        progress.reached(done)
      }
      switch event {
      case .endOfPartition(let place, let offset):
        if let end = open[place], offset >= end { open[place] = nil }
      case .error(let error) where error.isOffsetOutOfRange:
        // Retention has deleted the rest of the range.
        if let place = error.topicPartition { open[place] = nil }
      case .error(let error) where error.isFatal || error.isAuthorization: throw error
      // Other errors are transient, and the deadline bounds them.
      case nil, .record, .assigned, .revoked, .error: break
      }
      guard ContinuousClock.now < deadline else {
        let places = open.keys.sorted().map(\.description).joined(separator: ", ")
        throw CommandError(
          "\(places) could not be read to the end: a transaction is still open there, or a broker does not answer. "
            + "Try again; if that does not help: kafka-transactions.sh find-hanging"
            + (consumer.connectionFailure.map { " (\(NoBroker.reason($0)))" } ?? ""))
      }
    }
    progress.end()
  }

  /// Reads the record at a position; nil if it no longer exists.
  func withRecord<Result>(at position: RecordPosition, _ body: (ConsumerRecord) throws -> Result) throws -> Result? {
    let place = TopicPartition(topic: position.topic, partition: position.partition)
    guard let low = try offsets([place], at: Offset.beginning)[place], low <= position.offset,
      let high = try offsets([place], at: Offset.end)[place], position.offset < high
    else { return nil }
    var result: Result?
    let range = PartitionRange(place: place, from: position.offset, to: position.offset + 1)
    try read([range], "reading \(place)") { record in
      result = try body(record)
      return false
    }
    return result
  }

  /// Continues to read from the ends of ranges until `body` returns false. `body` is called at least every half second, with nil if no
  /// record has arrived.
  /// no record has arrived.
  func follow(_ ranges: [PartitionRange], _ body: (ConsumerRecord?) throws -> Bool) throws {
    try asking { () throws(KafkaError) in
      try consumer.assign(ranges.map { TopicPartitionOffset($0.place, offset: $0.to) })
    }
    defer { try? consumer.assign([]) }
    while true {
      switch consumer.poll(timeout: .milliseconds(500)) {
      case .record(let record): guard try body(record) else { return }
      case .error(let error) where error.isFatal || error.isAuthorization: throw error
      default: guard try body(nil) else { return }
      }
    }
  }

  /// Waits until a broker answers about a topic, or refuses to.
  private func connect(_ topic: Topic) throws {
    let end = ContinuousClock.now + Self.answerTimeout
    try asking { () throws(KafkaError) in
      while true {
        do throws(KafkaError) {
          _ = try consumer.partitionCounts(of: [names(topic)], timeout: .seconds(1))
          return
        } catch {
          guard error.isTimedOut || error.isCoordinatorLoss, ContinuousClock.now < end,
            consumer.connectionFailure?.isRefusedConnection != true
          else { throw error }
        }
      }
    }
  }

  /// Calls librdkafka and converts a timeout into an error that names the fix.
  private func asking<Result>(_ body: () throws(KafkaError) -> Result) throws -> Result {
    do throws(KafkaError) {
      return try body()
    } catch {
      guard error.isTimedOut || error.isCoordinatorLoss else { throw error }
      let why = consumer.connectionFailure ?? error
      throw CommandError(
        (why.isRefusedConnection
          ? "no connection to the brokers of --bootstrap-servers \(bootstrapServers)"
          : "no broker of --bootstrap-servers \(bootstrapServers) answered within \(Self.answerTimeout.settingText)")
          + " (\(NoBroker.reason(why))): \(NoBroker.fix(why))", exitCode: ExitCode.noBroker)
    }
  }
}

extension TopicBrowser {
  /// The partitions with records of a key, the present one first.
  ///
  /// `nudge topics repartition` gives the stages' inputs more partitions, but a key's earlier records stay where they are. Topics that no
  /// stage reads keep their first number, which shows which numbers the inputs may have had. A reader without permission for
  /// `nudge.decisions` reads only the present partition.
  func partitions(of key: String, on topic: Topic) throws -> [Int32] {
    let count = try partitionCount(of: topic)
    let bytes = Array(key.utf8)
    let counts = Self.counts(of: count, first: (try? partitionCount(of: .decisions)) ?? count)
    return counts.map { Murmur2.partition(of: bytes, count: $0) }.reduce(into: []) { known, partition in
      if !known.contains(partition) { known.append(partition) }
    }
  }

  /// The numbers of partitions that a topic may have had since it was created, the present one first. Each is a multiple of the one before.
  static func counts(of count: Int32, first: Int32) -> [Int32] {
    guard first > 0, first < count, count % first == 0 else { return [count] }
    return stride(from: count, through: first, by: Int(-first)).filter { count % $0 == 0 }
  }

  /// Passes records with this key to `body`, in order, until it returns false. Any other record costs one comparison of bytes.
  func records(
    of topic: Topic, key: String, from: Milliseconds? = nil, _ body: (ConsumerRecord) throws -> Bool
  ) throws {
    let bytes = Array(key.utf8)
    var goesOn = true
    // The former partitions are read first, one after the other, which gives the order of a key's records.
    for range in try ranges(of: topic, partitions: partitions(of: key, on: topic), from: from).reversed()
    where goesOn {
      try read([range], "reading \(names(topic))") { record in
        guard record.hasKey(bytes) else { return true }
        goesOn = try body(record)
        return goesOn
      }
    }
  }

  /// How far back each piece of a search reaches. Most questions are about today, and a piece is read as a whole.
  private static let searchAges: [Milliseconds?] =
    [1, 6, 12, 24, 36, 48, 72, 120, 168].map { $0 * 3_600_000 } + [nil]

  /// Searches backwards from now in growing pieces until `body` finds something. `body` receives a piece's bounds; nil means unbounded.
  static func searchBack(
    now: Milliseconds, _ body: (_ from: Milliseconds?, _ until: Milliseconds?) throws -> Bool
  ) throws {
    var until: Milliseconds?
    for age in searchAges {
      let from = age.map { now - $0 }
      if try body(from, until) { return }
      until = from
    }
  }
}

extension ConsumerRecord {
  func hasKey(_ bytes: [UInt8]) -> Bool {
    guard let key, key.count == bytes.count, let start = key.baseAddress else { return false }
    // Runs for every record read. Most have another key.
    return memcmp(start, bytes, bytes.count) == 0
  }

  /// Whether the value contains these bytes, which is cheaper than decoding records that cannot match.
  func valueContains(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first else { return true }
    guard let value, var place = value.baseAddress else { return false }
    var rest = value.count
    // memchr is much faster than a loop in Swift, especially in a debug build.
    while rest >= needle.count, let hit = memchr(place, Int32(first), rest - needle.count + 1) {
      if memcmp(hit, needle, needle.count) == 0 { return true }
      rest -= UnsafeRawPointer(hit) - place + 1
      place = UnsafeRawPointer(hit) + 1
    }
    return false
  }
}

extension RecordCoder {
  /// The bytes that Nudge's services write into JSON for a string, without the quotes.
  func needle(_ text: String) -> [UInt8] {
    guard let quoted = try? encode(text) else { return Array(text.utf8) }
    return Array(quoted.dropFirst().dropLast())
  }
}
