import NudgeSchema
import Testing

@testable import Kafka
@testable import KafkaTransactions
@testable import StreamRuntime

/// A cluster that answers as it is told to, and notes what it was asked. One thread uses it.
private final class FakeCluster: ClusterUnderCheck {
  typealias Settings = Result<[String: Result<[String: String], KafkaError>], KafkaError>

  private(set) var asked: [String] = []
  var hasController = true
  /// Its answers, in order. After the last one every answer is good.
  var settings: [Settings] = []
  var transactions: [TransactionalProducerError?] = []
  /// Called at each question.
  var onAsk: (String) -> Void = { _ in }
  let topics: [Topic]

  init(_ topics: [Topic]) { self.topics = topics }

  private func note(_ question: String) {
    asked.append(question)
    onAsk(question)
  }

  func waitForBroker() throws -> [String: Int]? {
    note("broker")
    return Dictionary(uniqueKeysWithValues: topics.map { ($0.rawValue, 3) })
  }

  func checkAccess() throws { note("access") }

  func settings(of names: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
    note("settings")
    if !settings.isEmpty { return try settings.removeFirst().get() }
    var all: [String: Result<[String: String], KafkaError>] = [:]
    for topic in topics where names.contains(topic.rawValue) {
      all[topic.rawValue] = .success(TopicPlan(topic).configuration)
    }
    return all
  }

  func checkTransactions() throws(TransactionalProducerError) -> TransactionVersion {
    note("transactions")
    if !transactions.isEmpty, let error = transactions.removeFirst() { throw error }
    return .one
  }

  func pause() { note("pause") }
}

@Suite("Checks of a cluster before a service's threads start")
struct ClusterCheckTests {
  private let stage = StageDefinition(
    name: "counting", inputs: [.timeline], outputs: [.decisions], changelog: .analyzerState)
  private let allWell = ["broker", "access", "transactions", "settings"]

  private func cluster() -> FakeCluster {
    FakeCluster(stage.inputs + stage.outputs + [stage.changelog, .deadLetters])
  }

  private func failure(_ code: Int32, _ name: String) -> KafkaError {
    KafkaError(operation: "describe topics", code: code, name: name, reason: "as told")
  }

  private func run(
    _ cluster: FakeCluster, isPatient: Bool = true, isStopping: @escaping () -> Bool = { false }
  ) throws -> ClusterCheck.Finding? {
    let topics = TopicCheck(stage: stage, topics: TopicNames(), freshness: 3_600_000)
    return try ClusterCheck(topics: topics, isPatient: isPatient, isStopping: isStopping, log: { _, _ in }).run(
      on: cluster)
  }

  @Test("a cluster that answers everything is asked once")
  func well() throws {
    let cluster = cluster()
    let finding = try run(cluster)
    #expect(
      finding
        == ClusterCheck.Finding(
          counts: Dictionary(uniqueKeysWithValues: cluster.topics.map { ($0, 3) }), transactions: .one))
    #expect(cluster.asked == allWell)
  }

  @Test("if a cluster stops answering, the check starts again, and does not take it for an embedded broker")
  func stopsAnswering() throws {
    let cluster = cluster()
    cluster.settings = [
      .failure(KafkaError(timedOut: "describe topics")),
      .failure(failure(-195, "_TRANSPORT")),
    ]
    cluster.transactions = [TransactionalProducerError(.passing, "connect", "refused")]
    #expect(try run(cluster)?.transactions != nil)
    #expect(
      cluster.asked == ["broker", "access", "transactions", "pause"] + allWell + ["pause"] + allWell + ["pause"]
        + allWell)
  }

  @Test("a check without a service reports that there was no answer")
  func check() throws {
    let settings = cluster()
    settings.settings = [.failure(KafkaError(timedOut: "describe topics"))]
    #expect(throws: ClusterCheck.Unanswered.self) { try run(settings, isPatient: false) }
    let transactions = cluster()
    transactions.transactions = [TransactionalProducerError(.passing, "connect", "refused")]
    #expect(throws: ClusterCheck.Unanswered.self) { try run(transactions, isPatient: false) }
  }

  @Test("a stop ends the check after the current request", arguments: 0..<8)
  func stop(_ question: Int) throws {
    let cluster = cluster()
    cluster.transactions = [TransactionalProducerError(.passing, "connect", "refused")]
    var isStopping = false
    cluster.onAsk = { _ in if cluster.asked.count == question + 1 { isStopping = true } }
    let finding = try run(cluster, isStopping: { isStopping })
    // The last request is still answered, and so is access, which follows the list of topics.
    #expect(question == 7 ? finding != nil : finding == nil)
    #expect(cluster.asked.count - (question + 1) <= 1, "\(cluster.asked)")
  }

  @Test(
    "a broker without controller or topic settings, and without the requests of transactions, is embedded")
  func embedded() throws {
    let refusal = TransactionalProducerError(.refused, "check the broker", "AddPartitionsToTxn in versions 0 to 0")
    let mock = cluster()
    mock.hasController = false
    mock.transactions = [refusal]
    #expect(try #require(try run(mock)).transactions == nil)
    #expect(mock.asked == ["broker", "transactions"])
    // librdkafka's mock cluster: it never answers.
    let silent = cluster()
    silent.settings = [.failure(KafkaError(timedOut: "describe topics"))]
    silent.transactions = [refusal]
    #expect(try #require(try run(silent)).transactions == nil)
    #expect(silent.asked == allWell)
    let restricted = cluster()
    restricted.settings = [.failure(failure(-165, "_UNSUPPORTED_FEATURE"))]
    #expect(try run(restricted)?.transactions != nil)
  }

  @Test("errors name the fix: Kafka without the transactions that are asked for, a wrong topic setting")
  func wrong() throws {
    let old = cluster()
    old.transactions = [TransactionalProducerError(.refused, "check the broker", "transaction.version is 1")]
    #expect(throws: TransactionalProducerError.self) { try run(old) }
    let compacted = cluster()
    compacted.settings = [.success([Topic.timeline.rawValue: .success(["cleanup.policy": "compact"])])]
    let failure = #expect(throws: TopicCheck.Failure.self) { try run(compacted) }
    #expect(failure?.description.contains("cleanup.policy=compact, needs delete") == true)
  }
}
