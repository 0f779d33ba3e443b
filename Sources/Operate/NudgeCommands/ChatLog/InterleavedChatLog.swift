import NudgeSchema

/// Plays several logs of a file at once, as if they had begun together; when one ends, the next begins in its place.
///
/// A file has its logs one after the other, so the messages of those that are open are kept: about `width` logs, each at
/// most `maxSegment` messages at a time. The rest of the file is not read yet.
struct InterleavedChatLog: ChatMessages {
  /// Logs that are open at once, unless told otherwise.
  static let defaultWidth = 12
  private static let maxSegment = 20_000

  /// A run of messages of one log.
  private struct Segment {
    var messages: ArraySlice<ChatMessage>
    /// What is added to a message's time to get its time in the play.
    let shift: Milliseconds

    /// A wrong time, far off, must not stop the play with an overflow.
    var nextAt: Milliseconds? {
      messages.first.map { message in
        let (at, tooFar) = message.at.addingReportingOverflow(shift)
        return tooFar ? (shift < 0 ? .min : .max) : at
      }
    }
  }

  private var source: any ChatMessages
  private let width: Int
  private var open: [Segment] = []
  /// Read already, the first of the next segment.
  private var lookahead: ChatMessage?
  private var isAtEnd = false
  /// How far the play is.
  private var now: Milliseconds = 0

  /// Plays `width` logs of a source at once.
  init(_ source: any ChatMessages, width: Int = InterleavedChatLog.defaultWidth) {
    self.source = source
    self.width = max(width, 1)
  }

  /// The next message of all open logs by their own times; its own time is left as it is.
  mutating func next() throws(ChatLogError) -> ChatMessage? {
    while open.count < width, let segment = try readSegment() { open.append(segment) }
    var first: (index: Int, at: Milliseconds)?
    for (index, segment) in open.enumerated() {
      if let at = segment.nextAt, first.map({ at < $0.at }) ?? true { first = (index, at) }
    }
    guard let first, let message = open[first.index].messages.popFirst() else { return nil }
    now = max(now, first.at)
    if open[first.index].messages.isEmpty { open.remove(at: first.index) }
    return message
  }

  private mutating func readSegment() throws(ChatLogError) -> Segment? {
    var messages: [ChatMessage] = []
    if let first = lookahead { messages.append(first) }
    lookahead = nil
    while !isAtEnd {
      guard let message = try source.next() else {
        isAtEnd = true
        break
      }
      if let first = messages.first, first.log != message.log || messages.count == Self.maxSegment {
        lookahead = message
        break
      }
      messages.append(message)
    }
    guard let first = messages.first else { return nil }
    let (shift, tooFar) = now.subtractingReportingOverflow(first.at)
    return Segment(messages: messages[...], shift: tooFar ? 0 : shift)
  }
}
