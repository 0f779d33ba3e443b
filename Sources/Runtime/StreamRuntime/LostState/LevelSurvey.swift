import Foundation
public import Kafka
import KafkaTransactions
public import NudgeSchema

/// The levels of a stage's tasks, and the releases of its processes, as Kafka knows them. One thread uses it; calls block while Kafka
/// answers.
public final class LevelSurvey {
  /// The result of a survey.
  public struct Finding: Sendable, Equatable {
    /// A process of the stage, or one of its threads.
    public struct Member: Sendable, Equatable {
      /// Its `client.id` and host.
      public var name: String
      /// nil: its `client.id` does not tell.
      public var release: MemberRelease?
      /// Whether it has a name in the group. Kafka keeps the `client.id` that such a member first had, over all its restarts within the
      /// session time-out.
      public var isStatic: Bool

      public init(name: String, release: MemberRelease?, isStatic: Bool = false) {
        self.name = name
        self.release = release
        self.isStatic = isStatic
      }
    }

    /// The levels of the tasks, by their numbers. A task that has never run has none.
    public var levels: [Int32: FormatLevel]
    /// The highest level that the release knows that ran a task last, by the tasks' numbers.
    public var known: [Int32: FormatLevel]
    /// The number of tasks.
    public var tasks: Int32
    public var members: [Member]

    public init(
      levels: [Int32: FormatLevel], known: [Int32: FormatLevel] = [:], tasks: Int32, members: [Member]
    ) {
      self.levels = levels
      self.known = known
      self.tasks = tasks
      self.members = members
    }
  }

  private static let timeout: Duration = .seconds(30)
  private let logs: StageLogs

  /// Connects in the background.
  /// - Parameter properties: librdkafka's, set after ours.
  public init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String, properties: [String: String] = [:],
    log: @escaping @Sendable (KafkaLogLine) -> Void = { _ in }
  ) throws(KafkaError) {
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: log)
  }

  /// Reads the ends of the stage's changelog, and asks for the members of its group.
  /// - Throws: `KafkaError`; `StateRepairError` where the changelog is missing or a transaction stays open in it;
  ///   `TransactionalProducerError` on a broker that does not describe groups, such as the embedded one.
  public func read() throws -> Finding {
    // First: the embedded broker, which does not describe groups, has no such changelog either.
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

  /// The record for each task that finalises a level: the partition of the stage's own input is the task's number.
  public static func records(
    finalising level: FormatLevel, _ stage: StageDefinition, tasks: Int32
  ) -> [(topic: Topic, partition: Int32, key: [UInt8], headers: [(name: String, value: [UInt8])])] {
    guard let topic = stage.levelInput else { return [] }
    return (0..<tasks).map { (topic, $0, Array("@level".utf8), [(RecordHeader.level, Array("\(level)".utf8))]) }
  }
}
