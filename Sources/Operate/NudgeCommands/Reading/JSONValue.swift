import JSONCodec
import NudgeSchema
import ServiceKit

/// A JSON value. Commands show a record's fields by name, so an older command also shows fields of newer services.
enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// An object's field; nil for another kind of value, a missing field, or null.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let fields) = self, let value = fields[name], value != .null else { return nil }
    return value
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number; a string of digits is parsed.
  var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// A boolean; the strings `true` and `false` are parsed.
  var bool: Bool? {
    switch self {
    case .bool(let flag): flag
    case .string("true"): true
    case .string("false"): false
    default: nil
    }
  }

  /// An array's elements; empty for another kind of value.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// An object's fields; empty for another kind of value.
  var fields: [String: JSONValue] { if case .object(let fields) = self { fields } else { [:] } }

  /// The value in one line; a string has no quotes.
  var shown: String {
    switch self {
    case .null: "none"
    case .bool(let flag): flag ? "yes" : "no"
    case .integer(let number): String(number)
    case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
    case .string(let text): text
    case .array(let elements): "[\(elements.map(\.shown).joined(separator: ", "))]"
    case .object(let fields):
      "{\(fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }.joined(separator: ", "))}"
    }
  }
}

extension JSONValue {
  /// Decodes JSON.
  /// - Throws: `JSONParseError` for invalid JSON.
  init(_ bytes: UnsafeRawBufferPointer) throws(JSONParseError) {
    let parser = JSONParser(maximumDepth: 512)
    self.init(try parser.parse(bytes))
    withExtendedLifetime(parser) {}
  }

  /// Decodes JSON.
  /// - Throws: `JSONParseError` for invalid JSON.
  init(_ bytes: [UInt8]) throws { self = try bytes.withUnsafeBytes { try JSONValue($0) } }

  private init(_ node: JSONNode) {
    switch node.kind {
    case .null: self = .null
    case .bool: self = .bool(node.bool ?? false)
    case .int64: self = .integer(node.int64 ?? 0)
    case .uint64, .double:
      let number = node.double ?? 0
      self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
    case .string: self = .string(node.string ?? "")
    case .array:
      var elements: [JSONValue] = []
      if let nodes = node.elements { for element in nodes { elements.append(JSONValue(element)) } }
      self = .array(elements)
    case .object:
      var fields: [String: JSONValue] = [:]
      if let members = node.members {
        for member in members { fields[member.key.string ?? ""] = JSONValue(member.value) }
      }
      self = .object(fields)
    }
  }
}

extension JSONValue: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let fields): try container.encode(fields)
    }
  }
}

/// Removes secrets from a record: tokens and endpoints always, message texts unless `showsTexts` (T4). A refused record may contain its
/// token under any name, so values that look like a token are treated as one.
struct Redaction: Sendable {
  /// `--texts`.
  static let texts = Setting<Bool>(
    "texts", environment: .none, default: false,
    help: "Show message texts instead of their lengths. Tokens are never shown.")

  /// Whether message texts are kept. Tokens never are.
  var showsTexts: Bool

  /// Fields with texts that people wrote, or with URLs of their pictures.
  private static let textFields: Set<String> = ["text", "title", "body", "preview", "keywords", "url", "imageUrl"]

  /// Replaces a token by its hash, and a text by its length.
  func apply(to value: JSONValue, of topic: Topic) -> JSONValue {
    // A decision's `text` is the reason in words.
    redacted(
      value, hidden: topic == .decisions ? Self.textFields.subtracting(["text"]) : Self.textFields,
      longest: topic == .deadLetters ? TokenText.longest : .max)
  }

  /// - Parameter longest: In a refused record, whose fields may contain anything, a word of at least this many bytes counts as a token.
  ///   Elsewhere it may be an id.
  private func redacted(_ value: JSONValue, hidden: Set<String>, longest: Int) -> JSONValue {
    switch value {
    case .object(var fields):
      // An endpoint may have any name next to its keys.
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

  /// The value with each text replaced by its hash.
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
  /// Longer than any id, and shorter than FCM's tokens (142 and more).
  static let longest = 100

  /// Whether a field of this name contains a token or key, in the names that producers use: `token`, `fcmToken`, `registration_tokens`.
  static func isToken(_ name: String) -> Bool {
    let name = name.lowercased()
    guard !name.hasSuffix("hash") else { return false }
    return [
      "token", "secret", "password", "p256dh", "registrationid", "registration_id", "apikey", "api_key", "endpoint",
      "subscription", "webpush", "web_push", "sealing",
    ].contains { name.contains($0) } || ["auth", "authorization"].contains(name)
  }

  static func hash(of token: String) -> String { "(hash \(TokenHash.of(token)))" }

  /// A secret's hash, with the host of an endpoint, because the rest of its URL is secret.
  static func hash(ofSecret text: String) -> String {
    guard text.hasPrefix("http"), let host = WebPushSubscription.host(of: text) else { return hash(of: text) }
    return "(hash \(TokenHash.of(text)), host \(host))"
  }

  /// A text in which each word that looks like a token is replaced by its hash.
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
