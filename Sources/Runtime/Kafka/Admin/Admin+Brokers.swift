import CLibrdkafka

extension Admin {
  /// A broker of the cluster.
  public struct Broker: Sendable, Equatable {
    public var id: Int32
    /// Where clients reach it, as `host:port`.
    public var address: String
  }

  /// The brokers that are up.
  public func brokers(timeout: Duration) throws(KafkaError) -> [Broker] {
    try Metadata("list brokers", client: client.pointer, topic: nil, timeout: timeout).brokers.map {
      Broker(id: $0.id, address: "\($0.host):\($0.port)")
    }
  }

  /// The effective configuration of a broker, including defaults.
  public func describeBrokerConfiguration(_ id: Int32, timeout: Duration) throws(KafkaError) -> [String: String] {
    let found = try describeConfigurations(RD_KAFKA_RESOURCE_BROKER, [String(id)], timeout: timeout)
    guard let result = found[String(id)] else {
      throw .invalid("describe broker \(id)", "the answer does not name it")
    }
    return try result.get()
  }
}

public enum KafkaLibrary {
  /// Such as `2.0.2`.
  public static var version: String { rd_kafka_version_str().map { String(cString: $0) } ?? "unknown" }
  /// Such as `0x020002ff`: a byte each for major, minor and revision, and the pre-release number.
  public static var versionNumber: Int32 { rd_kafka_version() }
}
