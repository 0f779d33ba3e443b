@testable import FCMEmulator
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPTransport

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Connections that die in silence", .timeLimit(.minutes(2)))
struct SilentConnectionTests {
  /// An emulator behind a proxy that can swallow what old connections carry.
  private final class Site: Sendable {
    let bench: Bench
    let proxy: SwallowingProxy
    let client: HTTPClient

    init(
      emulator: FCMEmulatorConfiguration = FCMEmulatorConfiguration(), silence: Duration = .milliseconds(200),
      connections: Int = 1
    ) throws {
      bench = try Bench(emulator: emulator)
      let url = try #require(URL(string: bench.emulator.url))
      proxy = try SwallowingProxy(to: try #require(url.port))
      var configuration = HTTPClientConfiguration(caFile: bench.emulator.caFile, maxConnectionsPerHost: connections)
      configuration.silence = silence
      // The closure must not keep the site, which is not complete yet.
      let lines = Lines()
      client = try HTTPClient(configuration) { level, line in if level == .notice { lines.add(line) } }
      log = lines
    }

    private let log: Lines
    var notices: [String] { log.all }
    var base: String { "https://127.0.0.1:\(proxy.port)" }

    func answer(to device: String = "device", timeout: Duration = .seconds(15)) async -> Answer {
      await client.answer(to: bench.message(to: device, base: base, timeout: timeout))
    }

    func end() {
      client.shutdown(grace: .zero)
      proxy.stop()
      bench.end()
    }
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test("what was on a dead connection fails as unanswered long before its time, later requests use a new one")
  func swallowed() async throws {
    let site = try Site()
    defer { site.end() }
    #expect(await site.answer().status == 200)
    site.proxy.swallow()
    let start = ContinuousClock.now
    let error = try #require(await site.answer(to: "lost", timeout: .seconds(60)).failure)
    #expect(error.kind == .reset && error.mayHaveBeenDelivered && error.isRetriable, "\(error)")
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(site.proxy.swallowed > 0)
    #expect(await site.answer(to: "next").status == 200)
    #expect(site.client.statistics.silentConnections == 1)
    #expect(site.proxy.accepted == 2)
    let line = try #require(site.notices.first)
    #expect(line.contains("gave up the connection to \(site.base) from local port ") && line.contains("1 request"))
    #expect(site.notices.count == 1)
  }

  @Test("while a connection is in doubt, requests use another one, and as many as before")
  func others() async throws {
    let site = try Site(silence: .milliseconds(300), connections: 2)
    defer { site.end() }
    // Both connections stand.
    let first = await site.client.answers(
      to: (0..<40).map { site.bench.message(to: "warm-\($0)", base: site.base) })
    #expect(first.allSatisfy { $0.status == 200 })
    site.proxy.swallow()
    let lost = Collector(expecting: 198)
    for number in 0..<198 {
      site.client.send(site.bench.message(to: "lost-\(number)", base: site.base, timeout: .seconds(60))) {
        lost.add($0)
      }
    }
    // All streams are taken by requests that nobody answers.
    let later = await site.client.answers(
      to: (0..<50).map { site.bench.message(to: "later-\($0)", base: site.base, timeout: .seconds(60)) })
    #expect(later.allSatisfy { $0.status == 200 })
    let failures = await lost.all().compactMap(\.failure)
    #expect(failures.count == 198 && failures.allSatisfy { $0.kind == .reset && $0.mayHaveBeenDelivered })
    let client = site.client
    #expect(try await eventually { client.statistics.inFlight == 0 })
  }

  @Test("an answer that takes long does not cost the connection: the server answers the probe")
  func slow() async throws {
    let site = try Site(
      emulator: FCMEmulatorConfiguration(faults: [Fault(tokenPrefix: "slow-", delay: .milliseconds(1_500))]),
      silence: .milliseconds(100))
    defer { site.end() }
    #expect(await site.answer().status == 200)
    #expect(await site.answer(to: "slow-1").status == 200)
    #expect(await site.answer().status == 200)
    #expect(site.client.statistics.silentConnections == 0 && site.notices.isEmpty)
    // Probes are no requests of a caller.
    let client = site.client
    #expect(try await eventually { client.statistics.responses == 3 })
    #expect(client.statistics.requests == 3)
  }

  @Test("a request that times out takes the connection out of use, however short its time was")
  func timedOut() async throws {
    let site = try Site(silence: .seconds(600))
    defer { site.end() }
    #expect(await site.answer().status == 200)
    site.proxy.swallow()
    #expect(try #require(await site.answer(timeout: .milliseconds(200)).failure).kind == .timedOut)
    #expect(await site.answer().status == 200)
    #expect(site.proxy.accepted == 2)
  }

  /// Local ports of connections to a port of this host.
  private static func localPorts(to port: Int) throws -> [Int] {
    try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8).split(separator: "\n").dropFirst().compactMap {
      let fields = $0.split(separator: " ")
      guard fields.count > 3, fields[3] == "01", let remote = fields[2].split(separator: ":").last,
        Int(remote, radix: 16) == port
      else { return nil }
      return fields[1].split(separator: ":").last.flatMap { Int($0, radix: 16) }
    }
  }

