import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("Replay of dead letters")
struct DeadLetterReplayTests {
  private func letter(from topic: String? = "chat.events", key: String? = "c-1", _ more: [String: String] = [:])
    -> DeadLetterFacts
  {
    var headers = [RecordHeader.errorCode: "unknown_conversation", RecordHeader.errorStage: "ingest"]
    if let topic {
      headers[RecordHeader.originTopic] = topic
      headers[RecordHeader.originPartition] = "1"
      headers[RecordHeader.originOffset] = "17"
    }
    headers.merge(more) { $1 }
    return DeadLetterFacts(
      position: RecordPosition(topic: "nudge.dead-letters", partition: 0, offset: 3), timestamp: 1,
      key: key.map { Array($0.utf8) }, size: 100
    ) { headers[$0].map { Array($0.utf8) } }
  }

  private func reason(_ letter: DeadLetterFacts) -> String? {
    if case .left(let reason) = DeadLetterReplay(topics: TopicNames()).fate(of: letter) { reason } else { nil }
  }

  @Test("a producer's event is republished to its topic")
  func written() {
    let replay = DeadLetterReplay(topics: TopicNames(prefix: "eu."))
    #expect(replay.fate(of: letter(from: "eu.chat.events")) == .written(.chatEvents))
    #expect(replay.fate(of: letter(from: "eu.user.events")) == .written(.userEvents))
    #expect(!letter().isCut)
  }

  @Test(
    "a truncated dead letter is not republished",
    arguments: [RecordHeader.truncatedKey, RecordHeader.truncatedHeaders, RecordHeader.truncatedValue])
  func cut(_ header: String) {
    let cut = letter([header: "100/4000000"])
    #expect(cut.isCut && reason(cut)?.contains("is truncated") == true)
  }

  @Test(
    "a dead letter of Nudge's own topics, of an unknown topic, without a key or without an origin is not republished")
  func left() {
    #expect(reason(letter(from: "nudge.timeline"))?.contains("only producers' events") == true)
    #expect(reason(letter(from: "else.where")) != nil && reason(letter(from: nil)) != nil)
    #expect(reason(letter(key: nil))?.contains("no key") == true)
  }
}
