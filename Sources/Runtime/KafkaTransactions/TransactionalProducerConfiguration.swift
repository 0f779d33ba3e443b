import OAuthBearer
import PeerSockets

/// The configuration of a transactional producer, from librdkafka's properties, so that operators set them once for all clients.
public struct TransactionalProducerConfiguration: Sendable {
  var bootstrap: [BrokerAddress]
  var client = "nudge"
  /// Absent for connections without encryption.
  var tls: TLSSettings?
  /// Absent for connections without a login.
  var credentials: SASLCredentials?
  /// How long a transaction may be open before the coordinator aborts it.
  var transactionTimeout: Duration = .seconds(5)
  /// The time-out of one request, including the connection.
  var requestTimeout: Duration = .seconds(5)
  /// The version of transactions to require. Absent to use the latest that the cluster has.
  public var transactionVersion: TransactionVersion?
  /// The largest request in bytes. Larger ones are split.
  var maxRequestBytes = 16 << 20
  /// The compression. lz4 reduces batches to a sixth to a thirteenth, which costs both sides less than transferring the rest.
  var compression: Compression = .lz4
  /// Notices about properties that this client knows but ignores, with the reason.
  public private(set) var notices: [String] = []

  /// Reads properties and ignores those of other clients.
  ///
  /// - Parameters:
  ///   - bootstrapServers: A `host:port` list.
  ///   - properties: The properties in order. The last value of a name counts.
  /// - Throws: `refused`, with the property and the remedy, if a value is invalid or not supported.
  public init(bootstrapServers: String, properties: [(name: String, value: String)] = [])
    throws(TransactionalProducerError)
  {
    var values: [String: String] = ["bootstrap.servers": bootstrapServers]
    for (name, value) in properties { values[Self.aliases[name] ?? name] = value }
    bootstrap = try Self.addresses(values["bootstrap.servers"] ?? "")
    if let id = values["client.id"], !id.isEmpty { client = id }
    if let value = values["transaction.timeout.ms"] {
      transactionTimeout = .milliseconds(try Self.milliseconds("transaction.timeout.ms", value))
    }
    if let value = values["socket.timeout.ms"] {
      requestTimeout = min(requestTimeout, .milliseconds(try Self.milliseconds("socket.timeout.ms", value)))
    }
    for name in Self.unsupported where values[name].map({ !$0.isEmpty }) ?? false {
      throw Self.refusal(name, "transactions do not support it; \(Self.fixes[name] ?? "remove it")")
    }
    switch values["compression.type"]?.lowercased() {
    case nil, "lz4": compression = .lz4
    case "none": compression = .none
    case .some(let codec):
      notices.append("compression.type=\(codec) is not supported for transactions: they are compressed with lz4")
    }
    let (isEncrypted, hasLogin) = try Self.protocolParts(values["security.protocol"] ?? "plaintext")
    if isEncrypted { tls = try Self.tls(values) }
    if hasLogin { credentials = try Self.credentials(values) }
  }

  private static let aliases = [
    "metadata.broker.list": "bootstrap.servers", "sasl.mechanism": "sasl.mechanisms",
    "compression.codec": "compression.type",
  ]

  /// Properties that must not be ignored, because an operator who sets one relies on it.
  private static let unsupported = [
    "ssl.keystore.location", "ssl.crl.location", "ssl.curves.list", "ssl.sigalgs.list", "ssl.engine.location",
    "ssl.providers", "plugin.library.paths",
  ]
  private static let fixes = [
    "ssl.keystore.location": "give certificate and key in PEM: ssl.certificate.location and ssl.key.location"
  ]

  private static func refusal(_ property: String, _ reason: String) -> TransactionalProducerError {
    TransactionalProducerError(.refused, "configure transactions", "\(property): \(reason)")
  }

  private static func addresses(_ list: String) throws(TransactionalProducerError) -> [BrokerAddress] {
    do throws(BrokerList.Fault) {
      return try BrokerList(list).brokers.map { BrokerAddress(host: $0.host, port: Int32($0.port)) }
    } catch {
      let reason =
        switch error {
        case .empty: "it names no broker"
        case .port(let part): "\"\(part)\" has no port between 1 and 65535"
        case .host(let part): "\"\(part)\" names no host"
        case .scheme(let part): "\"\(part)\" begins with a protocol that is not Kafka's"
        }
      throw refusal("bootstrap.servers", reason)
    }
  }

