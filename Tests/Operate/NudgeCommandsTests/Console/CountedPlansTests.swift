import Foundation
import Kafka
import NudgeSchema
import Synchronization
import Testing

@testable import NudgeCommands
@testable import NudgeConsole

@Suite("The console's actions do what was counted")
struct CountedPlansTests {
  private struct World {
    let broker: BrowsedBroker
    let answers: CommandAnswers

    init() throws {
      broker = try BrowsedBroker()
      answers = CommandAnswers(cluster: broker.cluster, options: RunningConsole.Options(allowsActions: true))
    }

    func letter(_ number: Int) throws {
      let producer = try Producer(
        .producer(bootstrapServers: broker.broker.bootstrapServers, transactionalID: nil), name: "t")
      defer { producer.close() }
      let headers: [Header] = [
        (RecordHeader.errorCode, Array("unknown_conversation".utf8)),
        (RecordHeader.originTopic, Array("chat.events".utf8)),
        (RecordHeader.originPartition, Array("0".utf8)), (RecordHeader.originOffset, Array("\(number)".utf8)),
      ]
      try producer.produce(
        topic: try producer.topic(Topic.deadLetters.rawValue), partition: 0, key: Array("c".utf8),
        value: Array("{}".utf8),
        headers: headers)
      try producer.flush(timeout: .seconds(30))
    }

    /// The last row of an answer.
    func ask(_ question: String, _ parameters: [String: String]) throws -> [String: Any] {
      let job = ConsoleJob()
      try answers.answer(ConsoleQuestion(question, with: parameters), to: job)
      job.finish(nil)
      let rows = Mutex<[[UInt8]]>([])
      _ = job.read(after: 0) { batch in rows.withLock { $0 = batch.rows } }
      let last = try #require(rows.withLock { $0.last })
      return try #require(try JSONSerialization.jsonObject(with: Data(last)) as? [String: Any])
    }

    func handled() throws -> Int {
      let browser = try broker.browser()
      return try AuditTrail(browser).handledDeadLetters.values.reduce(0) { $0 + $1.count }
    }
  }

  @Test(
    "dead letters that come after the count stay; without a count, twice, or after they were dealt with nothing is done"
  )
  func letters() throws {
    let world = try World()
    try world.letter(1)
    try world.letter(2)
    let selection = ["reason": "unknown_conversation"]
    let counted = try #require(try world.ask("dead-letter-discard", selection)["counted"] as? String)
    let again = try #require(try world.ask("dead-letter-discard", selection)["counted"] as? String)
    try world.letter(3)
    for wrong in [["why": "x"], ["why": "x", "counted": "guessed"], ["counted": counted]] {
      #expect(throws: CommandError.self) { try world.ask("dead-letter-discard-write", selection.merging(wrong) { $1 }) }
    }
    #expect(try world.handled() == 0)
    let done = try world.ask("dead-letter-discard-write", ["why": "x", "counted": counted])
    #expect(((done["answer"] as? [String: Any])?["written"] as? [String: Int]) == ["unknown_conversation": 2])
    #expect(try world.handled() == 2)
    #expect(throws: CommandError.self) { try world.ask("dead-letter-discard-write", ["why": "x", "counted": counted]) }
    #expect(throws: CommandError.self) { try world.ask("dead-letter-discard-write", ["why": "x", "counted": again]) }
    #expect(try world.handled() == 2)
  }
}
