/// The producers that a leader knows in partitions, with their open transactions.
struct DescribeProducersRequest: WireRequest {
  static let key: Int16 = 61
  static let version: Int16 = 0
  static let name = "DescribeProducers"

  var topics: [(name: String, partitions: [Int32])]

  struct Answer: Equatable {
    var partitions: [PartitionAnswer]
  }

  struct PartitionAnswer: Equatable {
    var topic: String
    var index: Int32
    var error: BrokerError
    var producers: [ProducerState]
  }

  struct ProducerState: Equatable {
    var id: Int64
    var epoch: Int32
    var coordinatorEpoch: Int32
    /// The first offset of the open transaction. -1 without one.
    var transactionStart: Int64
  }

  var estimatedSize: Int { WireWriter.size(of: topics) }

  func encode(into writer: inout WireWriter) {
    writer.partitions(topics)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      partitions: try reader.partitions { (reader, topic) throws(WireError) in
        let (index, error) = (try reader.int32(), try reader.errorCode())
        _ = try reader.nullableText()
        let producers = try reader.array { (reader) throws(WireError) in
          let (id, epoch) = (try reader.int64(), try reader.int32())
          _ = try reader.int32()
          _ = try reader.int64()
          let state = ProducerState(
            id: id, epoch: epoch, coordinatorEpoch: try reader.int32(), transactionStart: try reader.int64())
          try reader.tags()
          return state
        }
        return PartitionAnswer(topic: topic, index: index, error: error, producers: producers)
      })
  }
}

/// Ends a producer's open transaction in a partition. Usually only coordinators send this request to leaders. In version 1 a leader accepts
/// the marker only if it has seen no later epoch.
struct WriteTxnMarkersRequest: WireRequest {
  static let key: Int16 = 27
  static let version: Int16 = 1
  static let name = "WriteTxnMarkers"

  var producer: ProducerIdentity
  var coordinatorEpoch: Int32
  var isCommit: Bool
  var topic: String
  var partition: Int32

  struct Answer: Equatable {
    /// The error of each partition, here of one.
    var errors: [BrokerError]
  }

  func encode(into writer: inout WireWriter) {
    writer.array([self]) { writer, it in
      writer.producer(it.producer)
      writer.bool(it.isCommit)
      writer.array([it]) { writer, it in
        writer.text(it.topic)
        writer.array([it.partition]) { $0.int32($1) }
        writer.noTags()
      }
      writer.int32(it.coordinatorEpoch)
      writer.noTags()
    }
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    let markers = try reader.array { (reader) throws(WireError) in
      _ = try reader.int64()
      let errors = try reader.partitions { (reader, _) throws(WireError) in
        _ = try reader.int32()
        return try reader.errorCode()
      }
      try reader.tags()
      return errors
    }
    return Answer(errors: markers.flatMap { $0 })
  }
}

/// The members of a group, and the authorized operations on it, requested from its coordinator.
struct DescribeGroupsRequest: WireRequest {
  static let key: Int16 = 15
  static let version: Int16 = 5
  static let name = "DescribeGroups"

  var group: String

  struct Answer: Equatable {
    var groups: [Group]
  }

  struct Group: Equatable {
    var error: BrokerError
    var id: String
    var members: [GroupMember]
    /// A bit for each authorized operation.
    var operations: Int32
  }

  func encode(into writer: inout WireWriter) {
    writer.array([group]) { writer, group in writer.text(group) }
    // Include the authorized operations.
    writer.bool(true)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      groups: try reader.array { (reader) throws(WireError) in
        let (error, id) = (try reader.errorCode(), try reader.text())
        // State, kind of protocol, protocol.
        for _ in 0..<3 { _ = try reader.text() }
        let members = try reader.array { (reader) throws(WireError) in
          let member = GroupMember(
            memberID: try reader.text(), instanceID: try reader.nullableText(), clientID: try reader.text(),
            host: try reader.text())
          // Subscription and assignment.
          for _ in 0..<2 { _ = try reader.data() }
          try reader.tags()
          return member
        }
        let group = Group(error: error, id: id, members: members, operations: try reader.int32())
        try reader.tags()
        return group
      })
  }
}

/// A member of a consumer group, as its coordinator knows it.
public struct GroupMember: Sendable, Equatable {
  /// The member id, which changes with each join.
  public let memberID: String
  /// `group.instance.id`. Absent for a dynamic member.
  public let instanceID: String?
  /// The member's `client.id`.
  public let clientID: String
  /// The client's address, such as `/10.0.0.7`.
  public let host: String
}
