public import Kafka

/// No broker answers, as a command or a check says it to a person.
public struct NoBroker: Error, CustomStringConvertible {
  /// One line: where, for how long, why, and which settings say where and how.
  public let description: String

  init(_ servers: String, _ patience: Duration, _ error: KafkaError) {
    description =
      "no broker answered at \(servers) within \(patience.components.seconds) s (\(error.name): \(error.reason)): look at "
      + "--bootstrap-servers (NUDGE_KAFKA_BOOTSTRAP_SERVERS), and at --kafka-property where the brokers want TLS or SASL"
  }
}

extension Admin {
  /// All topics with their partition counts, once a broker answers.
  /// - Parameter servers: what `--bootstrap-servers` says.
  /// - Throws: ``NoBroker`` where none does within the time.
  public func topics(within patience: Duration, at servers: String) throws(NoBroker) -> [String: Int] {
    do throws(KafkaError) {
      return try listTopics(timeout: patience)
    } catch {
      throw NoBroker(servers, patience, error)
    }
  }
}
