import NudgeSchema
import StreamRuntime
import Testing

@Suite struct UserEventTests {
  private static let bodies: [UserEventBody] = [
    .activity(Activity(userId: "ann", deviceId: "d", state: .foreground, conversationId: "c")),
    .read(MessageRead(userId: "ann", conversationId: "c", messageId: "m", deviceId: "d")),
    .preferences(PreferencesUpdated(userId: "ann", preferences: PreferencesPatch(enabled: false))),
    .feedback(FeedbackSubmitted(userId: "ann", conversationId: "c", messageId: "m", feedback: .notHelpful)),
    .notificationReceived(NotificationReport(userId: "ann", deviceId: "d", pushId: "p")),
    .notificationOpened(NotificationReport(userId: "ann", deviceId: "d", pushId: "p", conversationId: "c")),
    .notificationDismissed(NotificationReport(userId: "ann", deviceId: "d", pushId: "p", messageId: "m")),
  ]

  @Test("M4: what a user did reaches their timeline as it came, with origin and source", arguments: bodies)
  func passesThrough(body: UserEventBody) throws {
    let pipeline = IngestPipeline(partitions: 4)
    let envelope = pipeline.envelope("e", after: -1_000)
    let result = try pipeline.user(body, envelope)
    #expect(result.outputs.count == 1)
    #expect(result.outputs.first?.key == Array("ann".utf8))
    let event = try #require(try pipeline.timeline(result).first)
    #expect(event.envelope == envelope)
    #expect(event.body == .user(body))
    #expect(event.source.topic == "user.events" && event.source.offset == 0)
    #expect(event.origin == Origin(event.source))
  }

  @Test("D12: an event that comes late passes all the same: its reader judges by its time")
  func latePasses() throws {
    let pipeline = IngestPipeline()
    try pipeline.user(Self.bodies[0], pipeline.envelope(after: 0))
    #expect(try pipeline.user(Self.bodies[0], pipeline.envelope(after: -60_000)).outputs.count == 1)
  }
}
