import JSONCodec
import NudgeSchema

/// A record of `nudge.banners` for the streams of its person. Its type is the event's name, its JSON the event's data.
struct LiveEvent: Sendable {
  let person: ExactText
  private let name: String
  private let value: [UInt8]

  /// Nil if the record has no key, is not a JSON object with a type, or is meant for the HTTP API itself.
  init?(key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, _ parser: JSONParser) {
    guard let key, let value, let person = String(validating: key, as: UTF8.self), let node = try? parser.parse(value),
      let name = node["type"]?.string, name != EventType.personAnswered.rawValue, ServerSentEvent.isName(name)
    else { return nil }
    self.person = ExactText(person)
    self.name = name
    self.value = [UInt8](value)
  }

  /// The event in the form in which it is sent.
  func bytes(id: LivePosition) -> [UInt8] { ServerSentEvent.event(name, value, id: id) }
}

/// A position on `nudge.banners`: the next offset of a partition. Clients receive it as the id of each event, and return it as
/// `Last-Event-ID`. It means the same on every instance.
struct LivePosition: Sendable, Equatable {
  var partition: Int32
  var next: Int64

  init(partition: Int32, next: Int64) {
    self.partition = partition
    self.next = next
  }

  /// Reads the form that `text` writes; nil for any other text.
  init?(_ text: String) {
    guard text.utf8.count <= 32, let cursor = RejectionLog.Cursor(text), let place = cursor.next.first,
      cursor.next.count == 1
    else { return nil }
    self.init(partition: place.key, next: place.value)
  }

  /// `3-1042`.
  var text: String { "\(partition)-\(next)" }
}

/// Writes the lines of `text/event-stream` (WHATWG HTML, Server-sent events).
enum ServerSentEvent {
  /// An event. Each line of its data becomes a line `data:`.
  /// - Parameters:
  ///   - name: The name for which listeners are registered.
  ///   - id: The position after the event, where a client continues.
  ///   - retry: After how many milliseconds the client should reconnect from now on.
  static func event(_ name: String, _ data: some Sequence<UInt8>, id: LivePosition?, retry: Int? = nil) -> [UInt8] {
    event(name, data, place: id?.text, retry: retry)
  }

  /// An event with an id as text.
  static func event(_ name: String, _ data: some Sequence<UInt8>, place: String?, retry: Int? = nil) -> [UInt8] {
    var bytes = Array("event: \(name)\n".utf8)
    if let place { bytes += "id: \(place)\n".utf8 }
    if let retry { bytes += "retry: \(retry)\n".utf8 }
    bytes += "data: ".utf8
    var endsInReturn = false
    for byte in data {
      switch byte {
      case 0x0a where endsInReturn: endsInReturn = false
      case 0x0a, 0x0d:
        bytes += "\ndata: ".utf8
        endsInReturn = byte == 0x0d
      default:
        bytes.append(byte)
        endsInReturn = false
      }
    }
    bytes += "\n\n".utf8
    return bytes
  }

  /// The beginning of a stream: when to reconnect, and its position. Clients dispatch no event for it but remember the id.
  static func beginning(retry: Int, id: LivePosition?) -> [UInt8] { beginning(retry: retry, place: id?.text) }

  /// The beginning of a stream with an id as text.
  static func beginning(retry: Int, place: String?) -> [UInt8] {
    Array("retry: \(retry)\n\(place.map { "id: \($0)\n" } ?? "")\n".utf8)
  }

  /// A comment, with the client's position after records that were not for it.
  static func beat(id: LivePosition?) -> [UInt8] { beat(place: id?.text) }

  /// A comment with an id as text.
  static func beat(place: String?) -> [UInt8] { Array(":\n\(place.map { "id: \($0)\n" } ?? "")\n".utf8) }

  /// Whether a text is allowed as the name of an event.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2e || $0 == 0x5f }
  }
}
