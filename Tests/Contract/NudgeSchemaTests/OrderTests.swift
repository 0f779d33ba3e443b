import NudgeSchema
import Testing

@Suite("Orders that decide which record counts")
struct OrderTests {
  @Test("D12: the later event wins, then the greater event id by its bytes")
  func stamps() {
    let stamps = [
      EventStamp(occurredAt: 1, eventId: "z"), EventStamp(occurredAt: 2, eventId: ""),
      EventStamp(occurredAt: 2, eventId: "a"), EventStamp(occurredAt: 2, eventId: "ab"),
      EventStamp(occurredAt: 2, eventId: "e\u{301}"), EventStamp(occurredAt: 2, eventId: "z"),
      EventStamp(occurredAt: 2, eventId: "\u{E9}"), EventStamp(occurredAt: 2, eventId: "\u{FFFD}"),
      EventStamp(occurredAt: 2, eventId: "\u{1F642}"),
    ]
    for (i, a) in stamps.enumerated() {
      for (j, b) in stamps.enumerated() {
        #expect((a < b) == (i < j), "\(a), \(b)")
        #expect((a == b) == (i == j), "\(a), \(b)")
      }
    }
    #expect(Set(stamps).count == stamps.count)
  }

  @Test("origins of one key rise by offset, then by index; no index is the first")
  func origins() {
    let position = RecordPosition(topic: "chat.events", partition: 3, offset: 7)
    #expect(Origin(position).index == nil)
    #expect(Origin(position) == Origin(topic: "chat.events", partition: 3, offset: 7))
    #expect(Origin(position, index: 2).position == position)
    #expect(Origin(position).order < Origin(position, index: 1).order)
    #expect(Origin(position, index: 9).order < Origin(topic: "chat.events", partition: 3, offset: 8).order)
    #expect(Origin(topic: "chat.events", partition: 3, offset: 7, index: 0).order == Origin(position).order)
  }

  @Test("a prefix separates the topics of pipelines that share a cluster")
  func topicNames() {
    let names = TopicNames(prefix: "eu.")
    for topic in Topic.allCases {
      #expect(names.topic(named: names(topic)) == topic)
      #expect(names.topic(named: topic.rawValue) == nil)
      #expect(TopicNames()(topic) == topic.rawValue)
    }
  }
}
