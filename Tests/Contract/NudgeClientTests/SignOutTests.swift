import Foundation
import NudgeClient
import Testing

@Suite("C6: sign-out")
struct SignOutTests {
  private let cleared: [SignOut.Action] = [
    .closeConversation, .forgetUser, .clearBanners, .dropPendingLink, .clearBadge,
  ]
  /// The same where the services have not accepted it.
  private let clearedWithToken: [SignOut.Action] = [
    .closeConversation, .forgetUser, .deleteToken, .clearBanners, .dropPendingLink, .clearBadge,
  ]
  private let end = ClientEvent(
    eventId: "id1", occurredAt: at(0), .deviceUnregistered(.init(userId: "ann", deviceId: "d1")))

  /// What is kept, by way of its JSON: as an app stores it.
  private func kept(_ events: [ClientEvent], token: Bool) throws -> SignOut.Kept {
    let events = String(decoding: try JSONEncoder().encode(events), as: UTF8.self)
    return try JSONDecoder().decode(
      SignOut.Kept.self, from: Data(#"{"events":\#(events),"deletesToken":\#(token)}"#.utf8))
  }

  private func begun() throws -> SignOut {
    var signOut = SignOut(deviceId: "d1", makeId: countingIds())
    #expect(
      signOut.begin(userId: "ann", at: at(0)) == [
        .keep(try kept([end], token: false)), .publish(end), .wake(at: at(5)),
      ])
    #expect(signOut.isInProgress)
    return signOut
  }

  @Test("C6: the token is removed first, then conversation, user, banners, link and badge go, in this order, once")
  func order() throws {
    var signOut = try begun()
    #expect(signOut.begin(userId: "ann", at: at(1)) == [])
    #expect(signOut.finished(eventId: "other", succeeded: true) == [])
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [.removeKept, .cancelWake] + cleared)
    #expect(!signOut.isInProgress)
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [])
    #expect(signOut.timeReached(at: at(5)) == [])
    #expect(signOut.retry(at: at(9)) == [])
  }

  @Test("C6: it continues after a failure, with a line in the log; the event is kept and FCM's token deleted")
  func failure() throws {
    var signOut = try begun()
    #expect(
      signOut.finished(eventId: "id1", succeeded: false)
        == [
          .cancelWake, .log("the services did not accept the sign-out; it is repeated at the next launch"),
          .keep(try kept([end], token: true)),
        ] + clearedWithToken)
  }

  @Test("C6: it continues if no answer comes within 5 s; a later answer ends what is kept")
  func silence() throws {
    var signOut = try begun()
    #expect(signOut.timeReached(at: at(4.9)) == [.wake(at: at(5))])
    #expect(
      signOut.timeReached(at: at(5))
        == [
          .log("the services did not answer the sign-out within 5 s; it is repeated at the next launch"),
          .keep(try kept([end], token: true)),
        ] + clearedWithToken)
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [.removeKept])
    #expect(signOut.tokenDeleted(succeeded: true) == [])
    #expect(signOut.begin(userId: "bob", at: at(9)).count == 3)
  }

  @Test("C6: what is kept is repeated at each launch, the same event each time, until both are done")
  func repeated() throws {
    var signOut = SignOut(deviceId: "d1", kept: try kept([end], token: true), makeId: countingIds())
    #expect(signOut.retry(at: at(100)) == [.publish(end), .deleteToken])
    #expect(signOut.finished(eventId: "id1", succeeded: false) == [])
    #expect(signOut.tokenDeleted(succeeded: false) == [])
    #expect(signOut.retry(at: at(200)) == [.publish(end), .deleteToken])
    #expect(signOut.tokenDeleted(succeeded: true) == [.keep(try kept([end], token: false))])
    #expect(signOut.retry(at: at(300)) == [.publish(end)])
    #expect(signOut.finished(eventId: "id1", succeeded: true) == [.removeKept])
    #expect(signOut.retry(at: at(400)) == [])
  }

  @Test("C6: the token of whoever signs in next is not deleted; the former user's sign-out is still repeated")
  func nextUser() throws {
    var signOut = SignOut(deviceId: "d1", kept: try kept([end], token: true), makeId: countingIds())
    #expect(signOut.signedIn() == [.keep(try kept([end], token: false))])
    #expect(signOut.signedIn() == [])
    #expect(signOut.tokenDeleted(succeeded: true) == [])
    #expect(signOut.retry(at: at(100)) == [.publish(end)])
  }

  @Test("C6: events that the services would refuse as too old are dropped; of many the last are kept")
  func bounds() throws {
    var signOut = SignOut(deviceId: "d1", kept: try kept([end], token: false), makeId: countingIds())
    #expect(signOut.retry(at: at(SignOut.lifetime)) == [.publish(end)])
    #expect(signOut.retry(at: at(SignOut.lifetime + 1)) == [.removeKept])
    for number in 0..<20 {
      _ = signOut.begin(userId: "u\(number)", at: at(0))
      _ = signOut.timeReached(at: at(5))
    }
    #expect(signOut.kept.events.map(\.eventId) == (13...20).map { "id\($0)" })
  }
}
