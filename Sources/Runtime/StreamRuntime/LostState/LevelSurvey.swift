import Foundation
public import Kafka
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

      public init(name: String, release: MemberRelease?) {
        self.name = name
        self.release = release
      }
    }

    /// The levels of the tasks, by their numbers. A task that has never run has none.
    public var levels: [Int32: FormatLevel]
    /// The number of tasks.
    public var tasks: Int32
    public var members: [Member]

    public init(levels: [Int32: FormatLevel], tasks: Int32, members: [Member]) {
      self.levels = levels
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
    // librdkafka may abort the process after such a broker has refused to describe a group (librdkafka issue 4605).
    try logs.checkBroker(timeout: Self.timeout)
    let count = try logs.partitionCount(timeout: Self.timeout)
    try logs.reader.warmUp([logs.changelog])
    var levels: [Int32: FormatLevel] = [:]
    for task in 0..<count {
      if let position = try logs.lastPosition(of: task)?.position { levels[task] = position.level ?? .first }
    }
    let group = logs.stage.group(logs.topics)
    let members = try logs.admin.members(ofGroup: group, timeout: Self.timeout)
    return Finding(
      levels: levels, tasks: count,
      members: members.map {
        .init(name: "\($0.clientID) at \($0.host)", release: MemberRelease(clientID: $0.clientID, of: "\(group)-"))
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
