public import Kafka
public import ServiceKit

extension Logger {
  /// Facilities of lines that Nudge's own client writes.
  private static let ownFacilities: Set = ["MARKERS", "TRANSACTIONS"]

  /// Writes a line of a Kafka client's at the level it has there.
  public func write(_ line: KafkaLogLine) {
    let metadata: [String: LogValue] = ["client": .string(line.client), "facility": .string(line.facility)]
    // The operator's properties are given to consumers and producers alike; each warns of the other's.
    if line.facility == "CONFWARN" { return debug("librdkafka: \(line.message)", metadata) }
    // While a broker is away every client says so, again and again.
    let key = "\(line.client)/\(line.facility)"
    guard let logger = line.level > 6 ? self : limited(key, every: .seconds(5)) else { return }
    let message = Self.ownFacilities.contains(line.facility) ? line.message : "librdkafka: \(line.message)"
    switch line.level {
    case ...3: logger.error(message, metadata)
    case 4: logger.warning(message, metadata)
    case 5: logger.notice(message, metadata)
    case 6: logger.info(message, metadata)
    default: logger.debug(message, metadata)
    }
  }
}
