import Foundation
import Testing

@testable import ServiceKit

@Suite("Settings that name addresses")
struct AddressCheckTests {
  private static let schema = SettingsSchema(
    program: "p", abstract: "", version: "1", settings: ServiceSettings.all)

  @Test(
    "a broker's address that cannot be meant is a wrong setting, as a flag and in the environment",
    arguments: [
      ("127.0.0.1:99999", "use a port from 1 to 65535 in place of that of '127.0.0.1:99999'"),
      ("a:9092,b:0", "use a port from 1 to 65535 in place of that of 'b:0'"),
      (":9092", "use HOST:PORT in place of ':9092', which names no host"),
      ("http://b:9092", "use HOST:PORT without a protocol in place of 'http://b:9092'"),
      (",", "use HOST:PORT, with commas between several"),
    ])
  func brokers(list: String, advice: String) {
    let variable = "NUDGE_KAFKA_BOOTSTRAP_SERVERS"
    let flag = #expect(throws: SettingsError.self) {
      try Self.schema.parse(["--bootstrap-servers", list], environment: [:])
    }
    #expect(flag?.description == "--bootstrap-servers: '\(list)' is not allowed: \(advice)")
    let environment = #expect(throws: SettingsError.self) { try Self.schema.parse([], environment: [variable: list]) }
    #expect(environment?.description == "\(variable): '\(list)' is not allowed: \(advice)")
  }

  @Test("several brokers, protocols, IPv6 and the default port are allowed")
  func allowed() throws {
    for list in ["kafka", "kafka:9092", "SASL_SSL://a:9093,b:9092", "[::1]:9092", "a:1 b:65535"] {
      _ = try Self.schema.parse(["--bootstrap-servers", list], environment: [:])
    }
  }

  @Test("an admin port's address has a host and a port that can be connected to")
  func admin() {
    #expect(AdminAddresses.advice(for: ["127.0.0.1:8080", "[::1]:1"]) == nil)
    for wrong in ["x", "127.0.0.1:99999", "127.0.0.1:0", ":80"] {
      #expect(AdminAddresses.advice(for: ["127.0.0.1:8080", wrong])?.contains("in place of '\(wrong)'") == true)
    }
  }

  @Test("a URL has the scheme that is asked for, a host, and a port that can be connected to")
  func web() throws {
    let check = WebAddresses.check("http")
    for url in [nil, "http://127.0.0.1:8080", "http://emulator", "http://[::1]:1/path"] { #expect(check(url) == nil) }
    for url in ["nope", "https://b", "http://", "http://b:99999", "http://b:0", "http://[::1]:65536"] {
      #expect(check(url) == "an address that starts with http://, with a host and a port from 1 to 65535", "\(url)")
      if !url.hasPrefix("https") { #expect(throws: SettingValueError.self, "\(url)") { try URL.parse(url) } }
    }
  }

  @Test("everything that is missing is named at once, each with what it is and how to give it")
  func missing() {
    let schema = SettingsSchema(
      program: "nudge tail", abstract: "", version: nil, settings: [ServiceSettings.bootstrapServers],
      arguments: [PositionalArgument("topic", help: "One of a, b.")], examples: [], hasProgramFlags: false)
    let error = #expect(throws: SettingsError.self) { try schema.parse([], environment: [:]) }
    #expect(
      error?.description == """
        TOPIC is missing: One of a, b
        --bootstrap-servers must be given: Kafka brokers to start from. Set --bootstrap-servers or \
        NUDGE_KAFKA_BOOTSTRAP_SERVERS; see nudge tail --help
        """)
  }
}
