import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// Writes a replay's records and their audit event in one transaction, so that the audit names exactly what was written.
///
/// The transactional id is the replay's. A second writer of the same replay, opened to stop or resume it, fences the first one, whose next
/// write fails with ``ReplayTakenOver``.
final class AuditedWriter {
  private static let timeout: Duration = .seconds(10)

  let replayId: String
  private let producer: Producer
  private let names: TopicNames
  private let auditPartitions: Int32
  private let coder = RecordCoder()
  private var written = 0
  /// Prefix of this writer's event ids, different from those of other writers of the replay.
  private let session: Milliseconds

  /// Fences any other writer of the replay.
  init(_ cluster: ClusterSettings, replayId: String, auditPartitions: Int32, now: Milliseconds) throws {
    self.replayId = replayId
    self.auditPartitions = auditPartitions
    names = cluster.topics
    session = now
    var configuration = ClientConfiguration.producer(
      bootstrapServers: cluster.bootstrapServers, transactionalID: "\(cluster.topics.prefix)nudge-replay-\(replayId)")
    // A person may be asked between two batches, but each batch itself must be quick.
    configuration.set("transaction.timeout.ms", "30000")
    producer = try Producer(cluster.client(configuration), name: "nudge-replay")
    try producer.initTransactions(timeout: Self.timeout)
  }

  /// Writes all of the records with their audit event, or none.
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
      // The next writer of this replay, or the time-out, ends an open transaction.
      if error.requiresAbort { try? producer.abort(timeout: Self.timeout) }
      throw error
    }
  }

  private func produce(_ body: AuditEventBody, now: Milliseconds) throws(KafkaError) {
    written += 1
    let event = AuditEvent(Envelope(eventId: "\(replayId)-\(session)-\(written)", occurredAt: now), body)
    let key = Array(replayId.utf8)
    // Encoding cannot fail, because the event has only strings and numbers.
    guard let value = try? coder.encode(event) else { return }
    try producer.produce(
      topic: try producer.topic(names(.audit)), partition: Murmur2.partition(of: key, count: auditPartitions), key: key,
      value: value, headers: [(RecordHeader.replayId, key)])
  }

  func close() { producer.close() }

  /// Writes all of a command's records with its audit event, or none. Returns the id in the audit.
  static func write(
    _ command: String, _ records: [OutgoingRecord] = [], why: String, details: [String: String],
    _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> String {
    var random = SystemRandomNumberGenerator()
    let now = SystemClock.milliseconds()
    let id = ReplayID.make(now: now, using: &random)
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    try writer.commit(
      records,
      audit: .commandExecuted(
        CommandExecuted(replayId: id, command: command, who: ReplayID.whoRuns(), why: why, details: details)), now: now)
    return id
  }

  /// Records what a command has already done. If the audit cannot be written, the operator gets a warning.
  static func record(_ command: String, why: String, details: [String: String], _ cluster: ClusterSettings) {
    do {
      let browser = try TopicBrowser(cluster)
      let id = try write(command, why: why, details: details, cluster, browser)
      CommandOutput.report("audited as \(id)")
    } catch {
      CommandOutput.report("done, but not audited: \(error)")
    }
  }
}

/// A record to write.
struct OutgoingRecord {
  var topic: Topic
  var partition: Int32
  var key: [UInt8]?
  var value: [UInt8]?
  var headers: [Header]
}

/// Another process owns this replay: it was stopped or resumed there.
struct ReplayTakenOver: Error, CustomStringConvertible {
  var replayId: String

  var description: String {
    "replay \(replayId) was stopped, or taken up by another process: nothing more is written here. "
      + "'nudge replay list' shows how it stands"
  }
}

/// The records on `nudge.audit`.
struct AuditTrail {
  /// An event with its position.
  struct Entry {
    var event: AuditEvent
    var position: RecordPosition
  }

  /// The entries, in order within each replay.
  let entries: [Entry]

  init(entries: [Entry]) { self.entries = entries }

  /// Reads the whole topic, or one replay's records.
  init(_ browser: TopicBrowser, replayId: String? = nil) throws {
    var entries: [Entry] = []
    let wanted = replayId.map { Array($0.utf8) }
    let partitions = try replayId.map { [try browser.partition(of: $0, on: .audit)] }
    try browser.read(
      try browser.ranges(of: .audit, partitions: partitions), "reading \(browser.names(.audit))"
    ) { record in
      if let wanted, !record.hasKey(wanted) { return true }
      guard let value = record.value, let event = try? browser.coder.decode(AuditEvent.self, from: value) else {
        return true
      }
      entries.append(
        Entry(
          event: event,
          position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)))
      return true
    }
    self.entries = entries
  }

  /// Offsets of replayed and discarded dead letters, by partition.
  var handledDeadLetters: [Int32: Set<Int64>] {
    var handled: [Int32: Set<Int64>] = [:]
    for entry in entries {
      guard case .deadLettersHandled(let fields) = entry.event.body else { continue }
      for letters in fields.letters { handled[letters.partition, default: []].formUnion(letters.offsets) }
    }
    return handled
  }
}

/// A replay's id: the time at which it began, and six random characters.
enum ReplayID {
  private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")

  /// A new id, such as `20261122-103000-k3f9x2`.
  static func make(now: Milliseconds, using random: inout some RandomNumberGenerator) -> String {
    let digits = RFC3339.text(now).filter { $0.isNumber }
    let tail = (0..<6).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
    return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(6))-\(String(tail))"
  }

  /// Whether a text is a valid id, which becomes part of headers and of a transactional id.
  static func isValid(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 122) || $0 == 45 }
  }

  /// The user and host of this process, for the audit.
  static func whoRuns() -> String {
    let process = ProcessInfo.processInfo
    return "\(process.environment["USER"] ?? process.environment["LOGNAME"] ?? "unknown")@\(process.hostName)"
  }
}
