import Ingest
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@Suite struct RepeatTests {
  /// Each output's `possibleRepeat`; nil: absent, or not a candidate.
  private func marks(_ result: IngestPipeline.Result) throws -> [Bool?] {
    try result.outputs.map { output in
      guard case .candidate(let candidate) = try RecordCoder().decode(TimelineEvent.self, from: output.value ?? []).body
      else { return nil }
      return candidate.possibleRepeat
    }
  }

  @Test("M6: a producer's retry of a message has no second effect")
  func retry() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let envelope = pipeline.envelope("same")
    #expect(try pipeline.message(from: "ann", envelope: envelope).outputs.count == 2)
    let again = try pipeline.message(from: "ann", envelope: envelope)
    #expect(again.outputs.isEmpty && again.rejection == nil)
    try pipeline.driver.restart()
    #expect(try pipeline.message(from: "ann", envelope: envelope).outputs.isEmpty)
  }

  @Test("M6: a retry that carries another time is still a retry")
  func retryWithAnotherTime() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    try pipeline.message(from: "ann", envelope: pipeline.envelope("same"))
    #expect(try pipeline.message(from: "ann", envelope: pipeline.envelope("same", after: 900)).outputs.isEmpty)
  }

  @Test("M6: the same event id in another conversation is another event")
  func otherConversation() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], in: "c1")
    try pipeline.group(["ann", "ben"], in: "c2")
    #expect(try pipeline.message("c1", from: "ann", envelope: pipeline.envelope("same")).outputs.count == 2)
    #expect(try pipeline.message("c2", from: "ann", envelope: pipeline.envelope("same")).outputs.count == 2)
  }

  @Test("M6: a retry is known after 400 other messages, and 1,000 messages do not make the memory grow further")
  func memoryIsDeepAndBounded() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let envelope = pipeline.envelope("same")
    try pipeline.message("c", "m", from: "ann", envelope: envelope)
    for number in 1...400 {
      try pipeline.message("c", "m\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number)))
    }
    #expect(try pipeline.message("c", "m", from: "ann", envelope: envelope).outputs.isEmpty)
    for number in 401...1_000 {
      try pipeline.message("c", "m\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number)))
    }
    var archives = 0
    for number in 0..<20 {
      guard case .archive(let row)? = try pipeline.driver.row(RowKey("e", "c", "c", String(number))) else { continue }
      archives += 1
      #expect(row.events.count <= 128)
    }
    #expect(archives == 4)
  }

  @Test("M6: what is older than the memory reaches notifies nobody: its candidates are marked")
  func beyondMemory() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], envelope: pipeline.envelope(after: -100_000))
    let forgotten = pipeline.envelope("forgotten", after: -50_000)
    #expect(try marks(pipeline.message("c", "m", from: "ann", envelope: forgotten)) == [nil, nil])
    for number in 1...1_000 {
      let result = try pipeline.message(
        "c", "m\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number)))
      #expect(try marks(result) == [nil, nil])
    }
    let again = try pipeline.message("c", "m", from: "ann", envelope: forgotten)
    #expect(try marks(again) == [true, nil])
    #expect(try pipeline.recipients(again) == ["ben"])
    // Now that it is remembered, it is a repeat.
    #expect(try pipeline.message("c", "m", from: "ann", envelope: forgotten).outputs.isEmpty)
    // A late message that is later than all forgotten ones is surely new.
    #expect(
      try marks(pipeline.message("c", "late", from: "ann", envelope: pipeline.envelope(after: 800))) == [nil, nil])
  }

  @Test("M6: a forgotten event's retry stays in doubt after hundreds of messages of long ago have come in")
  func lateFlood() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], envelope: pipeline.envelope(after: -500_000))
    let forgotten = pipeline.envelope("forgotten")
    try pipeline.message("c", "m", from: "ann", envelope: forgotten)
    for number in 1...1_000 {
      try pipeline.message("c", "m\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number)))
    }
    for number in 1...1_000 {
      try pipeline.message(
        "c", "l\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number) - 400_000))
    }
    #expect(try marks(pipeline.message("c", "m", from: "ann", envelope: forgotten)) == [true, nil])
  }

  @Test("M6: hundreds of messages of long ago cast no doubt on newer ones, and make no newer one forgotten")
  func newerThanAFlood() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], envelope: pipeline.envelope(after: -500_000))
    let known = pipeline.envelope("known")
    try pipeline.message("c", "m", from: "ann", envelope: known)
    // The memory puts the older half of what is in its row with the late ones that come next.
    for number in 1...64 {
      try pipeline.message("c", "m\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number)))
    }
    for number in 1...1_000 {
      try pipeline.message(
        "c", "l\(number)", from: "ben", envelope: pipeline.envelope(after: Int64(number) - 400_000))
    }
    // Written before the one that is known, and on its way for longer.
    #expect(
      try marks(pipeline.message("c", "new", from: "ann", envelope: pipeline.envelope(after: -1_000))) == [nil, nil])
    #expect(try pipeline.message("c", "m", from: "ann", envelope: known).outputs.isEmpty)
  }

  @Test("M6: every repeat among many is found or marked, whatever the order of the events' times")
  func noRepeatNotifies() throws {
    var random = SeededGenerator(announcedFor: "noRepeatNotifies")
    let seed = random.seed
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], envelope: pipeline.envelope(after: -3_000_000))
    var sent: [Envelope] = []
    for number in 0..<2_000 {
      pipeline.driver.now += 1_000
      let isRetry = !sent.isEmpty && Int.random(in: 0..<4, using: &random) == 0
      // One clock in five is up to 4 minutes ahead, some messages come up to 20 minutes late.
      let after =
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: Milliseconds.random(in: 0...240_000, using: &random)
        case 2: -Milliseconds.random(in: 0...1_200_000, using: &random)
        default: Milliseconds(0)
        }
      let fresh = pipeline.envelope("n\(number)", after: after)
      let envelope = isRetry ? sent.randomElement(using: &random) ?? fresh : fresh
      let result = try pipeline.message("c", "m", from: "ann", envelope: envelope)
      if isRetry {
        #expect(try result.outputs.isEmpty || marks(result)[0] == true, "seed \(seed), message \(number)")
      } else {
        sent.append(envelope)
        if after == 0 { #expect(try marks(result) == [nil, nil], "seed \(seed), message \(number)") }
      }
    }
  }

  @Test("M5: a message older than freshness is no dead letter: it has candidates, which the analyzer decides")
  func stale() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"], envelope: pipeline.envelope(after: -5_000_000))
    let result = try pipeline.message(from: "ann", envelope: pipeline.envelope(after: -3_600_001))
    #expect(try pipeline.recipients(result) == ["ben"])
    #expect(try marks(result) == [nil, nil])
    #expect(
      try marks(pipeline.message("c", "m2", from: "ann", envelope: pipeline.envelope(after: -3_600_000))) == [nil, nil])
  }

  @Test("M6: a retry of an edit, a deletion or a change of members has no second effect")
  func otherRetries() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let bodies: [ChatEventBody] = [
      .messageEdited(MessageRevision(conversationId: "c", messageId: "m", text: "new")),
      .messageDeleted(MessageRevision(conversationId: "c", messageId: "m")),
      .memberRemoved(MembershipChange(conversationId: "c", userId: "ben")),
    ]
    for (number, body) in bodies.enumerated() {
      let envelope = pipeline.envelope("e\(number)", after: Int64(number) + 1)
      #expect(try !pipeline.chat(body, envelope).outputs.isEmpty)
      #expect(try pipeline.chat(body, envelope).outputs.isEmpty)
    }
  }

  @Test("M6: a retry of what a user did has no second effect")
  func userRetries() throws {
    let pipeline = IngestPipeline()
    let bodies: [UserEventBody] = [
      .activity(Activity(userId: "ann", deviceId: "d", state: .foreground)),
      .read(MessageRead(userId: "ann", conversationId: "c")),
      .feedback(FeedbackSubmitted(userId: "ann", conversationId: "c", messageId: "m", feedback: .helpful)),
      .deviceRegistered(DeviceRegistered(userId: "ann", deviceId: "d", token: "t", platform: .ios)),
      .deviceUnregistered(DeviceUnregistered(userId: "ann", deviceId: "d")),
    ]
    for (number, body) in bodies.enumerated() {
      let envelope = pipeline.envelope("e\(number)", after: Int64(number))
      #expect(try pipeline.user(body, envelope).outputs.count == 1)
      #expect(try pipeline.user(body, envelope).outputs.isEmpty)
    }
  }

  @Test("M6: a report that may be a repeat of a forgotten one is refused with a reason, not counted twice")
  func reportBeyondMemory() throws {
    let pipeline = IngestPipeline()
    let report = { (number: Int) in
      UserEventBody.feedback(
        FeedbackSubmitted(userId: "ann", conversationId: "c", messageId: "m\(number)", feedback: .helpful))
    }
    let first = pipeline.envelope("first")
    try pipeline.user(report(0), first)
    for number in 1...1_000 { try pipeline.user(report(number), pipeline.envelope(after: Int64(number))) }
    #expect(try pipeline.user(report(0), first).rejection?.code == .tooOld)
    // State events of the same age pass: the last writer wins anyway.
    let read = UserEventBody.read(MessageRead(userId: "ann", conversationId: "c"))
    for number in 1...200 { try pipeline.user(read, pipeline.envelope(after: Int64(number))) }
    #expect(try pipeline.user(read, first).outputs.count == 1)
  }
}
