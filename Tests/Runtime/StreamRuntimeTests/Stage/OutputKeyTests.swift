import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("Keys of outputs")
struct OutputKeyTests {
  /// Writes an output for each line of a record, with the line as its key.
  private struct Lines: Stage {
    typealias Row = CountingStage.Row
    static let definition = StageDefinition(
      name: "lines", inputs: [.timeline], outputs: [.decisions], changelog: .analyzerState)

    func process(_ record: InputRecord, in step: Step<Self>) throws {
      let text = String(decoding: record.value ?? [], as: UTF8.self)
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        try step.emit(bytes: [], to: .decisions, key: String(line))
      }
    }
  }

  @Test(
    "each output has its own key, whichever came before it: that of the record, the same again, one that Unicode deems equal"
  )
  func keys() {
    let keys = ["ann", "bob", "bob", "r", "bob", "", "", "é", "e\u{301}", "bo", "bob"]
    let driver = StageDriver(Lines())
    for recordKey in ["r", "bob", "", "other"] {
      let result = driver.send(
        bytes: Array(keys.joined(separator: "\n").utf8), to: .timeline, key: Array(recordKey.utf8), partition: 0)
      #expect(result.outputs.map { $0.key ?? [1] } == keys.map { Array($0.utf8) }, "\(recordKey)")
    }
  }
}
