#if DEBUG
  import NudgeSchema
  import Synchronization
  import Testing

  @testable import StreamRuntime

  @Suite("Effects that outlive the assignment of their task")
  struct OutlivingEffectsTests {
    /// Asks for an effect with each record, and writes the reply.
    private struct AskingStage: Stage {
      typealias Row = CountingStage.Row
      static let definition = StageDefinition(
        name: "asking", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)

      /// Effects that were given back, in order, and those that a record has withdrawn.
      private var waiting: [Int64] = []
      private var withdrawn: Set<Int64> = []

      /// A record without a value withdraws the effects of those before it.
      mutating func process(_ record: InputRecord, in step: Step<Self>) throws {
        step.perform(record.offset)
        if record.value == nil { withdrawn.formUnion(0..<record.offset) }
      }
      mutating func wake(in step: Step<Self>) throws {
        for effect in waiting where !withdrawn.contains(effect) { step.perform(effect) }
        waiting = []
      }
      mutating func open(in step: Step<Self>) throws { (waiting, withdrawn) = ([], []) }
      func receive(_ reply: String, in step: Step<Self>) throws {
        try step.emit(bytes: Array(reply.utf8), to: .outcomes, key: "reply", partition: 0)
      }
      mutating func effectCancelled(_ effect: Int64, in step: Step<Self>) throws { waiting.append(effect) }
      static func ticket(for effect: Int64) -> EffectTicket? { EffectTicket(RowKey("\(effect)"), attempt: 1) }
      static func reply(_ reply: String, to sent: EffectTicket, asReplyTo effect: Int64) -> String? {
        reply == "busy" ? nil : reply
      }
      typealias Effect = Int64
      typealias Reply = String
    }

    /// Replies when a test says so.
    private final class Outside: EffectPerformer {
      private struct Request: Sendable {
        let effect: Int64
        let reply: @Sendable (String) -> Void
      }
      private let requests = Mutex<[Request]>([])
      func perform(_ effect: Int64, reply: @escaping @Sendable (String) -> Void) {
        requests.withLock { $0.append(Request(effect: effect, reply: reply)) }
      }
      func stop() {}
      var effects: [Int64] { requests.withLock { $0.map(\.effect) } }
      func reply(_ text: String, to index: Int) { requests.withLock { $0[index] }.reply(text) }
    }

    private final class Bench {
      let io = RecordingIO()
      let outside: Outside
      let thread: StreamThread<AskingStage, RecordingIO>

      init(_ outside: Outside = Outside(), outliving: OutlivingEffects<String>? = nil) throws {
        self.outside = outside
        thread = StreamThread(
          AskingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: StreamLimits(),
          writer: "w", performer: outside, outliving: outliving, observe: { _ in })
        try assign()
      }

      func turn(until condition: () -> Bool) throws {
        for _ in 0..<200 where !condition() { #expect(thread.turn() == nil) }
        try #require(condition())
      }

      func assign() throws {
        io.polls = [PollResult(change: .assigned([0]))]
        try turn { thread.runningTasks == [0] }
      }

      func lose() throws {
        io.polls = [PollResult(change: .lost([0]))]
        try turn { thread.runningTasks.isEmpty }
      }

      /// Polls the record with this offset, as before the loss: nothing of it was committed.
      func poll(_ offset: Int64, withdrawing: Bool = false) throws {
        io.polls = [
          PollResult(records: [
            InputRecord(
              topic: .pushes, topicName: "nudge.pushes", partition: 0, offset: offset, timestamp: 0, key: [1],
              value: withdrawing ? nil : [1])
          ])
        ]
        try turn { io.polls.isEmpty }
        for _ in 0..<3 { #expect(thread.turn() == nil) }
      }

      var replies: [String] { io.outputs.map { String(decoding: $0.value ?? [], as: UTF8.self) } }
    }

    @Test("a reply that came while the task was lost is used when the task returns and asks again")
    func replyWhileLost() throws {
      let bench = try Bench()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0] }
      try bench.lose()
      bench.outside.reply("sent", to: 0)
      for _ in 0..<3 { #expect(bench.thread.turn() == nil) }
      try bench.assign()
      try bench.poll(0)
      try bench.turn { bench.replies == ["sent"] }
      #expect(bench.outside.effects == [0])
    }

    @Test("a reply that comes after the task has asked again is used too")
    func replyAfterReturn() throws {
      let bench = try Bench()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0] }
      try bench.lose()
      try bench.assign()
      try bench.poll(0)
      #expect(bench.outside.effects == [0] && bench.replies.isEmpty)
      // And it is lost once more before the reply comes.
      try bench.lose()
      try bench.assign()
      try bench.poll(0)
      bench.outside.reply("sent", to: 0)
      try bench.turn { bench.replies == ["sent"] }
      #expect(bench.outside.effects == [0])
    }

    @Test("a reply whose step was not committed when the task was lost is used again")
    func replyBeforeCommit() throws {
      let bench = try Bench()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0] }
      bench.io.fails = { $0 == "commit" ? IOFailure(kind: .retriable, operation: "commit", reason: "away") : nil }
      bench.outside.reply("sent", to: 0)
      try bench.turn { bench.io.outputs.count == 1 }
      try bench.lose()
      bench.io.fails = nil
      try bench.assign()
      try bench.poll(0)
      try bench.turn { bench.replies.count >= 2 }
      #expect(bench.outside.effects == [0])
      #expect(bench.replies.allSatisfy { $0 == "sent" })
    }

    @Test("a reply that decides nothing and comes after the task has asked again lets the effect be performed")
    func busyAfterReturn() throws {
      let bench = try Bench()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0] }
      try bench.lose()
      try bench.assign()
      try bench.poll(0)
      #expect(bench.outside.effects == [0])
      bench.outside.reply("busy", to: 0)
      try bench.turn { bench.outside.effects == [0, 0] }
      bench.outside.reply("sent", to: 1)
      try bench.turn { bench.replies == ["sent"] }
      #expect(bench.outside.effects == [0, 0])
    }

    @Test("a new effect is performed, and so is one whose earlier reply decides nothing")
    func performed() throws {
      let bench = try Bench()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0] }
      try bench.lose()
      bench.outside.reply("busy", to: 0)
      for _ in 0..<3 { #expect(bench.thread.turn() == nil) }
      try bench.assign()
      try bench.poll(0)
      try bench.turn { bench.outside.effects == [0, 0] }
      try bench.poll(1)
      try bench.turn { bench.outside.effects == [0, 0, 1] }
    }

    @Test("a task that returns performs nothing until it has read as far as before: what comes behind may withdraw it")
    func order() throws {
      let bench = try Bench()
      // In the first life two effects have left when a third record withdraws them.
      try bench.poll(0)
      try bench.poll(1)
      try bench.poll(2, withdrawing: true)
      try bench.turn { bench.outside.effects == [0, 1, 2] }
      bench.outside.reply("busy", to: 0)
      bench.outside.reply("busy", to: 1)
      bench.outside.reply("sent", to: 2)
      try bench.lose()
      try bench.assign()
      try bench.poll(0)
      try bench.poll(1)
      #expect(bench.outside.effects == [0, 1, 2])
      try bench.poll(2, withdrawing: true)
      try bench.turn { bench.replies.last == "sent" }
      #expect(bench.outside.effects == [0, 1, 2], "those before it are withdrawn, and its own reply serves")
      try bench.poll(3)
      try bench.turn { bench.outside.effects == [0, 1, 2, 3] }
    }

    @Test("a task that does not come as far as before goes on after a while")
    func patience() throws {
      let bench = try Bench()
      for offset in 0..<2 { try bench.poll(Int64(offset)) }
      try bench.turn { bench.outside.effects == [0, 1] }
      bench.outside.reply("busy", to: 0)
      try bench.lose()
      try bench.assign()
      try bench.poll(0)
      #expect(bench.outside.effects == [0, 1])
      bench.io.now += StreamLimits().catchUpPatience
      try bench.turn { bench.outside.effects == [0, 1, 0] }
    }

    @Test("a task that returns to another thread of the process gets the reply there")
    func otherThread() throws {
      let outliving = OutlivingEffects<String>(limit: 10, retention: 600_000)
      let outside = Outside()
      let (first, second) = (try Bench(outside, outliving: outliving), try Bench(outside, outliving: outliving))
      try first.poll(0)
      try first.turn { outside.effects == [0] }
      try first.lose()
      try second.poll(0)
      outside.reply("sent", to: 0)
      for _ in 0..<3 { #expect(first.thread.turn() == nil) }
      try second.turn { second.replies == ["sent"] }
      #expect(outside.effects == [0] && first.replies.isEmpty)
    }

    @Test("the answer to an earlier attempt does not take the place of a later attempt that is in flight")
    func laterAttempt() {
      let outliving = OutlivingEffects<String>(limit: 3, retention: 1000)
      let queue = ReplyQueue<String>(wake: {})
      let (first, second) = (EffectTicket(RowKey("a"), attempt: 1), EffectTicket(RowKey("a"), attempt: 2))
      outliving.leave(second, of: 0, now: 0)
      outliving.answered(first, of: 0, with: "busy", decides: false, now: 0)
      let found = outliving.take(second, of: 0, replyTo: queue, as: 7, now: 0)
      #expect(found?.sent == second && found?.reply == nil)
      outliving.answered(first, of: 0, with: "busy", decides: false, now: 0)
      #expect(queue.takeAll().isEmpty)
      outliving.answered(second, of: 0, with: "sent", decides: true, now: 0)
      #expect(queue.takeAll().map(\.reply) == ["sent"])
    }

    @Test("what another process hands over takes no place of what is known here, unless it ends the effect")
    func foreign() {
      let (mine, later) = (EffectTicket(RowKey("a"), attempt: 1), EffectTicket(RowKey("a"), attempt: 2))
      let queue = ReplyQueue<String>(wake: {})
      func take(_ outliving: OutlivingEffects<String>) -> OutlivingEffects<String>.Found? {
        outliving.take(mine, of: 0, replyTo: queue, as: 7, now: 0)
      }
      func handed(_ reply: String?, _ ticket: EffectTicket, to outliving: OutlivingEffects<String>) {
        outliving.handedOver(
          HandedOver(ticket, reply: reply, decides: reply == "sent"), of: 0, patience: 25_000, now: 0)
      }
      func kept() -> OutlivingEffects<String> { OutlivingEffects(limit: 3, retention: 1000) }

      // The own request is in flight: the answer to an equal one of another process is none to it.
      var outliving = kept()
      outliving.leave(mine, of: 0, now: 0)
      handed("busy", mine, to: outliving)
      handed(nil, mine, to: outliving)
      var found = take(outliving)
      #expect(found != nil && found?.reply == nil && found?.waitsUntil == nil)
      handed("busy", mine, to: outliving)
      #expect(queue.takeAll().isEmpty)
      // What ends the effect ends it for whoever waits.
      handed("sent", later, to: outliving)
      #expect(queue.takeAll().map(\.reply) == ["sent"])

      // The own request was accepted.
      outliving = kept()
      outliving.answered(mine, of: 0, with: "sent", decides: true, now: 0)
      handed("busy", later, to: outliving)
      handed(nil, later, to: outliving)
      outliving.leave(later, of: 0, now: 0)
      #expect(take(outliving)?.reply == "sent")

      // The own request was turned away, and another process has one in flight.
      outliving = kept()
      outliving.answered(mine, of: 0, with: "busy", decides: false, now: 0)
      handed(nil, mine, to: outliving)
      outliving.answered(mine, of: 0, with: "busy", decides: false, now: 0)
      found = take(outliving)
      #expect(found?.reply == nil && found?.waitsUntil == 25_000)
      #expect(outliving.kept(of: [0]).isEmpty, "what others have in flight is not handed over again")
      handed("busy", mine, to: outliving)
      #expect(queue.takeAll().map(\.reply) == ["busy"])
    }

    @Test("replies are kept for a limited time, and the oldest are dropped above the limit")
    func bounds() {
      let outliving = OutlivingEffects<String>(limit: 3, retention: 1000)
      let queue = ReplyQueue<String>(wake: {})
      func ticket(_ number: Int) -> EffectTicket { EffectTicket(RowKey("\(number)"), attempt: 1) }
      func reply(_ number: Int, _ now: Milliseconds) -> String? {
        outliving.take(ticket(number), of: 0, replyTo: queue, as: 0, now: now)?.reply
      }
      for number in 0..<5 { outliving.answered(ticket(number), of: 0, with: "\(number)", decides: true, now: 0) }
      #expect(outliving.count == 3)
      #expect(reply(1, 0) == nil && reply(2, 1000) == "2")
      // It was taken.
      #expect(reply(2, 1000) == nil)
      #expect(reply(3, 1001) == nil)
      outliving.answered(ticket(9), of: 0, with: "9", decides: true, now: 2000)
      #expect(outliving.count == 1)
      #expect(outliving.take(ticket(9), of: 1, replyTo: queue, as: 0, now: 2000) == nil)
      #expect(reply(9, 2000) == "9")
    }
  }
#endif
