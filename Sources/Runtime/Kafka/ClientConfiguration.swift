import CLibrdkafka
import OAuthBearer

/// librdkafka's properties for one client, in order. The last value of a name counts.
public struct ClientConfiguration: Sendable, CustomStringConvertible {
  /// A property's name and value.
  public typealias Property = (name: String, value: String)

  /// Properties from settings, in the order of their names.
  public static func inOrder(_ properties: [String: String]) -> [Property] {
    properties.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }

  /// The properties, each name once, in the order of the first setting.
  public private(set) var properties: [Property]

  /// - Parameter bootstrapServers: A `host:port` list, set before the properties.
  public init(bootstrapServers: String, properties: KeyValuePairs<String, String> = [:]) {
    self.properties = [("bootstrap.servers", bootstrapServers)]
    for (name, value) in properties { set(name, value) }
  }

  /// - Parameter bootstrapServers: A `host:port` list, set before the properties.
  public init(bootstrapServers: String, properties: [Property]) {
    self.properties = [("bootstrap.servers", bootstrapServers)]
    for (name, value) in properties { set(name, value) }
  }

  /// Sets a property. librdkafka checks it when a client is created.
  public mutating func set(_ name: String, _ value: String) {
    if let index = properties.firstIndex(where: { $0.name == name }) {
      properties[index].value = value
    } else {
      properties.append((name, value))
    }
  }

  /// The value of a property, if it was set.
  public subscript(_ name: String) -> String? { properties.first { $0.name == name }?.value }

  /// A copy with these properties set, such as the operator's over the program's defaults.
  public func merging(overrides: [Property]) -> ClientConfiguration {
    var copy = self
    for (name, value) in overrides { copy.set(name, value) }
    return copy
  }

  /// All properties as `name=value`, secrets as `***`.
  public var description: String {
    properties.map { "\($0.name)=\(Self.isSecret($0.name) ? "***" : $0.value)" }.joined(separator: " ")
  }

  /// Whether a property's value must never be shown.
  public static func isSecret(_ name: String) -> Bool {
    let isPublicLogin = name.hasPrefix("sasl.mechanism") || name == "sasl.kerberos.service.name"
    return (name.hasPrefix("sasl.") && !isPublicLogin) || name.hasPrefix("ssl.key.") || name.hasSuffix("password")
      || name.hasSuffix("secret") || name.hasSuffix(".pem") || name.contains("assertion")
  }
}

// The configuration of Nudge's clients.
extension ClientConfiguration {
  /// A consumer that reads only committed records and gets its offsets from its owner.
  ///
  /// - Parameters:
  ///   - group: The consumer group; `nil` for a consumer that assigns itself.
  ///   - instance: `group.instance.id` of a static member, whose restart within the session time-out causes no rebalance.
  ///   - reportsEndOfPartition: Enables ``Consumer/Event/endOfPartition(_:offset:)``.
  public static func consumer(
    bootstrapServers: String, group: String?, instance: String? = nil, reportsEndOfPartition: Bool = false
  ) -> ClientConfiguration {
    var it = ClientConfiguration(bootstrapServers: bootstrapServers, properties: commonProperties)
    // librdkafka refuses to poll without a group. A group that never subscribes or commits leaves no trace.
    it.set("group.id", group ?? noGroup)
    if let instance { it.set("group.instance.id", instance) }
    it.set("enable.auto.commit", "false")
    it.set("enable.auto.offset.store", "false")
    it.set("isolation.level", "read_committed")
    // The owner sets the offsets and must learn of an offset out of range: it is a gap.
    it.set("auto.offset.reset", "error")
    // cooperative-sticky loses partitions and hangs in 2.0.2. range assigns equal partition numbers of all topics to one member.
    it.set("partition.assignment.strategy", "range")
    // Arriving data ends the wait at once. This bounds how long a newly assigned partition waits for the fetch request in flight
    // to its broker.
    it.set("fetch.wait.max.ms", "50")
    // When the queue is full, 2.0.2 stops fetching for 1 s: the queue must hold more than a second of peak load.
    it.set("queued.min.messages", "100000")
    it.set("queued.max.messages.kbytes", "8192")
    // A response may exceed the queue's limit by this much for each partition, compressed: text grows tenfold. A single batch may be
    // larger.
    it.set("fetch.message.max.bytes", "131072")
    it.set("enable.partition.eof", reportsEndOfPartition ? "true" : "false")
    return it
  }

  /// The group of a consumer that assigns itself.
  static let noGroup = "no-group"

  /// A producer. It is transactional if an id is given.
  public static func producer(bootstrapServers: String, transactionalID: String?) -> ClientConfiguration {
    var it = ClientConfiguration(bootstrapServers: bootstrapServers, properties: commonProperties)
    it.set("enable.idempotence", "true")
    it.set("linger.ms", "1")
    it.set("batch.num.messages", "100000")
    it.set("queue.buffering.max.messages", "1000000")
    it.set("queue.buffering.max.kbytes", "262144")
    // Java's default; librdkafka's is CRC32.
    it.set("partitioner", "murmur2_random")
    // A sixth to a thirteenth of the bytes, and less CPU on both sides than without compression (docs/decisions/0023-lz4.md).
    it.set("compression.type", "lz4")
    if let transactionalID {
      it.set("transactional.id", transactionalID)
      // A transaction ends with a flush, which does not linger (rd_kafka_flush). Until then records are gathered, so that a
      // partition's records go in one request instead of one a millisecond.
      it.set("linger.ms", "50")
      // A hanging transaction blocks every read_committed reader of its partitions.
      it.set("transaction.timeout.ms", "5000")
      // Not longer than `transaction.timeout.ms`.
      it.set("socket.timeout.ms", "5000")
      // AddOffsetsToTxn directly after a commit gets CONCURRENT_TRANSACTIONS and is retried after this time.
      it.set("retry.backoff.ms", "2")
    }
    return it
  }

  private static let commonProperties: [Property] = [
    ("socket.nagle.disable", "true"),
    ("socket.keepalive.enable", "true"),
    // librdkafka's values are 60 s and 30 s, which apply to each of several requests that wait for each other. `PeerSockets` ends a
    // connection that died in silence sooner.
    ("socket.timeout.ms", "6000"),
    ("socket.connection.setup.timeout.ms", "6000"),
    // Reconnect to a broker within a second. librdkafka's own value is ten.
    ("reconnect.backoff.max.ms", "1000"),
  ]
}

extension ClientConfiguration {
  /// Makes the source of tokens. Absent if the login uses none.
  func makeTokenSource() throws(KafkaError) -> BearerTokenSource? {
    do throws(BearerTokenError) {
      return try BearerTokenSettings(properties: properties).map { BearerTokenSource($0) }
    } catch {
      throw .invalid("configure property \"\(error.property ?? "sasl.mechanisms")\"", error.reason)
    }
  }

  /// A new `rd_kafka_conf_t` with these properties, which the caller owns.
  func makeC() throws(KafkaError) -> OpaquePointer {
    guard let configuration = rd_kafka_conf_new() else {
      throw KafkaError("configure", RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE)
    }
    var text = [CChar](repeating: 0, count: 512)
    for (name, value) in properties where !BearerTokenSettings.owns(name) {
      guard rd_kafka_conf_set(configuration, name, value, &text, text.count) != RD_KAFKA_CONF_OK else { continue }
      rd_kafka_conf_destroy(configuration)
      // librdkafka's explanation contains the value.
      let reason = Self.isSecret(name) ? "its value (a secret, not shown) is not accepted" : text.string
      throw .invalid("configure property \"\(name)\"", reason)
    }
    return configuration
  }
}
