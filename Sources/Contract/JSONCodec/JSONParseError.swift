/// Why bytes are no JSON document, or none that is read here.
public enum JSONParseError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No value: no bytes, or blanks only.
  case empty
  /// The document has more bytes than the parser's `maximumBytes`.
  case tooLarge(bytes: Int, limit: Int)
  /// Objects and arrays lie deeper inside each other than the parser's `maximumDepth`.
  case tooDeep(limit: Int)
  /// Somewhere the bytes are not UTF-8.
  case invalidUTF8
  /// No number of JSON's grammar, or one larger than any `Double`.
  case invalidNumber
  /// An unknown escape, half a surrogate pair (`"\uD800"`), a control character that is not escaped, or a missing quote.
  case invalidString
  /// Brackets, commas, colons or words are not where they belong, or something follows the value.
  case syntax
  /// The parser's memory could not grow to the document's size.
  case outOfMemory

  /// One sentence, without a byte of the document.
  public var description: String {
    switch self {
    case .empty: "the document is empty"
    case .tooLarge(let bytes, let limit): "the document has \(bytes) bytes; \(limit) are allowed"
    case .tooDeep(let limit): "objects and arrays are nested deeper than \(limit) levels"
    case .invalidUTF8: "the document is not UTF-8"
    case .invalidNumber: "a number is malformed or larger than any double"
    case .invalidString:
      "a string has a bad escape, half a surrogate pair, a bare control character or no closing quote"
    case .syntax: "a bracket, comma, colon or word is out of place"
    case .outOfMemory: "no memory for a document of this size"
    }
  }
}
