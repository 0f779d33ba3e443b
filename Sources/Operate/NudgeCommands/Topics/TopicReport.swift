import Foundation
public import Kafka
public import NudgeSchema
import ServiceKit

/// Creates the pipeline's topics, and compares existing ones with their plans.
public enum TopicCreation {
  private static let timeout: Duration = .seconds(30)
  private static let visibility: Duration = .seconds(15)

  /// Creates missing topics on a real broker and compares the others with their plans. Running it again changes nothing.
  /// - Parameters:
  ///   - partitions: The number for new topics, and the expected number of the others. Nil for the number of the existing topics, or
  ///     `TopicPlan.defaultPartitions`.
  ///   - replicationFactor: The number for new topics; nil for the broker's default.
  /// - Throws: `KafkaError` if a request fails. Problems of a single topic are in the report.
  public static func create(
    on admin: Admin, names: TopicNames = TopicNames(), partitions: Int? = nil, replicationFactor: Int? = nil
  ) throws(KafkaError) -> TopicReport {
    let found = try admin.listTopics(timeout: timeout)
    let partitions = partitions ?? commonCount(of: found, names) ?? Int(TopicPlan.defaultPartitions)
    let missing = TopicPlan.all.filter { found[names($0.topic)] == nil }
    var outcomes: [String: Result<Void, KafkaError>] = [:]
    if !missing.isEmpty {
      outcomes = try admin.createTopics(
        missing.map {
          Admin.NewTopic(
            name: names($0.topic), partitions: partitions, replicationFactor: replicationFactor ?? -1,
            configuration: $0.configuration)
        }, timeout: timeout)
    }
    try awaitTopics(outcomes.filter { (try? $0.value.get()) != nil }.keys, admin)
    var report = try report(on: admin, names: names, partitions: partitions)
    for index in report.topics.indices {
      switch outcomes[report.topics[index].name] {
      case .success:
        // The metadata of a new topic may not have arrived yet.
        report.topics[index].status = .created
        report.topics[index].partitions = partitions
        report.topics[index].differences = []
      // Another client created it meanwhile. It was compared like the others.
      case .failure(let error) where error.isTopicAlreadyExists: break
      case .failure(let error):
        report.topics[index].status = .failed
        report.topics[index].differences = ["\(error)"]
      case nil: break
      }
    }
    return report
  }

