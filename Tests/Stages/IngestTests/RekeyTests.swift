import NudgeSchema
import StreamRuntime
import Testing

@Suite struct RekeyTests {
  @Test("M9: a record on the wrong partition is written to the right one, whole, and processed there only")
  func rekeys() throws {
    let pipeline = IngestPipeline(partitions: 8)
    try pipeline.group(["ann", "ben"])
    let message = ChatEvent(
      pipeline.envelope(),
      .messageCreated(MessageCreated(conversationId: "c", messageId: "m", senderId: "ann", text: "hi")))
    let right = try #require(try pipeline.message("c", "m0", from: "ann").outputs.first).partition
    let home = try pipeline.driver.send(
      message, to: .chatEvents, key: "c", partition: wrongPartition(pipeline),
      headers: [
        RecordHeaderField(RecordHeader.traceparent, "trace"), RecordHeaderField("app", "7"),
      ])
    #expect(home.rejection == nil)
    let output = try #require(home.outputs.first)
    #expect(home.outputs.count == 1)
    #expect(output.topic == .chatEvents)
    #expect(output.key == Array("c".utf8))
    #expect(output.headers.map(\.name).sorted() == ["app", RecordHeader.traceparent])
    #expect(output.value == RecordCoder.bytes(message))
    let results = pipeline.driver.sendBack(home)
    #expect(try results.flatMap { try pipeline.recipients($0) } == ["ben"])
    #expect(right == results.first?.outputs.first?.partition)
  }

  @Test("M9: what is on the wrong partition is not judged there, not even what is no JSON")
  func notJudged() throws {
    let pipeline = IngestPipeline(partitions: 8)
    let wrong = wrongPartition(pipeline)
    let result = pipeline.driver.send(
      bytes: Array("nonsense".utf8), to: .chatEvents, key: Array("c".utf8), partition: wrong)
    #expect(result.rejection == nil && result.outputs.count == 1)
    #expect(pipeline.driver.sendBack(result).map(\.rejection?.code) == [.invalidJSON])
  }

  @Test("M9: a claim and a user event are re-keyed as well")
  func otherTopics() throws {
    let pipeline = IngestPipeline(partitions: 8)
    for topic in [Topic.userEvents, .deviceClaims] {
      let result = pipeline.driver.send(
        bytes: [0x7b], to: topic, key: Array("c".utf8), partition: wrongPartition(pipeline))
      #expect(result.outputs.map(\.topic) == [topic])
    }
  }

  /// A partition that is not that of the key `c`.
  private func wrongPartition(_ pipeline: IngestPipeline) -> Int32 {
    for partition in 0..<pipeline.driver.partitions {
      let result = pipeline.driver.send(bytes: nil, to: .chatEvents, key: Array("c".utf8), partition: partition)
      if result.rejection == nil { return partition }
    }
    return -1
  }
}

extension RecordCoder {
  fileprivate static func bytes(_ event: ChatEvent) -> [UInt8]? { try? RecordCoder().encode(event) }
}
