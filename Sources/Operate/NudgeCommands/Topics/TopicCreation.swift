public import Kafka
public import NudgeSchema

/// Makes the pipeline's topics and looks whether those that are there are right.
public enum TopicCreation {
  private static let timeout: Duration = .seconds(30)

  /// Makes the topics that are missing on a real broker, and compares the others with their plans; doing it again changes
  /// nothing.
  /// - Parameters:
  ///   - partitions: of each new topic, and what the others are compared with; nil: as many as those that are there have,
  ///     or else `TopicPlan.defaultPartitions`.
  ///   - replicationFactor: of each new topic; nil: the broker's default.
  /// - Throws: `KafkaError` where the broker cannot be asked. What is wrong with a topic is in the report.
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
        // Metadata of a topic this new may not have come yet.
        report.topics[index].status = .created
        report.topics[index].partitions = partitions
        report.topics[index].differences = []
      // Somebody else made it meanwhile: it was compared like the others.
      case .failure(let error) where error.isTopicAlreadyExists: break
      case .failure(let error):
        report.topics[index].status = .failed
        report.topics[index].differences = ["\(error)"]
      case nil: break
      }
    }
    return report
  }

  /// Makes the topics on the embedded broker, which has no settings of topics.
  public static func create(
    on broker: EmbeddedBroker, names: TopicNames = TopicNames(), partitions: Int
  ) throws(KafkaError) {
    for topic in Topic.allCases { try broker.createTopic(names(topic), partitions: partitions) }
  }

  /// Compares the topics that are there with their plans.
  /// - Parameter partitions: how many each should have; nil: as many as the first input of the stage that reads it.
  public static func report(
    on admin: Admin, names: TopicNames = TopicNames(), partitions: Int? = nil
  ) throws(KafkaError) -> TopicReport {
    let found = try admin.listTopics(timeout: timeout)
    let present = TopicPlan.all.map { names($0.topic) }.filter { found[$0] != nil }
    // A topic that this user may not see is left out of the list; asked for by name it says so.
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
            "it has \(count) partitions, should have \(wanted): the number is pinned, delete the topic and make it again"
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

  /// The number of partitions that all topics which are there have; nil where there are none, or they disagree.
  private static func commonCount(of found: [String: Int], _ names: TopicNames) -> Int? {
    let counts = Set(TopicPlan.all.compactMap { found[names($0.topic)] })
    return counts.count == 1 ? counts.first : nil
  }
}

extension Topic {
  /// The topic whose number of partitions this one must have, because one stage reads both or keeps its state there; nil
  /// where no stage depends on the number.
  fileprivate var leader: Topic? {
    switch self {
    case .userEvents, .deviceClaims, .ingestState: .chatEvents
    case .analyzerState: .timeline
    case .dispatcherState: .pushes
    case .chatEvents, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters, .audit: nil
    }
  }
}
