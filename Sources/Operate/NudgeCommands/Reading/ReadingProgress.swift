import Foundation

/// Prints a command's progress to standard error once it has run for two seconds.
final class ReadingProgress {
  /// Commands faster than this print no progress.
  static let quietFor: Duration = .seconds(2)

  private let now: () -> ContinuousClock.Instant
  private let write: (String) -> Void
  /// On a terminal the line is rewritten. Elsewhere a line is printed every few seconds.
  private let isTerminal: Bool
  private let started: ContinuousClock.Instant
  private var shownAt: ContinuousClock.Instant?
  private var what = ""
  private var total: Int64 = 0
  private var done: Int64 = 0
  private var begun: ContinuousClock.Instant

  /// Starts the clock. `write` receives text with its own newlines.
  init(
    isTerminal: Bool, now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now },
    write: @escaping (String) -> Void
  ) {
    self.isTerminal = isTerminal
    self.now = now
    self.write = write
    started = now()
    begun = started
  }

  static func standardError() -> ReadingProgress {
    ReadingProgress(isTerminal: isatty(2) != 0) { FileHandle.standardError.write(Data($0.utf8)) }
  }

  /// Starts a piece of work. `total` is the most records that it reads; 0 if unknown.
  func begin(_ what: String, total: Int64) {
    self.what = what
    self.total = total
    done = 0
    begun = now()
  }

  /// Sets the number of records read so far.
  func reached(_ count: Int64) {
    done = count
    let time = now()
    guard started.duration(to: time) >= Self.quietFor else { return }
    let interval: Duration = isTerminal ? .milliseconds(500) : .seconds(5)
    if let shownAt, shownAt.duration(to: time) < interval { return }
    shownAt = time
    let line = text(after: begun.duration(to: time))
    write(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
  }

  /// Ends the work and removes the line from a terminal, so that only the result remains.
  func end() {
    if isTerminal, shownAt != nil { write("\r\u{1B}[K") }
    shownAt = nil
  }

  private func text(after elapsed: Duration) -> String {
    let seconds = max(0.001, Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18)
    let rate = Double(done) / seconds
    var line = "\(what): \(done)"
    if total > 0 {
      line += " of \(total) (\(Int(100 * min(1, Double(done) / Double(total)))) %)"
    }
    line += ", \(Int(rate))/s"
    if total > done, rate > 0 { line += ", \(Int((Double(total - done) / rate).rounded(.up))) s left" }
    return line
  }
}
