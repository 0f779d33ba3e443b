/// Reads `text/event-stream` as WHATWG HTML says (9.2.6), written from the standard alone, for judging what the service writes.
struct SentEvents {
  struct Event: Equatable {
    var name: String
    var data: String
    var id: String
  }

  private(set) var events: [Event] = []
  private(set) var comments = 0
  private(set) var retry: Int?
  /// What a reconnecting client sends as `Last-Event-ID`.
  private(set) var lastId = ""
  private var idBuffer = ""
  private var name = ""
  private var data = ""
  private var line: [UInt8] = []
  private var endedInReturn = false

  /// Goes on at a place, as after a reconnection.
  init(lastId: String = "") {
    self.lastId = lastId
    idBuffer = lastId
  }

  mutating func read(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == 0x0a, endedInReturn {
        endedInReturn = false
        continue
      }
      endedInReturn = byte == 0x0d
      if byte == 0x0a || byte == 0x0d {
        take(String(decoding: line, as: UTF8.self))
        line = []
      } else {
        line.append(byte)
      }
    }
  }

  private mutating func take(_ line: String) {
    if line.isEmpty { return dispatch() }
    if line.hasPrefix(":") {
      comments += 1
      return
    }
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
    switch parts[0] {
    case "event": name = value
    case "data": data += value + "\n"
    case "id": if !value.contains("\0") { idBuffer = value }
    case "retry": if value.allSatisfy({ ("0"..."9").contains($0) }) { retry = Int(value) }
    default: break
    }
  }

  private mutating func dispatch() {
    lastId = idBuffer
    defer {
      name = ""
      data = ""
    }
    guard !data.isEmpty else { return }
    events.append(Event(name: name.isEmpty ? "message" : name, data: String(data.dropLast()), id: lastId))
  }
}
