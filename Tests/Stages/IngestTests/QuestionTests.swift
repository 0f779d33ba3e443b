import NudgeSchema
import StreamRuntime
import Testing

@testable import Ingest

@Suite("Questions about a person go the way of their events")
struct QuestionTests {
  private let header = [RecordHeaderField(RecordHeader.question, "1")]

  private func ask(
    _ pipeline: IngestPipeline, _ user: String = "ann", after: Milliseconds = 0, key: String? = nil
  ) throws -> IngestPipeline.Result {
    try pipeline.driver.send(
      Event(pipeline.envelope("question", after: after), PersonAsked(userId: user)), to: .userEvents, key: key ?? user,
      headers: header)
  }

  private func asked(_ pipeline: IngestPipeline, _ result: IngestPipeline.Result) throws -> [PersonAsked] {
    try pipeline.timeline(result).compactMap { if case .asked(let question) = $0.body { question } else { nil } }
  }

  @Test("a question reaches the person's timeline each time, and names the device that has just changed")
  func passedOn() throws {
    let pipeline = IngestPipeline()
    #expect(try asked(pipeline, try ask(pipeline)) == [PersonAsked(userId: "ann")])
    #expect(try asked(pipeline, try ask(pipeline)) == [PersonAsked(userId: "ann")], "a repeat has its answer, too")
    try pipeline.user(.deviceRegistered(DeviceRegistered(userId: "ann", deviceId: "old", token: "t", platform: .ios)))
    pipeline.driver.now += 10
    let envelope = pipeline.envelope()
    try pipeline.user(
      .deviceRegistered(DeviceRegistered(userId: "ann", deviceId: "new", token: "u", platform: .ios)), envelope)
    let device = PersonAsked.Device(
      deviceId: "new", stamp: EventStamp(envelope, takenAt: pipeline.driver.now), isRegistered: true)
    #expect(try asked(pipeline, try ask(pipeline)) == [PersonAsked(userId: "ann", device: device)])
    #expect(try asked(pipeline, try ask(pipeline, "ben")) == [PersonAsked(userId: "ben")])
    pipeline.driver.now += 61_000
    #expect(try asked(pipeline, try ask(pipeline)) == [PersonAsked(userId: "ann")], "that was a while ago")
  }

  @Test("an old question goes nowhere; one whose key is another person's is refused, and so is what is no question")
  func refused() throws {
    let pipeline = IngestPipeline()
    let old = try ask(pipeline, after: -PersonAsked.lifetime)
    #expect(old.outputs.isEmpty && old.rejection == nil)
    #expect(try ask(pipeline, "ann", key: "ben").rejection?.code == .keyMismatch)
    let other = try pipeline.driver.send(
      UserEvent(pipeline.envelope(), .read(MessageRead(userId: "ann", conversationId: "c"))), to: .userEvents,
      key: "ann", headers: header)
    #expect(other.rejection?.code == .unknownType)
    let bare = try pipeline.driver.send(
      Event(pipeline.envelope(), PersonAsked(userId: "ann")), to: .userEvents, key: "ann")
    #expect(bare.rejection?.code == .unknownType, "no producer's event has this type")
  }

  @Test("of somebody who was erased the analyzer says so")
  func erased() throws {
    let pipeline = IngestPipeline()
    try pipeline.user(.deleted(UserDeleted(userId: "ann")))
    let result = try ask(pipeline, after: 1)
    #expect(result.rejection == nil)
    #expect(try asked(pipeline, result) == [PersonAsked(userId: "ann")])
  }
}
