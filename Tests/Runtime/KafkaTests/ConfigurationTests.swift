import Testing

@testable import Kafka

@Suite("Configuration")
struct ConfigurationTests {
  @Test("an unknown property fails with its name in the error")
  func unknownProperty() {
    let error = #expect(throws: KafkaError.self) {
      try Producer(
        ClientConfiguration(bootstrapServers: "127.0.0.1:1", properties: ["lingre.ms": "5"]), name: "misspelt")
    }
    #expect(error?.description.contains("lingre.ms") == true)
  }

  @Test("a value out of range fails with the property's name in the error")
  func badValue() {
    let error = #expect(throws: KafkaError.self) {
      try Consumer(
        .consumer(bootstrapServers: "127.0.0.1:1", group: "g").merging(overrides: [("fetch.wait.max.ms", "soon")]),
        name: "bad")
    }
    #expect(error?.description.contains("fetch.wait.max.ms") == true)
  }

  @Test("the value of a secret stands neither in the description nor in an error about it")
  func secrets() {
    var configuration = ClientConfiguration(bootstrapServers: "127.0.0.1:1")
    configuration.set("sasl.mechanism", "PLAIN")
    for name in [
      "sasl.username", "sasl.oauthbearer.client.id", "sasl.kerberos.kinit.cmd", "sasl.password", "ssl.key.password",
      "ssl.key.pem", "ssl.keystore.password",
    ] {
      configuration.set(name, "hunter2")
    }
    #expect(!configuration.description.contains("hunter2"))
    #expect(configuration.description.contains("sasl.mechanism=PLAIN"))
    configuration.set("ssl.key.wrong", "hunter2")
    let error = #expect(throws: KafkaError.self) { try Producer(configuration, name: "secret") }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test("the last value of a property wins, and overrides win over defaults")
  func lastWins() {
    let configuration = ClientConfiguration(
      bootstrapServers: "a:1", properties: ["linger.ms": "1", "acks": "1", "linger.ms": "2"])
    #expect(configuration["linger.ms"] == "2")
    let merged = configuration.merging(overrides: [("bootstrap.servers", "b:2"), ("acks", "all")])
    #expect(merged["bootstrap.servers"] == "b:2")
    #expect(merged["acks"] == "all")
    #expect(configuration["acks"] == "1")
  }

  @Test("a duration becomes whole milliseconds, rounded up, within librdkafka's range")
  func milliseconds() {
    #expect(Duration.microseconds(1).milliseconds == 1)
    #expect(Duration.milliseconds(20).milliseconds == 20)
    #expect(Duration.zero.milliseconds == 0)
    #expect(Duration.seconds(-3).milliseconds == 0)
    #expect(Duration.seconds(1 << 40).milliseconds == 2_000_000_000)
  }
}
