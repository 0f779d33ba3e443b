import CLibrdkafka

// Decide on an error by `requiresAbort` first, then `isRetriable`; anything else needs a new producer, or an end
// (``KafkaError/isFenced``). After a time-out of a commit the outcome is unknown.
extension Producer {
  /// Registers with the transaction coordinator: once, before the first ``begin()``. Fences and aborts what a former
  /// producer of the same `transactional.id` left behind.
  public func initTransactions(timeout: Duration) throws(KafkaError) {
    let client = try open("init transactions")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "init transactions", rd_kafka_init_transactions(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Opens a transaction. Asks no broker.
  public func begin() throws(KafkaError) {
    let client = try open("begin transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check("begin transaction", rd_kafka_begin_transaction(client.pointer), client: client.pointer)
  }

  /// Makes the group's offsets part of the transaction.
  ///
  /// - Throws: ``KafkaError/isStaleMember``, to be answered by ``abort(timeout:)``, where `group` is of a generation that
  ///   is over, or of none (generation -1): that is refused here, as the coordinator would not fence it. Invalid argument
  ///   for an offset of `nil`, which librdkafka would leave out silently.
  public func sendOffsets(_ places: [TopicPartitionOffset], group: ConsumerGroupMetadata, timeout: Duration)
    throws(KafkaError)
  {
    let operation = "send offsets to transaction"
    let client = try open(operation)
    defer { withExtendedLifetime(client) {} }
    if let place = places.first(where: { ($0.offset ?? -1) < 0 }) {
      throw .invalid(operation, "\(place) has no offset to commit")
    }
    guard group.generation >= 0, !group.memberID.isEmpty else {
      throw KafkaError(
        operation: operation, code: RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue, name: "ILLEGAL_GENERATION",
        reason:
          "the consumer is in no generation of group \"\(group.groupID)\" now, and nothing would fence its offsets",
        requiresAbort: true)
    }
    let list = try PartitionList(places)
    try KafkaError.check(
      operation,
      list.lend {
        rd_kafka_send_offsets_to_transaction(client.pointer, $0, group.pointer, timeout.milliseconds)
      },
      client: client.pointer)
  }

  /// Flushes and commits. After an error that is neither ``KafkaError/requiresAbort`` nor ``KafkaError/isRetriable`` the
  /// outcome may be unknown.
  public func commit(timeout: Duration) throws(KafkaError) {
    let client = try open("commit transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "commit transaction", rd_kafka_commit_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Drops what is queued and aborts. Where this succeeds, nothing of the transaction was committed.
  public func abort(timeout: Duration) throws(KafkaError) {
    let client = try open("abort transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "abort transaction", rd_kafka_abort_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }
}
