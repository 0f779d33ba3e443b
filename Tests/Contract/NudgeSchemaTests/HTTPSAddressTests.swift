import NudgeSchema
import Testing

@Suite("Addresses of pictures")
struct HTTPSAddressTests {
  @Test(
    "an address has one host, whoever reads it, or none",
    arguments: [
      ("https://cdn.example/a.png", "cdn.example"), ("HTTPS://CDN.Example", "cdn.example"),
      ("https://cdn.example:443?x", "cdn.example"), ("https://[2001:db8::1]:8443/a", "[2001:db8::1]"),
      ("https://xn--bcher-kva.example/#a", "xn--bcher-kva.example"), ("https://cdn.example\\@evil.example/", nil),
      ("https://cdn.example@evil.example/", nil), ("https://evil.example#@cdn.example/", "evil.example"),
      ("https://cdn.example%2eevil/", nil), ("https://cdn.example:80:80/", nil), ("https://cdn.example:port/", nil),
      (" https://cdn.example/", nil), ("https://cdn .example/", nil), ("https://bücher.example/", nil),
      ("https://cdn.example./", nil), ("https://.cdn.example/", nil), ("https://", nil), ("https:///a", nil),
      ("http://cdn.example/", nil), ("//cdn.example/", nil), ("https:cdn.example", nil), ("", nil),
      ("https://cdn.example\n.evil/", nil), ("https://\u{200B}cdn.example/", nil),
      ("https://344/a", nil), ("https://0x7f.1/", nil), ("https://cdn.0X7f/", nil), ("https://93.184.216.034/", nil),
      ("https://93.184.216/", nil), ("https://93.184.216.256/", nil), ("https://93.184.216.34/", "93.184.216.34"),
    ] as [(String, String?)])
  func hosts(_ text: String, _ host: String?) { #expect(HTTPSAddress(text)?.host == host) }

  @Test("a name stands for itself, one with *. for all below it")
  func patterns() throws {
    let address = try #require(HTTPSAddress("https://a.cdn.example/x"))
    #expect(address.isOf("A.cdn.example") && address.isOf("*.cdn.example") && address.isOf("*.example"))
    #expect(!address.isOf("cdn.example") && !address.isOf("*.a.cdn.example") && !address.isOf("*.dn.example"))
    #expect(HTTPSAddress("https://evilcdn.example/").map { $0.isOf("*.cdn.example") } == false)
  }
}
