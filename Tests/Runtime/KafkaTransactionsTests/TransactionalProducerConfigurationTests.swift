import Testing

@testable import KafkaTransactions

@Suite("The transactional producer's configuration")
struct TransactionalProducerConfigurationTests {
  private func make(_ servers: String = "h:1", _ properties: [(name: String, value: String)] = []) throws
    -> TransactionalProducerConfiguration
  {
    try TransactionalProducerConfiguration(bootstrapServers: servers, properties: properties)
  }

  @Test("brokers as librdkafka takes them")
  func brokers() throws {
    #expect(try make("a:1,b:2").bootstrap == [.init(host: "a", port: 1), .init(host: "b", port: 2)])
    #expect(try make("a, b").bootstrap == [.init(host: "a", port: 9092), .init(host: "b", port: 9092)])
    #expect(try make("ssl://a:1").bootstrap == [.init(host: "a", port: 1)])
    #expect(try make("[::1]:5,::1").bootstrap == [.init(host: "::1", port: 5), .init(host: "::1", port: 9092)])
    for wrong in ["", "a:", "a:0", "a:99999", ":1", "a:x"] {
      #expect(throws: TransactionalProducerError.self, "\(wrong)") { try make(wrong) }
    }
  }

  @Test("encryption and logins by librdkafka's names, its aliases too")
  func security() throws {
    #expect(try make().tls == nil)
    let sasl = try make(
      "h:1",
      [
        ("security.protocol", "SASL_SSL"), ("sasl.mechanism", "SCRAM-SHA-512"), ("sasl.username", "u"),
        ("sasl.password", "p"), ("ssl.ca.location", "/ca.pem"),
      ])
    guard case .scram(.sha512, user: "u", password: "p") = sasl.credentials else {
      Issue.record("\(String(describing: sasl.credentials?.mechanism))")
      return
    }
    #expect(sasl.tls?.authorities == .file("/ca.pem", property: "ssl.ca.location"))
    #expect(sasl.tls?.verifiesHost == true)
    let mutual = try make(
      "h:1",
      [
        ("security.protocol", "ssl"), ("ssl.certificate.pem", "C"), ("ssl.key.location", "/k"),
        ("ssl.key.password", "x"), ("ssl.endpoint.identification.algorithm", "none"),
        ("enable.ssl.certificate.verification", "false"),
      ])
    #expect(mutual.tls?.certificate == .text("C"))
    #expect(mutual.tls?.key == .file("/k", property: "ssl.key.location"))
    #expect(mutual.tls?.verifiesHost == false)
    #expect(mutual.tls?.verifiesPeer == false)
  }

  @Test(
    "what it cannot do, and what is wrong, is refused with the property's name",
    arguments: [
      ("sasl.mechanisms", [("security.protocol", "sasl_ssl")]),
      ("sasl.mechanisms", [("security.protocol", "sasl_plaintext"), ("sasl.mechanisms", "GSSAPI")]),
      ("sasl.oauthbearer.token.endpoint.url", [("security.protocol", "sasl_ssl"), ("sasl.mechanisms", "OAUTHBEARER")]),
      ("sasl.password", [("security.protocol", "sasl_ssl"), ("sasl.mechanisms", "PLAIN"), ("sasl.username", "u")]),
      ("security.protocol", [("security.protocol", "tls")]),
      ("ssl.keystore.location", [("security.protocol", "ssl"), ("ssl.keystore.location", "/k.p12")]),
      ("ssl.key.location", [("security.protocol", "ssl"), ("ssl.key.location", "/k")]),
      ("transaction.timeout.ms", [("transaction.timeout.ms", "soon")]),
      (
        "ssl.endpoint.identification.algorithm",
        [("security.protocol", "ssl"), ("ssl.endpoint.identification.algorithm", "x")]
      ),
    ] as [(String, [(String, String)])])
  func refused(_ name: String, _ properties: [(String, String)]) {
    do {
      _ = try make("h:1", properties.map { (name: $0.0, value: $0.1) })
      Issue.record("taken")
    } catch {
      let failure = error as? TransactionalProducerError
      #expect(failure?.kind == .refused)
      #expect(failure?.reason.hasPrefix(name) == true, "\(error)")
    }
  }

  @Test("properties of other clients are let pass; compression is lz4 or none, another one is noted")
  func others() throws {
    let it = try make("h:1", [("fetch.min.bytes", "1"), ("compression.codec", "zstd"), ("client.id", "me")])
    #expect(it.notices.count == 1)
    #expect(it.compression == .lz4)
    #expect(it.client == "me")
    let none = try make("h:1", [("compression.type", "none")])
    #expect(none.notices.isEmpty)
    #expect(none.compression == .none)
    #expect(try make().compression == .lz4)
  }

  @Test("a password is in no error")
  func secrets() {
    do {
      _ = try make(
        "h:1", [("security.protocol", "sasl_ssl"), ("sasl.mechanisms", "KERBEROS5"), ("sasl.password", "s3cr3t")])
      Issue.record("taken")
    } catch { #expect(!"\(error)".contains("s3cr3t")) }
  }

  /// The answer of Kafka 4.3.
  private let kafka4 = APIVersionsRequest.Answer(
    error: .none,
    versions: [0: 0...13, 3: 0...13, 10: 0...6, 22: 0...6, 24: 0...5, 25: 0...4, 26: 0...5, 28: 0...5],
    features: ["transaction.version": 2])
  /// The answer of Kafka 3.6, whose clusters have no such feature.
  private let kafka36 = APIVersionsRequest.Answer(
    error: .none,
    versions: [0: 0...9, 3: 0...12, 10: 0...4, 22: 0...4, 24: 0...4, 25: 0...3, 26: 0...3, 28: 0...3], features: [:])

  private func refusal(_ answer: APIVersionsRequest.Answer, _ wanted: TransactionVersion? = nil) -> String? {
    do throws(TransactionalProducerError) {
      Issue.record("taken: \(try TransactionVersion.of(answer, wanted: wanted))")
      return nil
    } catch {
      #expect(error.kind == .refused)
      return error.reason
    }
  }

  @Test("the transactions of the cluster are used, and others where the operator insists")
  func versions() throws {
    #expect(try TransactionVersion.of(kafka4, wanted: nil) == .two)
    #expect(try TransactionVersion.of(kafka4, wanted: .one) == .one)
    #expect(try TransactionVersion.of(kafka36, wanted: nil) == .one)
    for level: Int16 in [0, 1] {
      var upgraded = kafka4
      upgraded.features = ["transaction.version": level]
      #expect(try TransactionVersion.of(upgraded, wanted: nil) == .one)
      #expect(refusal(upgraded, .two)?.contains("upgrade --feature transaction.version=2") == true)
    }
  }

  @Test("a broker that lacks a request's version is refused with the release that has it")
  func lackingVersions() {
    var lacking = kafka4
    lacking.versions[26] = 0...4
    #expect(refusal(lacking)?.contains("EndTxn in versions 0 to 4; 5 is needed (Kafka 4.0 or later)") == true)
    // Its leaders do not verify transactions.
    var old = kafka36
    old.versions[24] = 0...3
    #expect(refusal(old)?.contains("AddPartitionsToTxn in versions 0 to 3; 4 is needed (Kafka 3.6 or later)") == true)
    #expect(refusal(.init(error: .unsupportedVersion))?.contains("transaction.version") == true)
  }
}
