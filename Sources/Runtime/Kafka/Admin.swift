import CLibrdkafka

/// Creates, describes and deletes topics and records, and reads and changes groups' offsets. Each call blocks for at most its time-out.
///
/// librdkafka 2.0.2's embedded broker supports only the listing.
public final class Admin: Sendable {
  let client: Client

  /// Creates a client, which connects in the background. Only connection properties matter.
  public init(
    _ configuration: ClientConfiguration, name: String = "admin", log: (@Sendable (KafkaLogLine) -> Void)? = nil
  ) throws(KafkaError) {
    // With auto.create.topics.enable, a metadata request of a producer's client creates the topics that it names; a consumer's does not,
    // unless allow.auto.create.topics is set.
    var configuration = configuration
    configuration.set("allow.auto.create.topics", "false")
    client = try Client(RD_KAFKA_CONSUMER, configuration, callbacks: ClientCallbacks(name: name, log: log))
    try KafkaError.check("make an admin client", rd_kafka_set_log_queue(client.pointer, nil))
  }

  /// The reason of the last failed connection, to explain a time-out.
  public var connectionFailure: KafkaError? {
    // Nothing else polls this client, so its events are still queued.
    rd_kafka_poll(client.pointer, 0)
    return client.connectionFailure
  }

  // MARK: Topics

  public struct NewTopic: Sendable {
    public var name: String
    /// The number of partitions, from 1.
    public var partitions: Int
    /// The replication factor, from 1.
    public var replicationFactor: Int
    /// Topic configuration, such as `cleanup.policy`.
    public var configuration: [String: String]

    public init(name: String, partitions: Int, replicationFactor: Int, configuration: [String: String] = [:]) {
      self.name = name
      self.partitions = partitions
      self.replicationFactor = replicationFactor
      self.configuration = configuration
    }
  }

