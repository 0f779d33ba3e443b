import CSimdjson

/// Parses JSON with simdjson. The result is read in place.
///
/// One thread owns it. Its buffers grow to the largest document and are reused.
///
/// It is stricter than Foundation's `JSONDecoder`, which checks only what it decodes: here the whole document must be
/// JSON. Like `JSONDecoder` it skips a UTF-8 byte order mark and reads integers beyond 64 bits as doubles.
public final class JSONParser {
  /// The greatest nesting of objects and arrays.
  public let maximumDepth: Int
  /// The largest document in bytes.
  public let maximumBytes: Int

  private let parser: OpaquePointer

  /// A parser with its limits: a depth from 1 to 1,024 (simdjson's own limit), and up to 4 GiB.
  public init(maximumDepth: Int = 64, maximumBytes: Int = 16 << 20) {
    self.maximumDepth = min(max(1, maximumDepth), 1_024)
    self.maximumBytes = min(max(0, maximumBytes), Int(UInt32.max))
    guard let parser = nudge_json_parser_new(self.maximumDepth) else {
      // A few kilobytes at start. Like Swift itself, the program traps if they cannot be allocated.
      fatalError("no memory for a JSON parser")
    }
    self.parser = parser
  }

  deinit {
    nudge_json_parser_free(parser)
  }

  /// Parses a document and returns its value. The parser copies the bytes, so the caller may free them.
  ///
  /// The node, all nodes reached from it and their `utf8` are in the parser's memory. Do not use them after the next
  /// `parse`, and do not let them outlive the parser: keep the parser in a property, or use the closure below. Copy
  /// what you want to keep.
  public func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONParseError) -> JSONNode {
    guard bytes.count <= maximumBytes else { throw .tooLarge(bytes: bytes.count, limit: maximumBytes) }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let status = nudge_json_parse(parser, start, bytes.count)
    guard status == Int32(NUDGE_JSON_OK.rawValue), let tape = nudge_json_tape(parser),
      let strings = nudge_json_strings(parser)
    else { throw error(status, bytes.count) }
    return JSONNode(tape: tape, strings: strings, index: 1)
  }

  /// As above, for an array of bytes. The node is valid within `body`.
  public func parse<Result>(_ bytes: [UInt8], _ body: (JSONNode) throws -> Result) throws -> Result {
    try withExtendedLifetime(self) { try bytes.withUnsafeBytes { try body(parse($0)) } }
  }

  private func error(_ status: Int32, _ count: Int) -> JSONParseError {
    switch UInt32(bitPattern: status) {
    case NUDGE_JSON_EMPTY.rawValue: .empty
    case NUDGE_JSON_CAPACITY.rawValue: .tooLarge(bytes: count, limit: Int(UInt32.max))
    case NUDGE_JSON_MEMORY.rawValue: .outOfMemory
    case NUDGE_JSON_DEPTH.rawValue: .tooDeep(limit: maximumDepth)
    case NUDGE_JSON_UTF8.rawValue: .invalidUTF8
    case NUDGE_JSON_NUMBER.rawValue: .invalidNumber
    case NUDGE_JSON_STRING.rawValue: .invalidString
    default: .syntax
    }
  }
}

/// Why bytes are not a JSON document, or not one that this parser accepts.
public enum JSONParseError: Error, Sendable, Equatable, CustomStringConvertible {
  /// There is no value: no bytes, or only white space.
  case empty
  /// The document has more bytes than the parser's `maximumBytes`.
  case tooLarge(bytes: Int, limit: Int)
  /// Objects and arrays are nested deeper than the parser's `maximumDepth`.
  case tooDeep(limit: Int)
  /// The bytes are not valid UTF-8.
  case invalidUTF8
  /// A number that breaks JSON's grammar, or is larger than any `Double`.
  case invalidNumber
  /// An unknown escape, half a surrogate pair (`"\uD800"`), an unescaped control character, or a missing quote.
  case invalidString
  /// Brackets, commas, colons or words are misplaced, or something follows the value.
  case syntax
  /// The parser's memory could not grow to the document's size.
  case outOfMemory

  /// One sentence, without any byte of the document.
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
