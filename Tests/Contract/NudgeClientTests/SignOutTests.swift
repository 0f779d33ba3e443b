import Foundation
import NudgeClient
import Testing

@Suite("C6: sign-out")
struct SignOutTests {
  private let cleared: [SignOut.Action] = [
    .closeConversation, .forgetUser, .clearBanners, .dropPendingLink, .clearBadge,
  ]
  private let end = ClientEvent(
    eventId: "id1", occurredAt: at(0), .deviceUnregistered(.init(userId: "ann", deviceId: "d1")))

  private func begun() -> SignOut {
    var signOut = SignOut(deviceId: "d1", makeId: countingIds())
    #expect(signOut.begin(userId: "ann", at: at(0)) == [.publish(end), .wake(at: at(5))])
    #expect(signOut.isInProgress)
    return signOut
  }

  @Test("C6: the token is removed first, then conversation, user, banners, link and badge go, in this order, once")
  func order() {
    var signOut = begun()
    #expect(signOut.begin(userId: "ann", at: at(1)) == [])
    #expect(signOut.finished(eventId: "other", succeeded: true) == [])
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [.cancelWake] + cleared)
    #expect(!signOut.isInProgress)
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [])
    #expect(signOut.timeReached(at: at(5)) == [])
  }

  @Test("C6: it continues after a failure, with a line in the log")
  func failure() {
    var signOut = begun()
    #expect(
      signOut.finished(eventId: "id1", succeeded: false)
        == [.cancelWake, .log("the services did not accept the sign-out")] + cleared)
  }

  @Test("C6: it continues if no answer comes within 5 s; a later answer changes nothing")
  func silence() {
    var signOut = begun()
    #expect(signOut.timeReached(at: at(4.9)) == [.wake(at: at(5))])
    #expect(
      signOut.timeReached(at: at(5)) == [.log("the services did not answer the sign-out within 5 s")] + cleared)
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [])
    #expect(signOut.begin(userId: "bob", at: at(9)).count == 2)
  }
}
