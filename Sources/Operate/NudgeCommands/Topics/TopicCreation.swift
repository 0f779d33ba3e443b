public import Kafka
public import NudgeSchema

/// Creates the pipeline's topics, and compares existing ones with their plans.
public enum TopicCreation {
  private static let timeout: Duration = .seconds(30)

  /// Creates missing topics on a real broker, and compares the others with their plans. Running it again changes nothing.
  /// - Parameters:
  ///   - partitions: The number for new topics, and the expected number of the others; nil: the number the existing topics have, or
  ///     `TopicPlan.defaultPartitions`.
  ///   - replicationFactor: The number for new topics; nil: the broker's default.
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
    var report = try report(on: admin, names: names, partitions: partitions)
    for index in report.topics.indices {
      switch outcomes[report.topics[index].name] {
      case .success:
        // The metadata of a new topic may not have arrived yet.
        report.topics[index].status = .created
        report.topics[index].partitions = partitions
        report.topics[index].differences = []
      // Another client created it meanwhile: it was compared like the others.
      case .failure(let error) where error.isTopicAlreadyExists: break
      case .failure(let error):
        report.topics[index].status = .failed
        report.topics[index].differences = ["\(error)"]
      case nil: break
      }
    }
    return report
  }

  /// Creates the topics on the embedded broker, which has no topic settings.
  public static func create(
    on broker: EmbeddedBroker, names: TopicNames = TopicNames(), partitions: Int
  ) throws(KafkaError) {
    for topic in Topic.allCases { try broker.createTopic(names(topic), partitions: partitions) }
  }

  /// Compares existing topics with their plans.
  /// - Parameter partitions: The expected number; nil: that of the first input of the stage that reads the topic.
  public static func report(
    on admin: Admin, names: TopicNames = TopicNames(), partitions: Int? = nil
  ) throws(KafkaError) -> TopicReport {
    let found = try admin.listTopics(timeout: timeout)
    let present = TopicPlan.all.map { names($0.topic) }.filter { found[$0] != nil }
    // A topic the user may not see is missing in the list; a request by name returns the authorization error.
    let unseen = TopicPlan.all.map { names($0.topic) }.filter { found[$0] == nil }
    if !unseen.isEmpty, admin.hasController(timeout: timeout) {
      _ = try admin.partitionCounts(of: unseen, timeout: timeout)
    }
    let described = present.isEmpty ? [:] : try admin.describeTopicConfigurations(present, timeout: timeout)
    return TopicReport(
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

  /// The number of partitions that all existing topics have; nil if there are none, or they differ.
  private static func commonCount(of found: [String: Int], _ names: TopicNames) -> Int? {
    let counts = Set(TopicPlan.all.compactMap { found[names($0.topic)] })
    return counts.count == 1 ? counts.first : nil
  }
}

extension Topic {
  /// The topic that must have the same number of partitions, because one stage reads both or keeps its state there; nil
  /// without such a topic.
  fileprivate var leader: Topic? {
    switch self {
    case .userEvents, .deviceClaims, .ingestState: .chatEvents
    case .analyzerState: .timeline
    case .dispatcherState: .pushes
    case .chatEvents, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters, .audit: nil
    }
  }
}
