import Testing

@Suite("Requests in what a client sends")
struct KafkaRequestScannerTests {
  private func request(_ kind: UInt8, length: Int) -> [UInt8] {
    [0, UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), 0, kind]
      + [UInt8](repeating: 26, count: length - 2)
  }

  @Test("the first request that only the coordinator answers is found, wherever the bytes are cut")
  func finds() {
    let (produce, end, heartbeat) = (request(0, length: 300), request(26, length: 40), request(12, length: 20))
    var whole = KafkaRequestScanner()
    #expect(whole.scan(produce + end + heartbeat, for: .transactions) == produce.count)
    #expect(whole.scan(produce + end + heartbeat, for: .group) == produce.count + end.count)
    #expect(whole.scan(end + heartbeat, for: nil) == nil)
    #expect(whole.scan(produce + produce, for: .group) == nil)

    let bytes = produce + end + produce
    for cut in 1..<bytes.count {
      var scanner = KafkaRequestScanner()
      let first = scanner.scan(Array(bytes.prefix(cut)), for: .transactions)
      let second = scanner.scan(Array(bytes[cut...]), for: .transactions)
      // The API key follows the length.
      let isFirst = cut >= produce.count + 6
      #expect(first == (isFirst ? produce.count : nil), "cut at \(cut)")
      #expect(second == (isFirst ? nil : max(0, produce.count - cut)), "cut at \(cut)")
    }
  }
}
