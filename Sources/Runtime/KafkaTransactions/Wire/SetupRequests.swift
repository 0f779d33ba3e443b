/// What the broker speaks, and the features its cluster has finalized.
struct APIVersionsRequest: WireRequest {
  static let key: Int16 = 18
  static let version: Int16 = 3
  static let name = "ApiVersions"
  // So that a client can read it that does not know yet what the broker speaks.
  static let hasFlexibleAnswer = false

  struct Answer: Equatable {
    var error: BrokerError
    /// The versions of each request by its key.
    var versions: [Int16: ClosedRange<Int16>] = [:]
    /// The finalized levels of features, by name.
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
    // A broker that does not know version 3 answers in version 0, whose fields are others.
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

/// The mechanism of a login.
struct SASLHandshakeRequest: WireRequest {
  static let key: Int16 = 17
  static let version: Int16 = 1
  static let name = "SaslHandshake"
  static let hasFlexibleRequest = false
  static let hasFlexibleAnswer = false

  var mechanism: String

  struct Answer: Equatable {
    var error: BrokerError
    /// What the broker would take.
    var mechanisms: [String]
  }

  func encode(into writer: inout WireWriter) { writer.oldText(mechanism) }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    Answer(
      error: try reader.errorCode(),
      mechanisms: try reader.oldArray { (reader) throws(WireError) in try reader.oldText() })
  }
}

/// One message of a login, and what the broker says to it.
struct SASLAuthenticateRequest: WireRequest {
  static let key: Int16 = 36
  static let version: Int16 = 2
  static let name = "SaslAuthenticate"

  var message: [UInt8]

  struct Answer: Equatable {
    var error: BrokerError
    var reason: String?
    var message: [UInt8]
    /// For how many milliseconds the login is good; 0: for the connection's life.
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

/// Where a broker listens.
struct BrokerAddress: Hashable, CustomStringConvertible {
  var host: String
  var port: Int32

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The cluster's brokers, and the leaders of some topics' partitions.
struct MetadataRequest: WireRequest {
  static let key: Int16 = 3
  static let version: Int16 = 12
  static let name = "Metadata"

  var topics: [String]
  /// Whether the answer says what may be done with each topic, which costs the broker a look at its access rules.
  var asksForOperations = false

  struct Answer: Equatable {
    var brokers: [Int32: BrokerAddress]
    var topics: [Topic]
  }

  struct Topic: Equatable {
    var error: BrokerError
    var name: String?
    var partitions: [Partition]
    /// A bit an operation; the smallest number where it was not asked for.
    var operations: Int32 = .min
  }

  struct Partition: Equatable {
    var error: BrokerError
    var index: Int32
    /// -1: none now.
    var leader: Int32
  }

  func encode(into writer: inout WireWriter) {
    writer.array(topics) { writer, topic in
      writer.int64(0)
      writer.int64(0)
      writer.text(topic)
      writer.noTags()
    }
    // Makes no topics.
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
      try reader.skip(16)
      _ = try reader.bool()
      let partitions = try reader.array { (reader) throws(WireError) in
        let partition = Partition(
          error: try reader.errorCode(), index: try reader.int32(), leader: try reader.int32())
        _ = try reader.int32()
        for _ in 0..<3 { _ = try reader.array { (reader) throws(WireError) in try reader.int32() } }
        try reader.tags()
        return partition
      }
      let topic = Topic(error: error, name: name, partitions: partitions, operations: try reader.int32())
      try reader.tags()
      return topic
    }
    var addresses: [Int32: BrokerAddress] = [:]
    for broker in brokers { addresses[broker.node] = BrokerAddress(host: broker.host, port: broker.port) }
    return Answer(brokers: addresses, topics: topics)
  }
}

/// Who coordinates a group, or a transactional id.
enum CoordinatorKind: Int8, Hashable {
  case group = 0
  case transaction = 1
}

/// The broker that coordinates something.
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
