import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Gives the stages' inputs and state topics more partitions, and divides the state among the new tasks. Other topics keep their
/// partitions, so their readers find the records of a key where they were.
///
/// The order makes it safe to stop at any point. Changelogs get their partitions first. From then on no service starts, because a stage's
/// inputs and its changelog must have the same number. Then the rows move, and the inputs get their partitions last.
struct Repartition {
  /// The numbers of partitions before and after.
  struct Numbers: Equatable {
    var from: Int32
    var to: Int32
  }

  /// The remaining work.
  struct Survey {
    var numbers: Numbers
    /// The split of each stage's tasks; nil if its topics have their partitions already, so that its rows have moved.
    var stages: [(stage: StageName, tasks: [SplitTask]?)]
    /// Topics that lack partitions.
    var topics: [Topic]
  }

  private static let timeout: Duration = .seconds(30)
  /// The topics that get partitions: inputs and changelogs.
  static let topics = Topic.allCases.filter { topic in
    StageName.allCases.contains { $0.definition.inputs.contains(topic) || $0.definition.changelog == topic }
  }

  let cluster: ClusterSettings
  let admin: Admin

  init(_ cluster: ClusterSettings) throws {
    self.cluster = cluster
    admin = try cluster.admin()
  }

  // MARK: Looking

  /// The numbers of a repartition, from the topics' present numbers. Nil if all have the new number.
  /// - Throws: `CommandError` if the new number is not possible.
  static func numbers(of counts: [Topic: Int], to count: Int) throws(CommandError) -> Numbers? {
    let missing = topics.filter { counts[$0] == nil }
    guard missing.isEmpty else {
      throw CommandError(
        "missing topics: \(missing.map(\.rawValue).joined(separator: ", ")). Make them with: nudge topics create")
    }
    let found = Set(topics.compactMap { counts[$0] }).sorted()
    guard let from = found.first, found != [count] else { return nil }
    guard from < count else {
      throw CommandError(
        "the topics have \(from.counted("partition")): Kafka removes none, so \(count) is not possible")
    }
    guard found.allSatisfy({ $0 == from || $0 == count }) else {
      let others = found.filter { $0 != from && $0 != count }
      throw CommandError(
        "some topics have \(others.map(String.init).joined(separator: " and ")) partitions, others \(from). If a repartition was "
          + "begun, finish it first: nudge topics repartition --partitions \(found[found.count - 1])")
    }
    guard count % from == 0 else {
      throw CommandError(
        "--partitions \(count) is not a multiple of \(from): each task is split into several of equal parts. "
          + "Take \(from * (count / from + 1))")
    }
    return Numbers(from: Int32(from), to: Int32(count))
  }

  /// The remaining work; nil if there is none. `isCarriedOut` says that it will be done now, so that an interrupted run no longer prevents
  /// reading.
  func survey(to count: Int, isCarriedOut: Bool) throws -> Survey? {
    let counts = try counts()
    guard let numbers = try Self.numbers(of: counts, to: count) else { return nil }
    try requireStopped()
    return Survey(
      numbers: numbers,
      stages: try StageName.allCases.map { stage -> (stage: StageName, tasks: [SplitTask]?) in
        guard !Self.isSplit(stage, counts, numbers) else { return (stage, nil) }
        let split = try split(of: stage)
        if isCarriedOut { try split.endInterrupted() }
        return (stage, try split.survey(from: numbers.from, to: numbers.to))
      }, topics: Self.topics.filter { counts[$0] != count })
  }

  /// Whether the stage's rows have moved, because its inputs get their partitions only after that.
  private static func isSplit(_ stage: StageName, _ counts: [Topic: Int], _ numbers: Numbers) -> Bool {
    (stage.definition.inputs + [stage.definition.changelog]).allSatisfy { counts[$0] == Int(numbers.to) }
  }

  private func counts() throws -> [Topic: Int] {
    let found = try admin.listTopics(timeout: Self.timeout)
    return Dictionary(
      uniqueKeysWithValues: Topic.allCases.compactMap { topic in found[cluster.topics(topic)].map { (topic, $0) } })
  }

  private func split(of stage: StageName) throws -> TaskSplit {
    try TaskSplit(
      of: stage.definition, stage.splitRules, topics: cluster.topics, bootstrapServers: cluster.bootstrapServers,
      properties: cluster.properties)
  }

