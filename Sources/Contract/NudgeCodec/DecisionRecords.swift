import JSONCodec
import NudgeSchema

extension DecisionBody: FastEncodable {
  /// Whether all its numbers are finite, because JSON has no others.
  var isFinite: Bool {
    (score?.isFinite ?? true) && signals.allSatisfy { $0.value.isFinite && $0.weight.isFinite }
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("messageId", messageId)
    json.field("conversationId", conversationId)
    json.choice("outcome", outcome)
    json.choice("reason", reason)
    json.field("text", text)
    json.choice("presentation", ifPresent: presentation)
    json.choice("level", ifPresent: level)
    json.choice("priority", ifPresent: priority)
    json.field("score", ifPresent: score)
    json.objects("signals", signals)
    json.key("checks")
    json.beginArray()
    for check in checks {
      if check.isNameOnly { json.value(check.check) } else { json.object(check) }
    }
    json.endArray()
    json.field("badge", badge)
    json.object("analysis", ifPresent: analysis)
    json.field("model", ifPresent: model)
    json.field("rules", ifPresent: rules)
    json.field("policy", ifPresent: policy)
    json.field("pushId", ifPresent: pushId)
    json.choice("mode", mode)
    json.field("decidedAt", decidedAt)
    json.field("heldUntil", ifPresent: heldUntil)
    json.field("replayId", ifPresent: replayId)
  }
}

extension Signal: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("value", value)
    json.field("weight", weight)
  }
}

extension Check: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("check", check)
    if result != .pass { json.choice("result", result) }
    if !inputs.isEmpty { json.object("inputs", inputs) }
  }
}

extension CheckInputs: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    for (name, value) in self {
      json.key(name)
      switch value {
      case .number(let number): json.value(number)
      case .text(let text): json.value(text)
      case .flag(let flag): json.value(flag)
      }
    }
  }
}

extension AnalysisUse: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("used", used)
    json.field("limit", limit)
    json.field("windowStartedAt", ifPresent: windowStartedAt)
    json.choice("fallback", ifPresent: fallback)
  }
}
