import PeerSockets
import Testing

@Suite("Lists of Kafka brokers")
struct BrokerListTests {
  @Test("addresses are read as librdkafka reads them")
  func read() throws {
    let list = try BrokerList("kafka, b:9093 SASL_SSL://c:1,[::1]:65535,fe80::1,[fe80::2]")
    #expect(
      list.brokers.map { "\($0.host) \($0.port)" }
        == ["kafka 9092", "b 9093", "c 1", "::1 65535", "fe80::1 9092", "fe80::2 9092"])
  }

  @Test(
    "what librdkafka would take for another port, or for another host, is refused",
    arguments: [
      ("", .empty), (" , ", .empty), ("b:0", .port("b:0")), ("a:1,b:65536", .port("b:65536")),
      ("127.0.0.1:99999", .port("127.0.0.1:99999")), ("b:", .port("b:")), ("b:x", .port("b:x")),
      ("b:-1", .port("b:-1")),
      ("b:+1", .port("b:+1")), ("[::1]:99999", .port("[::1]:99999")), (":9092", .host(":9092")),
      ("ssl://", .host("ssl://")), ("http://b:9092", .scheme("http://b:9092")),
    ] as [(String, BrokerList.Fault)])
  func refused(list: String, fault: BrokerList.Fault) {
    #expect(throws: fault) { try BrokerList(list) }
  }
}
