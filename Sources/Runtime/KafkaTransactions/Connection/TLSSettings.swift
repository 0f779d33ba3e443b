/// How connections are encrypted, by librdkafka's names.
struct TLSSettings: Equatable, Sendable {
  /// PEM, or where it is.
  enum Source: Equatable, Sendable {
    case text(String)
    case file(String, property: String)

    /// What two of librdkafka's properties say: the PEM itself, or else where it is. nil: neither does.
    init?(_ properties: [String: String], text: String, file: String) {
      if let value = properties[text], !value.isEmpty {
        self = .text(value)
      } else if let path = properties[file], !path.isEmpty, path != "probe" {
        self = .file(path, property: file)
      } else {
        return nil
      }
    }
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
