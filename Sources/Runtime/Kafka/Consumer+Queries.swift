import CLibrdkafka

// Queries to the brokers. Each blocks the caller for at most its time-out and serves no events meanwhile.
extension Consumer {
  /// Fetches the leaders of the topics that will be assigned. Without a group, librdkafka fetches them only with a timer of up to a
  /// second, and an assignment waits for that.
  public func warmUp(topics: [String], timeout: Duration) throws(KafkaError) {
    let client = try open("ask for metadata")
    // The client caches a topic's metadata as long as it has a handle of the topic.
    for topic in topics { _ = try client.makeTopic(topic) }
    _ = try client.partitionCounts(of: topics, timeout: timeout)
  }

  /// The group's committed offsets and metadata for these partitions.
  ///
  /// - Throws: ``KafkaError/isTimedOut`` if the coordinator does not answer, and while a transaction with offsets of one of the
  ///   partitions is pending: retry later.
  public func committed(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [TopicPartitionOffset]
  {
    let operation = "ask for committed offsets"
    let client = try open(operation)
    defer { withExtendedLifetime(client) {} }
    let list = try PartitionList(partitions)
    // The admin request would distinguish a pending transaction from a silent coordinator. But an admin request to a
    // coordinator ends the process with an assertion if the connection is lost meanwhile (librdkafka up to 2.15, its
    // pull request 5397; found by chaos). This call reports a time-out in both cases.
    try KafkaError.check(
      operation, list.lend { rd_kafka_committed(client.pointer, $0, timeout.milliseconds) }, client: client.pointer)
    try list.check(operation)
    return list.offsets
  }

  /// The log start offset of the partition, and the offset after its last record. A read_committed client (as
  /// ``ClientConfiguration/consumer(bootstrapServers:group:instance:reportsEndOfPartition:)`` makes it) gets the last
  /// stable offset as `high`; with `isolation.level=read_uncommitted` it is the high watermark.
  public func watermarks(_ partition: TopicPartition, timeout: Duration) throws(KafkaError) -> (low: Int64, high: Int64)
  {
    let operation = "ask for watermarks"
    let deadline = ContinuousClock.now + timeout
    // Not rd_kafka_query_watermark_offsets: if the broker does not answer, it blocks for socket.timeout.ms (60 s) and ignores
    // its time-out. The protocol's timestamps -2 and -1 request the same.
    let low = try listOffsets([(partition, Offset.beginning)], operation, timeout: deadline.remaining)
    let high = try listOffsets([(partition, Offset.end)], operation, timeout: deadline.remaining)
    guard let low = low[partition] ?? nil, let high = high[partition] ?? nil else {
      throw KafkaError(operation, RD_KAFKA_RESP_ERR__NO_OFFSET, at: partition)
    }
    return (low, high)
  }

  /// The offset of each partition's first record at or after a time (milliseconds since the epoch); `nil` for partitions
  /// without such a record.
  public func offsets(forTimes times: [TopicPartition: Int64], timeout: Duration) throws(KafkaError)
    -> [TopicPartition: Int64?]
  {
    try listOffsets(times.map { ($0.key, $0.value) }, "ask for offsets by time", timeout: timeout)
  }

  private func listOffsets(_ times: [(TopicPartition, Int64)], _ operation: String, timeout: Duration)
    throws(KafkaError) -> [TopicPartition: Int64?]
  {
    let deadline = ContinuousClock.now + timeout
    do throws(KafkaError) {
      // Half of the time, because the known leader may be down and its successor needs the other half.
      return try listOffsetsOnce(times, operation, timeout: timeout / 2)
    } catch {
      guard error.isUnknownTopicOrPartition || error.isLeaderElsewhere || error.isTimedOut else { throw error }
      // The client caches a topic's metadata for minutes (`topic.metadata.refresh.interval.ms`), and this call does not refresh
      // it. The cache can hold a topic without partitions, from a broker that was starting, or former leaders (both found by chaos).
      // A metadata request replaces it.
      let topics = Set(times.map(\.0.topic))
      _ = try open(operation).partitionCounts(of: topics.sorted(), timeout: deadline.remaining)
      return try listOffsetsOnce(times, operation, timeout: deadline.remaining)
    }
  }

  private func listOffsetsOnce(_ times: [(TopicPartition, Int64)], _ operation: String, timeout: Duration)
    throws(KafkaError) -> [TopicPartition: Int64?]
  {
    let client = try open(operation)
    let list = try PartitionList(times.map { TopicPartitionOffset($0.0, offset: $0.1) })
    let code = list.lend { rd_kafka_offsets_for_times(client.pointer, $0, timeout.milliseconds) }
    try KafkaError.check(operation, code, client: client.pointer)
    try list.check(operation)
    var offsets: [TopicPartition: Int64?] = [:]
    for found in list.offsets { offsets[found.topicPartition] = .some(found.offset) }
    return offsets
  }

  /// The number of partitions of each topic. Topics that do not exist are missing.
  public func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    try open("ask for metadata").partitionCounts(of: topics, timeout: timeout)
  }

  /// The reason of the last failed connection, to explain a time-out. It drops pending events, so it is only for a consumer without an
  /// assignment.
  public var connectionFailure: KafkaError? {
    for _ in 0..<20 { _ = poll(timeout: .zero) }
    return (try? open("ask why"))?.connectionFailure
  }

  /// This member's identity for ``Producer/sendOffsets(_:group:timeout:)``: get it again for each transaction.
  public func groupMetadata() throws(KafkaError) -> ConsumerGroupMetadata {
    let client = try open("ask for group metadata")
    guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else {
      throw .invalid("ask for group metadata", "this consumer has no group")
    }
    return try ConsumerGroupMetadata(metadata)
  }
}
