import Foundation
import NudgeSchema
import Testing

@Suite("Records as JSON")
struct RecordCodingTests {
  private let coder = RecordCoder()
  private let read =
    #""schemaVersion":1,"type":"message.read","eventId":"e","occurredAt":7,"userId":"u","conversationId":"c""#

  @Test("unknown fields are ignored, at every depth", arguments: try RecordType.all())
  func unknownFields(record: RecordType) throws {
    func adding(_ value: JSONValue) -> JSONValue {
      switch value {
      case .object(let fields):
        // These are dictionaries: any name is known there.
        let dictionaries = ["inputs", "selection", "counts", "next", "details"]
        let inner = fields.map { ($0, dictionaries.contains($0) ? $1 : adding($1)) }
        return .object(
          Dictionary(inner) { $1 }.merging(["x-unknown": .array([.object([:]), .null, .number(0.5)])]) { $1 })
      case .array(let elements): return .array(elements.map(adding))
      default: return value
      }
    }
    let more = try adding(JSONValue(bytes: record.sample)).bytes
    #expect(more != record.sample)
    #expect(try record.read(more) == record.sample)
  }

  @Test("however deep a record is nested, and wherever it breaks off, it is refused and the process goes on")
  func nesting() throws {
    for open in ["[", #"{"a":"#] {
      for depth in [1, 511, 512, 513, 514, 5_000] {
        for end in ["", " ", "\r", "\n", "1", "\"", "]", "}"] {
          let text = Array((String(repeating: open, count: depth) + end).utf8)
          #expect(throws: DecodingError.self) { try coder.decode(UserEvent.self, from: text) }
          // As a value among others: what nobody looks at.
          let inside = Array("{\(read),\"x\":".utf8) + text
          #expect(throws: DecodingError.self) { try coder.decode(UserEvent.self, from: inside) }
        }
      }
    }
    func event(with value: String) throws -> UserEvent {
      try coder.decode(UserEvent.self, from: Array("{\(read),\"x\":\(value)}".utf8))
    }
    let deep = String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
    #expect(try event(with: deep).body.userId == "u")
    #expect(throws: DecodingError.self) { try event(with: "[\(deep)]") }
    // Brackets of a text are no nesting.
    let text = String(repeating: #"[\""#, count: 2_000)
    #expect(try event(with: "\"\(text)\"").body.userId == "u")
  }

  @Test("of a field that is there twice the first counts")
  func duplicateKeys() throws {
    let event = try coder.decode(UserEvent.self, from: Array("{\(read),\"userId\":\"v\",\"occurredAt\":\"x\"}".utf8))
    #expect(event.body.userId == "u")
    #expect(event.envelope.occurredAt == 7)
  }

  @Test("times of producers are integers, however written, or RFC 3339; null is none")
  func times() throws {
    func time(_ text: String) throws -> Milliseconds {
      let json = "{\(read)}".replacing("\"occurredAt\":7", with: "\"occurredAt\":\(text)")
      return try coder.decode(UserEvent.self, from: Array(json.utf8)).envelope.occurredAt
    }
    #expect(try time("1795275600250") == 1_795_275_600_250)
    #expect(try time("1.5e3") == 1500)
    #expect(try time("2.0") == 2)
    #expect(try time("\"2026-11-21T15:40:00.250Z\"") == 1_795_275_600_250)
    for text in ["1.5", "\"7\"", "\"\"", "true", "[]", "{}", "1e30"] {
      #expect(throws: EventFormatError.invalidTime(field: "occurredAt"), "\(text)") { try time(text) }
    }
    #expect(throws: (any Error).self) { try time("null") }
  }

  @Test("another schema version is refused before anything else is read", arguments: [0, 2, -1, Int.max])
  func versions(version: Int) {
    #expect(throws: EventFormatError.unsupportedVersion(version)) {
      try coder.decode(UserEvent.self, from: Array(#"{"schemaVersion":\#(version),"type":"later"}"#.utf8))
    }
  }

  @Test("a type of another topic is refused")
  func types() {
    for (type, bytes) in [("message.created", "message.created"), ("", "")] {
      let json = "{\(read)}".replacing("message.read", with: bytes)
      #expect(throws: EventFormatError.unknownType(type, of: UserEventBody.types)) {
        try coder.decode(UserEvent.self, from: Array(json.utf8))
      }
    }
    // What is ours is named with its topic; any other text may be a secret, so the list stands alone.
    #expect(
      EventFormatError.unknownType("message.created", of: UserEventBody.types).description
        == "message.created belongs on chat.events")
    let unknown = EventFormatError.unknownType("secret", of: DeviceClaimBody.types).description
    #expect(unknown == "type is none of \(DeviceClaimBody.types.map(\.rawValue).joined(separator: ", "))")
  }

  @Test("a device event of user.events cannot be written to the timeline, where nobody could read it")
  func timelineDevices() throws {
    for body in Sample.userEventBodies {
      let event = TimelineEvent(Sample.envelope, origin: Sample.origin, source: Sample.source, .user(body))
      if body.type.rawValue.hasPrefix("device.") {
        #expect(throws: EncodingError.self) { try coder.encode(event) }
      } else {
        #expect(try coder.decode(TimelineEvent.self, from: coder.encode(event)) == event)
      }
    }
  }

  @Test("the same value is the same bytes, whichever coder writes it")
  func sameBytes() throws {
    #expect(try coder.encode(Sample.decision) == RecordCoder().encode(Sample.decision))
    let slash = try coder.encode(Sample.membership)
    #expect(String(decoding: slash, as: UTF8.self).contains("https://cdn.example.com/a/ada.png"))
  }

  @Test("records are UTF-8: what is JSON in another encoding is refused")
  func encodings() throws {
    let json = "{\(read)}"
    #expect(try coder.decode(UserEvent.self, from: Array(json.utf8)).body.userId == "u")
    let others: [String.Encoding] = [
      .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
    ]
    for encoding in others {
      let bytes = [UInt8](try #require(json.data(using: encoding)))
      #expect(throws: DecodingError.self, "\(encoding)") { try coder.decode(UserEvent.self, from: bytes) }
    }
    #expect(throws: DecodingError.self) {
      try coder.decode(UserEvent.self, from: Array(json.utf8).map { $0 == UInt8(ascii: "u") ? 0xE9 : $0 })
    }
  }

  @Test("input that is no JSON object is refused, never trapped on")
  func malformed() {
    for text in ["", " ", "null", "[]", "1", "\"\"", "{", "{\"a\"", "\u{0}", String(repeating: "[", count: 100_000)] {
      #expect(throws: (any Error).self) { try coder.decode(ChatEvent.self, from: Array(text.utf8)) }
    }
    #expect(throws: (any Error).self) { try coder.decode(ChatEvent.self, from: [0xFF, 0xFE, 0x00]) }
    #expect(throws: (any Error).self) {
      try coder.decode(ChatEvent.self, from: UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}
