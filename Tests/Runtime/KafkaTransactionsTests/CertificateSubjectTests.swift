import Testing

@testable import KafkaTransactions

/// The names are what Java's `X500Principal.getName()` gives for these certificates: Kafka's users are called by it.
@Suite("The principal of a client certificate")
struct CertificateSubjectTests {
  @Test("the subject's parts in Java's order, with its escapes, and letters beyond ASCII as they are")
  func names() {
    // Made with openssl req -subj '/DC=example/C=CH/O=Größe, Inc./UID=n1/CN=a\+b'.
    let certificate = """
      -----BEGIN CERTIFICATE-----
      MIICFTCCAbugAwIBAgIUIO8H8X3LzPLoaml1AC0o53sOG7MwCgYIKoZIzj0EAwIw
      YDEXMBUGCgmSJomT8ixkARkWB2V4YW1wbGUxCzAJBgNVBAYTAkNIMRYwFAYDVQQK
      DA1HcsO2w59lLCBJbmMuMRIwEAYKCZImiZPyLGQBAQwCbjExDDAKBgNVBAMMA2Er
      YjAeFw0yNjExMjIyMTAwNDRaFw0zNjExMTkyMTAwNDRaMGAxFzAVBgoJkiaJk/Is
      ZAEZFgdleGFtcGxlMQswCQYDVQQGEwJDSDEWMBQGA1UECgwNR3LDtsOfZSwgSW5j
      LjESMBAGCgmSJomT8ixkAQEMAm4xMQwwCgYDVQQDDANhK2IwWTATBgcqhkjOPQIB
      BggqhkjOPQMBBwNCAAQyxcQOgMS0Rh0cyagXF0rF8TESs8A1aaiYTzCyMEZcF/YC
      P5Kfh0ufV+n4XOm6qXhI6sfUU3cPSwSvc7k8OBbvo1MwUTAdBgNVHQ4EFgQUheso
      X7rNqlzX5RwfRcrUlYNmTOcwHwYDVR0jBBgwFoAUhesoX7rNqlzX5RwfRcrUlYNm
      TOcwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAoxwmlJ9/IZhS
      mmvc7dk0Nz+jwQo2xBcPZfvqxd9WJ5ECIE9LaofTGTDhbAtszWKxpOWCQBnJ5XFK
      ltnwZRMGdF0p
      -----END CERTIFICATE-----
      """
    #expect(
      CertificateSubject.ofClient(["ssl.certificate.pem": certificate])
        == #"CN=a\+b,UID=n1,O=Größe\, Inc.,C=CH,DC=example"#)
  }

  @Test("an attribute that Java writes as a number is not guessed, nor is an unreadable certificate")
  func unknown() {
    // Made with openssl req -subj '/CN=ann/emailAddress=ann@example.org'.
    let certificate = """
      -----BEGIN CERTIFICATE-----
      MIIBsDCCAVegAwIBAgIUIRX7PwzlCPKmEvicAhqaEWGwxQMwCgYIKoZIzj0EAwIw
      LjEMMAoGA1UEAwwDYW5uMR4wHAYJKoZIhvcNAQkBFg9hbm5AZXhhbXBsZS5vcmcw
      HhcNMjYxMTIyMjEwMDQ3WhcNMzYxMTE5MjEwMDQ3WjAuMQwwCgYDVQQDDANhbm4x
      HjAcBgkqhkiG9w0BCQEWD2FubkBleGFtcGxlLm9yZzBZMBMGByqGSM49AgEGCCqG
      SM49AwEHA0IABE/3J47/rwCdtJkttPenFs1T8tkW4eUFDuvoMoZiZ1pttMewO+nc
      kKHf1Lo//aW0j/GO+Blx7hh9KpP9PCpxrPWjUzBRMB0GA1UdDgQWBBRW55Krd8OP
      kQUAXc8cbzRdjJO02jAfBgNVHSMEGDAWgBRW55Krd8OPkQUAXc8cbzRdjJO02jAP
      BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIEVs2UCOTPAAS1otLCWp
      Cb2Vgc09zpP1ewO/FsMX05FgAiBi7spS2pomNISdARU+1//wJDvQrzQzdQ4jaOHX
      mXnhRQ==
      -----END CERTIFICATE-----
      """
    #expect(CertificateSubject.ofClient(["ssl.certificate.pem": certificate]) == nil)
    #expect(CertificateSubject.ofClient(["ssl.certificate.pem": "no certificate"]) == nil)
    #expect(CertificateSubject.ofClient(["ssl.certificate.location": "/not/there.pem"]) == nil)
    #expect(CertificateSubject.ofClient([:]) == nil)
  }
}
