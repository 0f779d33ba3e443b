public import NudgeCodec
public import NudgeSchema

/// The authors of older messages of a conversation, for answers and edits: 5 bytes a message.
public struct WritersRow: Sendable, Equatable, Codable {
  /// Messages of a row: it has at most 7 kB.
  static let limit = 512
  /// Rows of a conversation. With more the oldest is overwritten.
  static let maxRows = 8

  /// When the last of them was written.
  public internal(set) var upTo: Milliseconds = 0
  /// The different writers.
  var marks: [UInt64] = []
  /// Stand for the messages' ids, in the order in which they came.
  var messages: [UInt32] = []
  /// The index of each message's writer.
  var places: [Int] = []

  var count: Int { messages.count }
  var isFull: Bool { count >= Self.limit }

  /// The author of a message, and how many messages of the row came after it; nil if the row does not have it.
  func writer(of message: UInt64) -> (mark: EventMark, later: Int)? {
    let key = Self.short(message)
    guard let index = messages.lastIndex(of: key) else { return nil }
    return (EventMark(bits: marks[places[index]]), messages.count - 1 - index)
  }

  mutating func add(_ event: RememberedEvent) {
    upTo = max(upTo, event.occurredAt)
    let place = marks.firstIndex(of: event.mark.bits) ?? marks.count
    if place == marks.count { marks.append(event.mark.bits) }
    messages.append(Self.short(event.message))
    places.append(place)
  }

  private static func short(_ message: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: message ^ message >> 32) }

  private enum CodingKeys: String, CodingKey {
    case upTo = "t"
    case marks = "m"
    case messages = "k"
    case places = "w"
  }
}

extension WritersRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "writers"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    upTo = try row.signed()
    for _ in 0..<(try row.count()) { marks.append(try row.fixed()) }
    for _ in 0..<(try row.count()) {
      messages.append(UInt32(truncatingIfNeeded: try row.unsigned()))
      let place = Int(try row.signed())
      guard marks.indices.contains(place) else { throw row.error("a message has a writer that is not there") }
      places.append(place)
    }
  }

  public func pack(into row: inout RowWriter) {
    row.signed(upTo)
    row.count(marks.count)
    for mark in marks { row.fixed(mark) }
    row.count(messages.count)
    for (message, place) in zip(messages, places) {
      row.unsigned(UInt64(message))
      row.signed(place)
    }
  }
}
