import Ingest
import NudgeSchema
import StreamRuntime
import Testing

/// D11: the events of one sender's clock, whatever it says, lose nobody else's notifications.
@Suite("Clocks that run ahead")
struct FastClockTests {
  private let minute: Milliseconds = 60_000

  @Test("D11: a member who floods a conversation with messages dated up to 5 minutes ahead silences nobody else")
  func floodFromTheFuture() throws {
    let pipeline = try DecidingPipeline(["ann", "ben", "cid"])
    for number in 0..<700 {
      pipeline.wait(10)
      try pipeline.message("flood-\(number)", from: "cid", after: 290_000 + Milliseconds(number % 100) * 100)
    }
    // At once, and for as long as the dates of the flood lie ahead.
    for delay in [0, 1_000, minute, 4 * minute] {
      pipeline.wait(delay)
      let decisions = try pipeline.message("m-\(delay)", from: "ben")
      #expect(decisions.map(\.userId).sorted() == ["ann", "cid"])
      #expect(decisions.allSatisfy { $0.outcome == .notify }, "\(decisions.map(\.reason)) after \(delay) ms")
    }
  }

  @Test("D11: 39 members who flood, half of them from fast clocks, leave another member's message in no doubt")
  func floodByMany() throws {
    let pipeline = IngestPipeline()
    let people = (0..<40).map { "p\($0)" }
    try pipeline.group(people)
    for number in 0..<2_000 {
      pipeline.driver.now += 10
      try pipeline.message(
        "c", "m\(number)", from: people[1 + number % 39],
        envelope: pipeline.envelope(after: number % 39 < 20 ? 299_000 : IngestPipeline.transit))
    }
    for _ in 0..<3 {
      pipeline.driver.now += 1_000
      let candidates = try pipeline.candidates(
        pipeline.message(from: "p0", envelope: pipeline.envelope(after: IngestPipeline.transit)))
      #expect(candidates.allSatisfy { $0.possibleRepeat == nil } && !candidates.isEmpty)
    }
  }

