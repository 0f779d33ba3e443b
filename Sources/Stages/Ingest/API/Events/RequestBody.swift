import Gzip
import HTTPServer
import JSONCodec

/// Why a whole body is refused before any of its events is read.
struct BodyRefusal: Error, Equatable {
  let status: Int
  let code: String
  let message: String
}

/// The events in a request's body: one JSON object, an array of objects, or one object per line (NDJSON).
enum RequestBody {
  /// The longest body in bytes, before and after decompression.
  static let maxBytes = 1 << 20
  /// The most events in a body.
  static let maxEvents = 1_000

  static let json = "application/json"
  static let lines = "application/x-ndjson"

  /// One event of a body.
  struct Item: Sendable, Equatable {
    /// The range of its bytes, which become the record's value.
    var range: Range<Int>
    /// The field `type`; nil if it is missing or unreadable.
    var type: String?
    /// The field `eventId`; nil if it is missing or unreadable.
    var eventId: String?
    /// The error if the bytes are not JSON.
    var fault: JSONParseError?
  }

  /// The body after its `Content-Encoding` was undone.
  static func decoded(_ body: [UInt8], encoding: String?) throws(BodyRefusal) -> [UInt8] {
    switch encoding?.lowercased() {
    case nil, "", "identity": return body
    case "gzip", "x-gzip":
      do throws(GzipError) {
        return try GzipInflater.inflate(body, limit: maxBytes)
      } catch .tooLarge(let limit) {
        throw BodyRefusal(
          status: 413, code: "too_large",
          message: "the body inflates to more than \(limit) bytes: send fewer events at once")
      } catch {
        throw BodyRefusal(
          status: 400, code: "invalid_encoding",
          message: "the body is not the gzip that Content-Encoding says: \(error)")
      }
    default:
      throw BodyRefusal(
        status: 415, code: "unsupported_media_type", message: "Content-Encoding may be gzip or left out")
    }
  }

  /// The events of a body.
  static func items(of body: [UInt8], contentType: String?, parser: JSONParser) throws(BodyRefusal) -> [Item] {
    let isLines = contentType.map { ContentType.mediaType(of: $0) == lines } ?? false
    let items = isLines ? try lines(of: body, parser) : try document(body, parser)
    guard items.count <= maxEvents else {
      throw BodyRefusal(
        status: 413, code: "too_large", message: "the body may have at most \(maxEvents) events: send fewer at once")
    }
    guard !items.isEmpty else {
      throw BodyRefusal(status: 400, code: "schema_violation", message: "there is no event in the body")
    }
    return items
  }

  // MARK: NDJSON

  private static func lines(of body: [UInt8], _ parser: JSONParser) throws(BodyRefusal) -> [Item] {
    var items: [Item] = []
    body.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count, items.count <= maxEvents {
        let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
        let line = trimmed(bytes, start..<end)
        start = end + 1
        guard !line.isEmpty else { continue }
        var item = Item(range: line)
        do throws(JSONParseError) {
          let node = try parser.parse(UnsafeRawBufferPointer(rebasing: bytes[line]))
          read(node, into: &item)
        } catch {
          item.fault = error
        }
        items.append(item)
      }
    }
    return items
  }

  // MARK: JSON

  private static func document(_ body: [UInt8], _ parser: JSONParser) throws(BodyRefusal) -> [Item] {
    do throws(JSONParseError) {
      return try body.withUnsafeBufferPointer { (body) throws(JSONParseError) -> [Item] in
        let bytes = UnsafeRawBufferPointer(body)
        let root = try parser.parse(bytes)
        defer { withExtendedLifetime(parser) {} }
        var whole = trimmed(bytes, 0..<bytes.count)
        if bytes[whole].starts(with: [0xEF, 0xBB, 0xBF]) {
          whole = trimmed(bytes, (whole.lowerBound + 3)..<whole.upperBound)
        }
        guard let elements = root.elements else {
          var item = Item(range: whole)
          read(root, into: &item)
          return [item]
        }
        var items: [Item] = []
        var scanner = ElementScanner(bytes, array: whole)
        for element in elements {
          guard items.count <= maxEvents, let range = scanner.next() else { break }
          var item = Item(range: range)
          read(element, into: &item)
          items.append(item)
        }
        return items
      }
    } catch {
      let code = error == .invalidUTF8 ? "invalid_utf8" : "invalid_json"
      throw BodyRefusal(status: 400, code: code, message: "the body is not JSON: \(error)")
    }
  }

  private static func read(_ node: JSONNode, into item: inout Item) {
    item.type = node["type"]?.string
    item.eventId = node["eventId"]?.string
  }

  private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
    var range = range
    while let first = range.first, isBlank(bytes[first]) { range.removeFirst() }
    while let last = range.last, isBlank(bytes[last]) { range.removeLast() }
    return range
  }

  fileprivate static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}

extension Range<Int> {
  fileprivate mutating func removeFirst() { self = (lowerBound + 1)..<upperBound }
  fileprivate mutating func removeLast() { self = lowerBound..<(upperBound - 1) }
}

/// Finds the ranges of an array's elements in valid JSON, because the parser does not report positions.
private struct ElementScanner {
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let end: Int

  init(_ bytes: UnsafeRawBufferPointer, array: Range<Int>) {
    self.bytes = bytes
    position = array.lowerBound + 1
    end = array.upperBound - 1
  }

  /// The bytes of the next element without surrounding white space.
  mutating func next() -> Range<Int>? {
    while position < end, RequestBody.isBlank(bytes[position]) || bytes[position] == 0x2C { position += 1 }
    guard position < end else { return nil }
    let start = position
    var depth = 0
    var isInString = false
    while position < end {
      let byte = bytes[position]
      if isInString {
        switch byte {
        case 0x5C: position += 1  // the escaped byte says nothing
        case 0x22: isInString = false
        default: break
        }
      } else {
        switch byte {
        case 0x22: isInString = true
        case 0x5B, 0x7B: depth += 1
        case 0x5D, 0x7D: depth -= 1
        case 0x2C where depth == 0: return range(from: start)
        default: break
        }
      }
      position += 1
    }
    return range(from: start)
  }

  private func range(from start: Int) -> Range<Int> {
    var last = min(position, end)
    while last > start, RequestBody.isBlank(bytes[last - 1]) { last -= 1 }
    return start..<last
  }
}
