import Foundation
import Kafka
public import KafkaTransactions
public import NudgeSchema
import ServiceKit

/// The members of a stage's group, as its coordinator knows them. A fenced or dead static member may be listed for one more session
/// time-out.
///
/// The wire client requests them, because librdkafka 2.0 may abort the process after it could not describe a group (librdkafka issue 4605).
public struct GroupMembers: Sendable {
  /// The end of the consumers' `client.id` in releases before handovers. In later releases, the version follows it.
  static let formerSuffix = "-consumer"

  public let members: [GroupMember]

  init(_ members: [GroupMember]) { self.members = members }

  /// Requests them from the group's coordinator, within `timeout`.
  /// - Parameter properties: librdkafka's properties, in order.
  /// - Throws: `refused` if the brokers do not describe groups, as the embedded broker, or do not allow it.
  public init(
    of group: String, bootstrapServers: String, properties: [(name: String, value: String)], timeout: Duration
  ) throws(TransactionalProducerError) {
    let client = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: bootstrapServers, properties: properties),
      transactionalIDs: [], topics: [], group: nil)
    defer { client.close() }
    members = try client.members(ofGroup: group, timeout: timeout)
  }

  init(_ settings: KafkaStreamSettings, timeout: Duration) throws(TransactionalProducerError) {
    try self.init(
      of: settings.group, bootstrapServers: settings.bootstrapServers, properties: settings.properties, timeout: timeout
    )
  }

  /// The clients and hosts of the members with a thread's name, for an operator who looks for a second process. Blocks for at most 5 s.
  static func description(_ settings: KafkaStreamSettings) -> String {
    do throws(TransactionalProducerError) {
      return try GroupMembers(settings, timeout: .seconds(5)).description(under: settings.transactionalID)
    } catch {
      return "unknown, the group could not be asked (\(error.reason))"
    }
  }

  /// A member of a release that does not know handovers. Absent if there is none. A member with the operator's own `client.id` is taken for
  /// one of this release.
  /// - Parameter stage: The beginning of the transactional ids of the stage's threads.
  func former(of stage: String) -> GroupMember? {
    members.first { $0.clientID.hasPrefix(stage) && $0.clientID.hasSuffix(Self.formerSuffix) }
  }

  /// A static member has the name as its instance id, a dynamic one in its client id.
  func description(under name: String) -> String {
    let client = name + Self.formerSuffix
    let holders = members.filter {
      $0.instanceID == name || $0.clientID == client || $0.clientID.hasPrefix("\(client)-")
    }
    guard !holders.isEmpty else { return "nobody at this moment" }
    return holders.map { "\($0.clientID) at \($0.host)" }.sorted().joined(separator: ", ")
  }
}

/// The release of a member of a stage's group, from the end of its consumer's `client.id`.
public struct MemberRelease: Sendable, Equatable, CustomStringConvertible {
  /// The version. Absent for a release before 0.3.0, whose `client.id` has none.
  public let version: String?
  /// The highest level that it knows. Absent for a release before levels.
  public let latestLevel: FormatLevel?

  /// This release.
  static let current = MemberRelease(version: NudgeVersion.current, latestLevel: .latest)
  private static let levelMark = "-level-"

  init(version: String?, latestLevel: FormatLevel?) {
    self.version = version
    self.latestLevel = latestLevel
  }

  /// The release of a member of a group. Fails for a member with the operator's own `client.id`, which does not name a release.
  /// - Parameter stage: The beginning of the transactional ids of the stage's threads.
  init?(clientID: String, of stage: String) {
    guard clientID.hasPrefix(stage), let mark = clientID.range(of: GroupMembers.formerSuffix, options: .backwards)
    else { return nil }
    let rest = clientID[mark.upperBound...]
    guard rest.isEmpty || rest.hasPrefix("-") else { return nil }
    let name = rest.dropFirst()
    let level = name.range(of: Self.levelMark, options: .backwards)
    let number = level.flatMap { Int32(name[$0.upperBound...]) }
    let version = level.flatMap { number == nil ? nil : name[..<$0.lowerBound] } ?? name
    self.init(version: version.isEmpty ? nil : String(version), latestLevel: number.map { FormatLevel($0) })
  }

  /// The end of a `client.id`.
  var suffix: String {
    GroupMembers.formerSuffix + (version.map { "-\($0)" } ?? "") + (latestLevel.map { "\(Self.levelMark)\($0)" } ?? "")
  }

  public var description: String {
    (version ?? "a release before 0.3.0")
      + (latestLevel.map { ", which knows level \($0)" } ?? ", which knows no levels")
  }
}

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
        case .error(let error) where error.endsReading: throw error
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

/// A session of a group's member that has expired.
struct LostSession {
  /// Whether the loss is answered. The member then joins again.
  var isAnswered = false
  /// Whether the consumer was fenced in the meantime.
  var isFenced = false
  /// Whether another consumer has taken its place.
  var isRenewed = false
}
