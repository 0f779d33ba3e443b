/// A partition's result in a response that has nothing but an error for each.
struct PartitionError: Equatable {
  var topic: String
  var index: Int32
  var error: BrokerError
}

extension WireWriter {
  mutating func producer(_ value: ProducerIdentity) {
    int64(value.id)
    int16(value.epoch)
  }
}

/// The error of a request as a whole.
struct ErrorAnswer: Equatable {
  var error: BrokerError
}

/// A producer's id and epoch from now on.
struct ProducerAnswer: Equatable {
  var error: BrokerError
  var producer: ProducerIdentity
}

/// The errors of partitions.
struct PartitionErrors: Equatable {
  var partitions: [PartitionError]
}

extension WireRequest where Answer == ErrorAnswer {
  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(error: try reader.errorCode())
  }
}

extension WireRequest where Answer == ProducerAnswer {
  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      error: try reader.errorCode(), producer: ProducerIdentity(id: try reader.int64(), epoch: try reader.int16()))
  }
}

extension WireRequest where Answer == PartitionErrors {
  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      partitions: try reader.partitions { (reader, topic) throws(WireError) in
        PartitionError(topic: topic, index: try reader.int32(), error: try reader.errorCode())
      })
  }
}

/// Requests a new epoch of a transactional id: aborts the open transaction of its last producer, and fences that producer. Without an id,
/// requests a new producer id.
struct InitProducerIDRequest: WireRequest {
  static let key: Int16 = 22
  static let version: Int16 = 4
  static let name = "InitProducerId"

  var version: Int16 = Self.version
  var transactionalID: String?
  /// The transaction time-out in milliseconds.
  var transactionTimeout: Int32
  /// The producer that continues. The coordinator refuses it if there was another one since (KIP-360). A repeated request gets the same
  /// answer.
  var producer = ProducerIdentity.none

  typealias Answer = ProducerAnswer

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.int32(transactionTimeout)
    writer.producer(producer)
    writer.noTags()
  }
}

/// Batches for partitions of one leader, at most one for each partition. From version 12 on the leader adds the partitions to the
/// transaction, if there is one.
struct ProduceRequest: WireRequest {
  static let key: Int16 = 0
  static let version: Int16 = 9
  static let name = "Produce"

  var version: Int16 = Self.version
  var transactionalID: String?
  var producer: ProducerIdentity
  /// How long the leader waits for its followers, in milliseconds.
  var timeout: Int32
  var compression: Compression
  var topics: [Topic]

  struct Topic {
    var name: String
    var partitions: [Partition]
  }

  struct Partition {
    var index: Int32
    var batch: RecordBatch
    /// The number of earlier records in the partition: those of the transaction, or of the producer if there is no transaction.
    var sequence: Int32
  }

  struct Answer: Equatable {
    var partitions: [PartitionAnswer]
  }

  struct PartitionAnswer: Equatable {
    var topic: String
    var index: Int32
    var error: BrokerError
    /// The offset of the batch's first record. -1 if unknown.
    var baseOffset: Int64
    var reason: String?
  }

  var estimatedSize: Int {
    topics.reduce(64) { sum, topic in
      topic.partitions.reduce(sum + topic.name.utf8.count + 16) { $0 + $1.batch.size + 16 }
    }
  }

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    // Acknowledged by all in-sync replicas, as transactions require.
    writer.int16(-1)
    writer.int32(timeout)
    // A batch is preceded by its length, which is known only once the batch is sealed.
    var sealed: [UInt8] = []
    writer.array(topics) { writer, topic in
      writer.text(topic.name)
      writer.array(topic.partitions) { writer, partition in
        writer.int32(partition.index)
        sealed.removeAll(keepingCapacity: true)
        partition.batch.seal(
          into: &sealed, producer: producer, sequence: partition.sequence, compression: compression)
        writer.data(sealed)
        writer.noTags()
      }
      writer.noTags()
    }
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    let partitions = try reader.partitions { (reader, topic) throws(WireError) in
      let (index, error, baseOffset) = (try reader.int32(), try reader.errorCode(), try reader.int64())
      _ = try reader.int64()
      _ = try reader.int64()
      let reasons = try reader.array { (reader) throws(WireError) in
        _ = try reader.int32()
        let reason = try reader.nullableText()
        try reader.tags()
        return reason
      }
      let reason = try reader.nullableText()
      return PartitionAnswer(
        topic: topic, index: index, error: error, baseOffset: baseOffset,
        reason: reason ?? reasons.lazy.compactMap { $0 }.first)
    }
    try reader.readThrottleTime()
    try reader.tags()
    return Answer(partitions: partitions)
  }
}

