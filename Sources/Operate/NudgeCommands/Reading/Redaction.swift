import NudgeSchema
import ServiceKit

/// Removes secrets from a record: tokens and endpoints always, message texts unless `showsTexts` (T4). A rejected record may have its token under any
/// name, so values that look like a token are taken for one.
struct Redaction: Sendable {
  /// Message texts are kept; tokens never are.
  var showsTexts: Bool

  /// Fields with text that people wrote, or with URLs of their pictures.
  private static let texts: Set<String> = ["text", "title", "body", "preview", "keywords", "url", "imageUrl"]

  /// Replaces a token by its hash, and a text by its length.
  func apply(to value: JSONValue, of topic: Topic) -> JSONValue {
    // A decision's `text` is the reason in words.
    redacted(
      value, hidden: topic == .decisions ? Self.texts.subtracting(["text"]) : Self.texts,
      longest: topic == .deadLetters ? TokenText.longest : .max)
  }

  /// - Parameter longest: A word of so many bytes is taken for a token: of a record that was refused, whose fields may be anything. Elsewhere it
  ///   may be an id.
  private func redacted(_ value: JSONValue, hidden: Set<String>, longest: Int) -> JSONValue {
    switch value {
    case .object(var fields):
      // An endpoint may have any name beside its keys.
      let hasKeys = fields["p256dh"] != nil || fields["keys"]?["p256dh"] != nil
      for (name, field) in fields {
        if TokenText.isToken(name) || hasKeys && field.string?.hasPrefix("http") == true {
          fields[name] = Self.hashes(field)
        } else if hidden.contains(name), !showsTexts {
          fields[name] = Self.lengthOnly(field)
        } else {
          fields[name] = redacted(field, hidden: hidden, longest: longest)
        }
      }
      return .object(
        Dictionary(
          fields.map { (TokenText.masked($0.key, longest: longest), $0.value) }, uniquingKeysWith: { first, _ in first }
        ))
    case .array(let elements): return .array(elements.map { redacted($0, hidden: hidden, longest: longest) })
    case .string(let text): return .string(TokenText.masked(text, longest: longest))
    default: return value
    }
  }

  /// Each text in it as its hash.
  private static func hashes(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let token): .string(TokenText.hash(ofSecret: token))
    case .array(let elements): .array(elements.map(hashes))
    case .object(let fields): .object(fields.mapValues(hashes))
    case .null: .null
    default: .string("(not shown)")
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

/// Recognises registration tokens and keys.
enum TokenText {
  /// Longer than any id, and shorter than the tokens of FCM (142 and more).
  static let longest = 100

  /// Whether a field of this name holds a token or a key, as producers call it: `token`, `fcmToken`, `registration_tokens`.
  static func isToken(_ name: String) -> Bool {
    let name = name.lowercased()
    guard !name.hasSuffix("hash") else { return false }
    return [
      "token", "secret", "password", "p256dh", "registrationid", "registration_id", "apikey", "api_key", "endpoint",
      "subscription", "webpush", "web_push", "sealing",
    ].contains { name.contains($0) } || ["auth", "authorization"].contains(name)
  }

  static func hash(of token: String) -> String { "(hash \(TokenHash.of(token)))" }

  /// A secret's hash, and the host of an endpoint: the rest of its URL is secret.
  static func hash(ofSecret text: String) -> String {
    guard text.hasPrefix("http"), let host = WebPushSubscription.host(of: text) else { return hash(of: text) }
    return "(hash \(TokenHash.of(text)), host \(host))"
  }

  /// A text with each word that looks like a token replaced by its hash.
  static func masked(_ text: String, longest: Int = .max) -> String {
    guard text.utf8.count >= longest || text.contains(":APA91") else { return text }
    var shown = ""
    var rest = text[...]
    while let start = rest.firstIndex(where: isPart) {
      let end = rest[start...].firstIndex { !isPart($0) } ?? rest.endIndex
      let word = rest[start..<end]
      shown += rest[..<start]
      shown += word.utf8.count >= longest || word.contains(":APA91") ? hash(of: String(word)) : String(word)
      rest = rest[end...]
    }
    return shown + rest
  }

  private static func isPart(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || ":-_.%".contains(character))
  }
}
