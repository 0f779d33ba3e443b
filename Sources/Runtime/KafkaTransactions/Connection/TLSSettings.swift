/// The encryption of connections, from librdkafka's properties.
struct TLSSettings: Equatable, Sendable {
  /// PEM text, or a file with it.
  enum Source: Equatable, Sendable {
    case text(String)
    case file(String, property: String)

    /// From two of librdkafka's properties: the PEM text, or else the file. Nil if neither is set.
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

  /// Trusted authorities: a file, or a folder in OpenSSL's format; nil for the system's.
  var authorities: Source?
  /// The client's certificate, with intermediate certificates.
  var certificate: Source?
  var key: Source?
  var keyPassword: String?
  var verifiesPeer = true
  var verifiesHost = true
  /// For TLS up to 1.2.
  var cipherSuites: String?
}
