/// Writes the lines of `text/event-stream` (WHATWG HTML, Server-sent events).
enum ServerSentEvent {
  /// An event. Its data is one line for each line that it has.
  /// - Parameters:
  ///   - name: The name that listeners are registered for.
  ///   - id: The place behind the event, where a client continues.
  ///   - retry: When it reconnects, in milliseconds, from now on.
  static func event(_ name: String, _ data: some Sequence<UInt8>, id: LivePosition?, retry: Int? = nil) -> [UInt8] {
    event(name, data, place: id?.text, retry: retry)
  }

  /// The same with an id as text.
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

  /// The beginning of a stream: when to reconnect, and the place where it begins. Clients dispatch no event for it, and remember the id.
  static func beginning(retry: Int, id: LivePosition?) -> [UInt8] { beginning(retry: retry, place: id?.text) }

  /// The same with an id as text.
  static func beginning(retry: Int, place: String?) -> [UInt8] {
    Array("retry: \(retry)\n\(place.map { "id: \($0)\n" } ?? "")\n".utf8)
  }

  /// A comment, with the place that a client has come to where nothing was for it.
  static func beat(id: LivePosition?) -> [UInt8] { beat(place: id?.text) }

  /// The same with an id as text.
  static func beat(place: String?) -> [UInt8] { Array(":\n\(place.map { "id: \($0)\n" } ?? "")\n".utf8) }

  /// Whether a text can be the name of an event.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2e || $0 == 0x5f }
  }
}
