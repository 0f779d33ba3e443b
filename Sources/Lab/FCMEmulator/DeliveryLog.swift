import Synchronization

/// The latest messages that the emulator accepted for devices, numbered from 1. Programs that play devices read them. The emulator's thread
/// writes; the stream's readers read and wait.
final class DeliveryLog: Sendable {
  /// The most messages that are kept. A reader that has fallen further behind is told how many messages it missed.
  static let capacity = 20_000
  /// The most messages of one answer, so that it stays below some megabytes.
  static let mostAtOnce = 1_000

  /// Messages after a number.
  struct Batch {
    /// The number to ask with next.
    var next: Int
    /// The number of messages after the asked number that the log has dropped, for any device.
    var missed: Int
    /// The messages for the devices asked about.
    var deliveries: [Delivery]

    /// The stream's JSON: `{"next", "missed", "deliveries": [{"number", "at", "request"}]}`. A request is copied as it came, because it is
    /// JSON already.
    var json: [UInt8] {
      var bytes = Array("{\"next\":\(next),\"missed\":\(missed),\"deliveries\":[".utf8)
      for (index, delivery) in deliveries.enumerated() {
        if index > 0 { bytes.append(0x2C) }
        bytes += "{\"number\":\(delivery.number),\"at\":\(delivery.at),\"request\":".utf8
        bytes += delivery.request
        bytes.append(0x7D)
      }
      return bytes + "]}\n".utf8
    }
  }

  /// A message that was answered with 200.
  struct Delivery {
    var number: Int
    /// When it was taken, in milliseconds since the epoch.
    var at: Int64
    var token: String
    /// The request's body.
    var request: [UInt8]
  }

  private struct Question {
    let after: Int
    let tokenPrefix: String
  }

  private struct State {
    /// The message of the number n is at n - 1 - dropped.
    var kept: [Delivery] = []
    var dropped = 0
    var readers = WaitingReaders<Question, Batch>()

    var last: Int { dropped + kept.count }
  }

  private let state = Mutex(State())

  /// Adds a message that was accepted for a device.
  func add(_ request: some Collection<UInt8>, token: String, at now: Int64) {
    let answers = state.withLock { state in
      state.kept.append(Delivery(number: state.last + 1, at: now, token: token, request: Array(request)))
      // Trimmed only now and then: removing the first message moves all others.
      if state.kept.count > 2 * Self.capacity {
        state.dropped += state.kept.count - Self.capacity
        state.kept.removeFirst(state.kept.count - Self.capacity)
      }
      return state.readers.take { token.hasPrefix($0.tokenPrefix) }.map { ($0, Self.batch(state, $0.question)) }
    }
    for (reader, batch) in answers { reader.answer(batch) }
  }

  /// The number of the latest message.
  var last: Int { state.withLock { $0.last } }

  /// Answers with the messages after a number for tokens with this prefix, as soon as there are any. Returns the reader's id for `giveUp`.
  func wait(after number: Int, tokenPrefix: String, _ answer: @escaping @Sendable (Batch) -> Void) -> Int {
    let (id, batch) = state.withLock { state in
      let id = state.readers.nextId()
      let batch = Self.batch(state, Question(after: number, tokenPrefix: tokenPrefix))
      // Messages for other devices advance the reader too, so that it never scans them again.
      guard batch.deliveries.isEmpty, batch.missed == 0 else { return (id, Optional(batch)) }
      state.readers.add(id, Question(after: batch.next, tokenPrefix: tokenPrefix), answer)
      return (id, nil)
    }
    if let batch { answer(batch) }
    return id
  }

  /// Answers a reader that still waits, without messages.
  func giveUp(_ id: Int) {
    let given = state.withLock { state in state.readers.take(id).map { ($0, Self.batch(state, $0.question)) } }
    if let (reader, batch) = given { reader.answer(batch) }
  }

  private static func batch(_ state: State, _ question: Question) -> Batch {
    // A number of a former emulator process may be larger than any of this one.
    let after = min(max(question.after, 0), state.last)
    var batch = Batch(next: state.last, missed: max(0, state.dropped - after), deliveries: [])
    for delivery in state.kept.dropFirst(max(0, after - state.dropped))
    where delivery.token.hasPrefix(question.tokenPrefix) {
      batch.deliveries.append(delivery)
      if batch.deliveries.count == mostAtOnce {
        batch.next = delivery.number
        break
      }
    }
    return batch
  }
}

/// Readers that wait for news until they are answered or give up, each with its question. The owner's lock guards this value, and the owner
/// answers outside the lock.
struct WaitingReaders<Question, Answer> {
  struct Reader {
    fileprivate let id: Int
    let question: Question
    let answer: @Sendable (Answer) -> Void
  }

  private var waiting: [Reader] = []
  private var lastId = 0

  /// A new reader's id, needed only if the reader has to wait.
  mutating func nextId() -> Int {
    lastId += 1
    return lastId
  }

  /// Adds a waiting reader.
  mutating func add(_ id: Int, _ question: Question, _ answer: @escaping @Sendable (Answer) -> Void) {
    waiting.append(Reader(id: id, question: question, answer: answer))
  }

  /// Removes and returns the readers whose question can be answered now.
  mutating func take(where isAnswered: (Question) -> Bool) -> [Reader] {
    let taken = waiting.filter { isAnswered($0.question) }
    if !taken.isEmpty { waiting.removeAll { isAnswered($0.question) } }
    return taken
  }

  /// Removes and returns a reader that gives up. Absent if it was already answered.
  mutating func take(_ id: Int) -> Reader? {
    waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
  }
}
