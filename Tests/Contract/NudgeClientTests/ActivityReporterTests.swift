import Foundation
import NudgeClient
import Testing

@Suite("C7: activity")
struct ActivityReporterTests {
  private func reporter(isForeground: Bool = true) -> ActivityReporter {
    ActivityReporter(deviceId: "d1", isForeground: isForeground, makeId: countingIds())
  }

  private func report(
    _ id: String, _ state: ClientEvent.ActivityState, _ conversationId: String?, _ seconds: Double,
    user: String = "ann"
  ) -> ActivityReporter.Action {
    .publish(
      ClientEvent(
        eventId: id, occurredAt: at(seconds),
        .userActivity(.init(userId: user, deviceId: "d1", state: state, conversationId: conversationId))))
  }

  private func read(_ id: String, _ conversationId: String, _ seconds: Double) -> ActivityReporter.Action {
    .publish(
      ClientEvent(
        eventId: id, occurredAt: at(seconds),
        .messageRead(.init(userId: "ann", conversationId: conversationId, deviceId: "d1"))))
  }

  private func report(
    _ id: String, _ state: ClientEvent.ActivityState, _ conversationId: String?, _ seconds: Double, input: Double
  ) -> ActivityReporter.Action {
    .publish(
      ClientEvent(
        eventId: id, occurredAt: at(seconds),
        .userActivity(
          .init(
            userId: "ann", deviceId: "d1", state: state, conversationId: conversationId, lastInputAt: at(input)))))
  }

