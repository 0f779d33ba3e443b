import Foundation
import NudgeClient
import Testing

@testable import VirtualPhone

@Suite("A virtual phone does what NudgeClient says")
struct VirtualPhoneTests {
  @Test("C5, C8: after sign-in the owner is asked, and the token goes to the services; they have it once they say so")
  func registration() throws {
    var owned = Owned()
    owned.take(.signIn(userId: "ann"))
    #expect(owned.published.map(\.body.type) == ["device.registered"])
    guard case .deviceRegistered(let device)? = owned.published.first?.body else { return }
    #expect((device.userId, device.deviceId, device.token) == ("ann", "phone", "token-1"))
    #expect(!owned.notes.contains(.registered(userId: "ann")))
    owned.acceptAll()
    #expect(owned.notes.contains(.registered(userId: "ann")))
  }

  @Test("C5: an upload that fails is tried again after 1, 2 and 4 s, the same event each time, and then no more")
  func uploadFails() {
    var owned = Owned()
    owned.take(.signIn(userId: "ann"))
    var ids: [String] = []
    for _ in 0..<4 {
      ids += owned.acceptAll(false).map(\.eventId)
      owned.pass(4)
    }
    owned.pass(600)
    #expect(ids.count == 4)
    #expect(Set(ids).count == 1)
    #expect(owned.published.isEmpty)
    #expect(owned.notes.contains { if case .log = $0 { true } else { false } })
  }

  @Test("C8: whoever forbids notifications registers nothing, and is told where to change it; allowed, it registers")
  func forbidden() {
    var owned = Owned(isAllowed: false)
    owned.take(.signIn(userId: "ann"))
    #expect(owned.published.isEmpty)
    #expect(owned.told == ["Enable notifications in Settings to stay updated"])
    owned.take(.allowNotifications(true))
    #expect(owned.published.isEmpty)
    // The app looks at it when it is opened.
    owned.take(.open)
    #expect(owned.published.map(\.body.type).contains("device.registered"))
    #expect(owned.notes.contains(.settingsBanner(isShown: false)))
  }

