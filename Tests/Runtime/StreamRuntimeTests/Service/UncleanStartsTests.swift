import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Unclean starts")
struct UncleanStartsTests {
  @Test("a process that stops leaves nothing behind; one that dies is counted by the next, and the count stays")
  func count() throws {
    let directory = try TemporaryDirectory()
    func start() throws -> UncleanStarts {
      let starts = UncleanStarts(directory: directory.path)
      try starts.begin()
      return starts
    }
    let first = try start()
    #expect(!first.isUnclean && first.count == 0)
    try first.end()
    let second = try start()
    #expect(!second.isUnclean && second.count == 0)
    // The second one dies.
    let third = try start()
    #expect(third.isUnclean && third.count == 1)
    try third.end()
    let fourth = try start()
    #expect(!fourth.isUnclean && fourth.count == 1)
    // So do the fourth and the fifth.
    _ = try start()
    #expect(try start().count == 3)
  }

  @Test("only the owner may read the file, from the start")
  func isPrivate() throws {
    let directory = try TemporaryDirectory()
    try UncleanStarts(directory: directory.path).begin()
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/last-run")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["last-run"])
  }

  @Test("a folder that takes no file is named")
  func unwritable() throws {
    let starts = UncleanStarts(directory: "/nowhere")
    let error = #expect(throws: StateDirectoryLock.Failure.self) { try starts.begin() }
    #expect(error?.description == "/nowhere/last-run.next: No such file or directory")
  }

  @Test(
    "a file that does not make sense counts as none", arguments: ["", "running", "running x", "stopped -1", "a b c"])
  func unreadable(_ text: String) throws {
    let directory = try TemporaryDirectory()
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path + "/last-run"))
    let starts = UncleanStarts(directory: directory.path)
    #expect(!starts.isUnclean && starts.count == 0)
  }

  @Test("O3: a service that starts after a crash says so in its log and its metrics; after a stop it does not")
  func service() throws {
    let directory = try TemporaryDirectory()
    /// Starts a service, stops it, and returns its count. Nobody listens on port 1.
    func run(dying: Bool = false) throws -> (count: Int, warned: Bool) {
      let service = try ServiceUnderTest(brokers: "127.0.0.1:1", stateDirectory: directory.path)
      let stageDirectory = "\(directory.path)/\(CountingStage.definition.name)"
      try service.start()
      let running = FileManager.default.contents(atPath: stageDirectory + "/last-run")
      service.service.stop()
      // A crash leaves the file as it was while the process ran.
      if dying { try running?.write(to: URL(fileURLWithPath: stageDirectory + "/last-run")) }
      let line = service.metrics.exposition().split(separator: "\n").first {
        $0.hasPrefix("nudge_unclean_starts_total ")
      }
      return (
        Int(try #require(line?.split(separator: " ").last)) ?? -1,
        service.logged("the process before this one did not stop")
      )
    }
    var result = try run()
    #expect(result.count == 0 && !result.warned)
    result = try run(dying: true)
    #expect(result.count == 0 && !result.warned)
    result = try run()
    #expect(result.count == 1 && result.warned)
    result = try run()
    #expect(result.count == 1 && !result.warned)
  }

  @Test("wake-ups of a service's threads are counted")
  func wakeUps() {
    let counter = MetricsRegistry().counter("nudge_thread_wakeups_total", help: "")
    let signal = ThreadSignal(wakeUps: counter)
    for _ in 0..<3 { signal.raise() }
    #expect(counter.value == 3)
  }
}
