import Kafka
import KafkaTransactions
import NudgeSchema

/// What a service asks a cluster before its threads start. No call takes longer than a few seconds, so that whoever stops the
/// service is heard in between.
protocol ClusterUnderCheck {
  /// All topics with their partition counts, once a broker answers; nil: the service was stopped before one did.
  func waitForBroker() throws -> [String: Int]?
  /// Whether there is a controller; an embedded broker has none.
  var hasController: Bool { get }
  /// Throws where the service's user may not do what the stage does.
  func checkAccess() throws
  /// The settings in force of topics.
  func settings(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>]
  /// Throws where the cluster has no transactions of version 2, or does not let this client have them.
  func checkTransactions() throws(SinkError)
  /// Waits a moment before it is asked again.
  func pause()
}

/// Looks at a cluster before a service's threads start: whether a broker answers, the topics are right, and there are transactions of
/// version 2.
///
/// A cluster that stops answering in the middle is asked again from the beginning. That it did not answer must not pass for an
/// answer: neither for topics whose settings cannot be told, nor for an embedded broker, whose transactions are librdkafka's.
struct ClusterCheck {
  /// What was found.
  struct Finding: Equatable {
    var counts: [Topic: Int32]
    var isEmbedded: Bool
  }

  /// The cluster stopped answering.
  struct Unanswered: Error, CustomStringConvertible {
    let description: String
  }

  let topics: TopicCheck
  /// Whether a cluster that stops answering is waited for; false: that is the result.
  let isPatient: Bool
  let isStopping: () -> Bool
  /// Takes a line for the log, and why.
  let tell: (_ message: String, _ reason: String?) -> Void

  /// nil where the service is stopped meanwhile. Throws what is wrong, with the fix.
  func run(on cluster: some ClusterUnderCheck) throws -> Finding? {
    while !isStopping(), let found = try cluster.waitForBroker() {
      do {
        return try look(at: cluster, found)
      } catch let unanswered as Unanswered where isPatient {
        tell("the brokers stopped answering while they were looked at; they are asked again", unanswered.description)
        cluster.pause()
      }
    }
    return nil
  }

  private func look(at cluster: some ClusterUnderCheck, _ found: [String: Int]) throws -> Finding? {
    let hasController = cluster.hasController
    // Before what is missing is told of: a topic that this user may not see is left out of the list.
    if hasController { try cluster.checkAccess() }
    let counts = try topics.partitionCounts(from: found)
    guard !isStopping() else { return nil }
    let refusal: SinkError?
    do throws(SinkError) {
      try cluster.checkTransactions()
      refusal = nil
    } catch {
      if error.kind == .passing { throw Unanswered(description: "\(error)") }
      refusal = error
    }
    guard !isStopping() else { return nil }
    guard hasController else {
      tell("topic settings were not checked: the cluster has no controller to ask (an embedded broker)", nil)
      return finding(counts, refusal)
    }
    let settings: [String: Result<[String: String], KafkaError>]
    do throws(KafkaError) {
      settings = try cluster.settings(of: topics.names)
    } catch {
      // An embedded broker never answers this; it has been told apart by its transactions.
      if refusal == nil, error.isTimedOut || error.isCoordinatorLoss { throw Unanswered(description: "\(error)") }
      tell("topic settings were not checked: the broker does not tell them", "\(error)")
      return finding(counts, refusal)
    }
    // Kafka of every version tells settings.
    if let refusal { throw refusal }
    let complaints = topics.complaints(about: settings.compactMapValues { try? $0.get() })
    guard complaints.isEmpty else { throw TopicCheck.Failure(description: complaints.joined(separator: "; ")) }
    return Finding(counts: counts, isEmbedded: false)
  }

  /// Of a broker that does not tell settings of topics: it is embedded where it refuses transactions of version 2, too.
  private func finding(_ counts: [Topic: Int32], _ refusal: SinkError?) -> Finding {
    if let refusal { tell("transactions are librdkafka's, as with an embedded broker", "\(refusal)") }
    return Finding(counts: counts, isEmbedded: refusal != nil)
  }
}
