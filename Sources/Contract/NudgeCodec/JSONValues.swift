import JSONCodec
import NudgeSchema

extension String: JSONValue {
  init(json: JSONNode) throws(FallBackToCodable) {
    guard let text = json.string else { throw FallBackToCodable() }
    self = text
  }

  func write(to json: inout JSONWriter) { json.value(self) }
  func write(to json: inout JSONWriter, as name: StaticString) { json.field(name, self) }
}

extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}

/// An integer without a fraction or an exponent.
extension JSONValue where Self: FixedWidthInteger {
  init(json: JSONNode) throws(FallBackToCodable) {
    guard json.kind == .int64, let integer = json.int64, let value = Self(exactly: integer) else {
      throw FallBackToCodable()
    }
    self = value
  }

  func write(to json: inout JSONWriter) { json.value(Int64(self)) }
  func write(to json: inout JSONWriter, as name: StaticString) { json.field(name, Int64(self)) }
}

extension Bool: JSONValue {
  init(json: JSONNode) throws(FallBackToCodable) {
    guard let flag = json.bool else { throw FallBackToCodable() }
    self = flag
  }

  func write(to json: inout JSONWriter) { json.value(self) }
}

extension Double: JSONValue {
  func write(to json: inout JSONWriter) { json.value(self) }
}

extension Array: JSONValue where Element: JSONValue {
  init(json: JSONNode) throws(FallBackToCodable) {
    guard let elements = json.elements else { throw FallBackToCodable() }
    self = []
    for element in elements { append(try Element(json: element)) }
  }

  func write(to json: inout JSONWriter) {
    json.beginArray()
    for var element in self { element.write(to: &json) }
    json.endArray()
  }
}

/// One of an enum's values, by its name.
extension JSONValue where Self: RawRepresentable<String> {
  init(json: JSONNode) throws(FallBackToCodable) {
    guard let value = Self(rawValue: try String(json: json)) else { throw FallBackToCodable() }
    self = value
  }

  func write(to json: inout JSONWriter) { json.value(rawValue) }
  func write(to json: inout JSONWriter, as name: StaticString) { json.field(name, rawValue) }
}

extension Activity.State: JSONValue {}
extension AnalysisFallback: JSONValue {}
extension Attachment.Kind: JSONValue {}
extension Check.Result: JSONValue {}
extension ConversationKind: JSONValue {}
extension DecisionBody.Outcome: JSONValue {}
extension DecisionMode: JSONValue {}
extension DecisionReason: JSONValue {}
extension DeviceLost.Cause: JSONValue {}
extension FeedbackSubmitted.Verdict: JSONValue {}
extension MessageWithdrawn.Cause: JSONValue {}
extension Notice.Code: JSONValue {}
extension NotificationLevel: JSONValue {}
extension OutcomeDestination: JSONValue {}
extension OutcomeResult: JSONValue {}
extension Platform: JSONValue {}
extension Presentation: JSONValue {}
extension Priority: JSONValue {}
extension Push.Kind: JSONValue {}
extension PushAnswered.Result: JSONValue {}
extension PushMissed.Cause: JSONValue {}
extension ReceiptState: JSONValue {}
