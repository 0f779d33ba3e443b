import Dispatch
import Foundation
import ServiceKit

/// Lets a person change a text in their editor. The file is readable by them alone, and removed afterwards, also where a signal ends the
/// command.
struct TextEditor {
  /// The command, as a shell runs it.
  var command: String

  /// How long the editor may take to end after a signal.
  private static let grace: Duration = .seconds(2)

  /// That of the environment; nil: there is none.
  init?(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let command = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
    else { return nil }
    self.command = command
  }

  /// Counts the signals that end the editor and not this process, which has a file to remove. One for all editings: two at a time, or one
  /// after the other, take the signals from each other.
  static func interrupts() -> Interrupts { Interrupts(and: [SIGHUP, SIGQUIT]) }

  /// The text as the person leaves it.
  /// - Throws: `CommandError` if the editor fails, or a signal came.
  func edit(_ text: [UInt8], _ interrupts: Interrupts) throws -> [UInt8] {
    let before = interrupts.count
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-edit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("event.json")
    try PrivateFile.write(text, to: file.path)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "\(command) \"$0\"", file.path]
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    while ended.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      guard interrupts.count > before else { continue }
      // Foundation gives the shell a process group of its own, and says that it ended once all that it started has ended.
      kill(-process.processIdentifier, SIGTERM)
      if ended.wait(timeout: .now() + Self.grace.seconds) == .timedOut {
        kill(-process.processIdentifier, SIGKILL)
        ended.wait()
      }
      break
    }
    guard interrupts.count == before else { throw CommandError("interrupted: nothing was written") }
    guard process.terminationStatus == 0 else {
      throw CommandError("\(command) ended with \(process.terminationStatus): nothing was written")
    }
    return Array(try Data(contentsOf: file))
  }
}
