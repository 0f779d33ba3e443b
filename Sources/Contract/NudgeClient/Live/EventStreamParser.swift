/// Reads `text/event-stream`, as the WHATWG's HTML standard describes it. Bytes in, in any pieces; events out.
///
/// ```swift
/// var parser = EventStreamParser()
/// for event in parser.receive(bytes) { print(event.name, event.data) }
/// request.setValue(parser.lastEventId, forHTTPHeaderField: "Last-Event-ID")  // at the next attempt, unless it is empty
/// ```
public struct EventStreamParser: Sendable {
  /// An event.
  public struct Event: Sendable, Equatable {
    /// The event's name; `message` where the stream gives none.
    public let name: String
    /// Its data.
    public let data: String

    /// An event.
    public init(name: String, data: String) {
      self.name = name
      self.data = data
    }
  }

  /// The most bytes of an event. A longer one is dropped, and so is the rest of a line that is longer.
  public static let maximumBytes = 1 << 20

  /// The place up to which the stream was read, for `Last-Event-ID`; empty: none.
  public private(set) var lastEventId: String
  /// The milliseconds that the stream asks to wait before the next attempt; nil: it has not.
  public private(set) var retry: Int?

  private var id: String
  private var name = ""
  private var data: [String] = []
  private var bytes = 0
  private var line: [UInt8] = []
  /// Bytes of the line, those that were dropped included.
  private var length = 0
  private var endedInReturn = false
  private var isAtStart = true

  /// A parser of a stream that continues after an event.
  public init(lastEventId: String = "") {
    self.lastEventId = lastEventId
    id = lastEventId
  }

  /// The next bytes of the stream.
  public mutating func receive(_ received: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    for byte in received {
      if byte == 0x0a, endedInReturn {
        endedInReturn = false
        continue
      }
      endedInReturn = byte == 0x0d
      guard byte == 0x0a || byte == 0x0d else {
        bytes += 1
        length += 1
        if bytes <= Self.maximumBytes { line.append(byte) }
        continue
      }
      if let event = take() { events.append(event) }
    }
    return events
  }

  /// The stream has ended. An incomplete event is dropped, and the next stream continues after the last complete one.
  public mutating func ended() {
    self = {
      var next = EventStreamParser(lastEventId: lastEventId)
      next.retry = retry
      return next
    }()
  }

  /// A line is whole.
  private mutating func take() -> Event? {
    var line = line[...]
    let isFirst = isAtStart
    defer { length = 0 }
    isAtStart = false
    guard length > 0 else { return dispatch() }
    self.line = []
    // The event is too long, so its line may be cut.
    guard bytes <= Self.maximumBytes else { return nil }
    if isFirst, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: 0x3a)
    let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
    var content = colon.map { line[line.index(after: $0)...] } ?? []
    if content.first == 0x20 { content = content.dropFirst() }
    let value = String(decoding: content, as: UTF8.self)
    switch field {
    case "event": name = value
    case "data": data.append(value)
    case "id": if !content.contains(0) { id = value }
    case "retry":
      if !content.isEmpty, content.allSatisfy({ (0x30...0x39).contains($0) }) { retry = Int(value) }
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> Event? {
    let isTooLong = bytes > Self.maximumBytes
    defer {
      name = ""
      data = []
      bytes = 0
    }
    lastEventId = id
    guard !data.isEmpty, !isTooLong else { return nil }
    return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
  }
}
