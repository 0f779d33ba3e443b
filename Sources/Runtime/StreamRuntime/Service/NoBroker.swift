public import Kafka
public import ServiceKit

/// No broker answers. The text is for operators.
public struct NoBroker: ExitCodeError, CustomStringConvertible {
  /// For a command.
  public var exitCode: Int32 { ExitCode.noBroker }
  /// One line: the address, the time, the reason, and the settings to check.
  public let description: String

  init(_ servers: String, _ patience: Duration, _ error: KafkaError) {
    description =
      (error.isRefusedConnection
        ? "no connection to the brokers at \(servers)"
        : "no broker answered at \(servers) within \(patience.components.seconds) s")
      + " (\(Self.reason(error))): \(Self.mend(error))"
  }

  /// The reason in one line.
  public static func reason(_ error: KafkaError) -> String {
    "\(error.name): \(error.reason.split(whereSeparator: \.isNewline).joined(separator: " "))"
  }

  /// The settings to check.
  public static func mend(_ error: KafkaError) -> String {
    if error.isLoginRefused { return "look at sasl.username, sasl.password and sasl.mechanism among --kafka-property" }
    if error.isTLSFailure { return "look at ssl.ca.location, and at ssl.* as a whole, among --kafka-property" }
    return
      "look at --bootstrap-servers (NUDGE_KAFKA_BOOTSTRAP_SERVERS), and at --kafka-property where the brokers want TLS or SASL"
  }
}

extension Admin {
  /// Waits for a broker, and returns all topics with their partition counts.
  /// - Parameter servers: the value of `--bootstrap-servers`.
  /// - Throws: ``NoBroker`` if none answers in time.
  public func topics(within patience: Duration, at servers: String) throws(NoBroker) -> [String: Int] {
    let end = ContinuousClock.now + patience
    while true {
      let rest = ContinuousClock.now.duration(to: end)
      do throws(KafkaError) {
        return try listTopics(timeout: min(rest, .seconds(1)))
      } catch {
        let why = connectionFailure ?? error
        // A refusal is final; a broker that is down may come back.
        guard error.isTimedOut || error.isCoordinatorLoss, !why.isRefusedConnection, ContinuousClock.now < end else {
          throw NoBroker(servers, patience, why)
        }
      }
    }
  }
}
