import Testing

@testable import Kafka

@Suite("librdkafka's serialized group metadata")
struct GroupMetadataTests {
  private let head = Array("CGMDv2:".utf8) + [7, 0, 0, 0] + Array("group".utf8) + [0] + Array("member-1".utf8) + [0]

  private func parse(_ bytes: [UInt8]) -> (Int32, String, String, String?)? {
    bytes.withUnsafeBytes { ConsumerGroupMetadata.parse($0) }
  }

  @Test("generation, group, member and instance are read")
  func read() throws {
    let dynamic = try #require(parse(head + [1]))
    #expect(dynamic.0 == 7 && dynamic.1 == "group" && dynamic.2 == "member-1" && dynamic.3 == nil)
    let fixed = try #require(parse(head + [0] + Array("one".utf8) + [0]))
    #expect(fixed.0 == 7 && fixed.1 == "group" && fixed.2 == "member-1" && fixed.3 == "one")
  }

  @Test("another format, or one that goes on, is refused, wherever it ends")
  func refused() {
    let whole = head + [0] + Array("one".utf8) + [0]
    for count in 0..<whole.count { #expect(parse(Array(whole.prefix(count))) == nil, "\(count)") }
    #expect(parse(whole + [0]) == nil)
    #expect(parse(Array("CGMDv3:".utf8) + whole.dropFirst(7)) == nil)
  }
}
