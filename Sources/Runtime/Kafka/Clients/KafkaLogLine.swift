/// A line of librdkafka's log.
public struct KafkaLogLine: Sendable, CustomStringConvertible {
  /// Syslog's severity, 0 (emergency) to 7 (debug); 3 is an error, 4 a warning, 6 information.
  public let level: Int
  /// librdkafka's facility, such as `FAIL` or `REBALANCE`; `ERROR` for reports of its error callback.
  public let facility: String
  public let message: String
  /// The name of the client that wrote the line.
  public let client: String

  public init(level: Int, facility: String, message: String, client: String) {
    self.level = level
    self.facility = facility
    self.message = message
    self.client = client
  }

  /// In the form `client: FAIL: message`.
  public var description: String { "\(client): \(facility): \(message)" }
}
