import NudgeClient
import Testing

@Suite("C3: deep links and routing")
struct RoutingTests {
  @Test(
    "C3: a link leads to its conversation", arguments: ["c1", "a b", "a/b", "ü🙂", "100%", "a?b#c", "..x", "%2F", ":"])
  func roundTrip(id: String) throws {
    let link = try DeepLink(conversationId: id)
    #expect(try DeepLink(link.text()) == link)
    #expect(link.route == Route(conversationId: id))
    #expect(try DeepLink(link.text(scheme: "acme-chat"), scheme: "acme-chat") == link)
  }

  @Test("C3: the text is messageai://conversation/{id}, percent-encoded, and the scheme can be chosen")
  func text() throws {
    #expect(try DeepLink(conversationId: "abc-123_X.~").text() == "messageai://conversation/abc-123_X.~")
    #expect(try DeepLink(conversationId: "a/ü b\u{a0}").text() == "messageai://conversation/a%2F%C3%BC%20b%C2%A0")
    #expect(try DeepLink(conversationId: "x").text(scheme: "acme") == "acme://conversation/x")
  }

  @Test("C3: capitals in scheme and destination, a closing slash, a query and a fragment make no difference")
  func tolerance() throws {
    for text in [
      "MessageAI://Conversation/c1", "messageai://conversation/c1/", "messageai://conversation/c1?utm=x",
      "messageai://conversation/c1#top", "messageai://conversation/%631",
    ] {
      #expect(try DeepLink(text).conversationId == "c1", "\(text)")
    }
  }

  @Test("C3: what is no link to a conversation is refused with its reason")
  func refused() {
    let cases: [(String, DeepLink.Failure)] = [
      ("https://conversation/c1", .otherScheme), ("acme://conversation/c1", .otherScheme), ("", .otherScheme),
      ("conversation/c1", .otherScheme), ("messageai://user/u1", .unknownDestination),
      ("messageai://conversation/c1/settings", .unknownDestination), ("messageai:conversation/c1", .unknownDestination),
      ("messageai:///conversation/c1", .unknownDestination), ("messageai://conversation", .invalidConversationId),
      ("messageai://conversation/", .invalidConversationId), ("messageai://conversation/a%00b", .invalidConversationId),
      ("messageai://conversation/a%0Ab", .invalidConversationId),
      ("messageai://conversation/%FF%FE", .invalidConversationId),
      ("messageai://conversation/" + String(repeating: "x", count: 257), .invalidConversationId),
    ]
    for (text, expected) in cases {
      #expect(throws: expected, "\(text)") { try DeepLink(text) }
    }
    #expect(throws: DeepLink.Failure.invalidConversationId) { try DeepLink(conversationId: "") }
    #expect(throws: DeepLink.Failure.invalidConversationId) { try DeepLink(conversationId: "a\u{7f}") }
  }

  /// A router of an app with somebody signed in and the list loaded.
  private func readyRouter() -> Router {
    var router = Router(words: .english)
    #expect(router.ready(at: at(0)) == [])
    #expect(router.listLoaded(at: at(0)) == [])
    return router
  }

