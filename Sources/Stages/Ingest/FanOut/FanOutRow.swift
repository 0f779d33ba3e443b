import NudgeSchema

/// A pending fan-out to the members of a large conversation, and how far it came. The row is removed after the last member.
public struct FanOutRow: Sendable, Equatable, Codable {
  /// A header that goes along with what is written.
  public struct Header: Sendable, Equatable, Codable {
    public internal(set) var name: String
    public internal(set) var value: [UInt8]

    private enum CodingKeys: String, CodingKey {
      case name = "n"
      case value = "v"
    }
  }

  /// The event to write, a `TimelineEvent` as JSON. A candidate has only the recipients with a context; everybody else's is empty. A
  /// withdrawal names nobody.
  public internal(set) var event: String
  /// Headers that go along.
  public internal(set) var headers: [Header]
  /// The last member that was served, in the order of the ids' bytes; nil: none yet.
  public internal(set) var after: String?
  /// The index of the next record's origin.
  public internal(set) var nextIndex: Int32
  /// People behind `after` who get nothing any more: they were served out of turn, or came later.
  public internal(set) var passedOver: [String]

  init(
    event: String, headers: [Header], after: String? = nil, nextIndex: Int32 = 0, passedOver: [String] = []
  ) {
    self.event = event
    self.headers = headers
    self.after = after
    self.nextIndex = nextIndex
    self.passedOver = passedOver
  }

  private enum CodingKeys: String, CodingKey {
    case event = "e"
    case headers = "h"
    case after = "a"
    case nextIndex = "i"
    case passedOver = "p"
  }
}

extension FanOutRow {
  /// The row as JSON with what is written as a part of it, so that whoever shows it to people finds the fields to leave out (T4).
  func json(coder: RecordCoder) throws -> [UInt8] {
    struct Shown: Encodable {
      let event: TimelineEvent
      let after: String?
      let nextIndex: Int32
      let passedOver: [String]
    }
    return try coder.encode(
      Shown(
        event: coder.decode(TimelineEvent.self, from: Array(event.utf8)), after: after, nextIndex: nextIndex,
        passedOver: passedOver))
  }

  /// The largest row when a fan-out begins, in bytes.
  static let beginningBytes = 12_000
  /// The most bytes for people passed over; with the rest the row stays below 16 kB.
  static let passedOverBytes = 3_000

  /// Whether one more may be passed over.
  func canPassOver(_ userId: String) -> Bool {
    passedOver.reduce(userId.utf8.count + 2) { $0 + $1.utf8.count + 2 } <= Self.passedOverBytes
  }
}