  @Test("M6, D11: a retry from a clock that is ahead stays recognised or in doubt after it was forgotten")
  func retryFromTheFuture() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let early = pipeline.envelope("early", after: 290_000)
    try pipeline.message("c", "early", from: "ann", envelope: early)
    for number in 0..<1_000 {
      pipeline.driver.now += 100
      try pipeline.message("c", "m\(number)", from: "ben", envelope: pipeline.envelope())
    }
    for _ in 0..<4 {
      let again = try pipeline.candidates(pipeline.message("c", "early", from: "ann", envelope: early))
      #expect(again.allSatisfy { $0.possibleRepeat == true })
      pipeline.driver.now += minute
    }
  }

  @Test("D11: a phone three minutes fast says that all is read; what is written afterwards notifies")
  func fastReader() throws {
    let pipeline = try DecidingPipeline()
    try pipeline.message("before", from: "ben")
    pipeline.wait(100)
    try pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c")), after: 3 * minute)
    for delay in [10, 1_000, minute] {
      pipeline.wait(delay)
      let decision = try #require(try pipeline.message("m-\(delay)", from: "ben").first)
      #expect(decision.outcome == .notify, "\(decision.reason) after \(delay) ms")
    }
  }

  @Test("D11, D6: what had arrived when a fast phone said that all is read is read")
  func fastReaderReads() throws {
    let pipeline = try DecidingPipeline()
    #expect(try pipeline.message("m1", from: "ben").first?.badge == 1)
    pipeline.wait(minute)
    try pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c")), after: 3 * minute)
    pipeline.wait(minute)
    // Only the new message counts, as one conversation and as one message.
    try pipeline.user(
      .preferences(PreferencesUpdated(userId: "ann", preferences: PreferencesPatch(badgeMode: .messages))))
    #expect(try pipeline.message("m2", from: "ben").first?.badge == 1)
  }

  @Test("D11, D12: the background report of a phone ends its foreground, also when the clock was set right in between")
  func correctedClock() throws {
    let pipeline = try DecidingPipeline()
    let report = { Activity(userId: "ann", deviceId: "ann-phone", state: $0, conversationId: "c") }
    try pipeline.user(.activity(report(.foreground)), after: 3 * minute)
    pipeline.wait(5_000)
    #expect(try pipeline.message("m1", from: "ben").first?.reason == .activeConversation)
    try pipeline.user(.activity(report(.background)))
    pipeline.wait(5_000)
    #expect(try pipeline.message("m2", from: "ben").first?.outcome == .notify)
  }

  @Test("D11: two reports of a fast phone that are taken in one millisecond keep the order of their own times")
  func batchOfAFastPhone() throws {
    for (first, second) in [(Activity.State.foreground, Activity.State.background), (.background, .foreground)] {
      let pipeline = try DecidingPipeline()
      let report = { Activity(userId: "ann", deviceId: "ann-phone", state: $0, conversationId: "c") }
      try pipeline.user(.activity(report(first)), after: 3 * minute)
      try pipeline.user(.activity(report(second)), after: 3 * minute + 1)
      pipeline.wait(1_000)
      let expected: DecisionReason = second == .foreground ? .activeConversation : .relevant
      #expect(try pipeline.message("m1", from: "ben").first?.reason == expected)
    }
  }

  @Test("D11: a message of a server that is a second slow, taken after all was read, notifies")
  func slowServer() throws {
    let pipeline = try DecidingPipeline()
    try pipeline.message("before", from: "ben")
    pipeline.wait(500)
    try pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c")))
    pipeline.wait(300)
    #expect(try pipeline.message("late", from: "ben", after: -1_000).first?.outcome == .notify)
    // Also a message that was surely written before it: it was not there yet.
    #expect(try pipeline.message("old", from: "ben", after: -3_000).first?.outcome == .notify)
  }

  @Test("D11, D6: a message in doubt counts on the badge until the person reads it")
  func slowServerIsRead() throws {
    let pipeline = try DecidingPipeline()
    try pipeline.message("before", from: "ben")
    pipeline.wait(500)
    try pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c")))
    pipeline.wait(300)
    #expect(try pipeline.message("late", from: "ben", after: -1_000).first?.badge == 1)
    try pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c", messageId: "late")))
    pipeline.wait(5_000)
    try pipeline.user(
      .preferences(PreferencesUpdated(userId: "ann", preferences: PreferencesPatch(badgeMode: .messages))))
    #expect(try pipeline.message("next", from: "ben").first?.badge == 1)
  }

  @Test("D11, T1: a sign-out counts although the registration before it came from a clock that was ahead")
  func signOutAfterFastRegistration() throws {
    let pipeline = try DecidingPipeline()
    try pipeline.user(
      .deviceRegistered(DeviceRegistered(userId: "ann", deviceId: "ann-phone", token: "token-2", platform: .ios)),
      after: 4 * minute)
    pipeline.wait(5_000)
    try pipeline.user(.deviceUnregistered(DeviceUnregistered(userId: "ann", deviceId: "ann-phone")))
    #expect(try pipeline.message("m1", from: "ben").first?.reason == .noDevice)
  }

  @Test("D12: a retry of a registration from a fast clock does not undo the sign-out that came after it")
  func retryAfterSignOut() throws {
    let pipeline = try DecidingPipeline()
    let registration = UserEventBody.deviceRegistered(
      DeviceRegistered(userId: "ann", deviceId: "ann-phone", token: "token-2", platform: .ios))
    let envelope = pipeline.ingest.envelope("registration", after: 4 * minute + IngestPipeline.transit)
    try pipeline.passOn(pipeline.ingest.user(registration, envelope))
    pipeline.wait(5_000)
    try pipeline.user(.deviceUnregistered(DeviceUnregistered(userId: "ann", deviceId: "ann-phone")))
    pipeline.wait(5_000)
    try pipeline.passOn(pipeline.ingest.user(registration, envelope))
    #expect(try pipeline.message("m1", from: "ben").first?.reason == .noDevice)
  }

  @Test("D11: preferences set by a phone that is ahead give way to those set a moment later on another")
  func preferencesOfAFastPhone() throws {
    let pipeline = try DecidingPipeline()
    let set = { PreferencesUpdated(userId: "ann", preferences: PreferencesPatch(enabled: $0)) }
    try pipeline.user(.preferences(set(false)), after: 4 * minute)
    pipeline.wait(2_000)
    try pipeline.user(.preferences(set(true)))
    #expect(try pipeline.message("m1", from: "ben").first?.outcome == .notify)
  }

  @Test("D11: takenAt is on the timeline where a clock is ahead, and only there")
  func takenAt() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let ahead = try pipeline.timeline(
      pipeline.message("c", "m1", from: "ann", envelope: pipeline.envelope(after: IngestPipeline.transit + 7_000)))
    #expect(ahead.map(\.takenAt) == [pipeline.driver.now, pipeline.driver.now])
    #expect(ahead.allSatisfy { $0.envelope.occurredAt == pipeline.driver.now + 7_000 })
    let onTime = try pipeline.timeline(pipeline.message("c", "m2", from: "ann", envelope: pipeline.envelope()))
    #expect(onTime.map(\.takenAt) == [nil, nil])
  }
}
