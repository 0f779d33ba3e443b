/// Requests the broker's API versions and the finalized features of its cluster.
struct APIVersionsRequest: WireRequest {
  static let key: Int16 = 18
  static let version: Int16 = 3
  static let name = "ApiVersions"
  // A client must be able to read the answer before it knows the broker's versions.
  static let hasFlexibleAnswer = false

  struct Answer: Equatable {
    var error: BrokerError
    /// The supported versions of each request, by API key.
    var versions: [Int16: ClosedRange<Int16>] = [:]
    /// The finalized feature levels, by name.
    var features: [String: Int16] = [:]
  }

  func encode(into writer: inout WireWriter) {
    writer.text("nudge")
    writer.text("1")
    writer.noTags()
  }

  private static let finalizedFeatures = 2

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    var answer = Answer(error: try reader.errorCode())
    // A broker that does not support version 3 answers in version 0, with other fields.
    guard answer.error == .none else { return answer }
    let versions = try reader.array { (reader) throws(WireError) in
      let (key, low, high) = (try reader.int16(), try reader.int16(), try reader.int16())
      try reader.tags()
      return (key: key, low: low, high: high)
    }
    for (key, low, high) in versions where low <= high { answer.versions[key] = low...high }
    try reader.readThrottleTime()
    try reader.tags { (tag, field) throws(WireError) in
      guard tag == finalizedFeatures else { return }
      let features = try field.array { (field) throws(WireError) in
        let feature = (name: try field.text(), level: try field.int16())
        _ = try field.int16()
        try field.tags()
        return feature
      }
      for feature in features { answer.features[feature.name] = feature.level }
    }
    return answer
  }
}

/// Proposes the mechanism of a login.
struct SASLHandshakeRequest: WireRequest {
  static let key: Int16 = 17
  static let version: Int16 = 1
  static let name = "SaslHandshake"
  static let hasFlexibleRequest = false
  static let hasFlexibleAnswer = false

  var mechanism: String

  struct Answer: Equatable {
    var error: BrokerError
    /// The mechanisms that the broker supports.
    var mechanisms: [String]
  }

  func encode(into writer: inout WireWriter) { writer.oldText(mechanism) }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    Answer(
      error: try reader.errorCode(),
      mechanisms: try reader.oldArray { (reader) throws(WireError) in try reader.oldText() })
  }
}

/// Sends one message of a login, and gets the broker's reply.
struct SASLAuthenticateRequest: WireRequest {
  static let key: Int16 = 36
  static let version: Int16 = 2
  static let name = "SaslAuthenticate"

  var message: [UInt8]

  struct Answer: Equatable {
    var error: BrokerError
    var reason: String?
    var message: [UInt8]
    /// The lifetime of the session in milliseconds; 0 if the session lasts as long as the connection.
    var lifetime: Int64
  }

  func encode(into writer: inout WireWriter) {
    writer.data(message)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    Answer(
      error: try reader.errorCode(), reason: try reader.nullableText(), message: try reader.data(),
      lifetime: try reader.int64())
  }
}

struct BrokerAddress: Hashable, CustomStringConvertible {
  var host: String
  var port: Int32

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Requests the cluster's brokers and the leaders of some topics' partitions.
struct MetadataRequest: WireRequest {
  static let key: Int16 = 3
  static let version: Int16 = 12
  static let name = "Metadata"

  var topics: [String]
  /// Whether to request the authorized operations of each topic, which costs the broker a lookup of its ACLs.
  var asksForOperations = false

  struct Answer: Equatable {
    var brokers: [Int32: BrokerAddress]
    var topics: [Topic]
  }

  struct Topic: Equatable {
    var error: BrokerError
    var name: String?
    /// The topic's id as Kafka's tools print it. Absent if the broker gives none.
    var id: String?
    var partitions: [Partition]
    /// The authorized operations as bits; `Int32.min` if they were not requested.
    var operations: Int32 = .min
  }

  struct Partition: Equatable {
    var error: BrokerError
    var index: Int32
    /// The leader's id. -1 without a leader.
    var leader: Int32
  }

  func encode(into writer: inout WireWriter) {
    writer.array(topics) { writer, topic in
      writer.int64(0)
      writer.int64(0)
      writer.text(topic)
      writer.noTags()
    }
    // The request does not create topics.
    writer.bool(false)
    writer.bool(asksForOperations)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    let brokers = try reader.array { (reader) throws(WireError) in
      let broker = (node: try reader.int32(), host: try reader.text(), port: try reader.int32())
      _ = try reader.nullableText()
      try reader.tags()
      return broker
    }
    _ = try reader.nullableText()
    _ = try reader.int32()
    let topics = try reader.array { (reader) throws(WireError) in
      let (error, name) = (try reader.errorCode(), try reader.nullableText())
      let id = try reader.uuid()
      _ = try reader.bool()
      let partitions = try reader.array { (reader) throws(WireError) in
        let partition = Partition(
          error: try reader.errorCode(), index: try reader.int32(), leader: try reader.int32())
        _ = try reader.int32()
        for _ in 0..<3 { _ = try reader.array { (reader) throws(WireError) in try reader.int32() } }
        try reader.tags()
        return partition
      }
      let topic = Topic(error: error, name: name, id: id, partitions: partitions, operations: try reader.int32())
      try reader.tags()
      return topic
    }
    var addresses: [Int32: BrokerAddress] = [:]
    for broker in brokers { addresses[broker.node] = BrokerAddress(host: broker.host, port: broker.port) }
    return Answer(brokers: addresses, topics: topics)
  }
}

/// The kind of a coordinator's key.
enum CoordinatorKind: Int8, Hashable {
  case group = 0
  case transaction = 1
}

/// Requests the coordinator of a group or a transactional id.
struct FindCoordinatorRequest: WireRequest {
  static let key: Int16 = 10
  static let version: Int16 = 4
  static let name = "FindCoordinator"

  var kind: CoordinatorKind
  var id: String

  struct Answer: Equatable {
    var coordinators: [Coordinator]
  }

  struct Coordinator: Equatable {
    var id: String
    var node: Int32
    var address: BrokerAddress
    var error: BrokerError
    var reason: String?
  }

  func encode(into writer: inout WireWriter) {
    writer.int8(kind.rawValue)
    writer.array([id]) { writer, id in writer.text(id) }
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      coordinators: try reader.array { (reader) throws(WireError) in
        let (id, node) = (try reader.text(), try reader.int32())
        let address = BrokerAddress(host: try reader.text(), port: try reader.int32())
        let coordinator = Coordinator(
          id: id, node: node, address: address, error: try reader.errorCode(), reason: try reader.nullableText())
        try reader.tags()
        return coordinator
      })
  }
}
