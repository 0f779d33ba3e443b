public import Kafka
import KafkaTransactions
public import NudgeSchema

/// Finds rows of a stage's state by reading its changelog, as a restore does. Use it from one thread. Calls block until they have read the
/// whole changelog of each task concerned.
public final class StateLookup {
  public struct Found: Sendable, Equatable {
    /// The task that the row belongs to.
    public var task: Int32
    public var key: RowKey
    /// The row's bytes, as the stage wrote them.
    public var bytes: [UInt8]

    public init(task: Int32, key: RowKey, bytes: [UInt8]) {
      self.task = task
      self.key = key
      self.bytes = bytes
    }
  }

  private let logs: StageLogs

  private static let timeout: Duration = .seconds(30)

  /// Connects in the background.
  /// - Parameters:
  ///   - properties: librdkafka's properties, which override Nudge's.
  ///   - log: Called with librdkafka's log lines.
  public init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String,
    properties: [String: String] = [:],
    log: @escaping @Sendable (KafkaLogLine) -> Void = { _ in }
  ) throws(KafkaError) {
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: log)
  }

  /// The row of a key, and the rows below it, whose keys begin with its parts. They are in the order of tasks, then of keys.
  /// - Parameter owner: The record key, such as a user's id, whose partition is the task with the rows: only that task's changelog is read.
  ///   Nil to read all changelogs.
  /// - Throws: `KafkaError`. `StateRepairError` if the changelog is missing or cannot be read to its end.
  public func rows(at key: RowKey, ownedBy owner: String?) throws -> [Found] {
    let count = try logs.partitionCount(timeout: Self.timeout)
    try logs.reader.warmUp([logs.changelog])
    let tasks =
      owner.map { [Murmur2.partition(of: Array($0.utf8), count: count)] } ?? Array(0..<count)
    return try tasks.flatMap { try rows(at: key, of: $0, in: logs.changelog($0)) }
  }

  private func rows(at key: RowKey, of task: Int32, in changelog: TopicPartition) throws -> [Found] {
    let ends = try logs.reader.ends(of: changelog)
    var rows = ChangelogRows(after: nil, offset: ends.start, coder: logs.coder)
    try logs.reader.records(of: changelog, from: ends.start, to: ends.high) { record in
      guard let bytes = record.keyBytes() else { return }
      let found = RowKey(bytes: bytes)
      guard found == PositionRecord.key || found == key || found.isBelow(key) else { return }
      try rows.read(offset: record.offset, key: found, bytes: record.valueBytes())
    }
    return rows.take().compactMap { row in
      row.bytes.map { Found(task: task, key: row.key, bytes: $0) }
    }
  }
}

/// Asks Kafka for the levels of a stage's tasks and the releases of its processes. Use it from one thread. Calls block until Kafka answers.
public final class LevelSurvey {
  /// The result of a survey.
  public struct Finding: Sendable, Equatable {
    /// A member of the stage's group: a stream thread of a process.
    public struct Member: Sendable, Equatable {
      /// The member's `client.id` and host.
      public var name: String
      /// The member's release. Absent if its `client.id` does not name one.
      public var release: MemberRelease?
      /// Whether it is a static member (`group.instance.id`). Kafka keeps the first `client.id` of a static member over all restarts within
      /// the session time-out, so `release` may be of an earlier process.
      public var isStatic: Bool = false
    }

    /// The levels of the tasks, by task number. A task that has never run has none.
    public var levels: [Int32: FormatLevel]
    /// The highest level that each task's last release knows, by task number.
    public var known: [Int32: FormatLevel] = [:]
    /// The number of tasks.
    public var tasks: Int32
    public var members: [Member]
  }

  private static let timeout: Duration = .seconds(30)
  private let logs: StageLogs

  /// Connects in the background.
  /// - Parameter properties: librdkafka's properties, which override Nudge's.
  public init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String, properties: [String: String] = [:],
    log: @escaping @Sendable (KafkaLogLine) -> Void = { _ in }
  ) throws(KafkaError) {
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: log)
  }

  /// Reads the ends of the stage's changelog, and asks for the members of its group.
  /// - Throws: `KafkaError`. `StateRepairError` if the changelog is missing or a transaction stays open in it. `TransactionalProducerError`
  ///   on a broker that does not describe groups, such as the embedded one.
  public func read() throws -> Finding {
    // Before the changelog, which the embedded broker lacks too: its error should say that it does not describe groups.
    let group = logs.stage.group(logs.topics)
    let members = try GroupMembers(
      of: group, bootstrapServers: logs.bootstrapServers, properties: logs.overrides, timeout: Self.timeout
    ).members
    let count = try logs.partitionCount(timeout: Self.timeout)
    try logs.reader.warmUp([logs.changelog])
    var levels: [Int32: FormatLevel] = [:]
    var known: [Int32: FormatLevel] = [:]
    for task in 0..<count {
      guard let position = try logs.lastPosition(of: task)?.position else { continue }
      levels[task] = position.level ?? .first
      known[task] = position.known ?? .first
    }
    return Finding(
      levels: levels, known: known, tasks: count,
      members: members.map {
        .init(
          name: "\($0.clientID) at \($0.host)", release: MemberRelease(clientID: $0.clientID, of: "\(group)-"),
          isStatic: $0.instanceID != nil)
      })
  }

  /// The records that finalise a level, one for each task, on the partition of the stage's own input with the task's number.
  public static func records(
    finalising level: FormatLevel, _ stage: StageDefinition, tasks: Int32
  ) -> [(topic: Topic, partition: Int32, key: [UInt8], headers: [(name: String, value: [UInt8])])] {
    guard let topic = stage.levelInput else { return [] }
    return (0..<tasks).map { (topic, $0, Array("@level".utf8), [(RecordHeader.level, Array("\(level)".utf8))]) }
  }
}
