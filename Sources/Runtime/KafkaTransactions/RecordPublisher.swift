/// Publishes records outside transactions. One request has the records of all partitions that a broker leads, whereas librdkafka sends one
/// request for each partition. Each request costs the broker and the client work of its own.
///
/// It is idempotent: a request that is repeated because its answer was lost writes nothing twice.
///
/// Not thread-safe. Calls block.
public final class RecordPublisher {
  private let topics: [String]
  /// The client with the connections and the metadata of the cluster. Its transactions are not used.
  private let client: TransactionalProducer
  private let configuration: TransactionalProducerConfiguration
  /// The producer's id and epoch. Absent while a new producer id is needed.
  private var identity: ProducerIdentity?
  /// The number of records that this id has written to each partition, as the broker counts them too.
  private var sequences: [PublishQueue.Place: Int32] = [:]
  private var partitions: [String: Int32] = [:]
  private var partitionsLearned = Deadline(after: .zero)

  /// How long a number of partitions is kept. It rises when somebody adds partitions.
  private static let partitionsHold: Duration = .seconds(60)
  private static let retryWait: Duration = .milliseconds(20)
  private static let requests: [(name: String, key: Int16, version: Int16)] = [
    (ProduceRequest.name, ProduceRequest.key, ProduceRequest.version),
    (MetadataRequest.name, MetadataRequest.key, MetadataRequest.version),
    (InitProducerIDRequest.name, InitProducerIDRequest.key, InitProducerIDRequest.version),
  ]

  /// Makes a publisher, which has not connected yet.
  /// - Throws: `refused` if a certificate or key cannot be used.
  public init(
    _ configuration: TransactionalProducerConfiguration, topics: [String]
  ) throws(TransactionalProducerError) {
    self.configuration = configuration
    self.topics = topics
    client = try TransactionalProducer(configuration, transactionalIDs: [], topics: topics, group: nil)
  }

  /// Checks that the brokers speak this client's versions, and takes a producer id.
  /// - Throws: `refused` if the brokers do not speak these versions or refuse this client.
  public func open(timeout: Duration) throws(TransactionalProducerError) {
    let deadline = Deadline(after: timeout)
    let versions = try client.anyBroker(deadline).versions
    try TransactionVersion.check(Self.requests, versions, since: "Kafka 3.1")
    try learn(deadline)
    while true {
      do throws(TransactionalProducerError) {
        return try takeIdentity(deadline)
      } catch {
        // A broker that has just started may have no ids yet.
        if error.kind == .refused || deadline.isPast { throw error }
      }
      TransactionalProducer.pause(Self.retryWait, deadline)
    }
  }

  /// Closes the connections.
  public func close() { client.close() }

  /// The number of partitions of a topic, by its index. Absent if it cannot be found out now.
  public func partitionCount(of topic: Int, timeout: Duration) -> Int32? {
    if partitionsLearned.isPast || partitions[topics[topic]] == nil { try? learn(Deadline(after: timeout)) }
    return partitions[topics[topic]]
  }

  private func learn(_ deadline: Deadline) throws(TransactionalProducerError) {
    let answer = try client.ask(MetadataRequest(topics: topics), deadline)
    client.cluster.learn(answer)
    for topic in answer.topics {
      guard let name = topic.name, topic.error == .none else { continue }
      partitions[name] = Int32(topic.partitions.count)
    }
    partitionsLearned = Deadline(after: Self.partitionsHold)
  }

