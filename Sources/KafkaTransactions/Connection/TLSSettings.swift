/// How connections are encrypted, by librdkafka's names.
struct TLSSettings: Equatable, Sendable {
  /// PEM, or where it is.
  enum Source: Equatable, Sendable {
    case text(String)
    case file(String, property: String)
  }

  /// Whom to trust; nil: the system's authorities. A file, or a folder as OpenSSL has them.
  var authorities: Source?
  /// The client's certificate, with what stands between it and its authority.
  var certificate: Source?
  var key: Source?
  var keyPassword: String?
  var verifiesPeer = true
  var verifiesHost = true
  /// Of TLS up to 1.2.
  var cipherSuites: String?
}
