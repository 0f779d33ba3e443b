import Dispatch
import Foundation
import Synchronization

/// The questions that are being answered, each on its own thread.
final class ConsoleJobs: Sendable {
  /// The most questions at a time, over all pages.
  static let most = 12
  /// How long a job can be read after its end.
  private static let memory: Duration = .seconds(600)

  private let answers: any ConsoleAnswers
  private let jobs = Mutex<[String: ConsoleJob]>([:])

  init(answers: any ConsoleAnswers) { self.answers = answers }

  /// Starts to answer a question; nil if too many are being answered.
  func start(_ question: ConsoleQuestion) -> String? {
    let job = ConsoleJob(isAction: answers.isAction(question))
    let id = ConsoleSecret.make()
    let isTaken = jobs.withLock { jobs in
      sweep(&jobs)
      guard jobs.values.count(where: { $0.overFor == nil }) < Self.most else { return false }
      jobs[id] = job
      return true
    }
    guard isTaken else { return nil }
    let thread = Thread { [answers] in
      do {
        try answers.answer(question, to: job)
        job.finish(nil)
      } catch is ConsoleJob.Cancelled {
        job.finish("taken back")
      } catch {
        job.finish("\(error)")
      }
    }
    thread.name = "console-question"
    thread.stackSize = 8 << 20
    thread.start()
    return id
  }

  subscript(_ id: String) -> ConsoleJob? {
    jobs.withLock { jobs in
      sweep(&jobs)
      return jobs[id]
    }
  }

  /// Cancels a question. A question that writes continues; it is stopped with a command of its own.
  func remove(_ id: String) {
    jobs.withLock { jobs in
      guard let job = jobs[id], !job.isAction else { return }
      job.cancel()
      jobs[id] = nil
    }
  }

  func cancelAll() { jobs.withLock { for job in $0.values { job.cancel() } } }

  /// Removes jobs that have ended, or that nobody reads.
  private func sweep(_ jobs: inout [String: ConsoleJob]) {
    jobs = jobs.filter { !$0.value.isCancelled && $0.value.overFor ?? .zero <= Self.memory }
  }
}

/// A question that is being answered, with the rows that are kept until they are read, its progress and its end.
package final class ConsoleJob: Sendable {
  /// The job was cancelled, or nobody reads it any more.
  package struct Cancelled: Error {}

  /// The rows after a number, and the state after them.
  struct Batch: Sendable {
    /// One JSON object per row.
    var rows: [[UInt8]]
    var state: State
  }

  struct State: Encodable, Sendable {
    /// The number of rows so far, to use in the next request.
    var next = 0
    var done = false
    /// Which records are being read; nil if none are.
    var progress: String?
    /// Why it failed.
    var error: String?
  }

  /// The most bytes of unread rows. A job with more ends, because its page is closed or the question is too broad.
  private static let mostBytes = 256 << 20

  /// A question that nobody has read for this long is cancelled unless it writes.
  private static let patience: Duration = .seconds(45)

  private struct Content {
    var state = State()
    /// The rows from `next - rows.count` on.
    var rows: [[UInt8]] = []
    var bytes = 0
    var isCancelled = false
    var lastReadAt: ContinuousClock.Instant
    var endedAt: ContinuousClock.Instant?
    var nextReader = 0
    var readers: [Int: Reader] = [:]
  }

  private struct Reader {
    let answer: @Sendable (Batch) -> Void
  }

  /// Whether it continues without a reader.
  let isAction: Bool
  private let content: Mutex<Content>
  private let takenBack = DispatchSemaphore(value: 0)

  package init(isAction: Bool = false) {
    self.isAction = isAction
    content = Mutex(Content(lastReadAt: .now))
  }

  // MARK: The question's own thread

  /// Whether nobody wants the answer any more.
  package var isCancelled: Bool { content.withLock { isCancelled($0) } }

  private func isCancelled(_ content: Content) -> Bool {
    if content.isCancelled { return true }
    return !isAction && content.readers.isEmpty && content.lastReadAt.duration(to: .now) > Self.patience
  }

  /// Waits until it is cancelled, at most this long.
  package func wait(atMost time: Duration) {
    guard !isCancelled else { return }
    _ = takenBack.wait(timeout: .now() + .milliseconds(Int(time / .milliseconds(1))))
  }

  /// Adds a row.
  /// - Throws: `Cancelled` once nobody wants the answer.
  package func write(_ row: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = Array(try encoder.encode(row))
    let isCancelled = content.withLock { content in
      content.rows.append(bytes)
      content.bytes += bytes.count
      content.state.next += 1
      if content.bytes > Self.mostBytes { content.isCancelled = true }
      return self.isCancelled(content)
    }
    wake()
    if isCancelled { throw Cancelled() }
  }

  /// Sets what is being read.
  package func report(_ progress: String) {
    content.withLock { $0.state.progress = progress }
    wake()
  }

  func finish(_ error: String?) {
    content.withLock {
      $0.state.done = true
      $0.state.error = error
      $0.state.progress = nil
      $0.endedAt = .now
    }
    wake()
  }

  // MARK: The server

  /// Answers with the rows after a number as soon as there is anything new. Earlier rows are dropped. Returns the id for `giveUp`.
  func read(after number: Int, _ answer: @escaping @Sendable (Batch) -> Void) -> Int {
    let (id, batch) = content.withLock { content -> (Int, Batch?) in
      content.lastReadAt = .now
      let first = content.state.next - content.rows.count
      let read = min(max(0, number - first), content.rows.count)
      content.bytes -= content.rows[..<read].reduce(0) { $0 + $1.count }
      content.rows.removeFirst(read)
      content.nextReader += 1
      guard content.rows.isEmpty, !content.state.done else {
        return (content.nextReader, Batch(rows: content.rows, state: content.state))
      }
      content.readers[content.nextReader] = Reader(answer: answer)
      return (content.nextReader, nil)
    }
    if let batch { answer(batch) }
    return id
  }

  /// Answers a reader that still waits.
  func giveUp(_ id: Int) {
    let given = content.withLock { content -> (Reader, Batch)? in
      content.lastReadAt = .now
      return content.readers.removeValue(forKey: id).map { ($0, Batch(rows: content.rows, state: content.state)) }
    }
    if let (reader, batch) = given { reader.answer(batch) }
  }

  func cancel() {
    content.withLock { $0.isCancelled = true }
    takenBack.signal()
  }

  /// How long ago it ended; nil while it runs.
  var overFor: Duration? { content.withLock { $0.endedAt?.duration(to: .now) } }

  private func wake() {
    let (readers, batch) = content.withLock { content in
      defer { content.readers = [:] }
      return (Array(content.readers.values), Batch(rows: content.rows, state: content.state))
    }
    for reader in readers { reader.answer(batch) }
  }
}