  private func takeIdentity(_ deadline: Deadline) throws(TransactionalProducerError) {
    let answer = try client.ask(InitProducerIDRequest(transactionalID: nil, transactionTimeout: .max), deadline)
    guard answer.error == .none else {
      throw TransactionalProducerError(
        answer.error.meaning == .refused ? .refused : .passing, "take a producer id",
        "\(answer.error)\(answer.error.isAuthorization ? ": allow the service's user to write to the topics" : "")")
    }
    identity = answer.producer
    sequences = [:]
  }

  /// Publishes records, and waits at most `timeout` for their acknowledgement by all in-sync replicas. Records of a partition are written
  /// in order.
  /// - Parameter timestamp: The timestamp of all records, in milliseconds since the epoch.
  /// - Returns: The results, in the order of the records.
  public func publish(_ records: [PublishedRecord], timestamp: Int64, timeout: Duration) -> [PublishResult] {
    var queue = PublishQueue(records, timestamp: timestamp)
    let deadline = Deadline(after: timeout)
    while !queue.places.isEmpty, !deadline.isPast {
      do throws(TransactionalProducerError) {
        if identity == nil {
          queue.giveUpDoubts()
          try takeIdentity(deadline)
        }
      } catch {
        queue.lacksLeader(error.description)
        TransactionalProducer.pause(Self.retryWait, deadline)
        continue
      }
      let before = queue.places.count
      let isMoving = send(&queue, deadline)
      // Nothing was written, so the same request at once would have the same result.
      if !isMoving, queue.places.count == before { TransactionalProducer.pause(Self.retryWait, deadline) }
    }
    // The broker's count of a partition is no longer known.
    if queue.hasDoubts { identity = nil }
    queue.expire()
    return queue.results.map { $0 ?? .unknown("it was not sent") }
  }

  /// Sends the next batch of each partition, to one leader after the other.
  /// - Returns: Whether anything was acknowledged.
  private func send(_ queue: inout PublishQueue, _ deadline: Deadline) -> Bool {
    var byLeader: [Int32: [PublishQueue.Place]] = [:]
    var homeless: [PublishQueue.Place] = []
    for place in queue.places {
      if let leader = client.cluster.leader(of: topics[place.topic], place.partition) {
        byLeader[leader, default: []].append(place)
      } else {
        homeless.append(place)
      }
    }
    if let place = homeless.first {
      queue.lacksLeader("\(topics[place.topic])-\(place.partition) has no leader")
      try? learn(deadline)
    }
    var isMoving = false
    for (leader, places) in byLeader.sorted(by: { $0.key < $1.key }) {
      guard let identity, let request = request(queue, places, identity) else { continue }
      do throws(TransactionalProducerError) {
        let answer = try client.call(request, at: leader, deadline)
        if apply(answer, places, &queue) { isMoving = true }
      } catch {
        queue.unanswered(places, error.description)
      }
    }
    return isMoving
  }

  private func request(
    _ queue: PublishQueue, _ places: [PublishQueue.Place], _ identity: ProducerIdentity
  ) -> ProduceRequest? {
    var chosen: [ProduceRequest.Topic] = []
    for place in places {
      guard let batch = queue.batch(place) else { continue }
      let partition = ProduceRequest.Partition(
        index: place.partition, batch: batch, sequence: sequences[place, default: 0])
      // Places are sorted, so those of a topic are adjacent.
      if chosen.last?.name == topics[place.topic] {
        chosen[chosen.count - 1].partitions.append(partition)
      } else {
        chosen.append(ProduceRequest.Topic(name: topics[place.topic], partitions: [partition]))
      }
    }
    guard !chosen.isEmpty else { return nil }
    return ProduceRequest(
      transactionalID: nil, producer: identity, timeout: Int32(configuration.requestTimeout.components.seconds * 1000),
      compression: configuration.compression, topics: chosen)
  }

  /// - Returns: Whether a batch was acknowledged.
  private func apply(_ answer: ProduceRequest.Answer, _ places: [PublishQueue.Place], _ queue: inout PublishQueue)
    -> Bool
  {
    var isMoving = false
    var unanswered = Set(places)
    for part in answer.partitions {
      guard let topic = topics.firstIndex(of: part.topic) else { continue }
      let place = PublishQueue.Place(topic: topic, partition: part.index)
      guard unanswered.remove(place) != nil, let batch = queue.batch(place) else { continue }
      if part.error == .none || part.error == .duplicateSequence {
        sequences[place] = Self.sequence(after: sequences[place, default: 0], batch.count)
        isMoving = true
      }
      switch queue.answered(place, part.error, baseOffset: part.baseOffset, reason: part.reason) {
      case .none: break
      case .findLeader: client.cluster.forgetLeader(of: part.topic, part.index)
      case .newProducer: identity = nil
      }
    }
    if !unanswered.isEmpty { queue.unanswered(unanswered.sorted(), "an answer to Produce that leaves out partitions") }
    return isMoving
  }

  /// The sequence after a number of records. After the greatest number it starts again at 0.
  static func sequence(after sequence: Int32, _ count: Int) -> Int32 {
    Int32((Int64(sequence) + Int64(count)) % (Int64(Int32.max) + 1))
  }
}

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