  @Test("C1: high is an alert with sound, medium silent in the list, low the badge alone")
  func presentation() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    #expect(owned.phone.sounds == 1)
    try owned.push(
      TestPush(id: "p2", message: "m2", conversation: "c2", priority: "medium", badge: 2, title: "Cleo", sound: false))
    #expect(owned.phone.sounds == 1)
    try owned.push(.badge(3, message: "m3", in: "c3"))
    #expect(owned.titles == ["Cleo", "Bob"])
    #expect(owned.phone.badge == 3)
    #expect(owned.faults.isEmpty)
    // The second waits for the answer to the first. The badge has no receipt.
    #expect(owned.acceptAll().map(\.body.type) == Array(repeating: "notification.received", count: 2))
  }

  @Test("C1: in the foreground high is a banner that does not stay, and a message of the open conversation is nothing")
  func foreground() throws {
    var owned = Owned.byAnn()
    owned.take(.openConversation("c2"))
    owned.acceptAll()
    try owned.push(TestPush())
    #expect(owned.titles.isEmpty)
    #expect(
      owned.notes.contains { note in
        if case .shown(_, let options, _) = note { options == [.banner, .sound, .badge] } else { false }
      })
    try owned.push(TestPush(id: "p2", message: "m2", conversation: "c2", badge: 2))
    #expect(
      owned.notes.contains(.dropped(pushId: "p2", recipientId: "ann", .openConversation)))
    // It was read there: the other devices are to know.
    #expect(owned.published.last?.body.type == "message.read")
  }

  @Test("C6, T2: what is still in the air for the former owner is dropped, and signing out leaves nothing of theirs")
  func accountSwitch() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    owned.acceptAll()
    owned.take(.signOut)
    #expect(owned.published.map(\.body.type) == ["device.unregistered"])
    owned.acceptAll()
    #expect(owned.titles.isEmpty)
    #expect(owned.phone.badge == 0)
    owned.take(.signIn(userId: "eve"))
    owned.acceptAll()
    try owned.push(TestPush(id: "p2", message: "m2", badge: 4))
    #expect(owned.titles.isEmpty)
    #expect(owned.phone.badge == 0)
    #expect(owned.notes.last == .dropped(pushId: "p2", recipientId: "ann", .otherRecipient))
    #expect(owned.published.isEmpty)
  }

  @Test(
    "C6: off the network the sign-out goes on at once; one that nobody answers goes on after 5 s, and then the next signs in"
  )
  func signOutUnanswered() {
    var owned = Owned.byAnn()
    owned.take(.network(false))
    owned.take(.signOut)
    #expect(owned.phone.userId == nil)
    // It is repeated, and the token is another one.
    owned.take(.network(true))
    #expect(owned.published.map(\.body.type) == ["device.unregistered"])
    #expect(owned.uninstalled == ["token-1"])
    #expect(owned.phone.token.hasPrefix("token-1~"))
    owned.acceptAll()
    owned.take(.network(false))
    owned.take(.network(true))
    #expect(owned.published.isEmpty && owned.uninstalled.count == 1)
    owned.take(.signIn(userId: "bob"))
    #expect(
      owned.published.contains { event in
        if case .deviceRegistered(let fields) = event.body { fields.token == owned.phone.token } else { false }
      })
    owned.acceptAll()
    owned.take(.signIn(userId: "eve"))
    #expect(owned.phone.userId == "bob")
    owned.pass(4.9)
    #expect(owned.phone.userId == "bob")
    owned.pass(0.2)
    #expect(owned.phone.userId == "eve")
  }

  @Test("C2: each answer to a notification is its event, and takes the notification away")
  func answers() throws {
    let answers: [(NotificationResponse, String)] = [
      (.reply("On my way"), "message.created"), (.markRead, "message.read"), (.helpful, "feedback.submitted"),
      (.notHelpful, "feedback.submitted"), (.dismiss, "notification.dismissed"),
    ]
    for (response, type) in answers {
      var owned = Owned.byAnn()
      try owned.push(TestPush())
      owned.acceptAll()
      owned.take(.respond(response, messageId: nil))
      #expect(owned.published.map(\.body.type) == [type])
      #expect(owned.titles.isEmpty)
      owned.acceptAll()
      #expect(owned.told == (type == "message.created" ? ["Message sent"] : []))
      #expect(owned.phone.badge == (response == .markRead ? 0 : 1))
    }
  }

  @Test("C3: a tap opens the conversation at the message, reports both, and reads it")
  func tap() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    owned.acceptAll()
    owned.take(.respond(.open, messageId: "m1"))
    #expect(owned.phone.isForeground)
    #expect(owned.phone.conversationId == "c1")
    #expect(owned.notes.contains(.highlighted(messageId: "m1")))
    #expect(owned.published.map(\.body.type) == ["notification.opened", "user.activity", "message.read"])
    guard case .userActivity(let activity) = owned.published[1].body else { return }
    #expect(activity.conversationId == "c1")
    #expect(owned.phone.badge == 0)
  }

  @Test("C7: activity is reported at each change and every 60 s while the app is open, and no more once it is not")
  func activity() {
    var owned = Owned.byAnn()
    owned.take(.open)
    owned.pass(125)
    owned.take(.close)
    owned.pass(600)
    let states = owned.published.compactMap { event -> String? in
      if case .userActivity(let activity) = event.body { activity.state.rawValue } else { nil }
    }
    #expect(states == ["foreground", "foreground", "foreground", "background"])
  }

  @Test(
    "Off the network nothing arrives; FCM gives it when the phone is back, of one message the last, and not what lapsed"
  )
  func offline() throws {
    var owned = Owned.byAnn()
    owned.take(.network(false))
    try owned.push(TestPush(body: "first"))
    try owned.push(TestPush(id: "p2", body: "edited", replaces: true))
    try owned.push(
      TestPush(
        id: "p3", message: "m3", badge: 2, title: "Old", expiration: Int64(owned.now.timeIntervalSince1970) + 60))
    #expect(owned.titles.isEmpty)
    owned.pass(61)
    owned.take(.network(true))
    #expect(owned.phone.lockScreen.entries.map(\.body) == ["edited"])
    #expect(owned.notes.contains(.lapsed(pushId: "p1")))
    #expect(owned.notes.contains(.lapsed(pushId: "p3")))
  }

  @Test("C2: what could not be published is said, and published later, unchanged")
  func unpublished() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    owned.acceptAll()
    owned.take(.network(false))
    owned.take(.respond(.reply("Yes"), messageId: nil))
    #expect(owned.told == ["Message could not be sent"])
    #expect(owned.phone.conversationId == "c1")
    #expect(owned.published.isEmpty)
    owned.take(.network(true))
    let sent = owned.acceptAll().filter { $0.body.type == "message.created" }
    #expect(sent.count == 1)
    #expect(owned.told.last == "Message sent")
    // A service that is down: again and again, every five seconds.
    owned.take(.write("More", conversationId: "c1"))
    let first = owned.acceptAll(false).map(\.eventId)
    owned.pass(5)
    #expect(owned.published.map(\.eventId) == first)
  }

  @Test("D7, D9, D13: read elsewhere, taken back and edited: what is shown follows, and the badge with it")
  func follows() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    try owned.push(TestPush(id: "p2", message: "m2", badge: 1, title: "Bob 2"))
    try owned.push(TestPush(id: "p3", message: "m3", conversation: "c2", badge: 2, title: "Cleo"))
    try owned.push(
      TestPush(
        id: "p4", message: "m2", priority: "medium", badge: 2, title: "Bob 2", body: "edited", sound: false,
        replaces: true))
    #expect(owned.phone.lockScreen.entries.first?.body == "edited")
    #expect(owned.phone.lockScreen.entries.first?.replaced == 1)
    try owned.push(.deleted("m2", in: "c1", badge: 2))
    #expect(owned.titles == ["Cleo", "Bob"])
    try owned.push(.read("c1", badge: 1))
    #expect(owned.titles == ["Cleo"])
    #expect(owned.phone.badge == 1)
    // FCM keeps no order: what was taken back does not come again.
    try owned.push(TestPush(id: "p2", message: "m2", badge: 1, title: "Bob 2"))
    #expect(owned.titles == ["Cleo"])
    #expect(owned.faults.isEmpty)
  }

  @Test("C1: the phone presents as the push says, whatever the priority, and a contradiction is a fault")
  func presentationDecides() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush(priority: "medium", presentation: "alert"))
    #expect((owned.phone.sounds, owned.phone.lockScreen.entries.first?.presentation) == (1, .alert))
    try owned.push(TestPush(id: "p2", message: "m2", priority: "high", badge: 1, presentation: "silent", sound: false))
    #expect((owned.phone.sounds, owned.phone.lockScreen.entries.first?.presentation) == (1, .silent))
    #expect(owned.faults.isEmpty)
    try owned.push(TestPush(id: "p3", message: "m3", priority: "high", badge: 1, presentation: "silent"))
    #expect(owned.faults.count == 1)
  }

  @Test("D7: a read push removes up to its message; a newer notification and its unread stay")
  func readUpTo() throws {
    var owned = Owned.byAnn()
    for (number, second) in [(1, 10), (2, 20), (3, 30)] {
      try owned.push(TestPush(id: "p\(number)", message: "m\(number)", timestamp: second))
    }
    try owned.push(.read("c1", upTo: "m2", at: 20, badge: 1))
    #expect(owned.phone.lockScreen.entries.map(\.messageId) == ["m3"])
    #expect(owned.phone.badge == 1)
    // Late: FCM keeps no order.
    try owned.push(TestPush(id: "p1b", message: "m1b", badge: 1, timestamp: 15))
    #expect(owned.phone.lockScreen.entries.map(\.messageId) == ["m3"])
  }

  @Test("C2, D7: Mark Read removes its message and older ones, also when the services accept it late")
  func markReadUpTo() throws {
    var owned = Owned.byAnn()
    for (number, second) in [(1, 10), (2, 20)] {
      try owned.push(TestPush(id: "p\(number)", message: "m\(number)", timestamp: second))
    }
    owned.acceptAll()
    owned.take(.respond(.markRead, messageId: "m2"))
    try owned.push(TestPush(id: "p3", message: "m3", timestamp: 30))
    owned.acceptAll()
    #expect(owned.phone.lockScreen.entries.map(\.messageId) == ["m3"])
  }

  @Test("C3: ten taps on ten notifications each land on their own message")
  func tenTaps() throws {
    var owned = Owned.byAnn()
    for number in 1...10 {
      try owned.push(
        TestPush(id: "p\(number)", message: "m\(number)", conversation: "c\(number)", badge: number, title: "Bob"))
    }
    for number in [7, 2, 10, 1, 5, 3, 9, 4, 8, 6] {
      owned.notes = []
      owned.take(.respond(.open, messageId: "m\(number)"))
      #expect(owned.phone.conversationId == "c\(number)")
      let highlighted = owned.notes.compactMap { if case .highlighted(let id) = $0 { id } else { nil } }
      #expect(highlighted == ["m\(number)"])
      owned.acceptAll()
      owned.take(.close)
    }
    #expect(owned.phone.lockScreen.entries.isEmpty)
    #expect(owned.phone.badge == 0)
  }

  @Test("C9: a device that reads lowers its own badge, also by what the services count and it never heard of")
  func ownBadge() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    // Two more conversations have unread messages that were not notified.
    try owned.push(TestPush(id: "p2", message: "m2", conversation: "c2", badge: 4))
    owned.take(.read(conversationId: "c1"))
    #expect(owned.phone.badge == 3)
    owned.take(.openConversation("c2"))
    #expect(owned.phone.badge == 2)
  }

  @Test("C4: a banner of the gateway shows for 4 s while the app is open elsewhere, and its message is not shown twice")
  func banner() throws {
    var owned = Owned.byAnn()
    let banner = InAppBanner(
      userId: "ann", conversationId: "c1", messageId: "m1", senderId: "bob", senderName: "Bob", preview: "Hello",
      occurredAt: 1)
    owned.take(.banner(banner))
    #expect(owned.phone.banner == nil)
    owned.take(.open)
    owned.take(.banner(banner))
    #expect(owned.phone.banner == .message(banner))
    try owned.push(TestPush())
    #expect(!owned.notes.contains { if case .shown = $0 { true } else { false } })
    owned.pass(4)
    #expect(owned.phone.banner == nil)
    owned.take(.notice(InAppNotice(noticeId: "n1", userId: "bob", code: "analysis_limit", text: "Limit reached")))
    let notice = InAppNotice(noticeId: "n2", userId: "ann", code: "analysis_limit", text: "Limit reached")
    owned.take(.notice(notice))
    #expect(owned.phone.banner == .notice(notice))
    #expect(owned.notes.count { $0 == .bannerShown(.notice(notice)) } == 1)
  }

  @Test(
    "D22, C4: an app that answers banners says at once which it has shown; one that its owner did not see is listed")
  func answersBanners() throws {
    var owned = Owned.byAnn(answersBanners: true)
    func banner(_ number: Int) -> InAppBanner {
      InAppBanner(
        userId: "ann", conversationId: "c1", messageId: "m\(number)", senderId: "bob", senderName: "Bob",
        preview: "Hello", occurredAt: 1, pushId: "p\(number)")
    }
    func answered() -> [String] {
      owned.acceptAll().compactMap { event in
        if case .notification(.received, let it) = event.body, it.banner == true { it.pushId } else { nil }
      }
    }
    owned.take(.banner(banner(1)))
    #expect(answered().isEmpty, "the app is closed")
    owned.take(.open)
    owned.take(.banner(banner(2)))
    owned.take(.banner(banner(3)))
    #expect(answered() == ["p2"], "the other waits for its turn")
    owned.pass(4)
    #expect(answered() == ["p3"])
    owned.take(.banner(banner(4)))
    owned.take(.close)
    owned.pass(60)
    #expect(answered().isEmpty && owned.titles == ["Bob"], "it was never seen")
    try owned.push(TestPush(id: "p4", message: "m4", badge: 2))
    #expect(owned.titles == ["Bob"] && owned.phone.badge == 2)
  }

  @Test("T3: installed again it is another installation, the former token is dead, and nothing of before is left")
  func reinstall() throws {
    var owned = Owned.byAnn()
    try owned.push(TestPush())
    owned.take(.reinstall(deviceId: "phone+1", token: "token-2"))
    #expect(owned.uninstalled == ["token-1"])
    #expect(owned.titles.isEmpty)
    #expect(owned.phone.badge == 0)
    #expect(owned.phone.userId == nil)
    owned.published = []
    owned.take(.signIn(userId: "ann"))
    guard case .deviceRegistered(let device)? = owned.published.first?.body else {
      Issue.record("\(owned.published)")
      return
    }
    #expect((device.deviceId, device.token) == ("phone+1", "token-2"))
  }

  @Test("A push that contradicts itself is a fault: each rule finds its case")
  func contradictions() throws {
    let wrong: [TestPush] = [
      TestPush(priority: "high", sound: false), TestPush(priority: "medium"), TestPush(priority: "low"),
      TestPush(title: nil), TestPush(thread: "another"),
      TestPush(type: "read", message: nil, priority: "low", title: "Seen"), TestPush(type: "unknown"),
      TestPush(priority: "urgent"),
    ]
    for push in wrong {
      var owned = Owned.byAnn()
      try owned.push(push)
      #expect(owned.faults.count == 1, "\(push)")
    }
  }
}