  @Test(
    "C7: input is no report of its own, each report says when it was last, and 5 minutes after it the device is idle")
  func idle() {
    var reporter = reporter()
    _ = reporter.signedIn(as: "ann", at: at(0))
    _ = reporter.conversationAppeared("c1", at: at(0))
    #expect(reporter.interacted(at: at(10)) == [])
    #expect(reporter.timeReached(at: at(60)) == [report("id3", .foreground, "c1", 60, input: 10), .wake(at: at(120))])
    for second in stride(from: 120.0, through: 300, by: 60) { #expect(reporter.timeReached(at: at(second)).count == 2) }
    // The user has read what had come by their last input, and nobody is there now.
    #expect(
      reporter.timeReached(at: at(360)) == [
        read("id8", "c1", 10), report("id9", .idle, nil, 360, input: 10), .cancelWake,
      ])
    #expect(reporter.timeReached(at: at(420)) == [])
    // Back again: at once.
    #expect(
      reporter.interacted(at: at(500)) == [report("id10", .foreground, "c1", 500, input: 500), .wake(at: at(560))])
    #expect(reporter.interacted(at: at(501)) == [])
  }

  @Test("C7: what came to an idle device is not read when the screen locks")
  func idleThenBackground() {
    var reporter = reporter()
    _ = reporter.signedIn(as: "ann", at: at(0))
    _ = reporter.conversationAppeared("c1", at: at(0))
    _ = reporter.interacted(at: at(0))
    #expect(reporter.timeReached(at: at(300)).first == read("id3", "c1", 0))
    #expect(reporter.enteredBackground(at: at(900)) == [report("id5", .background, nil, 900, input: 0), .cancelWake])
    #expect(reporter.interacted(at: at(1_000)) == [])
    #expect(
      reporter.enteredForeground(at: at(1_001))
        == [report("id6", .foreground, "c1", 1_001, input: 1_001), .wake(at: at(1_061))])
  }

  @Test("C7: an app that reports no input is never idle; where it does, another screen is input too")
  func screens() {
    var silent = reporter()
    _ = silent.signedIn(as: "ann", at: at(0))
    for minute in 1...30 {
      let seconds = Double(minute) * 60
      #expect(
        silent.timeReached(at: at(seconds)) == [
          report("id\(minute + 1)", .foreground, nil, seconds), .wake(at: at(seconds + 60)),
        ])
    }
    var reporter = reporter()
    _ = reporter.signedIn(as: "ann", at: at(0))
    _ = reporter.interacted(at: at(0))
    #expect(
      reporter.conversationAppeared("c1", at: at(299)) == [
        report("id2", .foreground, "c1", 299, input: 299), .wake(at: at(359)),
      ])
    #expect(
      reporter.timeReached(at: at(359)) == [report("id3", .foreground, "c1", 359, input: 299), .wake(at: at(419))])
  }

  @Test("C7: on appear, on disappear, and every 60 s while the app is in the foreground")
  func changes() {
    var reporter = reporter()
    #expect(reporter.signedIn(as: "ann", at: at(0)) == [report("id1", .foreground, nil, 0), .wake(at: at(60))])
    #expect(
      reporter.conversationAppeared("c1", at: at(5)) == [report("id2", .foreground, "c1", 5), .wake(at: at(65))])
    #expect(reporter.timeReached(at: at(60)) == [.wake(at: at(65))])
    #expect(reporter.timeReached(at: at(65)) == [report("id3", .foreground, "c1", 65), .wake(at: at(125))])
    #expect(
      reporter.conversationDisappeared("c1", at: at(70)) == [
        read("id4", "c1", 70), report("id5", .foreground, nil, 70), .wake(at: at(130)),
      ])
  }

  @Test("C7: background ends the reports, foreground tells at once what is open; repeats are no changes")
  func background() {
    var reporter = reporter()
    _ = reporter.signedIn(as: "ann", at: at(0))
    _ = reporter.conversationAppeared("c1", at: at(1))
    #expect(reporter.conversationAppeared("c1", at: at(2)) == [])
    #expect(reporter.enteredForeground(at: at(2)) == [])
    #expect(
      reporter.enteredBackground(at: at(3)) == [
        read("id3", "c1", 3), report("id4", .background, nil, 3), .cancelWake,
      ])
    #expect(reporter.enteredBackground(at: at(4)) == [])
    #expect(reporter.timeReached(at: at(63)) == [])
    #expect(reporter.enteredForeground(at: at(90)) == [report("id5", .foreground, "c1", 90), .wake(at: at(150))])
  }

  @Test("C7: where the next conversation appears before the last disappears, the next stays open")
  func overlap() {
    var reporter = reporter()
    _ = reporter.signedIn(as: "ann", at: at(0))
    _ = reporter.conversationAppeared("c1", at: at(1))
    #expect(
      reporter.conversationAppeared("c2", at: at(2)) == [
        read("id3", "c1", 2), report("id4", .foreground, "c2", 2), .wake(at: at(62)),
      ])
    #expect(reporter.conversationDisappeared("c1", at: at(3)) == [])
    #expect(reporter.timeReached(at: at(62)) == [report("id5", .foreground, "c2", 62), .wake(at: at(122))])
  }

  @Test("C7: nothing is reported while nobody is signed in or the app is in the background")
  func silence() {
    var reporter = reporter(isForeground: false)
    #expect(reporter.conversationAppeared("c1", at: at(0)) == [])
    #expect(reporter.enteredForeground(at: at(1)) == [])
    #expect(reporter.signedIn(as: "ann", at: at(2)) == [report("id1", .foreground, "c1", 2), .wake(at: at(62))])
    #expect(
      reporter.signedOut(at: at(3)) == [
        read("id2", "c1", 3), report("id3", .background, nil, 3), .cancelWake,
      ])
    #expect(reporter.timeReached(at: at(62)) == [])
    #expect(
      reporter.signedIn(as: "bob", at: at(70)) == [
        report("id4", .foreground, nil, 70, user: "bob"), .wake(at: at(130)),
      ])
  }

  @Test("C7: no open conversation is written as null")
  func event() throws {
    var reporter = reporter()
    guard case .publish(let event) = reporter.signedIn(as: "ann", at: at(0))[0] else { throw Unexpected("no event") }
    #expect(
      try json(event) == [
        "schemaVersion": 1, "type": "user.activity", "eventId": "id1", "occurredAt": 1_000_000, "userId": "ann",
        "deviceId": "d1", "state": "foreground", "conversationId": NSNull(),
      ])
  }
}