/// Adds a group's offsets to the transaction. From version 5 on the group's coordinator adds its own partition to the transaction.
struct TxnOffsetCommitRequest: WireRequest {
  static let key: Int16 = 28
  static let version: Int16 = 3
  static let name = "TxnOffsetCommit"

  var version: Int16 = Self.version
  var transactionalID: String
  var producer: ProducerIdentity
  var offsets: TransactionOffsets

  typealias Answer = PartitionErrors

  var estimatedSize: Int { 256 + offsets.offsets.count * 64 }

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.text(offsets.group)
    writer.producer(producer)
    writer.int32(offsets.generation)
    writer.text(offsets.memberID)
    writer.text(offsets.instanceID)
    let topics = Dictionary(grouping: offsets.offsets, by: \.topic).sorted { $0.key < $1.key }
    writer.array(topics) { writer, topic in
      writer.text(topic.key)
      writer.array(topic.value) { writer, offset in
        writer.int32(offset.partition)
        writer.int64(offset.offset)
        writer.int32(-1)
        writer.text(offset.metadata)
        writer.noTags()
      }
      writer.noTags()
    }
    writer.noTags()
  }
}

/// Commits the transaction. The answer has the producer's id and epoch for the next one.
struct EndTxnRequest: WireRequest {
  static let key: Int16 = 26
  static let version: Int16 = 5
  static let name = "EndTxn"

  var transactionalID: String
  var producer: ProducerIdentity

  typealias Answer = ProducerAnswer

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.producer(producer)
    writer.bool(true)
    writer.noTags()
  }
}

/// Adds partitions to a transaction of version 1, which begins with the first of them.
struct AddPartitionsToTxnRequest: WireRequest {
  static let key: Int16 = 24
  /// The last version for clients. Later ones are for brokers.
  static let version: Int16 = 3
  static let name = "AddPartitionsToTxn"

  var transactionalID: String
  var producer: ProducerIdentity
  var topics: [(name: String, partitions: [Int32])]

  typealias Answer = PartitionErrors

  var estimatedSize: Int { WireWriter.size(of: topics) }

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.producer(producer)
    writer.partitions(topics)
    writer.noTags()
  }
}

/// Adds the offsets of a group to a transaction of version 1.
struct AddOffsetsToTxnRequest: WireRequest {
  static let key: Int16 = 25
  static let version: Int16 = 3
  static let name = "AddOffsetsToTxn"

  var transactionalID: String
  var producer: ProducerIdentity
  var group: String

  typealias Answer = ErrorAnswer

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.producer(producer)
    writer.text(group)
    writer.noTags()
  }
}

/// Commits a transaction of version 1. The epoch stays as it was.
struct FormerEndTxnRequest: WireRequest {
  static let key = EndTxnRequest.key
  static let version: Int16 = 3
  static let name = EndTxnRequest.name

  var transactionalID: String
  var producer: ProducerIdentity

  typealias Answer = ErrorAnswer

  func encode(into writer: inout WireWriter) {
    EndTxnRequest(transactionalID: transactionalID, producer: producer).encode(into: &writer)
  }
}
