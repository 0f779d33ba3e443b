import NudgeSchema
import ServiceKit

/// Takes out of a record what nobody on call may see: tokens always, what people wrote unless it is asked for (T4).
struct Redaction: Sendable {
  /// Whether texts of messages are shown. Tokens never are.
  var showsTexts: Bool

  /// Fields that hold what somebody wrote, or where their pictures are.
  private static let texts: Set<String> = ["text", "title", "body", "preview", "keywords", "url", "imageUrl"]

  /// The value without secrets. Of a token its hash is left, of a text its length.
  func apply(to value: JSONValue, of topic: Topic) -> JSONValue {
    // `text` of a decision is the reason in words, that of a notice the service's own.
    redacted(value, hidden: topic == .decisions ? Self.texts.subtracting(["text"]) : Self.texts)
  }

  private func redacted(_ value: JSONValue, hidden: Set<String>) -> JSONValue {
    switch value {
    case .object(var fields):
      for (name, field) in fields {
        if name == "token", case .string(let token) = field {
          fields[name] = .string("(hash \(TokenHash.of(token)))")
        } else if hidden.contains(name), !showsTexts {
          fields[name] = Self.lengthOnly(field)
        } else {
          fields[name] = redacted(field, hidden: hidden)
        }
      }
      return .object(fields)
    case .array(let elements): return .array(elements.map { redacted($0, hidden: hidden) })
    default: return value
    }
  }

  private static func lengthOnly(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string("(\(text.count) characters)")
    case .array(let elements): .string("(\(elements.count) entries)")
    case .null: .null
    default: .string("(not shown)")
    }
  }
}
