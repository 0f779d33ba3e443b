/// The brokers of a list such as `kafka-1:9092,SSL://kafka-2:9093`, as librdkafka reads it: with commas or blanks between
/// them. A protocol before an address does not count. The port is 9092 unless it is named.
///
/// librdkafka accepts any number as a port, and connects to the number's lowest 16 bits. So programs check a list before
/// they pass it on.
public struct BrokerList: Sendable, Equatable {
  /// A broker's address.
  public struct Broker: Sendable, Equatable {
    /// The name or IP address, without brackets.
    public var host: String
    /// From 1 to 65535.
    public var port: UInt16
  }

  /// Why a text is not a list of brokers, with the part of it.
  public enum Fault: Error, Sendable, Equatable {
    /// The text has no address.
    case empty
    /// An address has no port from 1 to 65535.
    case port(String)
    /// An address has no host.
    case host(String)
    /// The protocol before an address is not one of Kafka's.
    case scheme(String)
  }

  /// The brokers in the order of the list, at least one.
  public let brokers: [Broker]

  private static let schemes = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]
  private static let defaultPort: UInt16 = 9092

  /// Reads a list.
  public init(_ list: String) throws(Fault) {
    var brokers: [Broker] = []
    for part in list.split(whereSeparator: { $0 == "," || $0 == " " }) { brokers.append(try Self.broker(part)) }
    guard !brokers.isEmpty else { throw .empty }
    self.brokers = brokers
  }

  private static func broker(_ part: Substring) throws(Fault) -> Broker {
    var text = part
    if let scheme = text.firstRange(of: "://") {
      guard schemes.contains(text[..<scheme.lowerBound].lowercased()) else { throw .scheme(String(part)) }
      text = text[scheme.upperBound...]
    }
    var host = text
    var port = defaultPort
    // A colon within brackets, or one of several, belongs to an IPv6 address.
    if let colon = text.lastIndex(of: ":"), text.last != "]",
      text.first == "[" || text.firstIndex(of: ":") == colon
    {
      let digits = text[text.index(after: colon)...]
      guard digits.allSatisfy(\.isASCIIDigit), let number = UInt16(digits), number > 0 else {
        throw .port(String(part))
      }
      (host, port) = (text[..<colon], number)
    }
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw .host(String(part)) }
    return Broker(host: String(host), port: port)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
