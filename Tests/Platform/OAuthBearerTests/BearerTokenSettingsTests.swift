import OAuthBearer
import Testing

@Suite("OAUTHBEARER: settings")
struct BearerTokenSettingsTests {
  private static let login = [("security.protocol", "SASL_SSL"), ("sasl.mechanism", "OAUTHBEARER")]
  private static let url = "sasl.oauthbearer.token.endpoint.url"

  @Test(
    "another login, or none, has no tokens",
    arguments: [
      [("security.protocol", "ssl"), ("sasl.mechanisms", "OAUTHBEARER")],
      [("security.protocol", "sasl_ssl"), ("sasl.mechanisms", "PLAIN")], [], [("sasl.mechanisms", "OAUTHBEARER")],
    ])
  func another(properties: [(String, String)]) throws {
    #expect(try BearerTokenSettings(properties: properties.map { (name: $0.0, value: $0.1) }) == nil)
  }

  @Test(
    "what is wrong is named by its property",
    arguments: [
      (url, []), (url, [(url, "")]), (url, [(url, "http://id.example/token")]), (url, [(url, "file://token")]),
      (url, [(url, "http://127.0.0.1.example/token")]),
      ("sasl.oauthbearer.client.id", [(url, "https://id.example/token")]),
      ("sasl.oauthbearer.client.secret", [(url, "https://id.example/token"), ("sasl.oauthbearer.client.id", "a")]),
      ("sasl.oauthbearer.extensions", [(url, "file:///t"), ("sasl.oauthbearer.extensions", "cluster")]),
      ("sasl.oauthbearer.extensions", [(url, "file:///t"), ("sasl.oauthbearer.extensions", "a1=b")]),
      ("sasl.oauthbearer.extensions", [(url, "file:///t"), ("sasl.oauthbearer.extensions", "auth=b")]),
      ("sasl.oauthbearer.extensions", [(url, "file:///t"), ("sasl.oauthbearer.extensions", "a=\u{1}")]),
      ("sasl.oauthbearer.config", [(url, "file:///t"), ("sasl.oauthbearer.config", "principal=a")]),
    ] as [(String, [(String, String)])])
  func wrong(property: String, properties: [(String, String)]) {
    let error = #expect(throws: BearerTokenError.self) {
      try BearerTokenSettings(properties: (Self.login + properties).map { (name: $0.0, value: $0.1) })
    }
    #expect(error?.property == property)
    #expect(error?.isPassing == false)
  }

  @Test("extensions in their order; the last value of a property counts")
  func extensions() throws {
    let settings = try #require(
      try BearerTokenSettings(
        properties: (Self.login + [
          (Self.url, "https://id.example/token"), (Self.url, "file:///run/token"),
          ("sasl.oauthbearer.extensions", "logicalCluster=lkc-1,identityPoolId=pool=2"),
        ]).map { (name: $0.0, value: $0.1) }))
    #expect(settings.extensions.map(\.key) == ["logicalCluster", "identityPoolId"])
    #expect(settings.extensions.map(\.value) == ["lkc-1", "pool=2"])
  }

  @Test("a property that is misspelt is not taken for one of these: librdkafka is to refuse it")
  func misspelt() {
    #expect(BearerTokenSettings.owns("sasl.oauthbearer.scope"))
    #expect(!BearerTokenSettings.owns("sasl.oauthbearer.scop"))
    #expect(!BearerTokenSettings.owns("sasl.mechanisms"))
  }
}