  @Test(
    "packets of old connections vanish, as behind a firewall that forgot them: a message is at the server within 12 s",
    .enabled(
      if: ProcessInfo.processInfo.environment["NUDGE_TEST_NETNS"] != nil,
      "as root: unshare -n sh -c 'ip link set lo up; NUDGE_TEST_NETNS=1 swift test --filter SilentConnectionTests'"))
  func firewall() async throws {
    let site = try Site(silence: .seconds(3), connections: 2)
    defer { site.end() }
    let server = try #require(URL(string: site.bench.emulator.url)?.port)
    func answer() async -> Answer { await site.client.answer(to: site.bench.message(base: site.bench.emulator.url)) }
    for idle in [false, true] {
      #expect(await answer().status == 200)
      let ports = try Self.localPorts(to: server)
      #expect(!ports.isEmpty)
      for port in ports {
        for direction in [
          ["--sport", "\(port)", "--dport", "\(server)"], ["--sport", "\(server)", "--dport", "\(port)"],
        ] {
          let iptables = Process()
          iptables.executableURL = URL(fileURLWithPath: "/usr/sbin/iptables")
          iptables.arguments = ["-I", "INPUT", "-p", "tcp"] + direction + ["-j", "DROP"]
          try iptables.run()
          iptables.waitUntilExit()
          #expect(iptables.terminationStatus == 0)
        }
      }
      let start = ContinuousClock.now
      // The system finds the dead connections without a request, too.
      if idle {
        #expect(try await eventually { (try? Self.localPorts(to: server))?.filter(ports.contains).isEmpty ?? false })
      }
      let asked = ContinuousClock.now
      var attempts = 0
      repeat { attempts += 1 } while await answer().status != 200 && ContinuousClock.now - start < .seconds(60)
      print("idle: \(idle), attempts: \(attempts), after \(ContinuousClock.now - asked); \(site.notices)")
      #expect(ContinuousClock.now - asked < (idle ? .seconds(3) : .seconds(12)))
      #expect(site.notices.count >= (idle ? 2 : 1))
    }
  }

  @Test("the system probes a connection and gives it up after six seconds without a confirmation")
  func options() throws {
    #if os(Linux)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      SocketOptions.watchPeer(descriptor)
      func value(_ level: Int32, _ option: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, level, option, &value, &length)
        return value
      }
      #expect(value(SOL_SOCKET, SO_KEEPALIVE) == 1)
      #expect(value(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 6_000)
      #expect(value(Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 3)
      #expect(value(Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 1)
    #endif
  }

  @Test("a connection that is refused was never one: it is not reported as silent")
  func refused() throws {
    // A port on which nothing listens, as long as the socket that has it is open.
    let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(holder) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(holder, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(bound == 0)
    address.sin_port = UInt16(try #require(SocketOptions.localPort(of: holder))).bigEndian
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    let connected = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(connected == -1 && errno == ECONNREFUSED)
    #expect(SocketOptions.silence(ofDead: descriptor) == nil)
  }

  @Test(
    "an origin is the part of a URL that decides the connection, without what may be secret",
    arguments: [
      ("https://Fcm.example:443/v1/projects/p", "https://fcm.example:443"), ("HTTP://a", "http://a"),
      ("https://user:word@host?token=1", "https://host"), ("https://host#part", "https://host"), ("no url", ""),
    ])
  func origins(_ url: String, _ origin: String) {
    #expect(Origin.of(url) == origin)
  }
}
