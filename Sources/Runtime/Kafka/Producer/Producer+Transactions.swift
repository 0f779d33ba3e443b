import CLibrdkafka

// Handle an error by `requiresAbort` first, then by `isRetriable`; any other error needs a new producer or, if
// ``KafkaError/isFenced``, the end of the process. After a commit's time-out the outcome is unknown.
extension Producer {
  /// Registers with the transaction coordinator: call it once, before the first ``begin()``. Fences former producers of the same
  /// `transactional.id` and aborts their open transaction.
  public func initTransactions(timeout: Duration) throws(KafkaError) {
    let client = try open("init transactions")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "init transactions", rd_kafka_init_transactions(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Opens a transaction, without a request.
  public func begin() throws(KafkaError) {
    let client = try open("begin transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check("begin transaction", rd_kafka_begin_transaction(client.pointer), client: client.pointer)
  }

  /// Makes the group's offsets part of the transaction.
  ///
  /// - Throws: ``KafkaError/isStaleMember``, to be followed by ``abort(timeout:)``, if `group` has a past generation, or generation
  ///   -1, which the coordinator would not fence. Invalid argument for an offset of `nil`, which librdkafka would silently omit.
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

  /// Flushes and commits. After an error that is neither ``KafkaError/requiresAbort`` nor ``KafkaError/isRetriable`` the outcome
  /// may be unknown.
  public func commit(timeout: Duration) throws(KafkaError) {
    let client = try open("commit transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "commit transaction", rd_kafka_commit_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }

  /// Drops queued records and aborts. If this succeeds, nothing of the transaction has been committed.
  public func abort(timeout: Duration) throws(KafkaError) {
    let client = try open("abort transaction")
    defer { withExtendedLifetime(client) {} }
    try KafkaError.check(
      "abort transaction", rd_kafka_abort_transaction(client.pointer, timeout.milliseconds), client: client.pointer)
  }
}
