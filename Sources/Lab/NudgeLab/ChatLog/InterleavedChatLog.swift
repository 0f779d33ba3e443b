import NudgeSchema

/// Plays several logs of a file at once, as if they had started together; when one ends, the next takes its place.
///
/// A file has its logs one after the other. Only the open ones are kept: about `width` logs, at most `maxSegment` messages
/// each. The rest of the file is not read yet.
struct InterleavedChatLog: ChatMessages {
  /// The default number of open logs.
  static let defaultWidth = 12
  private static let maxSegment = 20_000

  /// Consecutive messages of one log.
  private struct Segment {
    var messages: ArraySlice<ChatMessage>
    /// Added to a message's time to get its time in the play.
    let shift: Milliseconds

    /// nil for a time so wrong that adding would overflow.
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
  /// The first message of the next segment, already read.
  private var lookahead: ChatMessage?
  private var isAtEnd = false
  /// Time of the play.
  private var now: Milliseconds = 0

  /// Plays `width` logs of a source at once.
  init(_ source: any ChatMessages, width: Int = InterleavedChatLog.defaultWidth) {
    self.source = source
    self.width = max(width, 1)
  }

  /// The next message of all open logs, by their shifted times; its own time is unchanged.
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
