import Foundation
import NudgeClient
import Testing

func banner(
  _ messageId: String, in conversationId: String = "c1", to userId: String = "ada", from senderId: String = "ben",
  group: String? = nil, name: String = "Ben", at second: Int64? = nil
) -> InAppBanner {
  InAppBanner(
    userId: userId, conversationId: conversationId, messageId: messageId, senderId: senderId, senderName: name,
    preview: "Lunch?", groupName: group, occurredAt: second.map { $0 * 1_000 } ?? 1_763_712_000_000)
}

@Suite("C1: presentation")
struct NotificationPresenterTests {
  @Test("P12: where FCM threw pushes away the app asks its backend, if somebody is signed in")
  func messagesDeleted() {
    #expect(NotificationPresenter(userId: "ada", isForeground: false).messagesDeleted() == .synchronize)
    #expect(NotificationPresenter(userId: nil, isForeground: true).messagesDeleted() == .drop(.otherRecipient))
  }

  private func action(
    _ priority: String, foreground: Bool, open: String? = nil
  ) throws -> NotificationPresenter.Action {
    var presenter = NotificationPresenter(userId: "ada", isForeground: foreground, openConversationId: open)
    return presenter.receive(try messagePush(["priority": priority]))
  }

  @Test(
    "C1: a push without a presentation goes by priority: in the background high alerts, medium is silent, low badge")
  func background() throws {
    #expect(try action("high", foreground: false) == .present([.banner, .list, .sound, .badge], badge: 3))
    #expect(try action("medium", foreground: false) == .present([.list, .badge], badge: 3))
    #expect(try action("low", foreground: false) == .present([.badge], badge: 3))
  }

  @Test(
    "C1: without a presentation in the foreground high is banner, sound and badge, medium banner, list and badge, low badge"
  )
  func foreground() throws {
    #expect(try action("high", foreground: true, open: "c2") == .present([.banner, .sound, .badge], badge: 3))
    #expect(try action("medium", foreground: true) == .present([.banner, .list, .badge], badge: 3))
    #expect(try action("low", foreground: true) == .present([.badge], badge: 3))
  }

  @Test("C1: nothing for the open conversation, which counts as open in the foreground only")
  func openConversation() throws {
    for priority in ["high", "medium", "low"] {
      #expect(try action(priority, foreground: true, open: "c1") == .drop(.openConversation))
    }
    #expect(try action("high", foreground: false, open: "c1") == .present([.banner, .list, .sound, .badge], badge: 3))
  }

  @Test("C1: a push for another recipient is dropped, whatever it is, and every push when nobody is signed in")
  func otherRecipient() throws {
    for userId in ["ben", nil] {
      var presenter = NotificationPresenter(userId: userId, isForeground: true)
      #expect(presenter.receive(try messagePush()) == .drop(.otherRecipient))
      let badge = try PushPayload(data: ["type": "badge", "badge": "1", "pushId": "p", "recipientId": "ada"])
      #expect(presenter.receive(badge) == .drop(.otherRecipient))
    }
  }

