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
