import FCMEmulator
import Foundation
import Testing

@testable import HTTPTransport

@Suite("Addresses that a URL from outside must not reach")
struct PublicAddressTests {
  private func bytes(_ text: String) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    return withUnsafeBytes(of: six) { Array($0) }
  }

  @Test(
    "this host, private networks, metadata services, documentation, multicast and reserved addresses are not public",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
      "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.0.1", "198.18.0.1",
      "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::",
      "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::10.0.0.1",
      "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "fc00::1", "fd00:ec2::254",
      "fe80::1", "fec0::1", "ff02::1", "4000::1",
    ])
  func refused(_ address: String) throws {
    #expect(PublicAddress.isPublic(try #require(bytes(address))) == false)
  }

  @Test(
    "addresses of the internet are public, at the borders of the ranges too",
    arguments: [
      "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
      "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
      "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888",
      "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    ])
  func allowed(_ address: String) throws {
    #expect(PublicAddress.isPublic(try #require(bytes(address))))
  }

  @Test("other families and cut addresses are refused")
  func families() {
    [UInt8](repeating: 8, count: 32).withUnsafeBytes { raw in
      #expect(PublicAddress.isPublic(family: AF_INET, UnsafeRawBufferPointer(rebasing: raw[..<16])))
      #expect(!PublicAddress.isPublic(family: AF_INET, UnsafeRawBufferPointer(rebasing: raw[..<7])))
      #expect(!PublicAddress.isPublic(family: AF_INET6, UnsafeRawBufferPointer(rebasing: raw[..<23])))
      #expect(!PublicAddress.isPublic(family: AF_UNIX, raw))
    }
  }

  @Test("a client for public addresses opens no connection to this host, by name or by address; others do")
  func connections() async throws {
    let bench = try Bench(client: { $0.addresses = .publicOnly })
    defer { bench.end() }
    for base in [bench.emulator.url, bench.emulator.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")] {
      guard case .failure(let error) = await bench.client.answer(to: bench.message(base: base)) else {
        Issue.record("\(base) answered")
        continue
      }
      #expect(error.kind == .addressRefused && !error.mayHaveBeenDelivered && !error.isRetriable)
    }
    #expect(bench.emulator.counters.connections == 0)
    let open = try Bench()
    defer { open.end() }
    #expect(try await open.client.answer(to: open.message()).get().status == 200)
  }
}
