import NudgeSchema
import Testing

@testable import Analyzer

/// An oracle that finds nothing proves nothing: each of its statements is broken once.
@Suite("The oracle of all at once finds what it is for")
struct AttentionOracleTests {
  /// With a phone, and m1 of Bob, at noon.
  private func oracle(_ change: (inout AttentionOracle) -> Void = { _ in }) -> AttentionOracle {
    var oracle = AttentionOracle()
    oracle.devices = ["phone"]
    change(&oracle)
    oracle.wrote(Scene.candidate("m1"), at: noon)
    return oracle
  }

  private func decision(
    _ outcome: DecisionBody.Outcome = .notify, of id: String = "m1", heldUntil: Milliseconds? = nil,
    catchUp: Milliseconds? = nil, because known: DecisionReason? = nil
  ) -> Decision {
    let usual: DecisionReason =
      switch outcome {
      case .notify: .notifyAll
      case .suppress: .quietHours
      case .deferred: .activeElsewhere
      }
    let reason = known ?? usual
    var body = DecisionBody(
      userId: "ann", messageId: id, conversationId: "c1", outcome: outcome, reason: reason, text: "", badge: 1,
      mode: .live, decidedAt: noon, heldUntil: heldUntil)
    if let catchUp { body.checks = [Check(check: "catch_up", inputs: ["dueAt": .number(catchUp)])] }
    return event(body)
  }

  private func push(
    _ kind: Push.Kind = .message, _ priority: Priority = .medium, again: Bool = false, keys: [String]? = nil,
    to device: String = "phone", of id: String = "m1"
  ) -> Push {
    Push(
      pushId: "p", kind: kind, userId: "ann",
      targets: [PushTarget(deviceId: device, token: "t", version: 1, platform: .ios)], priority: priority,
      presentation: .alert, badge: 1, messageId: kind == .digest ? nil : id,
      digest: keys.map {
        Digest(
          messages: $0.count, conversations: 1, lines: [],
          parts: [Digest.Part(conversationId: "c1", messages: $0.count, keys: $0)])
      },
      escalation: again || kind == .escalation ? Escalation(pushedAt: noon) : nil, ttlSeconds: 0, expiresAt: noon,
      decidedAt: noon)
  }

  private func written(_ decision: Decision?, _ push: Push? = nil) -> Written {
    Written(decisions: decision.map { [$0] } ?? [], pushEvents: push.map { [event(.push($0))] } ?? [])
  }

  private func event<Body: EventBody>(_ body: Body) -> DerivedEvent<Body> {
    let origin = Origin(topic: "t", partition: 0, offset: 0)
    return DerivedEvent(Envelope(eventId: "e", occurredAt: noon), origin: origin, source: origin.position, body)
  }

  private func digest() -> Push { push(.digest, keys: [Digest.key("m1")]) }

