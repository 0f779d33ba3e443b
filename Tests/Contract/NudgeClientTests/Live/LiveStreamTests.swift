import Foundation
import TestSupport
import Testing

@testable import NudgeClient

@Suite("Live: the app's stream")
struct LiveStreamTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func at(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

  private func stream() -> LiveStream { LiveStream(random: { ($0.lowerBound + $0.upperBound) / 2 }) }

  static func banner(_ number: Int, for user: String = "ann") -> String {
    #"{"schemaVersion":1,"type":"banner","eventId":"e\#(number)","occurredAt":\#(1_800_000_000_000 + number),"#
      + #""userId":"\#(user)","conversationId":"c","messageId":"m\#(number)","senderId":"bob","senderName":"Bob","preview":"\#(number)"}"#
  }

  @Test("it connects, delivers, notices silence and ends, and goes on behind the last event")
  func life() {
    var live = stream()
    #expect(
      live.opened(at: at(0)) == [.connect(.init(lastEventId: nil, needsFreshToken: false)), .wake(at: at(15))])
    #expect(live.opened(at: at(1)) == [], "it is open already")
    #expect(live.answered(status: 200, at: at(2)) == [.isLive(true), .wake(at: at(47))])
    let bytes = Array(
      "retry: 4000\nid: 0-1\n\nevent: banner\nid: 0-2\ndata: \(Self.banner(1))\n\nevent: later\ndata: x\n\n".utf8)
    let actions = live.received(bytes, at: at(3))
    guard case .deliver(.record(.banner(let banner)))? = actions.first else {
      return #expect(Bool(false), "\(actions)")
    }
    #expect(banner.messageId == "m1" && actions.count == 2 && actions[1] == .wake(at: at(48)))
    #expect(live.timeReached(at: at(47)) == [.wake(at: at(48))], "early")
    #expect(live.timeReached(at: at(48)) == [.disconnect, .isLive(false), .wake(at: at(52))])
    #expect(
      live.timeReached(at: at(52)) == [.connect(.init(lastEventId: "0-2", needsFreshToken: false)), .wake(at: at(67))])
    #expect(live.closed() == [.disconnect, .cancelWake])
    #expect(live.opened(at: at(100)).first == .connect(.init(lastEventId: "0-2", needsFreshToken: false)))
    #expect(live.signedOut() == [.disconnect, .cancelWake])
    #expect(live.opened(at: at(101)).first == .connect(.init(lastEventId: nil, needsFreshToken: false)))
  }

  @Test(
    "failures wait longer each time, up to a minute, and as long as Retry-After says; a network that returns ends the wait"
  )
  func pauses() {
    var live = stream()
    _ = live.opened(at: at(0))
    var pauses: [Double] = []
    for _ in 0..<7 {
      guard case .wake(let time)? = live.disconnected(at: at(0)).last else { return #expect(Bool(false), "no wake") }
      pauses.append(time.timeIntervalSince(at(0)))
      _ = live.timeReached(at: time)
    }
    #expect(pauses == [4, 8, 16, 32, 60, 60, 60])
    #expect(live.answered(status: 503, retryAfter: 100, at: at(0)) == [.disconnect, .wake(at: at(125))])
    #expect(live.networkReturned(at: at(1)).first == .connect(.init(lastEventId: nil, needsFreshToken: false)))
    #expect(live.timeReached(at: at(16)) == [.disconnect, .wake(at: at(76))], "no answer within 15 s")
  }

  @Test("a token that expired, or was refused, is replaced")
  func tokens() {
    var live = stream()
    _ = live.opened(at: at(0))
    _ = live.answered(status: 200, at: at(0))
    let actions = live.received(Array("event: end\nretry: 2000\ndata: {\"reason\":\"expired\"}\n\n".utf8), at: at(1))
    #expect(actions.first == .deliver(.end(.expired)))
    #expect(live.disconnected(at: at(1)) == [.isLive(false), .wake(at: at(3))])
    #expect(live.timeReached(at: at(3)).first == .connect(.init(lastEventId: nil, needsFreshToken: true)))
    _ = live.answered(status: 401, at: at(3))
    #expect(live.networkReturned(at: at(4)).first == .connect(.init(lastEventId: nil, needsFreshToken: true)))
    _ = live.answered(status: 200, at: at(4))
    _ = live.disconnected(at: at(5))
    #expect(live.networkReturned(at: at(6)).first == .connect(.init(lastEventId: nil, needsFreshToken: false)))
  }

  @Test("with connections that break anywhere, an app shows each banner once, whether it came live, as a push, or both")
  func once() throws {
    for seed in UInt64(1)...150 {
      var random = SeededGenerator(seed: seed)
      var live = LiveStream(random: { $0.lowerBound })
      var presenter = NotificationPresenter(userId: "ann", isForeground: true)
      var log: [Int] = []
      var shown: [Int: Int] = [:]
      // The server's side of the connection: what is still to be sent.
      var wire: [UInt8]?
      var now = start
      var wakes: Date?
      func perform(_ actions: [LiveStream.Action]) {
        for action in actions {
          switch action {
          case .connect(let request):
            let from = request.lastEventId.flatMap { Int($0.dropFirst(2)) } ?? 0
            wire = Array("id: 0-\(from)\n\n".utf8)
            for number in log.dropFirst(from) { wire? += Self.event(number) }
          case .disconnect: wire = nil
          case .deliver(.record(.banner(let banner))):
            if presenter.admits(banner) { shown[Int(banner.preview) ?? -1, default: 0] += 1 }
          case .deliver: break
          case .isLive(let isLive): presenter.hasLiveChannel = isLive
          case .wake(let time): wakes = time
          case .cancelWake: wakes = nil
          }
        }
      }
      func push(_ number: Int) throws {
        let push = try PushPayload(data: [
          "type": "new_message", "recipientId": "ann", "pushId": "p\(number)", "presentation": "alert",
          "priority": "high",
          "badge": "1", "timestamp": "1800000000", "conversationId": "c", "messageId": "m\(number)", "senderId": "bob",
        ])
        if case .present(let options, _) = presenter.receive(push), options.contains(.banner) {
          shown[number, default: 0] += 1
        }
      }
      perform(live.opened(at: now))
      perform(live.answered(status: 200, at: now))
      for _ in 0..<300 {
        now += 0.5
        switch random.below(8) {
        case 0, 1:
          log.append(log.count)
          if wire != nil { wire? += Self.event(log.count - 1) }
        case 2: if !log.isEmpty { try push(random.below(log.count)) }
        case 3 where random.below(4) == 0:
          wire = nil
          perform(live.disconnected(at: now))
        case 4 where random.below(6) == 0:
          perform(live.closed())
          perform(live.opened(at: now))
          perform(live.answered(status: 200, at: now))
        default:
          if let bytes = wire {
            let count = random.below(bytes.count + 1)
            wire = Array(bytes.dropFirst(count))
            perform(live.received(bytes.prefix(count), at: now))
          }
        }
        if let due = wakes, due <= now {
          perform(live.timeReached(at: now))
          perform(live.answered(status: 200, at: now))
        }
      }
      if wire == nil {
        perform(live.networkReturned(at: now))
        perform(live.answered(status: 200, at: now))
      }
      perform(live.received(wire ?? [], at: now))
      #expect(shown == Dictionary(uniqueKeysWithValues: log.map { ($0, 1) }), "seed \(seed)")
    }
  }

  private static func event(_ number: Int) -> [UInt8] {
    Array("event: banner\nid: 0-\(number + 1)\ndata: \(banner(number))\n\n".utf8)
  }
}
