internal import COpenSSL

/// The principal of a client with a certificate.
public enum CertificateSubject {
  /// The subject of a client's certificate, as Kafka's brokers write it (`CN=nudge,OU=chat,O=Example`), by the client's
  /// properties `ssl.certificate.pem` or `ssl.certificate.location`; nil if there is none, it is unreadable, or it has
  /// attributes that Java writes with numbers instead of names, such as `emailAddress`.
  public static func ofClient(_ properties: [String: String]) -> String? {
    let source = TLSSettings.Source(properties, text: "ssl.certificate.pem", file: "ssl.certificate.location")
    guard let source, let certificates = try? TLSContext.certificates(in: source) else { return nil }
    defer { for certificate in certificates { X509_free(certificate) } }
    // The client's certificate comes first, then the certificates of its authorities.
    guard let name = X509_get_subject_name(certificates.first), hasKnownParts(name),
      let bio = BIO_new(BIO_s_mem())
    else { return nil }
    defer { BIO_free(bio) }
    guard nudge_x509_name_print(bio, name) >= 0 else { return nil }
    var bytes: UnsafeMutablePointer<CChar>?
    let count = nudge_bio_contents(bio, &bytes)
    guard let bytes, count > 0 else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Whether OpenSSL and Java use the same name for each attribute.
  private static func hasKnownParts(_ name: OpaquePointer) -> Bool {
    let known: Set<Int32> = [
      NID_commonName, NID_countryName, NID_organizationName, NID_organizationalUnitName, NID_localityName,
      NID_stateOrProvinceName, NID_domainComponent, NID_userId,
    ]
    return (0..<X509_NAME_entry_count(name)).allSatisfy {
      known.contains(OBJ_obj2nid(X509_NAME_ENTRY_get_object(X509_NAME_get_entry(name, $0))))
    }
  }
}