  /// Throws if a service may have a task in memory.
  private func requireStopped() throws {
    for stage in StageName.allCases {
      let group = stage.definition.group(cluster.topics)
      let members = try cluster.members(of: stage.definition, timeout: Self.timeout)
      guard members.isEmpty else {
        let names = members.map { "\($0.instanceID ?? $0.clientID) at \($0.host)" }.sorted()
        throw CommandError(
          "the group \(group) has members (\(names.joined(separator: ", "))): stop all services. One that was killed stays a "
            + "member until its session ends, 8 s later")
      }
    }
  }

  // MARK: Doing

  /// Does the work of a survey, and reports each part.
  func carryOut(_ survey: Survey, report: (String) -> Void) throws {
    let numbers = survey.numbers
    let changelogs = survey.topics.filter { topic in StageName.allCases.contains { $0.definition.changelog == topic } }
    try extend(changelogs, to: numbers.to)
    if !changelogs.isEmpty {
      report(
        "The state topics have \(numbers.to.counted("partition")). No service starts until this command has ended.")
    }
    // A service that had checked the topics earlier may have joined its group since.
    try requireStopped()
    for (stage, tasks) in survey.stages where tasks != nil {
      var moved = 0
      try split(of: stage).carryOut(from: numbers.from, to: numbers.to) { task in
        moved += task.moving
        report(
          "\(stage): task \(task.task) of \(numbers.from): \(task.moving) of \(task.rows) rows moved, and checked.")
      }
      report("\(stage): \(moved.counted("row")) moved.")
    }
    try requireStopped()
    try extend(survey.topics.filter { !changelogs.contains($0) }, to: numbers.to)
    try finish()
    report("The inputs and state topics have \(numbers.to.counted("partition")). Start the services.")
  }

  /// Commits the new tasks' offsets, even if an earlier run did everything else.
  func finish() throws {
    for stage in StageName.allCases
    where try cluster.members(of: stage.definition, timeout: Self.timeout).isEmpty {
      try split(of: stage).commitOffsets()
    }
  }

  private func extend(_ topics: [Topic], to count: Int32) throws {
    guard !topics.isEmpty else { return }
    let names = topics.map { cluster.topics($0) }
    let results = try admin.createPartitions(
      Dictionary(uniqueKeysWithValues: names.map { ($0, Int(count)) }), timeout: Self.timeout)
    for name in names { try results[name]?.get() }
    let deadline = ContinuousClock.now + Self.timeout
    while true {
      let found = try admin.listTopics(timeout: Self.timeout)
      if names.allSatisfy({ found[$0] == Int(count) }) { return }
      guard ContinuousClock.now < deadline else {
        throw CommandError("the brokers do not show the new partitions yet: run the command again")
      }
      usleep(100_000)  // between two questions
    }
  }
}

/// The output of `nudge topics repartition`.
struct RepartitionReport: Encodable {
  struct Stage: Encodable {
    var stage: String
    /// Rows of its state.
    var rows: Int
    /// Rows that move to a new task.
    var moving: Int
    /// The number of row copies that each task gets.
    var copies: Int
    /// The number of bytes to write.
    var bytes: Int
    /// The most records of producers that wait and are passed on to their new partition.
    var waiting: Int64
  }

  var from: Int32
  var to: Int32
  var stages: [Stage]
  /// Topics that get partitions.
  var topics: [String]

  init(_ survey: Repartition.Survey, names: TopicNames) {
    from = survey.numbers.from
    to = survey.numbers.to
    topics = survey.topics.map { names($0) }
    stages = survey.stages.compactMap { stage, tasks in
      tasks.map { tasks in
        Stage(
          stage: stage.rawValue, rows: tasks.reduce(0) { $0 + $1.rows }, moving: tasks.reduce(0) { $0 + $1.moving },
          copies: tasks.reduce(0) { $0 + $1.copies }, bytes: tasks.reduce(0) { $0 + $1.bytes },
          waiting: tasks.reduce(0) { $0 + $1.waiting.values.reduce(0, +) })
      }
    }
  }

  var text: String {
    var lines = ["From \(from) to \(to.counted("partition")):"]
    for stage in stages {
      lines.append(
        "  \(stage.stage): \(stage.moving) of \(stage.rows) rows move (\(stage.bytes.counted("byte"))"
          + (stage.copies > 0 ? ", with \(stage.copies) copies for each task" : "") + ")"
          + (stage.waiting > 0 ? "; up to \(stage.waiting) waiting records are passed on" : ""))
    }
    lines.append("  \(topics.count.counted("topic gets", "topics get")) partitions: \(topics.joined(separator: ", "))")
    lines.append(
      "There is no way back to \(from): Kafka removes no partitions. What is interrupted goes on when the command is run again; "
        + "services do not start in between.")
    return lines.joined(separator: "\n")
  }
}
