import JSONCodec
import NudgeSchema

extension DecisionBody: WrittenBody, JSONFields {
  /// Whether all numbers are finite. JSON cannot represent infinity and NaN.
  var isFinite: Bool {
    (score?.isFinite ?? true) && signals.allSatisfy { $0.value.isFinite && $0.weight.isFinite }
  }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("messageId", &messageId)
    try json.field("conversationId", &conversationId)
    try json.field("outcome", &outcome)
    try json.field("reason", &reason)
    try json.field("text", &text)
    try json.field("presentation", &presentation)
    try json.field("level", &level)
    try json.field("priority", &priority)
    try json.field("score", &score)
    try json.field("signals", &signals)
    try json.field("checks", &checks)
    try json.field("badge", &badge)
    try json.field("analysis", &analysis)
    try json.field("model", &model)
    try json.field("rules", &rules)
    try json.field("policy", &policy)
    try json.field("pushId", &pushId)
    try json.field("mode", &mode)
    try json.field("decidedAt", &decidedAt)
    try json.field("heldUntil", &heldUntil)
    try json.field("replayId", &replayId)
  }
}

extension Signal: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("name", &name)
    try json.field("value", &value)
    try json.field("weight", &weight)
  }
}

/// A check that passed without inputs is written as its name. Any other check is an object, without `result` if it
/// passed and without `inputs` if it has none.
extension Check: JSONValue {
  mutating func write(to json: inout JSONWriter) {
    guard !isNameOnly else { return json.value(check) }
    json.beginObject()
    json.field("check", check)
    if result != .pass { json.field("result", result.rawValue) }
    if !inputs.isEmpty { inputs.write(to: &json, as: "inputs") }
    json.endObject()
  }
}

extension CheckInputs: JSONValue {
  func write(to json: inout JSONWriter) {
    json.beginObject()
    for (name, value) in self {
      json.key(name)
      switch value {
      case .number(let number): json.value(number)
      case .text(let text): json.value(text)
      case .flag(let flag): json.value(flag)
      }
    }
    json.endObject()
  }
}

extension AnalysisUse: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("used", &used)
    try json.field("limit", &limit)
    try json.field("windowStartedAt", &windowStartedAt)
    try json.field("fallback", &fallback)
  }
}