  @Test("C3: app active: the conversation opens at once, then scrolls to the message, then highlights it")
  func active() {
    var router = readyRouter()
    #expect(
      router.receive(Route(conversationId: "c1", messageId: "m1"), at: at(1))
        == [.open(conversationId: "c1"), .wake(at: at(3))])
    #expect(router.opened("c1", at: at(1.2)) == [.scroll(messageId: "m1")])
    #expect(router.scrolled(to: "m1") == [.highlight(messageId: "m1", .standard), .cancelWake])
    let highlight = Router.Highlight.standard
    #expect([highlight.fadeIn, highlight.hold, highlight.fadeOut] == [0.5, 1, 0.5])
    #expect(router.scrolled(to: "m1") == [])
  }

  @Test("C3: app closed: a link is held until somebody is signed in and the list is loaded, and used once")
  func closed() {
    var router = Router(words: .english)
    #expect(router.receive(Route(conversationId: "c1"), at: at(0)) == [])
    #expect(router.pending == Route(conversationId: "c1"))
    // However long it is held: its time begins when the app is ready.
    #expect(router.timeReached(at: at(90)) == [])
    #expect(router.ready(at: at(100)) == [.loadList, .wake(at: at(100.5))])
    #expect(router.pending == Route(conversationId: "c1"))
    #expect(router.listLoaded(at: at(100.3)) == [.open(conversationId: "c1"), .wake(at: at(102.3))])
    #expect(router.pending == nil)
    #expect(router.opened("c1", at: at(101)) == [.cancelWake])
    #expect(router.ready(at: at(102)) == [])
    #expect(router.listLoaded(at: at(102)) == [])
    #expect(router.opened("c1", at: at(102)) == [])
  }

  @Test("C3: a list that is loaded before the user is signed in is not enough")
  func listFirst() {
    var router = Router(words: .english)
    #expect(router.receive(Route(conversationId: "c1"), at: at(0)) == [])
    #expect(router.listLoaded(at: at(1)) == [])
    #expect(router.ready(at: at(2)) == [.open(conversationId: "c1"), .wake(at: at(4))])
  }

  @Test("C3: of several links before the app is ready the last counts")
  func lastCounts() {
    var router = Router(words: .english)
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"), at: at(0))
    _ = router.receive(Route(conversationId: "c2", messageId: "m2"), at: at(0))
    _ = router.ready(at: at(1))
    #expect(router.listLoaded(at: at(1)) == [.open(conversationId: "c2"), .wake(at: at(3))])
    #expect(router.opened("c2", at: at(2)) == [.scroll(messageId: "m2")])
  }

  @Test("C3: a newer link takes over from one in progress")
  func takeOver() {
    var router = readyRouter()
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"), at: at(0))
    #expect(
      router.receive(Route(conversationId: "c2", messageId: "m2"), at: at(1))
        == [.open(conversationId: "c2"), .wake(at: at(3))])
    #expect(router.opened("c1", at: at(1)) == [])
    #expect(router.unavailable("c1") == [])
    #expect(router.opened("c2", at: at(1)) == [.scroll(messageId: "m2")])
    #expect(router.scrolled(to: "m1") == [])
    #expect(router.scrolled(to: "m2") == [.highlight(messageId: "m2", .standard), .cancelWake])
  }

  @Test("C3: \"This conversation is no longer available\" when it is gone, and the next link works")
  func gone() {
    var router = readyRouter()
    _ = router.receive(Route(conversationId: "c1"), at: at(0))
    #expect(router.unavailable("c1") == [.tell("This conversation is no longer available"), .cancelWake])
    #expect(router.unavailable("c1") == [])
    #expect(router.receive(Route(conversationId: "c2"), at: at(1)) == [.open(conversationId: "c2"), .wake(at: at(3))])
  }

  @Test("C3: routed within 500 ms: a list that takes longer does not hold the conversation up")
  func routeLimit() {
    var router = Router(words: .english)
    _ = router.ready(at: at(0))
    #expect(router.receive(Route(conversationId: "c1"), at: at(10)) == [.loadList, .wake(at: at(10.5))])
    #expect(router.timeReached(at: at(10.4)) == [.wake(at: at(10.5))])
    #expect(router.timeReached(at: at(10.5)) == [.open(conversationId: "c1"), .wake(at: at(12.5))])
    #expect(router.listLoaded(at: at(11)) == [])
    #expect(router.opened("c1", at: at(11)) == [.cancelWake])
  }

  @Test("C3: fetched within 2 s, or the user is told; what arrives later is still shown")
  func fetchLimit() {
    var router = readyRouter()
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"), at: at(0))
    #expect(router.timeReached(at: at(1.9)) == [.wake(at: at(2))])
    #expect(router.timeReached(at: at(2)) == [.tell("This conversation could not be loaded")])
    #expect(router.timeReached(at: at(3)) == [])
    #expect(router.opened("c1", at: at(5)) == [.scroll(messageId: "m1"), .wake(at: at(7))])
    #expect(router.timeReached(at: at(7)) == [.tell("This message could not be loaded")])
    #expect(router.scrolled(to: "m1") == [.highlight(messageId: "m1", .standard)])
  }

  @Test("C3: conversation and message share the 2 s")
  func sharedFetchLimit() {
    var router = readyRouter()
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"), at: at(0))
    #expect(router.opened("c1", at: at(1.5)) == [.scroll(messageId: "m1")])
    #expect(router.timeReached(at: at(2)) == [.tell("This message could not be loaded")])
  }

  @Test("C3: ten taps on ten notifications each land on their own message, one after the other")
  func tenTaps() throws {
    let actions = NotificationActions(userId: "ada", deviceId: "d1", makeId: countingIds())
    var router = readyRouter()
    for number in 1...10 {
      let push = try messagePush([
        "conversationId": "c\(number % 4)", "messageId": "m\(number)", "pushId": "p\(number)",
      ])
      guard case .open(let route, _) = actions.plan(for: .open, to: push, at: at(0)) else {
        Issue.record("tap \(number) has no route")
        continue
      }
      #expect(router.receive(route, at: at(0)).first == .open(conversationId: "c\(number % 4)"))
      #expect(router.opened("c\(number % 4)", at: at(0)) == [.scroll(messageId: "m\(number)")])
      #expect(router.scrolled(to: "m\(number)").first == .highlight(messageId: "m\(number)", .standard))
    }
  }

  @Test("C3: of ten taps in a hurry the last one lands, whichever conversations come on the screen meanwhile")
  func tenQuickTaps() {
    var router = readyRouter()
    for number in 1...10 {
      _ = router.receive(Route(conversationId: "c\(number)", messageId: "m\(number)"), at: at(0))
    }
    for number in 1...9 { #expect(router.opened("c\(number)", at: at(0.1)) == []) }
    #expect(router.opened("c10", at: at(0.2)) == [.scroll(messageId: "m10")])
    #expect(router.scrolled(to: "m10").first == .highlight(messageId: "m10", .standard))
  }

  @Test("C6: sign-out drops a pending link and its deadline; the next user's list is loaded before theirs is used")
  func signOut() {
    var router = Router(words: .english)
    _ = router.receive(Route(conversationId: "c1"), at: at(0))
    #expect(router.signedOut() == [])
    #expect(router.pending == nil)
    #expect(router.ready(at: at(1)) == [])
    #expect(router.receive(Route(conversationId: "c2"), at: at(2)) == [.loadList, .wake(at: at(2.5))])
    #expect(router.signedOut() == [.cancelWake])
    #expect(router.timeReached(at: at(3)) == [])
  }
}
