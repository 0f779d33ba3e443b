import Foundation
import NudgeClient
import Testing

@Suite("C4: banner queue")
struct BannerQueueTests {
  private func item(_ messageId: String, in conversationId: String = "c1", at second: Int64? = nil) -> BannerQueue.Item
  {
    .message(banner(messageId, in: conversationId, at: second))
  }

  private func notice(_ id: String) -> InAppNotice {
    InAppNotice(noticeId: id, userId: "ada", code: "analysis_limit", text: "⚠️ Limit")
  }

  @Test("C4: a banner shows for 4 s from its appearance, then the next one does")
  func oneAtATime() {
    var queue = BannerQueue()
    #expect(queue.receive(item("m1"), at: 10) == [.show(item("m1")), .wake(at: 14)])
    #expect(queue.receive(item("m2"), at: 11) == [])
    #expect(queue.timeReached(at: 13.9) == [.wake(at: 14)])
    #expect(queue.timeReached(at: 14) == [.hide(item("m1")), .show(item("m2")), .wake(at: 18)])
    #expect(queue.timeReached(at: 18.5) == [.hide(item("m2")), .cancelWake])
    #expect(queue.timeReached(at: 30) == [])
    #expect(queue.receive(item("m3"), at: 40) == [.show(item("m3")), .wake(at: 44)])
  }

