/// Adds partitions to a transaction of version 1, which begins with the first of them.
struct AddPartitionsToTxnRequest: WireRequest {
  static let key: Int16 = 24
  /// Later versions are for brokers.
  static let version: Int16 = 3
  static let name = "AddPartitionsToTxn"

  var transactionalID: String
  var producer: ProducerIdentity
  var topics: [(name: String, partitions: [Int32])]

  struct Answer: Equatable {
    var partitions: [PartitionError]
  }

  var estimatedSize: Int { WireWriter.size(of: topics) }

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.producer(producer)
    writer.partitions(topics)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(partitions: try reader.partitionErrors())
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

  struct Answer: Equatable {
    var error: BrokerError
  }

  func encode(into writer: inout WireWriter) {
    writer.text(transactionalID)
    writer.producer(producer)
    writer.text(group)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(error: try reader.errorCode())
  }
}

/// Commits a transaction of version 1. The epoch stays as it was.
struct FormerEndTxnRequest: WireRequest {
  static let key = EndTxnRequest.key
  static let version: Int16 = 3
  static let name = EndTxnRequest.name

  var transactionalID: String
  var producer: ProducerIdentity

  struct Answer: Equatable {
    var error: BrokerError
  }

  func encode(into writer: inout WireWriter) {
    EndTxnRequest(transactionalID: transactionalID, producer: producer).encode(into: &writer)
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(error: try reader.errorCode())
  }
}
