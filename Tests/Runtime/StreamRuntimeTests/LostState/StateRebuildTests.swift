import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("The range of a rebuild")
struct StateRebuildTests {
  private func position(_ rebuildTo: [String: Int64]?) -> PositionRecord {
    PositionRecord(sequence: 7, next: [:], writer: "w", rebuildTo: rebuildTo)
  }

  private func record(_ topic: Topic, _ offset: Int64, at timestamp: Milliseconds = 0) -> InputRecord {
    InputRecord(
      topic: topic, topicName: topic.rawValue, partition: 0, offset: offset, timestamp: timestamp, key: nil, value: nil)
  }

  @Test("each input ends with the last record processed before the loss, and waits for the others")
  func inputs() throws {
    var rebuild = try #require(
      StateRebuild(
        of: position(["chat.events": 5, "user.events": 1]),
        next: [.chatEvents: 4, .userEvents: 0, .deviceClaims: 3], startedAt: 0))
    #expect(rebuild.remaining == [.chatEvents: 5, .userEvents: 1])
    #expect(rebuild.advance(past: record(.chatEvents, 4)) == false)
    #expect(rebuild.advance(past: record(.chatEvents, 5)) == true)
    #expect(rebuild.byName == ["user.events": 1])
    // A record behind it is as good, where the last one is gone from the log.
    #expect(rebuild.advance(past: record(.userEvents, 2)) == true)
    #expect(rebuild.byName == nil && rebuild.records == 3)
  }

  @Test("inputs that have passed their last record are not rebuilt; without any the task runs")
  func nothingLeft() {
    #expect(StateRebuild(of: nil, next: [.timeline: 0], startedAt: 0) == nil)
    #expect(StateRebuild(of: position(nil), next: [.timeline: 0], startedAt: 0) == nil)
    #expect(StateRebuild(of: position(["nudge.timeline": 4]), next: [.timeline: 5], startedAt: 0) == nil)
    #expect(
      StateRebuild(
        of: position(["chat.events": 4, "user.events": 4]), next: [.chatEvents: 5, .userEvents: 4], startedAt: 0)?
        .remaining == [.userEvents: 4])
  }

  #if DEBUG
    @Test("until a rebuild has come to what was processed before, the offsets that are committed stay behind it")
    func committedOffsets() throws {
      let io = RecordingIO()
      io.position = PositionRecord(
        sequence: 3, next: ["nudge.timeline": 2], writer: "w", rebuildTo: ["nudge.timeline": 4])
      let thread = StreamThread(
        CountingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: StreamLimits(),
        writer: "w",
        observe: { _ in })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<200 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      let task = try #require(thread.task(0))
      func offsets() -> [Int64?] { task.offsets().map(\.offset) }
      #expect(task.next == [.timeline: 2] && offsets() == [5])
      for offset: Int64 in 2...6 {
        io.polls = [
          PollResult(records: [
            InputRecord(
              topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: offset, timestamp: 0, key: [1],
              value: [2])
          ])
        ]
        for _ in 0..<200 where task.next != [.timeline: offset + 1] { #expect(thread.turn() == nil) }
        #expect(offsets() == [max(5, offset + 1)])
      }
    }
  #endif

  @Test("time is when a record was written, never goes back and is never ahead of the wall clock")
  func time() throws {
    var rebuild = try #require(StateRebuild(of: position(["nudge.timeline": 9]), next: [.timeline: 0], startedAt: 0))
    #expect(rebuild.time(of: record(.timeline, 0, at: 50), wallNow: 100) == 50)
    #expect(rebuild.time(of: record(.timeline, 1, at: -1), wallNow: 100) == 50)
    #expect(rebuild.time(of: record(.timeline, 2, at: 120), wallNow: 100) == 100)
  }
}
