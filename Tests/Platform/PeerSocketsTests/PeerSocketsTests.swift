import Foundation
import TestSupport
import Testing

@testable import PeerSockets

#if os(Linux)
  /// Listens, takes connections, and answers only when it is told to.
  private final class Peer {
    let port: UInt16
    private let listener: Int32
    private var accepted: [Int32] = []

    init() throws {
      let listening = try LoopbackListener()
      (listener, port) = (listening.descriptor, listening.port)
    }

    deinit { for descriptor in accepted + [listener] { close(descriptor) } }

    /// A connection of `PeerSockets` to this peer.
    func connection() throws -> Int32 {
      let descriptor = PeerSockets.make(family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      try #require(isConnected)
      accepted.append(accept(listener, nil, nil))
      return descriptor
    }

    /// The events that poll reports on the connection with this index without being asked for any.
    func signs(_ index: Int) -> Int16 {
      var asked = pollfd(fd: accepted[index], events: 0, revents: 0)
      poll(&asked, 1, 0)
      return asked.revents
    }

    /// Answers on the connection that was made last.
    func answer() throws {
      var byte: UInt8 = 7
      #expect(send(try #require(accepted.last), &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
    }
  }

  // One looks into the future, which ends the connections of all.
  @Suite("Connections that fall silent", .serialized)
  struct PeerSocketsTests {
    private func ask(_ descriptor: Int32) {
      var byte: UInt8 = 1
      #expect(send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
    }

    /// Whether the connection was ended from this side.
    private func hasEnded(_ descriptor: Int32) -> Bool {
      var byte: UInt8 = 0
      return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) == 0
    }

    /// What a look ends of these peers' connections: other tests of the process have connections of their own.
    private func look(_ peers: Peer..., now: ContinuousClock.Instant = .now) -> [PeerSockets.GivenUp] {
      let own = Set(peers.map { "127.0.0.1:\($0.port)" })
      return PeerSockets.check(now: now).filter { own.contains($0.peer) }
    }

    @Test(
      "a connection whose peer owes an answer for seconds is ended, with idle ones; one that gets answers, and a new one, are not"
    )
    func silence() throws {
      let (deaf, idle, busy) = (try Peer(), try Peer(), try Peer())
      let asked = try deaf.connection()
      let unused = try idle.connection()
      let used = try busy.connection()
      defer { for descriptor in [asked, unused, used] { PeerSockets.close(descriptor) } }
      ask(asked)
      let start = ContinuousClock.now
      var given: [PeerSockets.GivenUp] = []
      wait(for: "the silence to be noticed") {
        ask(used)
        try? busy.answer()
        given += look(deaf, idle, busy)
        return hasEnded(asked)
      }
      let took = start.duration(to: .now)
      #expect(took >= PeerSockets.unanswered && took < PeerSockets.unanswered + .seconds(3), "\(took)")
      #expect(hasEnded(unused) && !hasEnded(used))
      #expect(Set(given.map(\.peer)) == ["127.0.0.1:\(deaf.port)", "127.0.0.1:\(idle.port)"])
      #expect(given.allSatisfy { $0.silence >= PeerSockets.doubtful })
      #expect(look(deaf, idle, busy).isEmpty, "each is told of once")
    }

    @Test("an idle connection that owes nothing stays, however old it is; a request after that has its time")
    func idle() throws {
      let peer = try Peer()
      let descriptor = try peer.connection()
      defer { PeerSockets.close(descriptor) }
      // As old as may be: what counts is when the answer began to be owed.
      for seconds in 0...20 { #expect(look(peer, now: .now + .seconds(seconds)).isEmpty) }
      ask(descriptor)
      #expect(look(peer).isEmpty)
      try peer.answer()
      wait(for: "the answer") {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1
      }
      for seconds in 0...20 { #expect(look(peer, now: .now + .seconds(seconds)).isEmpty) }
      #expect(!hasEnded(descriptor))
    }

    @Test("a doubt ends what was silent for a while, and nothing else")
    func doubt() throws {
      let (quiet, busy) = (try Peer(), try Peer())
      let old = try quiet.connection()
      let used = try busy.connection()
      defer { for descriptor in [old, used] { PeerSockets.close(descriptor) } }
      wait(for: "the doubt to end the silent one") {
        ask(used)
        try? busy.answer()
        PeerSockets.doubt()
        return hasEnded(old)
      }
      #expect(!hasEnded(used))
      #expect(look(quiet, busy).map(\.peer) == ["127.0.0.1:\(quiet.port)"])
    }

    @Test("a peer that reads nothing sees the end of a connection that was given up, not that of one that was closed")
    func reset() throws {
      let peer = try Peer()
      let closed = try peer.connection()
      PeerSockets.close(closed)
      let given = try peer.connection()
      wait(for: "the doubt") {
        PeerSockets.doubt()
        return hasEnded(given)
      }
      PeerSockets.close(given)
      // Poll reports both of a reset connection.
      let signs = Int16(POLLERR) | Int16(POLLHUP)
      wait(for: "the reset") { peer.signs(1) & signs == signs }
      #expect(peer.signs(0) & signs == 0)
    }

    @Test("the kernel ends a connection whose packets vanish")
    func options() throws {
      let peer = try Peer()
      let descriptor = try peer.connection()
      defer { PeerSockets.close(descriptor) }
      func option(_ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        #expect(getsockopt(descriptor, level, name, &value, &size) == 0)
        return value
      }
      let tcp = Int32(IPPROTO_TCP)
      #expect(option(SOL_SOCKET, SO_KEEPALIVE) == 1)
      #expect(option(tcp, TCP_USER_TIMEOUT) == 4_000)
      #expect(option(tcp, TCP_KEEPIDLE) == 3 && option(tcp, TCP_KEEPINTVL) == 1)
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
  }
#endif
