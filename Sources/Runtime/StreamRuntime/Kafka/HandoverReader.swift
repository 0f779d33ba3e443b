import Kafka
import KafkaTransactions
import NudgeSchema

/// Reads the handovers of former owners of tasks, and checks whether all members of the group know handovers.
struct HandoverReader {
  let settings: KafkaStreamSettings

  /// How long to read. It is longer than reading the records of a session time-out takes.
  private static let timeout: Duration = .seconds(3)

  /// The records in these spans, or those of them that can be read in time.
  func read(_ spans: [InputSpan]) throws(IOFailure) -> [InputRecord] {
    do throws(KafkaError) {
      return try records(spans)
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  private func records(_ spans: [InputSpan]) throws(KafkaError) -> [InputRecord] {
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: true)
    // Handovers are in no transaction, but transactions of others may be open before them.
    configuration.set("isolation.level", "read_uncommitted")
    let reader = try Consumer(
      configuration.merging(overrides: settings.properties), name: "\(settings.transactionalID)-handovers",
      log: settings.log)
    defer { reader.close() }
    let deadline = ContinuousClock.now + Self.timeout
    let topics = Dictionary(spans.map { (settings.topics($0.topic), $0.topic) }) { first, _ in first }
    try reader.warmUp(topics: topics.keys.sorted(), timeout: Self.timeout)
    var found: [InputRecord] = []
    var waiting = spans
    while !waiting.isEmpty, ContinuousClock.now < deadline {
      // One span of each partition is read at a time.
      var ends: [TopicPartition: Int64] = [:]
      var starts: [TopicPartitionOffset] = []
      waiting.removeAll { span in
        let place = TopicPartition(topic: settings.topics(span.topic), partition: span.task)
        guard ends[place] == nil else { return false }
        ends[place] = span.offsets.upperBound
        starts.append(TopicPartitionOffset(place, offset: span.offsets.lowerBound))
        return true
      }
      try reader.assign(starts)
      while !ends.isEmpty, ContinuousClock.now < deadline {
        let event = reader.poll(maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100)) { record in
          let place = TopicPartition(topic: record.topic, partition: record.partition)
          guard let end = ends[place] else { return }
          if record.offset >= end - 1 { ends[place] = nil }
          guard record.offset < end, record.header(RecordHeader.handover) != nil, let topic = topics[record.topic]
          else { return }
          found.append(InputRecord(record, of: topic))
        }
        switch event {
        case .endOfPartition(let place, _): ends[place] = nil
        case .error(let error) where error.isFatal || error.isAuthorization || error.isOffsetOutOfRange: throw error
        case nil, .record, .assigned, .revoked, .error: break
        }
      }
    }
    return found
  }

  /// Throws if the group has a member of a release before handovers, which would stop at a handover.
  func checkMembers() throws(IOFailure) {
    let members: GroupMembers
    do throws(TransactionalProducerError) {
      members = try GroupMembers(settings, timeout: Self.timeout)
    } catch {
      throw IOFailure(kind: .retriable, operation: error.operation, reason: error.reason)
    }
    guard let former = members.former(of: settings.stagePrefix) else { return }
    throw IOFailure(
      kind: .fatal, operation: "hand over answers",
      reason: "\(former.clientID) at \(former.host) is of a release that does not know them")
  }
}

extension InputRecord {
  convenience init(_ record: ConsumerRecord, of topic: Topic) {
    self.init(
      topic: topic, topicName: record.topic, partition: record.partition, offset: record.offset,
      timestamp: record.timestamp, key: record.keyBytes(), value: record.valueBytes(),
      headers: record.headers().compactMap { header in header.value.map { RecordHeaderField(header.name, $0) } })
  }
}