  /// Creates topics.
  ///
  /// - Returns: The result for each topic (``KafkaError/isTopicAlreadyExists``). Other brokers may not know a new topic for a moment.
  /// - Throws: If the whole request failed.
  public func createTopics(_ topics: [NewTopic], timeout: Duration) throws(KafkaError) -> [String: Result<
    Void, KafkaError
  >] {
    let operation = "create topics"
    var made: [OpaquePointer?] = []
    defer { for topic in made { rd_kafka_NewTopic_destroy(topic) } }
    for topic in topics {
      var text = [CChar](repeating: 0, count: 512)
      guard
        let new = rd_kafka_NewTopic_new(
          topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replicationFactor), &text, text.count)
      else { throw .invalid("create topic \"\(topic.name)\"", text.string) }
      made.append(new)
      for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
        let code = rd_kafka_NewTopic_set_config(new, name, value)
        try KafkaError.check("set \(name) of topic \"\(topic.name)\"", code)
      }
    }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout: timeout) { options, queue in
      rd_kafka_CreateTopics(client.pointer, &made, made.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
      return Self.outcomes(UnsafeBufferPointer(start: results, count: count), "create topic")
    }
  }

  /// Deletes topics.
  ///
  /// - Returns: The result for each topic.
  /// - Throws: If the whole request failed.
  public func deleteTopics(_ topics: [String], timeout: Duration) throws(KafkaError) -> [String: Result<
    Void, KafkaError
  >] {
    var named: [OpaquePointer?] = topics.map { rd_kafka_DeleteTopic_new($0) }
    defer { for topic in named { rd_kafka_DeleteTopic_destroy(topic) } }
    let answer = try request("delete topics", RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout: timeout) { options, queue in
      rd_kafka_DeleteTopics(client.pointer, &named, named.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count)
      return Self.outcomes(UnsafeBufferPointer(start: results, count: count), "delete topic")
    }
  }

  static func outcomes(_ results: UnsafeBufferPointer<OpaquePointer?>, _ operation: String)
    -> [String: Result<Void, KafkaError>]
  {
    var outcomes: [String: Result<Void, KafkaError>] = [:]
    for case .some(let result) in results {
      guard let text = rd_kafka_topic_result_name(result) else { continue }
      let name = String(cString: text)
      let code = rd_kafka_topic_result_error(result)
      let reason = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
      outcomes[name] =
        code == RD_KAFKA_RESP_ERR_NO_ERROR
        ? .success(()) : .failure(KafkaError("\(operation) \"\(name)\"", code, reason: reason))
    }
    return outcomes
  }

  /// Whether the cluster has a controller, which answers requests about topics. The embedded broker names one that is not among its
  /// brokers: such a request would time out there.
  public func hasController(timeout: Duration) -> Bool {
    let id = rd_kafka_controllerid(client.pointer, timeout.milliseconds)
    guard id >= 0, let brokers = try? brokers(timeout: timeout) else { return id >= 0 }
    return brokers.contains { $0.id == id }
  }

  /// All topics of the cluster, with their number of partitions.
  public func listTopics(timeout: Duration) throws(KafkaError) -> [String: Int] {
    let metadata = try Metadata("list topics", client: client.pointer, topic: nil, timeout: timeout)
    var counts: [String: Int] = [:]
    for topic in metadata.topics where topic.error == RD_KAFKA_RESP_ERR_NO_ERROR {
      counts[topic.name] = topic.partitions
    }
    return counts
  }

  /// The number of partitions of each topic. Topics that do not exist are missing.
  public func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    try client.partitionCounts(of: topics, timeout: timeout)
  }

  /// The effective configuration of each topic, including the broker's defaults. The result is a failure for a topic that does not exist.
  public func describeTopicConfigurations(_ topics: [String], timeout: Duration) throws(KafkaError) -> [String: Result<
    [String: String], KafkaError
  >] {
    try describeConfigurations(RD_KAFKA_RESOURCE_TOPIC, topics, timeout: timeout)
  }

  /// The effective configuration of topics or brokers, by name.
  func describeConfigurations(_ type: rd_kafka_ResourceType_t, _ names: [String], timeout: Duration) throws(KafkaError)
    -> [String: Result<[String: String], KafkaError>]
  {
    let kind = type == RD_KAFKA_RESOURCE_BROKER ? "broker" : "topic"
    var resources: [OpaquePointer?] = names.map { rd_kafka_ConfigResource_new(type, $0) }
    defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
    let answer = try request("describe \(kind)s", RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout) {
      options, queue in
      rd_kafka_DescribeConfigs(client.pointer, &resources, resources.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
      return Self.descriptions(UnsafeBufferPointer(start: results, count: count), kind)
    }
  }

  private static func descriptions(_ results: UnsafeBufferPointer<OpaquePointer?>, _ kind: String)
    -> [String: Result<[String: String], KafkaError>]
  {
    var described: [String: Result<[String: String], KafkaError>] = [:]
    for case .some(let result) in results {
      guard let text = rd_kafka_ConfigResource_name(result) else { continue }
      let name = String(cString: text)
      let code = rd_kafka_ConfigResource_error(result)
      guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
        let reason = rd_kafka_ConfigResource_error_string(result).map { String(cString: $0) }
        described[name] = .failure(KafkaError("describe \(kind) \"\(name)\"", code, reason: reason))
        continue
      }
      described[name] = .success(settings(of: result))
    }
    return described
  }

  private static func settings(of resource: OpaquePointer) -> [String: String] {
    var count = 0
    let entries = rd_kafka_ConfigResource_configs(resource, &count)
    var settings: [String: String] = [:]
    for case .some(let entry) in UnsafeBufferPointer(start: entries, count: count) {
      guard let name = rd_kafka_ConfigEntry_name(entry), let value = rd_kafka_ConfigEntry_value(entry) else { continue }
      settings[String(cString: name)] = String(cString: value)
    }
    return settings
  }

  // MARK: Groups

  /// Sets a group's committed offsets and metadata. The group must have no members.
  public func alterOffsets(group: String, to places: [TopicPartitionOffset], timeout: Duration) throws(KafkaError) {
    try (ContinuousClock.now + timeout).attempts { (timeout) throws(KafkaError) in
      try alterOffsetsOnce(group: group, to: places, timeout: timeout)
    }
  }

  private func alterOffsetsOnce(group: String, to places: [TopicPartitionOffset], timeout: Duration)
    throws(KafkaError)
  {
    let operation = "alter offsets of group \"\(group)\""
    let list = try PartitionList(places)
    var wanted: [OpaquePointer?] = [list.lend { rd_kafka_AlterConsumerGroupOffsets_new(group, $0) }]
    defer { rd_kafka_AlterConsumerGroupOffsets_destroy_array(&wanted, wanted.count) }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS, timeout: timeout) {
      options, queue in
      rd_kafka_AlterConsumerGroupOffsets(client.pointer, &wanted, wanted.count, options, queue)
    }
    try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_AlterConsumerGroupOffsets_result_groups(
        rd_kafka_event_AlterConsumerGroupOffsets_result(event), &count)
      try Self.checkGroups(UnsafeBufferPointer(start: results, count: count), operation)
    }
  }

  /// A group's committed offsets and metadata, for these partitions or (without any) for all of its partitions.
  ///
  /// - Throws: With `requireStable`, ``KafkaError/isUnstableOffsets`` while a transaction with offsets of one of the partitions is
  ///   pending; otherwise the offsets from before that transaction are returned.
  public func committedOffsets(
    group: String, _ partitions: [TopicPartition]? = nil, requireStable: Bool = false, timeout: Duration
  ) throws(KafkaError) -> [TopicPartitionOffset] {
    try (ContinuousClock.now + timeout).attempts { (timeout) throws(KafkaError) in
      try client.groupOffsets(group: group, partitions, requireStable: requireStable, timeout: timeout)
    }
  }

  private static func checkGroups(_ results: UnsafeBufferPointer<OpaquePointer?>, _ operation: String)
    throws(KafkaError)
  {
    for case .some(let result) in results { try KafkaError.checkGroup(result, operation) }
  }

  /// Sends one request and waits for its answer. It is internal for this class's extensions.
  func request(
    _ operation: String, _ kind: rd_kafka_admin_op_t, timeout: Duration,
    _ send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
  ) throws(KafkaError) -> AdminAnswer {
    try AdminAnswer(operation, kind, client: client, timeout: timeout, send)
  }
}

