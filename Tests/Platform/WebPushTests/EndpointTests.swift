import PeerSockets
import TestSupport
import Testing

@testable import WebPush

@Suite("Push endpoints")
struct EndpointTests {
  @Test("issue 57: an endpoint is an https URL with a host and nothing hidden in it")
  func parsing() throws {
    let endpoint = try WebPushEndpoint("https://Push.Example.org/wpush/v2/gAAAA?x=1")
    #expect(
      endpoint.host == "push.example.org" && endpoint.port == 443 && endpoint.origin == "https://push.example.org")
    #expect(endpoint.address == nil && endpoint.url == "https://Push.Example.org/wpush/v2/gAAAA?x=1")
    #expect("\(endpoint)" == "push endpoint at push.example.org")
    #expect(try WebPushEndpoint("https://push.example.org:8443").origin == "https://push.example.org:8443")
    #expect(try WebPushEndpoint("HTTPS://push.example.org:443/x").origin == "https://push.example.org")
    let six = try WebPushEndpoint("https://[2001:DB8::1]:99/x")
    #expect(
      six.host == "2001:db8::1" && six.origin == "https://[2001:db8::1]:99" && six.address == IPAddress("2001:db8::1"))
    #expect(try WebPushEndpoint("https://192.0.2.1/").address == .v4([192, 0, 2, 1]))
    #expect(try WebPushEndpoint("http://localhost:8030/x", allowsPlain: true).origin == "http://localhost:8030")
    #expect(try WebPushEndpoint("https://push.example.org./x").host == "push.example.org.")
    let refused: [(String, WebPushEndpoint.Invalid)] = [
      ("", .scheme), ("push.example.org/x", .scheme), ("http://push.example.org/x", .scheme),
      ("ftp://push.example.org/x", .scheme),
      ("javascript:alert(1)", .scheme), ("https:/push.example.org", .scheme), ("https://", .host),
      ("https:///x", .host), ("https://?x", .host),
      ("https://user@push.example.org/x", .parts), ("https://user:word@push.example.org/x", .parts),
      ("https://push.example.org/x#y", .parts),
      ("https://push.example.org:0/x", .port), ("https://push.example.org:70000/x", .port),
      ("https://push.example.org:+1/x", .port),
      ("https://push.example.org:1:2/x", .port), ("https://[::1/x", .host), ("https://[::1]x/", .port),
      ("https://[fe80::1%25eth0]/", .host),
      ("https://[127.0.0.1]/", .host), ("https://::1/", .port), ("https://2130706433/", .host),
      ("https://0x7f.1/", .host), ("https://127.1/", .host),
      ("https://0x7f000001/", .host), ("https://017700000001/", .host), ("https://127.0.0.1./", .host),
      ("https://a..b/", .host), ("https://.a/", .host),
      ("https://-a.org/", .host), ("https://a_b-.org/", .host), ("https://%31.org/", .host),
      ("https://push.exämple.org/", .characters),
      ("https://push.example.org/a b", .characters), ("https://push.example.org/a\nb", .characters),
      ("https://push.example.org\\@evil/", .characters),
      ("https://push.example.org/" + String(repeating: "x", count: 2_048), .tooLong),
      ("https://" + String(repeating: "a", count: 64) + ".org/", .host),
    ]
    for (url, reason) in refused {
      #expect(throws: reason, "\(url)") { try WebPushEndpoint(url) }
    }
  }

  @Test("issue 57: a name that never is on the public internet is judged before it is resolved")
  func localNames() throws {
    let names = ["localhost", "LOCALHOST.", "push.localhost", "kafka", "push"]
    for name in names {
      let endpoint = try WebPushEndpoint("https://\(name)/x")
      #expect(throws: EndpointRules.Refusal.address, "\(name)") { try EndpointRules().check(endpoint) }
      #expect(throws: Never.self) { try EndpointRules(allowsPrivateAddresses: true).check(endpoint) }
    }
    #expect(throws: Never.self) { try EndpointRules(hosts: ["kafka"]).check(WebPushEndpoint("https://kafka/x")) }
    #expect(throws: Never.self) { try EndpointRules().check(WebPushEndpoint("https://localhost.example.org/x")) }
    #expect(throws: WebPushEndpoint.Invalid.scheme) { try EndpointRules().endpoint("http://push.example.org/x") }
    #expect(try EndpointRules(allowsPrivateAddresses: true).endpoint("http://[::1]:80/x").port == 80)
    for pattern in ["push.example.org", "*.example.org", "10.0.0.1", "kafka"] {
      #expect(EndpointRules.isPattern(pattern), "\(pattern)")
    }
    for text in ["", "*", "*.", "https://push.example.org", "push.example.org/x", "push.example.org:443", "a@b", "a b"]
    {
      #expect(!EndpointRules.isPattern(text), "\(text)")
    }
  }

  @Test("issue 57: an address is public or it is not, in every form in which it comes")
  func addresses() throws {
    let open = [
      "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "193.0.0.1",
      "198.17.0.1", "198.20.0.1", "11.0.0.1",
      "126.1.1.1", "128.0.0.1", "223.255.255.255", "169.253.1.1", "2606:4700::1111", "2a00:1450:4001::1",
      "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
      "2002:808:808::1", "2400:cb00::1",
    ]
    let closed = [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
      "127.255.255.254", "169.254.169.254", "172.16.0.1",
      "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
      "198.51.100.1", "203.0.113.1", "224.0.0.1",
      "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
      "::ffff:169.254.169.254", "::127.0.0.1",
      "64:ff9b::127.0.0.1", "64:ff9b::10.1.1.1", "64:ff9b:1::1", "64:ff9b:1:ffff::8.8.8.8", "fe80::1", "febf::1",
      "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1",
      "2001::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:a00:1::", "2002:c0a8:101::1",
      "3fff::1", "100::1", "4000::1", "::ffff:0:8.8.8.8",
    ]
    for text in open { #expect(try #require(IPAddress(text)).isPublic, "\(text)") }
    for text in closed { #expect(try !#require(IPAddress(text)).isPublic, "\(text)") }
    for text in ["", "127.1", "0x7f.0.0.1", "256.1.1.1", "1.2.3.4.5", "fe80::1%eth0", "::g", "localhost"] {
      #expect(IPAddress(text) == nil)
    }
    #expect(!IPAddress.v4([1, 2]).isPublic && !IPAddress.v6([1]).isPublic)
  }

  @Test("issue 57: an address and the same one carried by an IPv6 address are judged alike")
  func carried() {
    var random = SeededGenerator(announcedFor: "carried addresses")
    for _ in 0..<5_000 {
      let four = (0..<4).map { _ in
        UInt8(random.oneIn(2) ? random.below(256) : [0, 10, 100, 127, 169, 172, 192, 198, 203, 224][random.below(10)])
      }
      let isPublic = IPAddress.v4(four).isPublic
      #expect(IPAddress.v6([UInt8](repeating: 0, count: 10) + [255, 255] + four).isPublic == isPublic)
      #expect(IPAddress.v6([0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + four).isPublic == isPublic)
      #expect(IPAddress.v6([0x20, 0x02] + four + [UInt8](repeating: 1, count: 10)).isPublic == isPublic)
    }
  }

  @Test("issue 57: where a push may go: listed hosts, else public addresses, judged at each connection")
  func rules() throws {
    let anywhere = EndpointRules()
    let listed = EndpointRules(hosts: ["push.example.org", "*.push.Apple.com"])
    let closed = EndpointRules(allowsPrivateAddresses: true)
    func may(_ rules: EndpointRules, _ url: String, _ address: String) throws -> EndpointRules.Refusal? {
      let endpoint = try WebPushEndpoint(url)
      do throws(EndpointRules.Refusal) {
        try rules.check(endpoint)
        try rules.check(IPAddress(address) ?? .v4([]), of: endpoint)
        return nil
      } catch {
        return error
      }
    }
    #expect(try may(anywhere, "https://push.example.org/", "8.8.8.8") == nil)
    // A name that leads inside: what counts is the address of the connection.
    #expect(try may(anywhere, "https://push.example.org/", "169.254.169.254") == .address)
    #expect(try may(anywhere, "https://10.0.0.1/", "10.0.0.1") == .address)
    #expect(try may(anywhere, "https://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1") == .address)
    #expect(try may(listed, "https://push.example.org/", "10.0.0.1") == nil)
    #expect(try may(listed, "https://push.example.org./", "10.0.0.1") == nil)
    #expect(try may(listed, "https://web.push.apple.com/", "8.8.8.8") == nil)
    #expect(try may(listed, "https://a.b.push.apple.com/", "8.8.8.8") == nil)
    for url in [
      "https://push.apple.com/", "https://xpush.apple.com/", "https://evil.org/", "https://push.example.org.evil.org/",
      "https://apush.example.org/", "https://8.8.8.8/",
    ] {
      #expect(try may(listed, url, "8.8.8.8") == .host, "\(url)")
    }
    #expect(try may(closed, "https://push.example.org/", "10.0.0.1") == nil)
    #expect(try may(closed, "https://127.0.0.1/", "127.0.0.1") == nil)
  }

  @Test("issue 57: headers say how long, how soon, and what a push takes the place of")
  func headers() {
    let headers = WebPushHeaders(
      ttl: 60, urgency: .high, topic: WebPushHeaders.topic(of: "badge of ann"), authorization: "vapid t=x,k=y")
    #expect(
      headers.fields.map { "\($0): \($1)" } == [
        "TTL: 60", "Urgency: high", "Content-Encoding: aes128gcm", "Content-Type: application/octet-stream",
        "Authorization: vapid t=x,k=y",
        "Topic: \(WebPushHeaders.topic(of: "badge of ann"))",
      ])
    #expect(WebPushHeaders(ttl: -5, urgency: .low, authorization: "").ttl == 0)
    #expect(WebPushHeaders(ttl: .max, urgency: .low, authorization: "").ttl == 28 * 86_400)
    #expect(WebPushUrgency.allCases.map(\.rawValue) == ["very-low", "low", "normal", "high"])
    let topics = (0..<1_000).map { WebPushHeaders.topic(of: "c\($0)") } + [WebPushHeaders.topic(of: "")]
    #expect(Set(topics).count == topics.count)
    #expect(topics.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil })
  }

  @Test("issue 57: what a service's answer means")
  func answers() {
    let meanings: [(WebPushAnswer, [Int])] = [
      (.sent, [200, 201, 202, 204]), (.gone, [404, 410]), (.tooLong, [413]), (.keyRefused, [401, 403]),
      (.later, [408, 425, 429, 500, 502, 503, 504, 507, 599]),
      (.rejected, [0, 100, 301, 302, 307, 308, 400, 402, 405, 406, 411, 415, 422, 431, 501, 505, 600]),
    ]
    for (answer, statuses) in meanings {
      for status in statuses { #expect(WebPushAnswer(status: status) == answer, "\(status)") }
    }
  }
}
