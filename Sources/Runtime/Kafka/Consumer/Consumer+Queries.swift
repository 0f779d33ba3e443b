import CLibrdkafka

// Questions to the broker. Each blocks the caller for at most its time-out and serves no events meanwhile.
extension Consumer {
  /// Learns the leaders of the topics it will be assigned. Without a group nothing else asks for them before a timer of
  /// up to a second, and an assignment waits for it.
  public func warmUp(topics: [String], timeout: Duration) throws(KafkaError) {
    let client = try open("ask for metadata")
    // The client keeps what it learns of a topic as long as there is a handle of it.
    for topic in topics { _ = try client.makeTopic(topic) }
    _ = try client.partitionCounts(of: topics, timeout: timeout)
  }

  /// What the group has committed for these partitions, with the notes.
  ///
  /// - Throws: ``KafkaError/isTimedOut`` where the coordinator does not answer, and while a transaction that holds
  ///   offsets of one of them is pending: ask again after a while.
  public func committed(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [TopicPartitionOffset]
  {
    let operation = "ask for committed offsets"
    let client = try open(operation)
    defer { withExtendedLifetime(client) {} }
    let list = try PartitionList(partitions)
    // The admin request of the same would tell a pending transaction from a silent coordinator. But an admin request to a
    // coordinator ends the process with an assertion where the connection is lost under it (librdkafka up to 2.15, its
    // pull request 5397; found by chaos). This call says "timed out" to both.
    try KafkaError.check(
      operation, list.lend { rd_kafka_committed(client.pointer, $0, timeout.milliseconds) }, client: client.pointer)
    try list.check(operation)
    return list.offsets
  }

  /// The first offset that the partition keeps and the one behind its last record. A read_committed client (as
  /// ``ClientConfiguration/consumer(bootstrapServers:group:instance:reportsEndOfPartition:)`` makes it) is told the last
  /// stable offset as `high`; with `isolation.level=read_uncommitted` it is the high watermark.
  public func watermarks(_ partition: TopicPartition, timeout: Duration) throws(KafkaError) -> (low: Int64, high: Int64)
  {
    let operation = "ask for watermarks"
    let deadline = Deadline(after: timeout)
    // Not rd_kafka_query_watermark_offsets: where the broker does not answer, it goes on for socket.timeout.ms (60 s),
    // whatever it was told. The protocol's times -2 and -1 ask for the same.
    let low = try listOffsets([(partition, Offset.beginning)], operation, timeout: deadline.remaining)
    let high = try listOffsets([(partition, Offset.end)], operation, timeout: deadline.remaining)
    guard let low = low[partition] ?? nil, let high = high[partition] ?? nil else {
      throw KafkaError(operation, RD_KAFKA_RESP_ERR__NO_OFFSET, at: partition)
    }
    return (low, high)
  }

  /// For each partition the offset of its first record at or after a time (milliseconds since the epoch); partitions
  /// without such a record have `nil`.
  public func offsets(forTimes times: [TopicPartition: Int64], timeout: Duration) throws(KafkaError)
    -> [TopicPartition: Int64?]
  {
    try listOffsets(times.map { ($0.key, $0.value) }, "ask for offsets by time", timeout: timeout)
  }

  private func listOffsets(_ times: [(TopicPartition, Int64)], _ operation: String, timeout: Duration)
    throws(KafkaError) -> [TopicPartition: Int64?]
  {
    let deadline = Deadline(after: timeout)
    do throws(KafkaError) {
      // Half of the time: the leader it knows may be gone, and then somebody else leads.
      return try listOffsetsOnce(times, operation, timeout: timeout / 2)
    } catch {
      guard error.isUnknownTopicOrPartition || error.isLeaderElsewhere || error.isTimedOut else { throw error }
      // The client believes what it was told last of a topic, for minutes (`topic.metadata.refresh.interval.ms`), and this call
      // does not make it ask anew; while a broker starts it can be that the topic has no partitions, and when leaders have
      // moved it is the former ones (both found by chaos). Asking for metadata makes it forget.
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

  /// How many partitions each topic has. Topics that do not exist are not in the answer.
  public func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    try open("ask for metadata").partitionCounts(of: topics, timeout: timeout)
  }

  /// Why a connection could not be made, the last time that it could not; to be asked once a call has timed out. Drops the
  /// events that wait: for a consumer that has nothing assigned.
  public var connectionFailure: KafkaError? {
    for _ in 0..<20 { _ = poll(timeout: .zero) }
    return (try? open("ask why"))?.connectionFailure
  }

  /// This member's identity for ``Producer/sendOffsets(_:group:timeout:)``: take it anew for each transaction.
  public func groupMetadata() throws(KafkaError) -> ConsumerGroupMetadata {
    let client = try open("ask for group metadata")
    guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else {
      throw .invalid("ask for group metadata", "this consumer has no group")
    }
    return try ConsumerGroupMetadata(metadata)
  }
}