  @Test("C1: one message is shown once as push; a second push of it only sets the badge")
  func pushTwice() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(presenter.receive(try messagePush()) == .present([.banner, .sound, .badge], badge: 3))
    #expect(presenter.receive(try messagePush(["badge": "4", "pushId": "p2"])) == .setBadge(4))
    #expect(presenter.receive(try messagePush(without: "badge")) == .drop(.alreadyShown))
    #expect(presenter.receive(try messagePush(["messageId": "m2"])) == .present([.banner, .sound, .badge], badge: 3))
  }

  @Test("C1: one message is shown once, as push or as in-app banner, whichever comes first")
  func pushAndBanner() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(presenter.receive(try messagePush()) == .present([.banner, .sound, .badge], badge: 3))
    #expect(presenter.admits(banner("m1")) == false)
    #expect(presenter.admits(banner("m2")) == true)
    #expect(presenter.admits(banner("m2")) == false)
    #expect(presenter.receive(try messagePush(["messageId": "m2"])) == .setBadge(3))
  }

  @Test("C1: a badge push shows nothing, so the banner of its message is admitted")
  func lowThenBanner() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(presenter.receive(try messagePush(["priority": "low"])) == .present([.badge], badge: 3))
    #expect(presenter.admits(banner("m1")) == true)
  }

  @Test("D9: no banner in the background, for the open conversation, for the user's own message or for another user")
  func bannerRefused() {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true, openConversationId: "c1")
    #expect(presenter.admits(banner("m1", in: "c1")) == false)
    #expect(presenter.admits(banner("m2", in: "c2", to: "ben")) == false)
    #expect(presenter.admits(banner("m3", in: "c2", from: "ada")) == false)
    presenter.isForeground = false
    #expect(presenter.admits(banner("m4", in: "c2")) == false)
    presenter.isForeground = true
    #expect(presenter.admits(banner("m4", in: "c2")) == true)
  }

  @Test("C1: the presentation decides, not the priority", arguments: ["high", "medium", "low"])
  func presentationDecides(priority: String) throws {
    for (presentation, background, foreground) in [
      (
        "alert", PresentationOptions([.banner, .list, .sound, .badge]), PresentationOptions([.banner, .sound, .badge])
      ),
      ("silent", [.list, .badge], [.banner, .list, .badge]), ("badge", [.badge], [.badge]),
    ] {
      for (isForeground, options) in [(false, background), (true, foreground)] {
        var presenter = NotificationPresenter(userId: "ada", isForeground: isForeground, openConversationId: "c2")
        let push = try messagePush(["priority": priority, "presentation": presentation])
        #expect(presenter.receive(push) == .present(options, badge: 3))
      }
      var presenter = NotificationPresenter(userId: "ada", isForeground: true, openConversationId: "c1")
      let push = try messagePush(["priority": priority, "presentation": presentation])
      #expect(presenter.receive(push) == .drop(.openConversation))
    }
  }

  @Test("C1: a silent message in the foreground is a banner once, by the push where no real-time channel is connected")
  func silentWithoutChannel() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(
      presenter.receive(try messagePush(["presentation": "silent"])) == .present([.banner, .list, .badge], badge: 3))
    let late = presenter.admits(banner("m1"))
    #expect(!late)
    // An edit replaces what is there, without a banner.
    let edit = try messagePush(["presentation": "silent", "replaces": "true"])
    #expect(presenter.receive(edit) == .present([.list, .badge], badge: 3))
    // The channel outlives a change of the account.
    presenter.hasLiveChannel = true
    presenter.userChanged(to: "ben")
    #expect(
      presenter.receive(try messagePush(["presentation": "silent", "recipientId": "ben"]))
        == .present([.list, .badge], badge: 3))
  }

  @Test("C1: a silent push that comes first in the foreground leaves the in-app banner of its message free, once")
  func silentThenBanner() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true, hasLiveChannel: true)
    let push = try messagePush(["presentation": "silent"])
    #expect(presenter.receive(push) == .present([.list, .badge], badge: 3))
    #expect(presenter.receive(push) == .setBadge(3))
    let (first, second) = (presenter.admits(banner("m1")), presenter.admits(banner("m1")))
    #expect((first, second) == (true, false))
    #expect(presenter.receive(push) == .setBadge(3))
    // In the background the entry in the list announced it: a banner that a gateway delivers late is not shown.
    presenter.isForeground = false
    #expect(
      presenter.receive(try messagePush(["presentation": "silent", "messageId": "m2"]))
        == .present([.list, .badge], badge: 3))
    presenter.isForeground = true
    let late = presenter.admits(banner("m2"))
    #expect(!late)
  }

  @Test("D4: a notice is admitted once, in the foreground, for the signed-in user")
  func notice() {
    let notice = InAppNotice(noticeId: "n1", userId: "ada", code: "analysis_limit", text: "Limit")
    var presenter = NotificationPresenter(userId: "ada", isForeground: false, openConversationId: "c1")
    var admitted = [presenter.admits(notice)]
    presenter.isForeground = true
    admitted.append(presenter.admits(notice))
    admitted.append(presenter.admits(notice))
    admitted.append(presenter.admits(InAppNotice(noticeId: "n2", userId: "ben", code: "x", text: "x")))
    #expect(admitted == [false, true, false, false])
  }

  private func readPush(upTo messageId: String?, at time: Int) throws -> PushPayload {
    var data = [
      "type": "read", "badge": "1", "pushId": "p", "recipientId": "ada", "conversationId": "c1", "timestamp": "\(time)",
    ]
    data["messageId"] = messageId
    return try PushPayload(data: data)
  }

  @Test("D7: a read on another device removes notifications up to the message read and sets the badge")
  func readElsewhere() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: false)
    let mark = ReadMark(conversationId: "c1", messageId: "m2", time: Date(timeIntervalSince1970: 20))
    #expect(presenter.receive(try readPush(upTo: "m2", at: 20)) == .removeNotifications(mark, badge: 1))
  }

  @Test(
    "D7: FCM keeps no order: a message that was read elsewhere is not presented when it comes later; a newer one is")
  func lateAfterRead() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: false)
    _ = presenter.receive(try readPush(upTo: "m2", at: 20))
    // A mark that is older than the last one takes nothing back.
    _ = presenter.receive(try readPush(upTo: "m0", at: 5))
    for (id, time, isPresented) in [("m2", 20, false), ("m1", 19, false), ("m3", 20, true), ("m4", 21, true)] {
      let action = presenter.receive(try messagePush(["messageId": id, "timestamp": "\(time)"]))
      #expect(action == (isPresented ? .present([.banner, .list, .sound, .badge], badge: 3) : .setBadge(3)), "\(id)")
    }
    let other = presenter.receive(try messagePush(["messageId": "m9", "conversationId": "c2", "timestamp": "1"]))
    #expect(other == .present([.banner, .list, .sound, .badge], badge: 3))
    presenter.isForeground = true
    let (old, new) = (presenter.admits(banner("m5", at: 19)), presenter.admits(banner("m6", at: 22)))
    #expect((old, new) == (false, true))
  }

  @Test("D13: an edited message takes the place of what was shown of it; its first push, late, does not come back")
  func edited() throws {
    let edit = try messagePush(["priority": "medium", "replaces": "true", "pushId": "p2"])
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(presenter.receive(try messagePush()) == .present([.banner, .sound, .badge], badge: 3))
    #expect(presenter.receive(edit) == .present([.list, .badge], badge: 3))
    #expect(presenter.receive(edit) == .present([.list, .badge], badge: 3))
    presenter.openConversationId = "c1"
    #expect(presenter.receive(edit) == .drop(.openConversation))

    var first = NotificationPresenter(userId: "ada", isForeground: true)
    #expect(first.receive(edit) == .present([.list, .badge], badge: 3))
    #expect(first.receive(try messagePush()) == .setBadge(3))
  }

  @Test("D13: a message taken back has its notification removed, and the badge set")
  func deleted() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: false)
    let push = try PushPayload(
      data: [
        "type": "deleted", "badge": "1", "pushId": "p", "recipientId": "ada", "conversationId": "c1", "messageId": "m1",
      ])
    #expect(presenter.receive(push) == .removeNotification(conversationId: "c1", messageId: "m1", badge: 1))
  }

  @Test("C6: after a change of account nothing is known of the former one")
  func accountSwitch() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true, openConversationId: "c1")
    presenter.userChanged(to: "eve")
    #expect(presenter.openConversationId == nil)
    #expect(presenter.receive(try messagePush()) == .drop(.otherRecipient))
    #expect(
      presenter.receive(try messagePush(["recipientId": "eve"])) == .present([.banner, .sound, .badge], badge: 3))
    presenter.userChanged(to: nil)
    #expect(presenter.receive(try messagePush(["recipientId": "eve"])) == .drop(.otherRecipient))
  }

  @Test("C1: however many messages come, what is remembered of them stays bounded and the latest are known")
  func bounded() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    for index in 0..<1_000 { #expect(presenter.admits(banner("m\(index)")) == true) }
    for index in 900..<1_000 { #expect(presenter.admits(banner("m\(index)")) == false) }
    #expect(presenter.admits(banner("m0")) == true)
  }

  @Test(
    "D13: FCM keeps no order: a message that was taken back is not shown when it comes later, nor its edit, nor its banner"
  )
  func takenBack() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: true)
    let deleted = try PushPayload(data: [
      "type": "deleted", "conversationId": "c1", "messageId": "m1", "badge": "2", "pushId": "p", "recipientId": "ada",
    ])
    #expect(
      presenter.receive(deleted) == .removeNotification(conversationId: "c1", messageId: "m1", badge: 2))
    #expect(presenter.receive(try messagePush()) == .setBadge(3))
    #expect(presenter.receive(try messagePush(["replaces": "true"])) == .setBadge(3))
    let (first, second) = (presenter.admits(banner("m1")), presenter.admits(banner("m2")))
    #expect((first, second) == (false, true))
    presenter.userChanged(to: "ben")
    presenter.userChanged(to: "ada")
    let afterwards = presenter.admits(banner("m1"))
    #expect(afterwards)
  }
}
