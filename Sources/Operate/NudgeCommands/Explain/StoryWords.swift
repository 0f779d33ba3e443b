import Foundation
import NudgeSchema

/// A story's words, in the order of its records: what the report prints, for a page.
struct StoryWords: Encodable {
  struct Decision: Encodable {
    struct Check: Encodable {
      var name: String
      var suppresses: Bool
      var text: String
    }
    /// The decision, such as `ALERT`.
    var outcome: String
    /// Why, in a few words.
    var because: String
    var checks: [Check]

    init(_ decision: JSONValue) {
      outcome = DecisionWords.outcome(decision)
      because = DecisionWords.reason(decision)
      checks = CheckWords.all(of: decision).map {
        Check(name: $0.name, suppresses: $0.suppresses, text: $0.text)
      }
    }
  }

  var decisions: [Decision]
  var outcomes: [String]
  var receipts: [String]
  /// How each push stands on each device.
  var ends: [String]
  var waiting: [String]
  var later: [String]

  init(_ story: MessageStory) {
    decisions = story.decisions.map { Decision($0.record) }
    outcomes = story.outcomes.map { OutcomeWords.of($0.record) }
    receipts = story.receipts.map { ReceiptWords.of($0.record) }
    ends = story.ends.map(\.text)
    waiting = story.waiting.map { MessageStory.words($0) }
    later = story.later.map { LaterWords.of($0.record) }
  }
}

/// A decision's record, and what the console says of it: for pages that show decisions without these commands.
package enum DecisionWithWords {
  /// One line of JSON: the record's fields, and `words`.
  /// - Parameter value: A record of `nudge.decisions`.
  package static func json(_ value: UnsafeRawBufferPointer) throws -> [UInt8] {
    let record = try JSONValue(value)
    var fields = record.fields
    fields["words"] = try JSONValue([UInt8](CommandOutput.encoder.encode(StoryWords.Decision(record))))
    return [UInt8](try CommandOutput.encoder.encode(JSONValue.object(fields)))
  }
}

enum ReceiptWords {
  static func of(_ receipt: JSONValue) -> String {
    switch receipt["state"]?.string.flatMap(ReceiptState.init(rawValue:)) {
    case .arrived: "the device has it"
    case .opened: "opened there"
    case .dismissed: "dismissed there"
    case .withdrawn: "removed there, because the message was read elsewhere"
    case nil: receipt["state"]?.string ?? "?"
    }
  }
}