extension Admin {
  /// A broker of the cluster.
  public struct Broker: Sendable, Equatable {
    public var id: Int32
    /// The address for clients, as `host:port`.
    public var address: String
  }

  /// The brokers that are up.
  public func brokers(timeout: Duration) throws(KafkaError) -> [Broker] {
    try Metadata("list brokers", client: client.pointer, topic: nil, timeout: timeout).brokers.map {
      Broker(id: $0.id, address: "\($0.host):\($0.port)")
    }
  }

  /// The effective configuration of a broker, including defaults.
  public func describeBrokerConfiguration(_ id: Int32, timeout: Duration) throws(KafkaError) -> [String: String] {
    let found = try describeConfigurations(RD_KAFKA_RESOURCE_BROKER, [String(id)], timeout: timeout)
    guard let result = found[String(id)] else {
      throw .invalid("describe broker \(id)", "the answer does not name it")
    }
    return try result.get()
  }
}

public enum KafkaLibrary {
  /// librdkafka's version, such as `2.0.2`.
  public static var version: String { rd_kafka_version_str().map { String(cString: $0) } ?? "unknown" }
  /// librdkafka's version as a number, such as `0x020002ff`: a byte each for major, minor and revision, and the pre-release number.
  public static var versionNumber: Int32 { rd_kafka_version() }
}

extension Admin {
  /// Adds partitions to topics. Kafka cannot remove them again.
  ///
  /// - Parameter counts: The new number of partitions of each topic, larger than the present one.
  /// - Returns: The result for each topic. Brokers may not know the new partitions for a moment.
  /// - Throws: If the whole request failed.
  public func createPartitions(_ counts: [String: Int], timeout: Duration) throws(KafkaError) -> [String: Result<
    Void, KafkaError
  >] {
    let operation = "add partitions"
    var wanted: [OpaquePointer?] = []
    defer { for topic in wanted { rd_kafka_NewPartitions_destroy(topic) } }
    for (topic, count) in counts.sorted(by: { $0.key < $1.key }) {
      var text = [CChar](repeating: 0, count: 512)
      guard let new = rd_kafka_NewPartitions_new(topic, count, &text, text.count) else {
        throw .invalid("\(operation) to topic \"\(topic)\"", text.string)
      }
      wanted.append(new)
    }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout: timeout) { options, queue in
      rd_kafka_CreatePartitions(client.pointer, &wanted, wanted.count, options, queue)
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count)
      return Self.outcomes(UnsafeBufferPointer(start: results, count: count), operation)
    }
  }
}

extension Admin {
  /// Deletes the records of partitions before an offset, as retention would. They cannot be restored.
  ///
  /// - Parameter places: For each partition the first offset to keep, at most the high watermark. An absent offset is refused.
  /// - Throws: The error of the request, or of the first failed partition.
  public func deleteRecords(before places: [TopicPartitionOffset], timeout: Duration) throws(KafkaError) {
    let operation = "delete records"
    for place in places where place.offset == nil {
      throw KafkaError(operation, RD_KAFKA_RESP_ERR__INVALID_ARG, reason: "no offset", at: place.topicPartition)
    }
    let list = try PartitionList(places)
    var wanted: [OpaquePointer?] = [list.lend { rd_kafka_DeleteRecords_new($0) }]
    defer { rd_kafka_DeleteRecords_destroy_array(&wanted, wanted.count) }
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout: timeout) { options, queue in
      rd_kafka_DeleteRecords(client.pointer, &wanted, wanted.count, options, queue)
    }
    try answer.read { (event) throws(KafkaError) in
      guard let result = rd_kafka_event_DeleteRecords_result(event),
        let offsets = rd_kafka_DeleteRecords_result_offsets(result)
      else { return }
      for entry in offsets.pointee.entries where entry.err != RD_KAFKA_RESP_ERR_NO_ERROR {
        throw KafkaError(operation, entry.err, at: entry.place)
      }
    }
  }
}
