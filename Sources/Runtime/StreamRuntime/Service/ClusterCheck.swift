import Kafka
import KafkaTransactions
import NudgeSchema

/// The checks of a cluster before a service's threads start. No call takes longer than a few seconds, so that the service can be stopped in
/// between.
protocol ClusterUnderCheck {
  /// Waits for a broker, and returns all topics with their partition counts; nil: the service was stopped before.
  func waitForBroker() throws -> [String: Int]?
  /// Whether the cluster has a controller. An embedded broker has none.
  var hasController: Bool { get }
  /// Throws `AccessRefused` if the service's user lacks permissions.
  func checkAccess() throws
  /// The effective settings of topics.
  func settings(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>]
  /// The protocol of transactions. Throws if the cluster lacks it, or refuses it to this client.
  func checkTransactions() throws(TransactionalProducerError) -> TransactionVersion
  /// Waits before the next check.
  func pause()
}

/// Checks a cluster before a service's threads start: that a broker answers, that topics are right, and which transactions it has.
///
/// If the cluster stops answering, the check starts again. A missing answer must not be taken for unreadable topic settings, or for an
/// embedded broker, whose transactions are librdkafka's.
struct ClusterCheck {
  /// The result of the check.
  struct Finding: Equatable {
    var counts: [Topic: Int32]
    /// nil: the broker is embedded, and transactions are librdkafka's.
    var transactions: TransactionVersion?
  }

  /// The cluster stopped answering.
  struct Unanswered: Error, CustomStringConvertible {
    let description: String
  }

  let topics: TopicCheck
  /// Whether to wait for a cluster that stops answering; false: throw `Unanswered`.
  let isPatient: Bool
  let isStopping: () -> Bool
  /// Logs a line with a reason.
  let tell: (_ message: String, _ reason: String?) -> Void

  /// Runs the check. Returns nil if the service is stopped meanwhile.
  /// - Throws: an error that says what is wrong and how to fix it.
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
    // Before missing topics are reported: the list lacks topics that this user may not see.
    if hasController { try cluster.checkAccess() }
    let counts = try topics.partitionCounts(from: found)
    guard !isStopping() else { return nil }
    let transactions: Result<TransactionVersion, TransactionalProducerError>
    do throws(TransactionalProducerError) {
      transactions = .success(try cluster.checkTransactions())
    } catch {
      if error.kind == .passing { throw Unanswered(description: "\(error)") }
      transactions = .failure(error)
    }
    guard !isStopping() else { return nil }
    guard hasController else {
      tell("topic settings were not checked: the cluster has no controller to ask (an embedded broker)", nil)
      return finding(counts, transactions)
    }
    let settings: [String: Result<[String: String], KafkaError>]
    do throws(KafkaError) {
      settings = try cluster.settings(of: topics.names)
    } catch {
      // An embedded broker never answers this; it has been told apart by its transactions.
      if case .success = transactions, error.isTimedOut || error.isCoordinatorLoss {
        throw Unanswered(description: "\(error)")
      }
      tell("topic settings were not checked: the broker does not tell them", "\(error)")
      return finding(counts, transactions)
    }
    // Every version of Kafka reports settings.
    let version = try transactions.get()
    let complaints = topics.complaints(about: settings.compactMapValues { try? $0.get() })
    guard complaints.isEmpty else { throw TopicCheck.Failure(description: complaints.joined(separator: "; ")) }
    return Finding(counts: counts, transactions: version)
  }

  /// The result for a broker that does not report topic settings. It is embedded if it also lacks the transactions.
  private func finding(
    _ counts: [Topic: Int32], _ transactions: Result<TransactionVersion, TransactionalProducerError>
  ) -> Finding {
    if case .failure(let refusal) = transactions {
      tell("transactions are librdkafka's, as with an embedded broker", "\(refusal)")
    }
    return Finding(counts: counts, transactions: try? transactions.get())
  }
}