  @Test("a push after a read, a deletion, to a lost device or without a decision; the second one; one in quiet hours")
  func pushes() {
    var read = oracle()
    #expect(read.judge(written(decision(), push()), at: noon) == nil)
    read.read("c1", upTo: noon)
    #expect(read.judge(written(nil, push()), at: noon) == "m1 is pushed after it was read or taken back")
    var deleted = oracle()
    deleted.removed("m1", in: "c1", at: noon)
    #expect(deleted.judge(written(decision(), push()), at: noon) == "m1 is pushed after it was read or taken back")
    var lost = oracle()
    #expect(lost.judge(written(decision(), push(to: "tablet")), at: noon) == "m1 is pushed to a lost device")
    var undecided = oracle()
    #expect(
      undecided.judge(written(nil, push()), at: noon) == "a catch-up tells of m1, which is not held, or once more")
    var twice = oracle()
    #expect(twice.judge(written(decision(), push()), at: noon) == nil)
    #expect(twice.judge(written(nil, push()), at: noon) == "a catch-up tells of m1, which is not held, or once more")
    var ahead = oracle()
    #expect(ahead.judge(written(decision(.deferred, heldUntil: noon + second), push()), at: noon) == nil)
    #expect(ahead.judge(written(decision(), push()), at: noon) == "m1 is pushed to a device that had it")
    var quiet = oracle { $0.quiet = QuietHours(start: "11:00", end: "13:00", timeZone: "UTC") }
    #expect(quiet.judge(written(decision(), push()), at: noon) == "m1 is pushed in quiet hours")
    var high = oracle { $0.quiet = QuietHours(start: "11:00", end: "13:00", timeZone: "UTC") }
    #expect(high.judge(written(decision(), push(.message, .high)), at: noon) == "m1 is pushed in quiet hours")
    high.wrote(Scene.candidate("m2", body: "this is urgent"), at: noon)
    #expect(high.judge(written(decision(of: "m2"), push(of: "m2")), at: noon) == nil)
  }

  @Test("an urgent message that waits for nobody, too long, or beyond a report that only repeats")
  func urgentWaits() {
    func deferred(_ reason: DecisionReason, until time: Milliseconds, seenAt sign: Milliseconds) -> String? {
      var oracle = oracle()
      oracle.reports(.foreground, "c1", on: "desktop", at: sign)
      oracle.wrote(Scene.candidate("m2", body: "this is urgent"), at: noon)
      if let fault = oracle.judge(
        written(decision(.deferred, of: "m2", heldUntil: time, because: reason)), at: noon)
      {
        return fault
      }
      oracle.reports(.foreground, "c1", on: "desktop", at: noon + second)
      return oracle.passed(noon + second, [])
    }
    let until = noon + minute
    #expect(
      deferred(.activeElsewhere, until: noon + second, seenAt: noon)
        == "m2 is urgent, and waits until \(noon + second)")
    #expect(
      deferred(.activeConversation, until: until + 1, seenAt: noon) == "m2 is urgent, and waits until \(until + 1)")
    #expect(
      deferred(.activeConversation, until: until, seenAt: noon - minute - 1) == "m2 waits, and nobody is there")
    #expect(
      deferred(.activeConversation, until: until, seenAt: noon - minute) == "m2 is not decided at \(noon + second)")
  }

  @Test("a push in quiet hours that tells a larger number of what they suppressed")
  func raisedBadge() {
    var oracle = oracle { $0.quiet = QuietHours(start: "11:00", end: "13:00", timeZone: "UTC") }
    #expect(oracle.judge(written(decision(.suppress)), at: noon) == nil)
    #expect(
      oracle.judge(written(nil, push(.badge)), at: noon + 1)
        == "a push of badge raises the badge from 0 to 1 in quiet hours")
    #expect(oracle.judge(written(nil, push(.badge)), at: noon + hour) == nil)
  }

  @Test("a changed catch-up that sounds, that tells of what was read or deleted, or that is empty and stays")
  func changedCatchUps() {
    var oracle = oracle()
    oracle.wrote(Scene.candidate("m2"), at: noon + 1)
    for id in ["m1", "m2"] {
      #expect(oracle.judge(written(decision(.suppress, of: id, catchUp: noon)), at: noon) == nil)
    }
    let keys = ["m1", "m2"].map { Digest.key($0) }
    #expect(oracle.judge(written(nil, push(.digest, keys: keys)), at: noon + 2) == nil)
    func fault(_ presentation: Presentation, _ messages: Int, lines: [String] = []) -> String? {
      var change = push(.digest)
      (change.replaces, change.presentation) = (true, presentation)
      change.digest = Digest(
        messages: messages, conversations: 1,
        lines: lines.map { Digest.Line(conversationId: "c1", messageId: $0, title: "Bob", text: "Hey") })
      return oracle.judge(written(nil, change), at: noon + 3)
    }
    #expect(fault(.silent, 2, lines: ["m1", "m2"]) == nil)
    #expect(fault(.alert, 2) == "a changed catch-up sounds")
    oracle.read("c1", upTo: noon)
    #expect(fault(.silent, 1, lines: ["m2"]) == nil)
    #expect(fault(.silent, 1, lines: ["m1"]) == "a changed catch-up tells of m1")
    #expect(fault(.silent, 2, lines: ["m2"]) == "a changed catch-up has 2 messages, of 1")
    oracle.removed("m2", in: "c1", at: noon + 1)
    #expect(fault(.badge, 0) == nil)
    #expect(fault(.silent, 0) == "an empty catch-up stays")
  }

  @Test("no final decision, two of them, and one after its time")
  func decisions() {
    var none = oracle()
    #expect(none.missing == "m1 has no final decision")
    #expect(none.judge(written(decision(.deferred, heldUntil: noon + 8 * second)), at: noon) == nil)
    #expect(none.nextDue == noon + 8 * second && none.passed(noon + 7 * second, []) == nil)
    #expect(none.passed(noon + 8 * second, []) == "m1 is not decided at \(noon + 8 * second)")
    #expect(none.judge(written(decision(.suppress)), at: noon + 8 * second) == nil && none.missing == nil)
    #expect(none.judge(written(decision(.suppress)), at: noon) == "m1 is decided after its final decision")
  }

  @Test("a held message that no catch-up tells of, or two do; one too early, in quiet hours, or of what was read")
  func catchUps() {
    func held(_ change: (inout AttentionOracle) -> Void = { _ in }) -> AttentionOracle {
      var oracle = oracle(change)
      #expect(oracle.judge(written(decision(.suppress, catchUp: noon + hour)), at: noon) == nil)
      return oracle
    }
    var missed = held()
    #expect(missed.missing == "m1 is in no catch-up")
    #expect(missed.judge(written(nil, digest()), at: noon) == "m1 is told at \(noon), before \(noon + hour)")
    #expect(missed.passed(noon + hour, []) == "m1 is not told at \(noon + hour)")
    var twice = held()
    #expect(twice.judge(written(nil, digest()), at: noon + hour) == nil && twice.missing == nil)
    #expect(
      twice.judge(written(nil, digest()), at: noon + hour) == "a catch-up tells of m1, which is not held, or once more")
    var read = held()
    read.read("c1", upTo: noon)
    #expect(read.missing == nil)
    #expect(
      read.judge(written(nil, digest()), at: noon + hour) == "a catch-up tells of m1, which was read or taken back")
    var quiet = held { $0.quiet = QuietHours(start: "12:30", end: "14:00", timeZone: "UTC") }
    #expect(quiet.judge(written(nil, digest()), at: noon + hour) == "a catch-up in quiet hours")
  }

  @Test("one alert too many on a date; the next date has its own, where the clocks of the person say so")
  func budget() {
    var over = oracle { $0.limit = 0 }
    #expect(over.judge(written(decision(), push()), at: noon) == "m1 is alert 1 of 0")
    // 23:30 and 0:30 of the person's clocks, in daylight saving.
    let (late, next) = (noon - hour * 3 / 2, noon - hour / 2)
    var two = oracle { ($0.limit, $0.zone) = (1, "Pacific/Auckland") }
    two.wrote(Scene.candidate("m2"), at: noon)
    #expect(two.judge(written(decision(), push()), at: late) == nil)
    var same = two
    #expect(same.judge(written(decision(of: "m2"), push(of: "m2")), at: late + 1) == "m2 is alert 2 of 1")
    #expect(two.judge(written(decision(of: "m2"), push(of: "m2")), at: next) == nil)
  }

  @Test("a message said again too early, twice, after a read or an arrival, or not at all; the webhook likewise")
  func again() {
    func pushed() -> AttentionOracle {
      var oracle = oracle { ($0.again, $0.webhook) = (minute, minute) }
      #expect(oracle.judge(written(decision(), push(.message, .high)), at: noon) == nil)
      return oracle
    }
    let (again, webhook) = (push(again: true), push(.escalation))
    var early = pushed()
    #expect(early.passed(noon, [again]) == "it says again m1, which is not due, or once more")
    var twice = pushed()
    #expect(twice.passed(noon + minute, [again, again]) == "it says again m1 twice")
    var never = pushed()
    #expect(never.passed(noon + minute, []) == "it does not say again m1")
    var read = pushed()
    read.read("c1", upTo: noon)
    #expect(
      read.passed(noon + minute, [again]) == "it says again m1, which is read, has arrived, or is not wanted")
    var arrived = pushed()
    #expect(arrived.passed(noon + minute, [again]) == nil && arrived.missing == "[\"m1\"] still wait to be said again")
    arrived.arrived("m1")
    #expect(
      arrived.passed(noon + 2 * minute, [webhook]) == "it says webhook m1, which is read, has arrived, or is not wanted"
    )
    var told = pushed()
    #expect(told.passed(noon + minute, [again]) == nil)
    #expect(told.passed(noon + 2 * minute, [webhook]) == nil && told.missing == nil)
    #expect(told.passed(noon + 3 * minute, [webhook]) == "it says webhook m1, which is not due, or once more")
  }
}
