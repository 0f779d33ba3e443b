import NudgeSchema
import ServiceKit

/// Removes secrets from a record: tokens always, message texts unless `showsTexts` (T4).
struct Redaction: Sendable {
  /// Message texts are kept; tokens never are.
  var showsTexts: Bool

  /// Fields with text that people wrote, or with URLs of their pictures.
  private static let texts: Set<String> = ["text", "title", "body", "preview", "keywords", "url", "imageUrl"]

  /// Replaces a token by its hash, and a text by its length.
  func apply(to value: JSONValue, of topic: Topic) -> JSONValue {
    // A decision's `text` is the reason in words.
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
