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
