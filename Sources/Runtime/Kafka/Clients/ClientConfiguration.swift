import CLibrdkafka
import OAuthBearer

/// Properties for one client, in order; the last value of a name wins. Names and values are librdkafka's.
public struct ClientConfiguration: Sendable, CustomStringConvertible {
  /// A property's name and value.
  public typealias Property = (name: String, value: String)

  /// What was set, each name once, in the order it was first set.
  public private(set) var properties: [Property]

  /// `host:port` list, and properties that are set after it.
  public init(bootstrapServers: String, properties: KeyValuePairs<String, String> = [:]) {
    self.properties = [("bootstrap.servers", bootstrapServers)]
    for (name, value) in properties { set(name, value) }
  }

  /// `host:port` list, and properties that are set after it.
  public init(bootstrapServers: String, properties: [Property]) {
    self.properties = [("bootstrap.servers", bootstrapServers)]
    for (name, value) in properties { set(name, value) }
  }

  /// Sets a property. Whether librdkafka knows it shows when a client is made.
  public mutating func set(_ name: String, _ value: String) {
    if let index = properties.firstIndex(where: { $0.name == name }) {
      properties[index].value = value
    } else {
      properties.append((name, value))
    }
  }

  /// The value of a property, if it was set.
  public subscript(_ name: String) -> String? { properties.first { $0.name == name }?.value }

  /// A copy in which these properties have been set too: an operator's wishes over a program's defaults.
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
    name.hasPrefix("ssl.key.") || name.hasSuffix("password") || name.hasSuffix("secret") || name.hasSuffix(".pem")
      || name == "sasl.oauthbearer.config"
  }
}

// What every client of ours needs, and why.
extension ClientConfiguration {
  /// A consumer that reads committed records only and is told its offsets by its owner.
  ///
  /// - Parameters:
  ///   - group: the consumer group; `nil` for a consumer that only ever assigns itself.
  ///   - instance: `group.instance.id`: a static member, whose restart within the session time-out causes no rebalance.
  ///   - reportsEndOfPartition: ask for ``Consumer/Event/endOfPartition(_:offset:)``.
  public static func consumer(
    bootstrapServers: String, group: String?, instance: String? = nil, reportsEndOfPartition: Bool = false
  ) -> ClientConfiguration {
    var it = ClientConfiguration(bootstrapServers: bootstrapServers, properties: commonProperties)
    // librdkafka refuses to poll without a group; one that never subscribes and never commits leaves no trace.
    it.set("group.id", group ?? noGroup)
    if let instance { it.set("group.instance.id", instance) }
    it.set("enable.auto.commit", "false")
    it.set("enable.auto.offset.store", "false")
    it.set("isolation.level", "read_committed")
    // Offsets are given by the owner. One that is out of range is a gap the owner must know of.
    it.set("auto.offset.reset", "error")
    // cooperative-sticky loses and hangs in 2.0.2; range keeps the same numbers of all topics together.
    it.set("partition.assignment.strategy", "range")
    // Data that arrives ends the wait at once; what it bounds is how long a newly assigned partition waits for the
    // request that is under way to its broker.
    it.set("fetch.wait.max.ms", "50")
    // Once the queue is full, 2.0.2 stops fetching for 1 s: it must hold more than a second of peak.
    it.set("queued.min.messages", "100000")
    it.set("queued.max.messages.kbytes", "8192")
    // What an answer brings of each partition comes on top of the queue's bound, and is compressed: text grows tenfold. A
    // batch that is larger comes all the same, one at a time.
    it.set("fetch.message.max.bytes", "131072")
    it.set("enable.partition.eof", reportsEndOfPartition ? "true" : "false")
    return it
  }

  /// The group of a consumer that belongs to none.
  static let noGroup = "no-group"

  /// A producer; a transactional one where an id is given.
  public static func producer(bootstrapServers: String, transactionalID: String?) -> ClientConfiguration {
    var it = ClientConfiguration(bootstrapServers: bootstrapServers, properties: commonProperties)
    it.set("enable.idempotence", "true")
    it.set("linger.ms", "1")
    it.set("batch.num.messages", "100000")
    it.set("queue.buffering.max.messages", "1000000")
    it.set("queue.buffering.max.kbytes", "262144")
    // As Java's default; librdkafka's own is CRC32.
    it.set("partitioner", "murmur2_random")
    // A sixth to a thirteenth of the bytes, and less CPU on both sides than without (docs/decisions/0023-lz4.md).
    it.set("compression.type", "lz4")
    if let transactionalID {
      it.set("transactional.id", transactionalID)
      // A transaction ends in a flush, which does not linger (rd_kafka_flush): until then what it writes is gathered, and
      // a partition's records go in one request, not in one a millisecond.
      it.set("linger.ms", "50")
      // A hung transaction holds back every reader of its partitions.
      it.set("transaction.timeout.ms", "5000")
      // AddOffsetsToTxn straight after a commit is answered CONCURRENT_TRANSACTIONS and repeated after this long.
      it.set("retry.backoff.ms", "2")
    }
    return it
  }

  private static let commonProperties: [Property] = [
    ("socket.nagle.disable", "true"),
    ("socket.keepalive.enable", "true"),
    // A broker that comes back should be found within a second, not within librdkafka's ten.
    ("reconnect.backoff.max.ms", "1000"),
  ]
}

extension ClientConfiguration {
  /// Where tokens come from; nil: the login is another one.
  func makeTokenSource() throws(KafkaError) -> BearerTokenSource? {
    do throws(BearerTokenError) {
      return try BearerTokenSettings(properties: properties).map { BearerTokenSource($0) }
    } catch {
      throw .invalid("configure property \"\(error.property ?? "sasl.mechanisms")\"", error.reason)
    }
  }

  /// A new `rd_kafka_conf_t` with these properties; the caller owns it.
  func makeC() throws(KafkaError) -> OpaquePointer {
    guard let configuration = rd_kafka_conf_new() else {
      throw KafkaError("configure", RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE)
    }
    var text = [CChar](repeating: 0, count: 512)
    for (name, value) in properties where !BearerTokenSettings.owns(name) {
      guard rd_kafka_conf_set(configuration, name, value, &text, text.count) != RD_KAFKA_CONF_OK else { continue }
      rd_kafka_conf_destroy(configuration)
      // librdkafka repeats the value in its explanation.
      let reason = Self.isSecret(name) ? "its value (a secret, not shown) is not accepted" : text.string
      throw .invalid("configure property \"\(name)\"", reason)
    }
    return configuration
  }
}