  /// Waits until a broker names new topics to its clients, because the next command would miss them. Gives up after `visibility`.
  private static func awaitTopics(_ names: some Collection<String>, _ admin: Admin) throws(KafkaError) {
    let deadline = ContinuousClock.now + visibility
    while !names.isEmpty, ContinuousClock.now < deadline {
      let found = try admin.listTopics(timeout: timeout)
      if names.allSatisfy({ found[$0] != nil }) { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  /// Creates the topics on the embedded broker, which has no topic settings.
  public static func create(
    on broker: EmbeddedBroker, names: TopicNames = TopicNames(), partitions: Int
  ) throws(KafkaError) {
    for topic in Topic.allCases { try broker.createTopic(names(topic), partitions: partitions) }
  }

  /// Compares existing topics with their plans.
  /// - Parameter partitions: The expected number; nil for that of the first input of the stage that reads the topic.
  public static func report(
    on admin: Admin, names: TopicNames = TopicNames(), partitions: Int? = nil
  ) throws(KafkaError) -> TopicReport {
    let found = try admin.listTopics(timeout: timeout)
    let present = TopicPlan.all.map { names($0.topic) }.filter { found[$0] != nil }
    // The list lacks topics that the user may not see. A request by name returns the authorization error.
    let unseen = TopicPlan.all.map { names($0.topic) }.filter { found[$0] == nil }
    let hasController = admin.hasController(timeout: timeout)
    if !unseen.isEmpty, hasController { _ = try admin.partitionCounts(of: unseen, timeout: timeout) }
    let described =
      present.isEmpty || !hasController ? [:] : try admin.describeTopicConfigurations(present, timeout: timeout)
    return TopicReport(
      settingsAreKnown: hasController,
      topics: TopicPlan.all.map { plan in
        let name = names(plan.topic)
        guard let count = found[name] else {
          return TopicReport.Entry(name: name, status: .missing, partitions: nil, differences: [], configuration: [:])
        }
        var differences: [String] = []
        if let wanted = partitions ?? plan.topic.leader.flatMap({ found[names($0)] }), wanted != count {
          differences.append(
            "it has \(count.counted("partition")), should have \(wanted): to add some, nudge topics repartition"
          )
        }
        var configuration: [String: String] = [:]
        switch described[name] {
        case .success(let settings):
          differences += TopicPlanComparison.differences(of: settings, from: plan)
          configuration = settings.filter { plan.configuration[$0.key] != nil }
        case .failure(let error): differences.append("its settings are not known: \(error)")
        case nil: break
        }
        return TopicReport.Entry(
          name: name, status: differences.isEmpty ? .exists : .differs, partitions: count, differences: differences,
          configuration: configuration)
      })
  }

  /// The number of partitions that all existing topics have; nil if there are none or they differ.
  private static func commonCount(of found: [String: Int], _ names: TopicNames) -> Int? {
    let counts = Set(TopicPlan.all.compactMap { found[names($0.topic)] })
    return counts.count == 1 ? counts.first : nil
  }
}

extension Topic {
  /// The topic that must have the same number of partitions, because one stage reads both or stores its state there; nil if there is none.
  fileprivate var leader: Topic? {
    switch self {
    case .userEvents, .deviceClaims, .ingestState: .chatEvents
    case .analyzerState: .timeline
    case .dispatcherState: .pushes
    case .chatEvents, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters, .audit: nil
    }
  }
}

/// Compares an existing topic's settings with its plan.
enum TopicPlanComparison {
  private enum Rule {
    case equal
    /// The planned number or more; -1 means unlimited.
    case atLeast
    case atMost
  }

  private static let rules: [String: Rule] = [
    "cleanup.policy": .equal, "max.message.bytes": .atLeast, "retention.ms": .atLeast,
    "delete.retention.ms": .atLeast, "min.cleanable.dirty.ratio": .atMost,
    "segment.ms": .atMost, "max.compaction.lag.ms": .atMost,
  ]

  /// A sentence for each setting that is worse than planned. Better settings, such as a longer retention, are accepted.
  static func differences(of found: [String: String], from plan: TopicPlan) -> [String] {
    plan.configuration.sorted { $0.key < $1.key }.compactMap { name, wanted in
      guard let value = found[name] else { return nil }
      let rule = rules[name] ?? .equal
      guard !holds(rule, value, wanted) else { return nil }
      let bound = rule == .atLeast ? "at least " : rule == .atMost ? "at most " : ""
      return "\(name) is \(value), should be \(bound)\(wanted)"
    }
  }

  private static func holds(_ rule: Rule, _ value: String, _ wanted: String) -> Bool {
    guard rule != .equal, let number = Double(value), let bound = Double(wanted) else { return value == wanted }
    return rule == .atLeast ? number >= bound || number == -1 : number <= bound
  }
}

/// The state of the pipeline's topics, or the result of creating them.
public struct TopicReport: Sendable, Equatable, Encodable {
  public struct Entry: Sendable, Equatable, Encodable {
    public enum Status: String, Sendable, Encodable {
      /// Created by this command.
      case created
      /// Exists and matches its plan.
      case exists
      /// Exists and differs from its plan.
      case differs
      /// Does not exist.
      case missing
      /// Could not be created.
      case failed
    }

    /// The full name, with the deployment's prefix.
    public var name: String
    public var status: Status
    /// The number of partitions; nil if it does not exist.
    public var partitions: Int?
    /// Differences from its plan, or why it could not be created; one sentence each.
    public var differences: [String]
    /// The settings that the plan names; empty if the broker does not return them.
    public var configuration: [String: String]
  }

  /// Whether the cluster has a controller, which knows the topics' settings. The embedded broker has none.
  public var settingsAreKnown = true
  /// All of the pipeline's topics.
  public var topics: [Entry]

  /// Whether every topic exists and matches its plan.
  public var isGood: Bool { settingsAreKnown && topics.allSatisfy { $0.status == .created || $0.status == .exists } }

  /// One line per topic, and one for each difference.
  public var text: String {
    let width = topics.map(\.name.count).max() ?? 0
    let lines = topics.map { entry in
      let count = entry.partitions.map { "  \($0.counted("partition"))" } ?? ""
      let settings = entry.configuration.isEmpty ? "" : "  " + Self.shown(entry.configuration)
      return
        (["\(entry.name.padded(to: width))  \(entry.status.rawValue)\(count)\(settings)"]
        + entry.differences.map { "    \($0)" })
        .joined(separator: "\n")
    }
    let unknown = "The topics' settings are not known: the cluster has no controller to ask, as the embedded broker."
    return (lines + (settingsAreKnown ? [] : [unknown])).joined(separator: "\n")
  }

  private static func shown(_ configuration: [String: String]) -> String {
    guard configuration["cleanup.policy"] == "delete", let kept = configuration["retention.ms"].flatMap(Int64.init)
    else { return configuration["cleanup.policy"] ?? "" }
    return kept < 0 ? "kept for ever" : "kept \(Duration.milliseconds(kept).settingText)"
  }
}
