import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Replays: what the analyzer allows them")
struct ReplayTests {
  private func rules(_ change: (inout AnalyzerRules) -> Void = { _ in }) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: standInHash)
    change(&rules)
    return rules
  }

  @discardableResult
  private func redecide(
    _ scene: Scene, _ messageId: String, to userIds: [String] = ["ann"], replay: String? = "replay-1",
    forced: Bool? = nil, at time: Milliseconds = noon, now: Milliseconds? = nil
  ) throws -> Written {
    scene.driver.now = now ?? time
    var candidate = Scene.candidate(messageId, to: userIds, replayId: replay)
    candidate.forced = forced
    return try scene.send(.redecide(candidate), at: time)
  }

  /// A phone, notifications off, messages that were therefore suppressed, notifications on again.
  private func suppressed(_ messages: [String], _ rules: AnalyzerRules? = nil) throws -> Scene {
    let scene = try Scene.withPhone(rules ?? self.rules())
    try scene.prefer(PreferencesPatch(enabled: false), eventId: "off")
    for message in messages { try scene.message(message) }
    try scene.prefer(PreferencesPatch(enabled: true), at: noon - hour + 1, eventId: "on")
    return scene
  }

  @Test("a redecided message does not use up the hourly limit, and nobody is told that it is reached")
  func window() throws {
    let scene = try suppressed(
      ["a", "b", "c"],
      rules {
        $0.policy.analysesPerHour = 2
        $0.policy.directLevel = .smart
      })
    for message in ["a", "b", "c"] {
      let written = try redecide(scene, message)
      #expect(written.decision?.outcome == .notify)
      #expect(written.decision?.analysis?.used == 1, "as if it were the first")
      #expect(written.notices.isEmpty)
    }
    #expect(try scene.message("d").decision?.analysis?.used == 1)
    #expect(try scene.message("e").decision?.analysis?.used == 2)
    // Now the limit is reached: the fallback decides, and says so to people only for what is written to them now.
    let past = try redecide(scene, "c", replay: "replay-2", forced: true)
    #expect(past.decision?.reason == .simpleRules && past.notices.isEmpty)
    #expect(try scene.message("f").notices.count == 1)
  }

  @Test("a redecided message counts on the badge as it did, once")
  func badge() throws {
    let scene = try Scene.withPhone(rules())
    try scene.prefer(PreferencesPatch(enabled: false, badgeMode: .messages), eventId: "off")
    try scene.message("a")
    #expect(try scene.message("b").decision?.badge == 2)
    try scene.prefer(PreferencesPatch(enabled: true), at: noon - hour + 1, eventId: "on")
    #expect(try redecide(scene, "a").push?.badge == 2)
    #expect(try redecide(scene, "b").push?.badge == 2)
    #expect(try redecide(scene, "b", forced: true).push?.badge == 2)
    #expect(try scene.message("c").decision?.badge == 3)
  }

  @Test("one replay notifies one person no more often than the limit; another replay begins anew")
  func personLimit() throws {
    let scene = try suppressed(["a", "b", "c"], rules { $0.replayPerPerson = 2 })
    #expect(try redecide(scene, "a").push != nil)
    #expect(try redecide(scene, "b").push != nil)
    let third = try redecide(scene, "c")
    #expect(third.decision?.reason == .replayLimit && third.push == nil)
    try scene.driver.restart()
    #expect(try redecide(scene, "c").decision?.reason == .replayLimit, "the count survives a restart")
    #expect(try redecide(scene, "c", replay: "replay-2").push != nil)
  }

  @Test("what suppresses anyway does not count towards the limit")
  func onlyNotificationsCount() throws {
    let scene = try suppressed(["a", "b"], rules { $0.replayPerPerson = 1 })
    #expect(try redecide(scene, "a", now: noon + 2 * hour).decision?.reason == .expired)
    #expect(try redecide(scene, "b").push != nil)
  }

  @Test("a stopped replay notifies nobody any more, across restarts; other replays and live messages go on")
  func stop() throws {
    let scene = try suppressed(["a", "b"])
    #expect(try redecide(scene, "a").push != nil)
    let stopped = try scene.send(.replayStopped(ReplayStopped(replayId: "replay-1")), at: noon)
    #expect(stopped.decisions.isEmpty && stopped.pushes.isEmpty && stopped.rejection == nil)
    #expect(stopped.cancelled == [PushCancelled(userId: "ann", replayId: "replay-1")], "what waits is taken back")
    try scene.driver.restart()
    let after = try redecide(scene, "b")
    #expect(after.decision?.reason == .replayStopped && after.push == nil && after.decision?.replayId == "replay-1")
    #expect(try redecide(scene, "b", replay: "replay-2").push != nil)
    #expect(try scene.message("live").push != nil)
  }

  @Test("by force who was notified is notified again, by a push with an id of its own, the same for the same replay")
  func force() throws {
    let scene = try Scene.withPhone(rules())
    let first = try #require(try scene.message("a").push)
    #expect(try redecide(scene, "a").decision?.reason == .duplicate)
    let forced = try #require(try redecide(scene, "a", replay: "replay-2", forced: true).push)
    #expect(forced.pushId != first.pushId && forced.messageId == first.messageId)
    let again = try #require(try redecide(scene, "a", replay: "replay-3", forced: true).push)
    #expect(![first.pushId, forced.pushId].contains(again.pushId))
    #expect(try redecide(scene, "a", replay: "replay-2", forced: true).push?.pushId == forced.pushId)
  }

  @Test("by force nobody gets what they do not want, have read, is taken back, or is too old")
  func forceSpares() throws {
    func reason(_ change: (Scene) throws -> Void, now: Milliseconds? = nil) throws -> DecisionReason? {
      let scene = try Scene.withPhone(rules())
      try scene.message("a")
      try change(scene)
      let written = try redecide(scene, "a", forced: true, now: now)
      #expect(written.push == nil)
      return written.decision?.reason
    }
    #expect(try reason { try $0.prefer(PreferencesPatch(enabled: false)) } == .notificationsDisabled)
    #expect(
      try reason { try $0.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")])) }
        == .conversationMuted)
    #expect(try reason { try $0.read(upTo: "a", at: noon + 1) } == .alreadyRead)
    #expect(try reason { try $0.withdraw("a", at: noon + 1) } == .withdrawn)
    #expect(try reason({ _ in }, now: noon + hour + 1) == .expired)
  }

  @Test("by force one replay notifies no more often in a task than the limit, whoever they are")
  func forceLimit() throws {
    let scene = Scene(rules { $0.replayForced = 3 })
    let people = (0..<5).map { "person-\($0)" }
    for person in people { try scene.gain("phone-\(person)", user: person) }
    let first = try redecide(scene, "a", to: Array(people[0..<2]), forced: true)
    #expect(first.pushes.count == 2)
    let second = try redecide(scene, "a", to: Array(people[2..<5]), forced: true)
    #expect(second.pushes.count == 1)
    #expect(second.decisions.map(\.body.reason).filter { $0 == .replayLimit }.count == 2)
  }

  @Test("a message to decide again must name its replay, by an id that can be part of a key")
  func names() throws {
    let scene = try Scene.withPhone(rules())
    for replay in [nil, "", "a\u{0}b", String(repeating: "x", count: 65)] {
      #expect(try redecide(scene, "a", replay: replay).rejection?.code == .schemaViolation)
    }
  }

  @Test("the rows of a replay go when it can no longer ask for anything")
  func cleanUp() throws {
    let scene = try suppressed(["a"])
    try redecide(scene, "a")
    #expect(try scene.driver.row(RowKey("r", "replay-1")) != nil)
    #expect(try scene.driver.row(RowKey("r", "replay-1", "ann")) != nil)
    scene.driver.now = noon + 28 * 24 * hour - 1
    try scene.driver.fireTimers()
    #expect(try scene.driver.row(RowKey("r", "replay-1")) != nil)
    scene.driver.now = noon + 28 * 24 * hour
    try scene.driver.fireTimers()
    #expect(try scene.driver.row(RowKey("r", "replay-1")) == nil)
    #expect(try scene.driver.row(RowKey("r", "replay-1", "ann")) == nil)
  }

  // MARK: Failed pushes

  private func resend(
    _ scene: Scene, _ messageId: String, _ failed: FailedPush, replay: String = "replay-1", maxAgeSeconds: Int? = nil,
    at time: Milliseconds = noon, now: Milliseconds? = nil
  ) throws -> Written {
    scene.driver.now = now ?? time
    var candidate = Scene.candidate(messageId, replayId: replay)
    candidate.failedPushes = [failed]
    candidate.maxAgeSeconds = maxAgeSeconds
    return try scene.send(.redecide(candidate), at: time)
  }

  @Test("a failed push is made again once, whoever asks; when that one fails, too, it can be made again")
  func failedPush() throws {
    let scene = try Scene.withPhone(rules())
    let first = try #require(try scene.message("a").push)
    let failed = FailedPush(userId: "ann", pushId: first.pushId, presentation: .alert)
    #expect(try redecide(scene, "a").decision?.reason == .duplicate, "resend-missing counts it as notified")
    let again = try #require(try resend(scene, "a", failed).push)
    #expect(again.pushId != first.pushId && again.presentation == .alert && again.targets.map(\.deviceId) == ["phone"])
    try scene.driver.restart()
    for replay in ["replay-1", "replay-2"] {
      let repeated = try resend(scene, "a", failed, replay: replay)
      #expect(repeated.decision?.reason == .duplicate && repeated.push == nil)
    }
    let next = FailedPush(userId: "ann", pushId: again.pushId, presentation: .alert)
    #expect(try resend(scene, "a", next, replay: "replay-3").push != nil)
    #expect(try resend(scene, "a", next, replay: "replay-4").push == nil)
  }

  @Test("only the devices on which it failed get it, and only those the person still has")
  func failedDevices() throws {
    let scene = try Scene.withPhone(rules())
    try scene.gain("tablet")
    try scene.gain("watch")
    let first = try #require(try scene.message("a").push)
    #expect(first.targets.count == 3)
    let some = FailedPush(userId: "ann", pushId: first.pushId, devices: ["tablet", "sold"])
    #expect(try resend(scene, "a", some).push?.targets.map(\.deviceId) == ["tablet"])
    let second = try #require(try scene.message("b").push)
    let none = FailedPush(userId: "ann", pushId: second.pushId, devices: ["sold"])
    #expect(try resend(scene, "b", none).decision?.reason == .noDevice)
  }

  @Test("what is made again appears in no stronger way than it did, and as an alert where that failed in a burst")
  func failedPresentation() throws {
    let scene = try Scene.withPhone(rules { $0.policy.directBurstSeconds = 60 })
    let pushes = try ["a", "b"].enumerated().map { index, message in
      try #require(try scene.message(message, at: noon + Int64(index)).push)
    }
    #expect(pushes.map(\.presentation) == [.alert, .silent])
    for (message, push) in zip(["a", "b"], pushes) {
      var candidate = Scene.candidate(message, replayId: "replay-1")
      candidate.failedPushes = [
        FailedPush(userId: "ann", pushId: push.pushId, presentation: push.presentation)
      ]
      let written = try scene.send(.redecide(candidate), at: noon)
      #expect(written.push?.presentation == push.presentation)
      candidate.failedPushes = [
        FailedPush(userId: "ann", pushId: "x-\(message)", presentation: .silent)
      ]
      #expect(try scene.send(.redecide(candidate), at: noon).push?.presentation == .silent)
    }
  }

  @Test("a replay may ask for messages beyond their freshness, up to a day old; the push is then fresh as long")
  func failedAge() throws {
    let scene = try Scene.withPhone(rules())
    let first = try #require(try scene.message("a").push)
    let failed = FailedPush(userId: "ann", pushId: first.pushId)
    #expect(try resend(scene, "a", failed, now: noon + hour + 1).decision?.reason == .expired)
    #expect(
      try resend(scene, "a", failed, maxAgeSeconds: .max, now: noon + 24 * hour + 1).decision?.reason == .expired)
    let late = try #require(try resend(scene, "a", failed, maxAgeSeconds: 3 * 3_600, now: noon + 2 * hour).push)
    #expect(late.expiresAt == noon + 3 * hour)
    // Read now: the push may wait in a lane, although the message's freshness has long ended.
    #expect(try scene.read(upTo: "a", at: noon + 2 * hour + 1).cancelled.count == 1)
  }

  @Test("what is read, unwanted, stopped or past the replay's limit is not made again, and may be later")
  func failedChecks() throws {
    func reason(_ change: (Scene) throws -> Void) throws -> DecisionReason? {
      let scene = try Scene.withPhone(rules { $0.replayPerPerson = 1 })
      let push = try #require(try scene.message("a").push)
      let other = try #require(try scene.message("b").push)
      try change(scene)
      let failed = FailedPush(userId: "ann", pushId: push.pushId)
      let written = try resend(scene, "a", failed)
      if written.decision?.reason.notifies == true {
        let second = try resend(scene, "b", FailedPush(userId: "ann", pushId: other.pushId))
        #expect(
          try resend(scene, "b", FailedPush(userId: "ann", pushId: other.pushId), replay: "replay-2").push != nil)
        return second.decision?.reason
      }
      return written.decision?.reason
    }
    #expect(try reason { try $0.read(upTo: "b", at: noon + 1) } == .alreadyRead)
    #expect(try reason { try $0.prefer(PreferencesPatch(enabled: false)) } == .notificationsDisabled)
    #expect(
      try reason { try $0.send(.replayStopped(ReplayStopped(replayId: "replay-1")), at: noon) } == .replayStopped)
    #expect(try reason { _ in } == .replayLimit)
  }

  @Test("a candidate that asks for contradictions, or uses the name of our own rows, is refused")
  func contradictions() throws {
    let scene = try Scene.withPhone(rules())
    var candidate = Scene.candidate("a", replayId: "replay-1")
    candidate.failedPushes = [FailedPush(userId: "ann", pushId: "p")]
    candidate.forced = true
    #expect(try scene.send(.redecide(candidate), at: noon).rejection?.code == .schemaViolation)
    candidate.forced = nil
    candidate.failedPushes = [FailedPush(userId: "ann", pushId: "")]
    #expect(try scene.send(.redecide(candidate), at: noon).rejection?.code == .schemaViolation)
    #expect(try redecide(scene, "a", replay: "resent/20514").rejection?.code == .schemaViolation)
  }

  @Test("the rows of failed pushes go after four weeks")
  func failedRows() throws {
    let scene = try Scene.withPhone(rules())
    let push = try #require(try scene.message("a").push)
    _ = try resend(scene, "a", FailedPush(userId: "ann", pushId: push.pushId))
    let bucket = "resent/\(noon / 86_400_000)"
    #expect(try scene.driver.row(RowKey("r", bucket, push.pushId)) != nil)
    scene.driver.now = noon + 28 * 24 * hour
    try scene.driver.fireTimers()
    #expect(try scene.driver.row(RowKey("r", bucket, push.pushId)) == nil)
    #expect(try scene.driver.row(RowKey("r", bucket)) == nil)
  }

  @Test("a message is decided for people who were no recipients: it counts on the badge, once, and notifies once")
  func rederived() throws {
    let scene = try Scene.withPhone(rules())
    try scene.message("later", at: noon + 5)
    func rederive(_ messageId: String, replay: String = "replay-1") throws -> Written {
      var candidate = Scene.candidate(messageId, replayId: replay)
      candidate.rederived = true
      return try scene.send(.redecide(candidate), at: noon)
    }
    let first = try rederive("missed")
    #expect(first.push?.messageId == "missed")
    #expect(try scene.message("last", at: noon + 6).decision?.badge == 1, "one conversation")
    #expect(try rederive("missed").decision?.reason == .duplicate)
    #expect(try rederive("later").decision?.reason == .duplicate, "it was decided when it came")
    try scene.prefer(PreferencesPatch(badgeMode: .messages), at: noon + 7)
    #expect(try scene.message("more", at: noon + 8).decision?.badge == 4)
    try scene.read(at: noon + 9)
    let read = try rederive("read")
    #expect(read.decision?.reason == .alreadyRead && read.push == nil)
    #expect(try scene.message("fresh", at: noon + 20_000).decision?.badge == 1)
    #expect(try rederive("read", replay: "replay-2").decision?.reason == .duplicate)
  }

  @Test("a replay that is stopped takes back what waits for everybody it notified, in bounded steps")
  func takesBack() throws {
    let scene = Scene(rules { $0.replayForced = 10_000 })
    let people = (0..<(AnalyzerStage.stopsAStep + 20)).map { "person-\($0)" }
    for person in people { try scene.gain("phone-\(person)", user: person) }
    for first in stride(from: 0, to: people.count, by: 500) {
      try redecide(scene, "a", to: Array(people[first..<min(first + 500, people.count)]))
    }
    // Only rows in the store are read in pages.
    try scene.driver.commit()
    var taken: [String] = []
    var stop: ReplayStopped? = ReplayStopped(replayId: "replay-1")
    var steps = 0
    while let current = stop {
      stop = nil
      steps += 1
      let event = TimelineEvent(
        Envelope(eventId: "stop-\(steps)", occurredAt: noon),
        origin: Origin(topic: "nudge.audit", partition: 0, offset: 1),
        source: RecordPosition(topic: "nudge.audit", partition: 0, offset: 1), .replayStopped(current))
      let result = try scene.driver.send(event, to: .timeline, key: "any")
      let written = try scene.written(result)
      #expect(written.cancelled.allSatisfy { $0.replayId == "replay-1" })
      taken += written.cancelled.map(\.userId)
      for output in result.outputs where output.topic == .timeline {
        #expect(output.partition == 0)
        if case .replayStopped(let next) = try scene.driver.decode(TimelineEvent.self, from: output).body {
          stop = next
        }
      }
    }
    #expect(steps == 2 && taken.count == people.count && Set(taken) == Set(people))
  }
}