  private static func milliseconds(_ name: String, _ value: String) throws(TransactionalProducerError) -> Int64 {
    guard let number = Int32(value), number > 0 else {
      throw refusal(name, "\"\(value)\" is not a number of milliseconds")
    }
    return Int64(number)
  }

  private static func protocolParts(_ name: String) throws(TransactionalProducerError) -> (
    isEncrypted: Bool, hasLogin: Bool
  ) {
    switch name.lowercased() {
    case "plaintext": return (false, false)
    case "ssl": return (true, false)
    case "sasl_plaintext": return (false, true)
    case "sasl_ssl": return (true, true)
    default:
      throw refusal("security.protocol", "\"\(name)\" is none of plaintext, ssl, sasl_plaintext, sasl_ssl")
    }
  }

  private static func tls(_ values: [String: String]) throws(TransactionalProducerError) -> TLSSettings {
    func flag(_ name: String) throws(TransactionalProducerError) -> Bool {
      switch values[name]?.lowercased() {
      case nil, "true", "t", "1": return true
      case "false", "f", "0": return false
      case .some(let value): throw refusal(name, "\"\(value)\" is neither true nor false")
      }
    }
    var settings = TLSSettings()
    settings.authorities = TLSSettings.Source(values, text: "ssl.ca.pem", file: "ssl.ca.location")
    settings.certificate = TLSSettings.Source(values, text: "ssl.certificate.pem", file: "ssl.certificate.location")
    settings.key = TLSSettings.Source(values, text: "ssl.key.pem", file: "ssl.key.location")
    settings.keyPassword = values["ssl.key.password"]
    settings.cipherSuites = values["ssl.cipher.suites"]
    settings.verifiesPeer = try flag("enable.ssl.certificate.verification")
    switch values["ssl.endpoint.identification.algorithm"]?.lowercased() {
    case nil, "https": settings.verifiesHost = true
    case "none", "": settings.verifiesHost = false
    case .some(let value):
      throw refusal("ssl.endpoint.identification.algorithm", "\"\(value)\" is neither https nor none")
    }
    if settings.key != nil && settings.certificate == nil {
      throw refusal("ssl.key.location", "ssl.certificate.location is missing")
    }
    return settings
  }

  private static func credentials(_ values: [String: String]) throws(TransactionalProducerError) -> SASLCredentials {
    let mechanism = values["sasl.mechanisms"] ?? "GSSAPI"
    func secret(_ name: String) throws(TransactionalProducerError) -> String {
      guard let value = values[name], !value.isEmpty else { throw refusal(name, "\(mechanism) needs it") }
      return value
    }
    switch mechanism.uppercased() {
    case "PLAIN": return .plain(user: try secret("sasl.username"), password: try secret("sasl.password"))
    case "SCRAM-SHA-256":
      return .scram(.sha256, user: try secret("sasl.username"), password: try secret("sasl.password"))
    case "SCRAM-SHA-512":
      return .scram(.sha512, user: try secret("sasl.username"), password: try secret("sasl.password"))
    case "OAUTHBEARER": return .bearer(try bearer(values))
    default:
      throw refusal(
        "sasl.mechanisms",
        "\(mechanism) is not supported for transactions; use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, or certificates "
          + "(security.protocol=ssl)")
    }
  }

  private static func bearer(_ values: [String: String]) throws(TransactionalProducerError) -> BearerTokenSource {
    do throws(BearerTokenError) {
      if let settings = try BearerTokenSettings(properties: values.map { ($0.key, $0.value) }) {
        return BearerTokenSource(settings)
      }
    } catch {
      throw refusal(error.property ?? "sasl.mechanisms", error.reason)
    }
    throw refusal("sasl.mechanisms", "OAUTHBEARER is for security.protocol=sasl_ssl")
  }
}
