import Kafka
import NudgeSchema
import ServiceKit

/// Writes a replay's records and what it says of them on `nudge.audit` in one transaction: what the audit says is done is
/// done, and what it does not say is not.
///
/// The transactional id is the replay's. Whoever opens a second writer of the same replay, to stop it or to take it up,
/// shuts the first out at once: its next write fails with ``ReplayTakenOver``.
final class AuditedWriter {
  private static let timeout: Duration = .seconds(10)

  /// The replay.
  let replayId: String
  private let producer: Producer
  private let names: NudgeSchema.TopicNames
  private let auditPartitions: Int32
  private let coder = RecordCoder()
  private var written = 0
  /// Ids of what this writer says begin with it: another writer of the same replay says other things.
  private let session: Milliseconds

  /// Opens the writer, and shuts out any other of the replay.
  init(_ cluster: ClusterSettings, replayId: String, auditPartitions: Int32, now: Milliseconds) throws {
    self.replayId = replayId
    self.auditPartitions = auditPartitions
    names = cluster.topics
    session = now
    var configuration = ClientConfiguration.producer(
      bootstrapServers: cluster.bootstrapServers, transactionalID: "\(cluster.topics.prefix)nudge-replay-\(replayId)")
    // A person may be asked between two batches; it is each batch that must be quick.
    configuration.set("transaction.timeout.ms", "30000")
    producer = try Producer(cluster.client(configuration), name: "nudge-replay")
    try producer.initTransactions(timeout: Self.timeout)
  }

  /// Writes records and what the audit says of them: all, or none.
  func commit(_ records: [OutgoingRecord], audit: AuditEventBody, now: Milliseconds) throws {
    do throws(KafkaError) {
      try producer.begin()
      for record in records {
        try producer.produce(
          topic: try producer.topic(names(record.topic)), partition: record.partition, key: record.key,
          value: record.value, headers: record.headers)
      }
      try produce(audit, now: now)
      try producer.commit(timeout: .seconds(30))
    } catch {
      if error.isFenced { throw ReplayTakenOver(replayId: replayId) }
      // What is open ends with the next writer of this replay, or by its time-out: nothing of it counts.
      if error.requiresAbort { try? producer.abort(timeout: Self.timeout) }
      throw error
    }
  }

  private func produce(_ body: AuditEventBody, now: Milliseconds) throws(KafkaError) {
    written += 1
    let event = AuditEvent(Envelope(eventId: "\(replayId)-\(session)-\(written)", occurredAt: now), body)
    let key = Array(replayId.utf8)
    // All of the event's values are texts and numbers, which are always written.
    guard let value = try? coder.encode(event) else { return }
    try producer.produce(
      topic: try producer.topic(names(.audit)), partition: Murmur2.partition(of: key, count: auditPartitions), key: key,
      value: value, headers: [(RecordHeader.replayId, key)])
  }

  /// Ends the client.
  func close() { producer.close() }
}

/// A record to be written.
struct OutgoingRecord {
  var topic: Topic
  var partition: Int32
  var key: [UInt8]?
  var value: [UInt8]?
  var headers: [Header]
}

/// Another process has this replay now: it was stopped, or taken up elsewhere.
struct ReplayTakenOver: Error, CustomStringConvertible {
  var replayId: String

  var description: String {
    "replay \(replayId) was stopped, or taken up by another process: nothing more is written here. "
      + "'nudge replay list' shows how it stands"
  }
}