  @Test("C4: its time stands still while it is touched")
  func touch() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    #expect(queue.touchBegan(at: 3) == [.cancelWake])
    #expect(queue.touchBegan(at: 4) == [])
    #expect(queue.timeReached(at: 100) == [])
    #expect(queue.touchEnded(movedUp: 0, at: 100) == [.wake(at: 101)])
    #expect(queue.touchBegan(at: 100.5) == [.cancelWake])
    #expect(queue.touchEnded(movedUp: -80, at: 200) == [.wake(at: 200.5)])
    #expect(queue.timeReached(at: 200.5) == [.hide(item("m1")), .cancelWake])
  }

  @Test("C4: a swipe of 50 points up ends it, one of less does not")
  func swipe() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    _ = queue.receive(item("m2"), at: 0)
    _ = queue.touchBegan(at: 1)
    #expect(queue.touchEnded(movedUp: 49.9, at: 2) == [.wake(at: 5)])
    _ = queue.touchBegan(at: 3)
    #expect(queue.touchEnded(movedUp: 50, at: 3) == [.hide(item("m1")), .show(item("m2")), .wake(at: 7)])
    #expect(queue.touchEnded(movedUp: 100, at: 3) == [])
  }

  @Test("C4: a tap ends it and routes to the message; what waits for the same conversation is not shown")
  func tap() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1", in: "c1"), at: 0)
    _ = queue.receive(item("m2", in: "c1"), at: 0)
    _ = queue.receive(item("m3", in: "c2"), at: 0)
    #expect(
      queue.tapped(at: 1) == [
        .route(Route(conversationId: "c1", messageId: "m1")), .hide(item("m1")), .show(item("m3", in: "c2")),
        .wake(at: 5),
      ])
    #expect(
      queue.tapped(at: 2) == [
        .route(Route(conversationId: "c2", messageId: "m3")), .hide(item("m3", in: "c2")), .cancelWake,
      ])
    #expect(queue.tapped(at: 3) == [])
  }

  @Test("C4: at most 3 wait; of more the oldest is dropped")
  func waiting() {
    var queue = BannerQueue()
    for index in 1...6 { _ = queue.receive(item("m\(index)"), at: 0) }
    var shown: [String] = []
    for step in 1...5 {
      for case .show(.message(let banner)) in queue.timeReached(at: Double(step) * 4) { shown.append(banner.messageId) }
    }
    #expect(shown == ["m4", "m5", "m6"])
  }

  @Test("C4: a message that shows or waits is not queued again")
  func repeated() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    #expect(queue.receive(item("m1"), at: 1) == [])
    #expect(queue.receive(item("m2"), at: 1) == [])
    #expect(queue.receive(item("m2"), at: 1) == [])
    #expect(queue.timeReached(at: 4) == [.hide(item("m1")), .show(item("m2")), .wake(at: 8)])
    #expect(queue.timeReached(at: 8) == [.hide(item("m2")), .cancelWake])
  }

  @Test("C4: opening a conversation drops all of its banners, showing or waiting, and none comes while it is open")
  func conversationOpened() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1", in: "c1"), at: 0)
    _ = queue.receive(item("m2", in: "c1"), at: 0)
    _ = queue.receive(item("m3", in: "c2"), at: 0)
    #expect(
      queue.conversationOpened("c1", at: 1)
        == [.hide(item("m1")), .show(item("m3", in: "c2")), .wake(at: 5)])
    #expect(queue.receive(item("m4", in: "c1"), at: 2) == [])
    #expect(queue.timeReached(at: 5) == [.hide(item("m3", in: "c2")), .cancelWake])
    queue.conversationClosed()
    #expect(queue.receive(item("m5", in: "c1"), at: 6) == [.show(item("m5", in: "c1")), .wake(at: 10)])
  }

  @Test("C4: opening another conversation leaves the banner that shows, and its time, as they are")
  func otherOpened() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1", in: "c1"), at: 0)
    _ = queue.receive(item("m2", in: "c2"), at: 0)
    #expect(queue.conversationOpened("c2", at: 1) == [])
    #expect(queue.timeReached(at: 4) == [.hide(item("m1")), .cancelWake])
  }

  @Test("D7: a read on another device drops the banners up to the message read, and no newer ones")
  func readElsewhere() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1", at: 10), at: 0)
    _ = queue.receive(item("m2", at: 20), at: 0)
    _ = queue.receive(item("m3", at: 30), at: 0)
    let mark = ReadMark(conversationId: "c1", messageId: "m2", time: Date(timeIntervalSince1970: 20))
    #expect(
      queue.conversationRead(mark, at: 1) == [.hide(item("m1", at: 10)), .show(item("m3", at: 30)), .wake(at: 5)])
    #expect(queue.conversationRead(ReadMark(conversationId: "c2"), at: 2) == [])
    #expect(queue.conversationRead(ReadMark(conversationId: "c1"), at: 2) == [.hide(item("m3", at: 30)), .cancelWake])
    #expect(queue.receive(item("m4"), at: 3) == [.show(item("m4")), .wake(at: 7)])
  }

  @Test("D13: a deleted message loses its banner")
  func deleted() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    _ = queue.receive(item("m2"), at: 0)
    #expect(queue.messageDeleted("m2", in: "c1", at: 1) == [])
    #expect(queue.messageDeleted("m1", in: "c1", at: 1) == [.hide(item("m1")), .cancelWake])
  }

  @Test("D4: a notice shows as a banner for 4 s, also while a conversation is open, and a tap on it leads nowhere")
  func notice() {
    var queue = BannerQueue(openConversationId: "c1")
    let notice = BannerQueue.Item.notice(notice("n1"))
    #expect(queue.receive(notice, at: 0) == [.show(notice), .wake(at: 4)])
    #expect(queue.receive(notice, at: 1) == [])
    #expect(queue.receive(item("m1", in: "c2"), at: 1) == [])
    #expect(queue.conversationOpened("c2", at: 1) == [])
    #expect(queue.conversationRead(ReadMark(conversationId: "c1"), at: 1) == [])
    #expect(queue.tapped(at: 2) == [.hide(notice), .cancelWake])
  }

  @Test("C4: in the background none shows, none waits, and none comes; messages that waited become notifications")
  func background() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    _ = queue.receive(item("m2"), at: 0)
    _ = queue.receive(.notice(notice("n1")), at: 0)
    _ = queue.receive(item("m3", in: "c2"), at: 0)
    #expect(
      queue.enteredBackground() == [
        .hide(item("m1")), .cancelWake, .notify(banner("m2")), .notify(banner("m3", in: "c2")),
      ])
    #expect(queue.enteredBackground() == [])
    #expect(queue.receive(item("m3"), at: 1) == [])
    queue.enteredForeground()
    #expect(queue.timeReached(at: 10) == [])
    #expect(queue.receive(item("m4"), at: 11) == [.show(item("m4")), .wake(at: 15)])
  }

  @Test("C6: sign-out clears what shows and what waits")
  func signOut() {
    var queue = BannerQueue()
    _ = queue.receive(item("m1"), at: 0)
    _ = queue.receive(item("m2"), at: 0)
    #expect(queue.signedOut() == [.hide(item("m1")), .cancelWake])
    #expect(queue.timeReached(at: 4) == [])
    #expect(queue.signedOut() == [])
  }

  @Test("C4: the banner's X ends it, touched or not; nothing is opened, and the next appears")
  func dismissed() {
    var queue = BannerQueue()
    #expect(queue.dismissed(at: 0) == [])
    _ = queue.receive(item("m1"), at: 0)
    _ = queue.receive(item("m2"), at: 0)
    _ = queue.touchBegan(at: 1)
    #expect(queue.dismissed(at: 1) == [.hide(item("m1")), .show(item("m2")), .wake(at: 5)])
    #expect(queue.dismissed(at: 2) == [.hide(item("m2")), .cancelWake])
    #expect(queue.timeReached(at: 5) == [])
  }

  @Test("C4: a group's banner says \"in {name}\"; initials stand where there is no avatar")
  func texts() {
    #expect(banner("m1", group: "Team").subtitle(.english) == "in Team")
    #expect(banner("m1").subtitle() == nil)
    for (name, initials) in [
      ("Ada Lovelace", "AL"), ("ben", "B"), ("Jean  Luc van Damme", "JD"), ("", "?"), (" ", "?"), ("🙂", "?"),
      ("🙂 Zoë", "Z"), ("élodie Ångström", "ÉÅ"), ("4ever Young", "4Y"), ("(Bo) Li", "BL"),
    ] {
      #expect(banner("m1", name: name).initials == initials, "\(name)")
    }
  }

  @Test("D9: a banner record is decoded; another type, a newer version or a missing field is refused")
  func decode() throws {
    let record =
      #"{"schemaVersion":1,"type":"banner","userId":"ada","conversationId":"c1","messageId":"m1","senderId":"ben","senderName":"Ben","preview":"Lunch?","groupName":"Team","occurredAt":1763712000000,"origin":{"topic":"t"}}"#
    let decoded = try JSONDecoder().decode(InAppBanner.self, from: Data(record.utf8))
    #expect(decoded == banner("m1", group: "Team"))
    #expect(decoded.route == Route(conversationId: "c1", messageId: "m1"))
    for (old, new) in [
      (#""banner""#, #""notice""#), (#":1,"type""#, #":2,"type""#), (#""senderName":"Ben","#, ""),
      ("1763712000000", "\"x\""),
    ] {
      let changed = record.replacingOccurrences(of: old, with: new)
      #expect(changed != record)
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(InAppBanner.self, from: Data(changed.utf8)) }
    }
  }

  @Test("D4, D9: a gateway's record is a banner or a notice; the notice's text is the one to show")
  func gatewayRecord() throws {
    let notice =
      #"{"schemaVersion":1,"type":"notice","eventId":"n1","occurredAt":1763712000000,"userId":"ada","code":"analysis_limit","limit":10,"fallback":"simple_rules","text":"⚠️ Limit"}"#
    let decoded = try JSONDecoder().decode(GatewayRecord.self, from: Data(notice.utf8))
    #expect(decoded == .notice(self.notice("n1")))
    let banner =
      #"{"schemaVersion":1,"type":"banner","userId":"ada","conversationId":"c1","messageId":"m1","senderId":"ben","senderName":"Ben","preview":"Lunch?","occurredAt":1763712000000}"#
    #expect(
      try JSONDecoder().decode(GatewayRecord.self, from: Data(banner.utf8)) == .banner(NudgeClientTests.banner("m1")))
    for (old, new) in [(#""notice""#, #""advert""#), (":1,", ":2,"), (#","text":"⚠️ Limit""#, "")] {
      let changed = notice.replacingOccurrences(of: old, with: new)
      #expect(changed != notice)
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(GatewayRecord.self, from: Data(changed.utf8)) }
    }
  }

  @Test("C4: whatever happens in whatever order, one banner shows at most, at most 3 wait, and none is late to go")
  func anyOrder() {
    let seed = UInt64.random(in: .min ... .max)
    print("anyOrder: seed \(seed)")
    var state = seed
    func random(_ bound: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % bound)
    }
    for _ in 0..<200 {
      var queue = BannerQueue()
      var now = 0.0
      var visible: String?
      var wake: Double?
      var touched = false
      var seen: Set<String> = []
      for step in 0..<200 {
        now += Double(random(20)) / 10
        // The app's timer: it fires on time.
        if let at = wake, at <= now { apply(queue.timeReached(at: at)) }
        switch random(10) {
        case 0...3: apply(queue.receive(item("m\(step)", in: "c\(random(3))"), at: now))
        case 4:
          touched = visible != nil
          apply(queue.touchBegan(at: now))
        case 5:
          apply(queue.touchEnded(movedUp: Double(random(100)), at: now))
          touched = false
        case 6: apply(queue.tapped(at: now))
        case 7: apply(queue.conversationOpened("c\(random(3))", at: now))
        case 8: queue.conversationClosed()
        default:
          apply(queue.enteredBackground())
          #expect(visible == nil)
          queue.enteredForeground()
        }
        // A banner disappears by itself unless a finger touches it.
        #expect((visible == nil || touched) == (wake == nil), "seed \(seed), step \(step)")
        if let wake { #expect(wake <= now + 4, "seed \(seed), step \(step)") }
      }

      func apply(_ actions: [BannerQueue.Action]) {
        for action in actions {
          switch action {
          case .show(let item):
            guard case .message(let banner) = item else { continue }
            #expect(visible == nil, "seed \(seed)")
            #expect(seen.insert(banner.messageId).inserted, "seed \(seed)")
            visible = banner.messageId
            touched = false
          case .hide(let item):
            guard case .message(let banner) = item else { continue }
            #expect(visible == banner.messageId, "seed \(seed)")
            visible = nil
            touched = false
          case .wake(let at): wake = at
          case .cancelWake: wake = nil
          case .route, .notify: continue
          }
        }
      }
    }
  }
}
