import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

// The code between the marks equals the examples in the documentation comments of `Stage` and `Step`.
// example Stage: begin
/// Counts the messages of each conversation, and writes every hundredth count.
struct MessageCounter: Stage {
  struct Row: StateRow {
    var count = 0

    init() {}
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
      count = try coder.decode(Int.self, from: bytes)
    }
    func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { try coder.encode(count) }
  }

  static let definition = StageDefinition(
    name: "counter", inputs: [.chatEvents], outputs: [.decisions], changelog: .analyzerState)

  func process(_ record: InputRecord, in step: Step<Self>) throws {
    guard let bytes = record.key else { throw Rejection(.missingKey, "the record has no key") }
    let conversationId = String(decoding: bytes, as: UTF8.self)
    let key = RowKey("conversation", conversationId)
    var row = try step.row(key) ?? Row()
    row.count += 1
    try step.set(row, for: key)
    if row.count % 100 == 0 { try step.emit(["count": row.count], to: .decisions, key: conversationId) }
  }
}
// example Stage: end

// example Step: begin
/// Posts each record to a webhook, and writes down whether the webhook took it.
struct Webhook: Stage {
  typealias Row = MessageCounter.Row
  typealias Effect = [UInt8]  // what is posted
  typealias Reply = Bool  // whether it was taken
  static let definition = StageDefinition(
    name: "webhook", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)

  func process(_ record: InputRecord, in step: Step<Self>) throws {
    // Undoes the step; the record becomes a dead letter.
    guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
    // The reply goes to `receive`.
    step.perform(value)
  }
  func receive(_ isTaken: Bool, in step: Step<Self>) throws {
    try step.emit(["taken": isTaken], to: .outcomes, key: "webhook")
    // Calls `wake` in a minute.
    if !isTaken { step.wake(after: 60_000) }
  }
  func effectCancelled(_ effect: [UInt8], in step: Step<Self>) throws {}
}
// example Step: end

@Suite("The examples in the documentation of Stage and Step")
struct StageExampleTests {
  @Test("Stage: rows are kept between records, and every hundredth record has an output")
  func counts() throws {
    let driver = StageDriver(MessageCounter())
    let results = (1...100).map { _ in
      driver.send(bytes: [], to: .chatEvents, key: Array("c-engines".utf8))
    }
    #expect(results.dropLast().allSatisfy { $0.outputs.isEmpty && $0.rejection == nil })
    #expect(results[99].outputs.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [#"{"count":100}"#])
    #expect(driver.send(bytes: [], to: .chatEvents, key: nil).rejection?.code == .missingKey)
  }

  @Test("Step: an effect, the output of its reply, a wake-up, a rejection")
  func effects() throws {
    let driver = StageDriver(Webhook())
    #expect(driver.send(bytes: [7], to: .pushes, key: [1]).effects == [[7]])
    let busy = driver.receive(false, partition: 0)
    #expect(busy.outputs.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [#"{"taken":false}"#])
    #expect(busy.wakeAt == 60_000)
    #expect(driver.receive(true, partition: 0).wakeAt == nil)
    #expect(driver.send(bytes: nil, to: .pushes, key: [1]).rejection?.code == .schemaViolation)
  }

  @Test("the documentation comments have this code", arguments: ["Stage", "Step"])
  func documented(_ type: String) throws {
    let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let begin = try #require(source.range(of: "// example \(type): begin\n"))
    let end = try #require(source.range(of: "// example \(type): end\n"))
    let example = source[begin.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "///" : "/// \($0)" }.dropLast().joined(separator: "\n")
    let file = Repository.file("Sources/Runtime/StreamRuntime/Stage/\(type).swift")
    let documentation = try String(contentsOf: file, encoding: .utf8)
    #expect(documentation.contains("/// ```swift\n\(example)\n/// ```\n"))
  }
}
