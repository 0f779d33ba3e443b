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

  @Test("C3: app active: the conversation opens at once, then scrolls to the message, then highlights it")
  func active() {
    var router = Router()
    #expect(router.ready() == [])
    #expect(router.listLoaded() == [])
    #expect(router.receive(Route(conversationId: "c1", messageId: "m1")) == [.open(conversationId: "c1")])
    #expect(router.opened("c1") == [.scroll(messageId: "m1")])
    let actions = router.scrolled(to: "m1")
    #expect(actions == [.highlight(messageId: "m1", .standard)])
    let highlight = Router.Highlight.standard
    #expect([highlight.fadeIn, highlight.hold, highlight.fadeOut] == [0.5, 1, 0.5])
    #expect(router.scrolled(to: "m1") == [])
  }

  @Test("C3: app closed: a link is held until somebody is signed in and the list is loaded, and used once")
  func closed() {
    var router = Router()
    #expect(router.receive(Route(conversationId: "c1")) == [])
    #expect(router.pending == Route(conversationId: "c1"))
    #expect(router.ready() == [.loadList])
    #expect(router.pending == Route(conversationId: "c1"))
    #expect(router.listLoaded() == [.open(conversationId: "c1")])
    #expect(router.pending == nil)
    #expect(router.opened("c1") == [])
    #expect(router.ready() == [])
    #expect(router.listLoaded() == [])
    #expect(router.opened("c1") == [])
  }

  @Test("C3: the list being there before the user is signed in is not enough")
  func listFirst() {
    var router = Router()
    #expect(router.receive(Route(conversationId: "c1")) == [])
    #expect(router.listLoaded() == [])
    #expect(router.ready() == [.open(conversationId: "c1")])
  }

  @Test("C3: of several links before the app is ready the last counts")
  func lastCounts() {
    var router = Router()
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"))
    _ = router.receive(Route(conversationId: "c2", messageId: "m2"))
    _ = router.ready()
    #expect(router.listLoaded() == [.open(conversationId: "c2")])
    #expect(router.opened("c2") == [.scroll(messageId: "m2")])
  }

  @Test("C3: a newer link takes over while an older one is under way")
  func takeOver() {
    var router = Router()
    _ = router.ready()
    _ = router.listLoaded()
    _ = router.receive(Route(conversationId: "c1", messageId: "m1"))
    #expect(router.receive(Route(conversationId: "c2", messageId: "m2")) == [.open(conversationId: "c2")])
    #expect(router.opened("c1") == [])
    #expect(router.unavailable("c1") == [])
    #expect(router.opened("c2") == [.scroll(messageId: "m2")])
    #expect(router.scrolled(to: "m1") == [])
    #expect(router.scrolled(to: "m2") == [.highlight(messageId: "m2", .standard)])
  }

  @Test("C3: \"This conversation is no longer available\" when it is gone, and the next link works")
  func gone() {
    var router = Router()
    _ = router.ready()
    _ = router.listLoaded()
    _ = router.receive(Route(conversationId: "c1"))
    #expect(router.unavailable("c1") == [.tell("This conversation is no longer available")])
    #expect(router.unavailable("c1") == [])
    #expect(router.receive(Route(conversationId: "c2")) == [.open(conversationId: "c2")])
  }

  @Test("C6: sign-out drops a link that waits; the next user's list is loaded before theirs is used")
  func signOut() {
    var router = Router()
    _ = router.receive(Route(conversationId: "c1"))
    router.signedOut()
    #expect(router.pending == nil)
    #expect(router.ready() == [])
    #expect(router.receive(Route(conversationId: "c2")) == [.loadList])
    #expect(router.listLoaded() == [.open(conversationId: "c2")])
  }
}
