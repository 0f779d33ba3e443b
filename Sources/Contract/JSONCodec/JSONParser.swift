import CSimdjson

/// Reads JSON with simdjson and lends out its result in place.
///
/// One thread owns it. Its buffers grow to the largest document it has seen and are used again for the next one.
///
/// It is stricter than Foundation's `JSONDecoder`, which checks only what it decodes: here the whole document must be
/// JSON. As there, a UTF-8 byte order mark is skipped, and integers beyond 64 bits become doubles.
public final class JSONParser {
  /// How deep objects and arrays may lie inside each other.
  public let maximumDepth: Int
  /// How many bytes a document may have.
  public let maximumBytes: Int

  private let parser: OpaquePointer

  /// A parser with its limits: depth from 1 to 1,024 (simdjson's own limit), bytes up to 4 GiB.
  public init(maximumDepth: Int = 64, maximumBytes: Int = 16 << 20) {
    self.maximumDepth = min(max(1, maximumDepth), 1_024)
    self.maximumBytes = min(max(0, maximumBytes), Int(UInt32.max))
    guard let parser = nudge_json_parser_new(self.maximumDepth) else {
      // A few kilobytes at start; like Swift itself, the program traps if they cannot be allocated.
      fatalError("no memory for a JSON parser")
    }
    self.parser = parser
  }

  deinit {
    nudge_json_parser_free(parser)
  }

  /// Reads a document and returns its value. The bytes may go away afterwards: they were copied.
  ///
  /// The node, all nodes reached from it and their `utf8` lie in this parser's memory: they must not be used after the
  /// next `parse` nor outlive the parser (hold it in a property, or use the closure below). Take from them what is to be
  /// kept.
  public func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONParseError) -> JSONNode {
    guard bytes.count <= maximumBytes else { throw .tooLarge(bytes: bytes.count, limit: maximumBytes) }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let status = nudge_json_parse(parser, start, bytes.count)
    guard status == Int32(NUDGE_JSON_OK.rawValue), let tape = nudge_json_tape(parser),
      let strings = nudge_json_strings(parser)
    else { throw error(status, bytes.count) }
    return JSONNode(tape: tape, strings: strings, index: 1)
  }

  /// As above, for the bytes of an array, with the node lent to `body`.
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
