import CLibrdkafka
import Synchronization

/// librdkafka's mock cluster: brokers inside this process, listening on 127.0.0.1 for any client.
///
/// Use it for the demo, and to test error paths and rebalances. It does not isolate transactions, commit offsets in them, fence producers,
/// look up offsets by time, answer admin requests or support static membership, so guarantees across crashes need a ``LocalBroker``.
///
/// It keeps at most 5 MiB or 100,000 batches of a partition. A topic that a client names and that does not exist is created with 4
/// partitions.
public final class EmbeddedBroker: Sendable {
  /// A type of request that can be refused. The raw value is its API key in Kafka's protocol.
  public enum Request: Int16, Sendable {
    case fetch = 1
    case addPartitionsToTransaction = 24
  }

  /// The addresses of the brokers.
  public let bootstrapServers: String
  /// The number of brokers. Their ids start at 1.
  public let brokers: Int
  private let state: Mutex<(cluster: OpaqueBits, client: Client)?>

  /// Starts brokers on ports that the system chooses.
  public init(brokers: Int = 1) throws(KafkaError) {
    let operation = "start embedded broker"
    // The client only hosts the cluster: it connects to no brokers and logs nothing.
    let configuration = ClientConfiguration(bootstrapServers: "", properties: ["log_level": "0"])
    let client = try Client(
      RD_KAFKA_PRODUCER, configuration, callbacks: ClientCallbacks(name: "embedded-broker", log: nil))
    guard let cluster = rd_kafka_mock_cluster_new(client.pointer, Int32(clamping: brokers)),
      let servers = rd_kafka_mock_cluster_bootstraps(cluster)
    else { throw KafkaError(operation, RD_KAFKA_RESP_ERR__FAIL, reason: "\(brokers) brokers could not be started") }
    self.brokers = brokers
    bootstrapServers = String(cString: servers)
    state = Mutex((OpaqueBits(cluster), client))
  }

  deinit { close() }

  /// Creates a topic, with leaders spread over the brokers.
  public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
    try call("create topic \"\(name)\"") {
      rd_kafka_mock_topic_create($0, name, Int32(clamping: partitions), Int32(clamping: min(brokers, 3)))
    }
  }

  /// Answers metadata requests for a topic with an error, as Kafka does for a topic that does not exist. Without this call they create it.
  public func hideTopic(_ name: String) throws(KafkaError) {
    try call("hide topic \"\(name)\"") {
      rd_kafka_mock_topic_set_error($0, name, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
      return RD_KAFKA_RESP_ERR_NO_ERROR
    }
  }

  /// Answers the next requests of a type with these error codes (`rd_kafka_resp_err_t`), one each. 0 is no error.
  public func pushRequestErrors(_ request: Request, _ codes: [Int32]) throws(KafkaError) {
    try call("push request errors") {
      rd_kafka_mock_push_request_errors_array($0, request.rawValue, codes.count, codes.map { rd_kafka_resp_err_t($0) })
      return RD_KAFKA_RESP_ERR_NO_ERROR
    }
  }

  /// Closes a broker's connections and refuses new ones.
  public func brokerDown(_ broker: Int = 1) throws(KafkaError) {
    try call("take a broker down") { rd_kafka_mock_broker_set_down($0, Int32(clamping: broker)) }
  }

  /// Accepts connections to a broker again.
  public func brokerUp(_ broker: Int = 1) throws(KafkaError) {
    try call("bring a broker up") { rd_kafka_mock_broker_set_up($0, Int32(clamping: broker)) }
  }

  /// Makes a broker the leader of a partition.
  public func setLeader(_ broker: Int, of place: TopicPartition) throws(KafkaError) {
    try call("set a leader") {
      rd_kafka_mock_partition_set_leader($0, place.topic, place.partition, Int32(clamping: broker))
    }
  }

  /// Stops the brokers and discards their data.
  public func close() {
    let ending = state.withLock { state in
      defer { state = nil }
      return state
    }
    if let ending { rd_kafka_mock_cluster_destroy(ending.cluster.pointer) }
  }

  private func call(_ operation: String, _ body: (OpaquePointer) -> rd_kafka_resp_err_t) throws(KafkaError) {
    let code = state.withLock { $0.map { body($0.cluster.pointer) } }
    guard let code else { throw .closed(operation) }
    try KafkaError.check(operation, code)
  }
}
