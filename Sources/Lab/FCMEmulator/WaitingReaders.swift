/// Who waits for something new, each with a question, until they are answered or give up. A value: its owner's lock guards it, and
/// answers are given outside of that.
struct WaitingReaders<Question, Answer> {
  struct Reader {
    fileprivate let id: Int
    let question: Question
    let answer: @Sendable (Answer) -> Void
  }

  private var waiting: [Reader] = []
  private var lastId = 0

  /// A number for a reader, who may be answered at once or wait under it.
  mutating func nextId() -> Int {
    lastId += 1
    return lastId
  }

  /// Lets a reader wait.
  mutating func add(_ id: Int, _ question: Question, _ answer: @escaping @Sendable (Answer) -> Void) {
    waiting.append(Reader(id: id, question: question, answer: answer))
  }

  /// Takes those out whose question can be answered now.
  mutating func take(where isAnswered: (Question) -> Bool) -> [Reader] {
    let taken = waiting.filter { isAnswered($0.question) }
    if !taken.isEmpty { waiting.removeAll { isAnswered($0.question) } }
    return taken
  }

  /// Takes one out who gives up; nil: they were answered.
  mutating func take(_ id: Int) -> Reader? {
    waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
  }
}
