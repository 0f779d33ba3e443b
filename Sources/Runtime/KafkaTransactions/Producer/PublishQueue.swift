/// The unacknowledged records of one call. At most one batch of a partition is in flight, and batches keep their order. It decides without
/// I/O.
struct PublishQueue {
  /// A partition of one of the publisher's topics.
  struct Place: Hashable, Comparable {
    var topic: Int
    var partition: Int32

    static func < (a: Place, b: Place) -> Bool { (a.topic, a.partition) < (b.topic, b.partition) }
  }

  fileprivate struct Batch {
    var records: RecordBatch
    /// The records' indexes in the call.
    var indexes: [Int]
    /// Whether a request with it was not answered, so that it may be written.
    var isInDoubt = false
  }

  /// A further action that an answer requires.
  enum Consequence: Equatable {
    case none
    /// Find the leader, which has moved.
    case findLeader
    /// Get a new producer id, because the partition takes no more batches of the present one.
    case newProducer
  }

  private let records: [PublishedRecord]
  private let timestamp: Int64
  private var waiting: [Place: [Batch]] = [:]
  /// The results, in the order of the records.
  private(set) var results: [PublishResult?]
  /// Why the last attempt did not succeed.
  private var trouble = "no time was given"

  init(_ records: [PublishedRecord], timestamp: Int64, maxBatchBytes: Int = 900_000) {
    self.records = records
    self.timestamp = timestamp
    results = Array(repeating: nil, count: records.count)
    for (index, record) in records.enumerated() {
      let place = Place(topic: record.topic, partition: record.partition)
      let size = RecordBatch.size(
        key: record.key.count, value: record.value.count,
        headers: record.headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 20 })
      let last = (waiting[place]?.count ?? 0) - 1
      if last >= 0, let open = waiting[place]?[last].records, open.size + size <= maxBatchBytes {
        waiting[place]?[last].add(record, index)
      } else {
        waiting[place, default: []].append(Batch(of: record, index, timestamp))
      }
    }
  }

  /// The partitions with a batch to send.
  var places: [Place] { waiting.keys.sorted() }

  /// The next batch of a partition.
  func batch(_ place: Place) -> RecordBatch? { waiting[place]?.first?.records }

  /// Takes a leader's answer about a partition.
  mutating func answered(_ place: Place, _ error: BrokerError, baseOffset: Int64, reason: String?) -> Consequence {
    guard let batch = waiting[place]?.first else { return .none }
    let what = reason.map { "\(error): \($0)" } ?? "\(error)"
    if error == .duplicateSequence || error.meaning == .success {
      for (number, index) in batch.indexes.enumerated() {
        results[index] = .written(offset: baseOffset < 0 ? nil : baseOffset + Int64(number))
      }
      remove(place)
      return .none
    }
    trouble = what
    switch error.meaning {
    case .refused where error.refusal == .tooLarge && batch.indexes.count > 1:
      // One record of the batch alone may be too large.
      waiting[place]?.replaceSubrange(0..<1, with: batch.indexes.map { Batch(of: records[$0], $0, timestamp) })
      return .none
    case .refused:
      for index in batch.indexes { results[index] = .refused(error.refusal, what) }
      remove(place)
      return .none
    case .epochOver, .abort, .unknown:
      return .newProducer
    case .findLeader:
      return .findLeader
    case .success, .again, .findCoordinator, .notMember, .fenced:
      return .none
    }
  }

  /// Handles that a leader did not answer a request with the batches of these partitions.
  mutating func unanswered(_ places: [Place], _ reason: String) {
    trouble = reason
    for place in places { waiting[place]?[0].isInDoubt = true }
  }

  /// Records why partitions have no leader now.
  mutating func lacksLeader(_ reason: String) { trouble = reason }

  /// Gives up batches that may be written, because the next producer id would write them again.
  mutating func giveUpDoubts() {
    for (place, batches) in waiting {
      guard let batch = batches.first, batch.isInDoubt else { continue }
      for index in batch.indexes { results[index] = .unknown(trouble) }
      remove(place)
    }
  }

  /// Whether a batch without a result may be written.
  var hasDoubts: Bool { waiting.values.contains { $0.contains(where: \.isInDoubt) } }

  /// Ends the call: records without a result get none any more.
  mutating func expire() {
    for batches in waiting.values {
      for batch in batches { for index in batch.indexes { results[index] = .unknown(trouble) } }
    }
    waiting = [:]
  }

  private mutating func remove(_ place: Place) {
    waiting[place]?.removeFirst()
    if waiting[place]?.isEmpty ?? false { waiting[place] = nil }
  }
}

extension PublishQueue.Batch {
  fileprivate init(of record: PublishedRecord, _ index: Int, _ timestamp: Int64) {
    self.init(records: RecordBatch(timestamp: timestamp, isTransactional: false), indexes: [])
    add(record, index)
  }

  fileprivate mutating func add(_ record: PublishedRecord, _ index: Int) {
    records.append(key: record.key, value: record.value, headers: record.headers)
    indexes.append(index)
  }
}

/// A record that is published outside transactions.
public struct PublishedRecord: Sendable {
  /// The index of the topic in the publisher's list.
  public var topic: Int
  /// The partition's number, from 0.
  public var partition: Int32
  public var key: [UInt8]
  public var value: [UInt8]
  public var headers: [TransactionContent.Header]

  /// Makes a record.
  public init(
    topic: Int, partition: Int32, key: [UInt8], value: [UInt8], headers: [TransactionContent.Header] = []
  ) {
    self.topic = topic
    self.partition = partition
    self.key = key
    self.value = value
    self.headers = headers
  }
}

/// The result for one record.
public enum PublishResult: Sendable, Equatable {
  /// All in-sync replicas have the record. Its offset is absent if an earlier request, whose answer was lost, had already written it.
  case written(offset: Int64?)
  /// The record is not written, and would be refused again.
  case refused(TransactionRefusal, String)
  /// The record may or may not be written.
  case unknown(String)
}
