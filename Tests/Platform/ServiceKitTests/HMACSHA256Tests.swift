import Testing

@testable import ServiceKit

@Suite("HMAC with SHA-256")
struct HMACSHA256Tests {
  @Test("the examples of RFC 4231, with short and long keys")
  func examples() {
    func digits(_ key: [UInt8], _ message: [UInt8]) -> String { Hexadecimal.encode(HMACSHA256.of(message, key: key)) }
    #expect(
      digits([UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      digits(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      digits(
        [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }
}
