#if DEBUG
  import NudgeSchema
  import Testing

  @testable import StreamRuntime

  @Suite("A record that a stage refuses")
  struct RefusedRecordTests {
    /// Writes an output for each word of a record. It refuses the word "poison".
    private struct Words: Stage {
      typealias Row = CountingStage.Row
      static let definition = StageDefinition(
        name: "words", inputs: [.chatEvents], outputs: [.timeline], changelog: .ingestState)

      func process(_ record: InputRecord, in step: Step<Self>) throws {
        for word in String(decoding: record.value ?? [], as: UTF8.self).split(separator: " ") {
          if word == "poison" { throw Rejection(.schemaViolation, "poison") }
          try step.emit(bytes: Array(word.utf8), to: .timeline, key: "k", partition: 0)
        }
      }
    }

    /// What is written for these records, as topics and texts, and the codes of the dead letters.
    private func written(_ texts: [String], limits: StreamLimits = StreamLimits()) throws
      -> (outputs: [String], codes: [DeadLetterCode])
    {
      let io = RecordingIO()
      var codes: [DeadLetterCode] = []
      let thread = StreamThread(
        Words(), io: io, topics: TopicNames(), partitionCounts: [:], limits: limits, writer: "w",
        observe: { if case .deadLettered(let code, _, _, _, _, _) = $0 { codes.append(code) } })
      io.polls = [PollResult(change: .assigned([0]))]
      for _ in 0..<100 where thread.runningTasks.isEmpty { #expect(thread.turn() == nil) }
      io.polls = [
        PollResult(
          records: texts.enumerated().map {
            InputRecord(
              topic: .chatEvents, topicName: "chat.events", partition: 0, offset: Int64($0.offset), timestamp: 0,
              key: [1], value: Array($0.element.utf8))
          })
      ]
      for _ in 0..<1000 where thread.task(0)?.position.next(.chatEvents) != Int64(texts.count) {
        #expect(thread.turn() == nil)
      }
      try #require(thread.task(0)?.position.next(.chatEvents) == Int64(texts.count))
      let outputs = io.outputs.map { "\($0.topic.rawValue): \(String(decoding: $0.value ?? [], as: UTF8.self))" }
      return (outputs, codes)
    }

    @Test("M5: a record that is refused halfway is a dead letter, and nothing else comes of it")
    func halfway() throws {
      let (outputs, codes) = try written(["a b", "c poison d", "e"])
      #expect(
        outputs == [
          "nudge.timeline: a", "nudge.timeline: b", "nudge.dead-letters: c poison d", "nudge.timeline: e",
        ])
      #expect(codes == [.schemaViolation])
    }

    @Test("M5: a record whose output would be larger than a broker takes is a dead letter, not a thread that stops")
    func tooLarge() throws {
      var limits = StreamLimits()
      limits.maxOutputBytes = 1_000
      let large = String(repeating: "x", count: 1_000)
      let (outputs, codes) = try written(["a \(large)", "b"], limits: limits)
      #expect(outputs == ["nudge.dead-letters: a \(large)", "nudge.timeline: b"])
      #expect(codes == [.tooLarge])
      #expect(try written([String(large.dropLast(200))], limits: limits).codes.isEmpty)
    }
  }
#endif
