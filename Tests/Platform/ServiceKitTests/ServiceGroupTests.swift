import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// Notes what happens to it.
private final class Probe: Service {
  struct Refusal: Error {}

  let name: String
  private let diary: Diary
  private let onStart: @Sendable (@Sendable (ServiceEnd) -> Void) throws -> Void
  private let onStop: @Sendable () -> Void

  init(
    _ name: String, _ diary: Diary,
    onStart: @escaping @Sendable (@Sendable (ServiceEnd) -> Void) throws -> Void = { _ in },
    onStop: @escaping @Sendable () -> Void = {}
  ) {
    self.name = name
    self.diary = diary
    self.onStart = onStart
    self.onStop = onStop
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    diary.note("start \(name)")
    try onStart(onEnd)
  }

  func stop() {
    diary.note("stop \(name)")
    onStop()
  }
}

/// A service that keeps something for a restart.
private struct Keeper: Service {
  let name: String
  let diary: Diary

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws { diary.note("start \(name)") }
  func stop() { diary.note("stop \(name)") }
  func retire() { diary.note("retire \(name)") }
}

private final class Diary: Sendable {
  private let kept = Mutex<[String]>([])
  var entries: [String] { kept.withLock { $0 } }
  func note(_ entry: String) { kept.withLock { $0.append(entry) } }
}

/// A service that reads files again.
private struct Reader: ReloadingService {
  let name: String
  let diary: Diary

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws { diary.note("start \(name)") }
  func stop() { diary.note("stop \(name)") }
  /// Two signals may be taken by two threads, so the second is sent when the first has been heard.
  func reload() {
    diary.note("reload \(name)")
    kill(getpid(), SIGTERM)
  }
}

@Suite("Service group")
struct ServiceGroupTests {
  private let diary = Diary()
  private let capture = LogCapture()

  private var logger: Logger { Logger(label: "main", sink: capture.sink) }

  /// Runs the group on a thread of its own, so that no thread of the test pool waits.
  private func run(_ group: ServiceGroup) async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: group.run(signals: false)) }
    }
  }

  @Test("services start in order and stop in reverse")
  func order() async {
    let stop = Mutex<ServiceGroup?>(nil)
    let last = Probe("c", diary, onStart: { _ in stop.withLock { $0?.stop(reason: "test") } })
    let group = ServiceGroup([Probe("a", diary), Probe("b", diary), last], logger: logger)
    stop.withLock { $0 = group }
    #expect(await run(group) == 0)
    #expect(diary.entries == ["start a", "start b", "start c", "stop c", "stop b", "stop a"])
    #expect(capture.entries.map(\.message) == ["stopping", "stopped"])
    stop.withLock { $0 = nil }
  }

  @Test("a service that ends by itself ends the group with its exit code; a second one changes nothing")
  func end() async {
    let fenced = Probe(
      "stream", diary,
      onStart: { onEnd in
        onEnd(ServiceEnd(exitCode: ExitCode.fenced, reason: "fenced by another of the same name"))
        onEnd(ServiceEnd(exitCode: 3, reason: "later"))
      })
    let group = ServiceGroup([Probe("admin", diary), fenced, Probe("never", diary)], logger: logger)
    #expect(await run(group) == 75)
    #expect(diary.entries == ["start admin", "start stream", "stop stream", "stop admin"])
    #expect(capture.entries.first?.message.contains("fenced by another of the same name") == true)
    #expect(capture.entries.first?.metadata == ["service": "stream", "exitCode": 75])
  }

  @Test("a service that cannot start ends the group; those before it are stopped, it itself is not")
  func startFails() async {
    let broken = Probe("broken", diary, onStart: { _ in throw Probe.Refusal() })
    let group = ServiceGroup([Probe("a", diary), broken, Probe("c", diary)], logger: logger)
    #expect(await run(group) == ExitCode.software)
    #expect(diary.entries == ["start a", "start broken", "stop a"])
  }

  @Test("a service that does not stop by the deadline is named, and the process exits without it")
  func hang() async {
    let release = DispatchSemaphore(value: 0)
    defer { release.signal() }
    let exits = Mutex<[Int32]>([])
    let hanging = Probe(
      "hanging", diary, onStart: { $0(ServiceEnd(exitCode: 0, reason: "done")) }, onStop: { release.wait() })
    let group = ServiceGroup(
      [Probe("a", diary), hanging], logger: logger, drain: .milliseconds(50),
      exitProcess: { code in exits.withLock { $0.append(code) } })
    #expect(await run(group) == ExitCode.hung)
    #expect(exits.withLock { $0 } == [ExitCode.hung])
    #expect(capture.entries.last?.metadata["service"] == "hanging")
    #expect(diary.entries == ["start a", "start hanging", "stop hanging"])
  }

  @Test("SIGTERM stops a process in order and it exits with 0")
  func terminate() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let diary = Diary()
      let last = Probe("b", diary, onStart: { _ in kill(getpid(), SIGTERM) })
      let code = ServiceGroup([Probe("a", diary), last], logger: Logger(label: "main")).run()
      exit(diary.entries == ["start a", "start b", "stop b", "stop a"] ? code : 99)
    }
  }

  @Test("SIGUSR1 stops a process for good: services that keep something for a restart are told, and it exits with 0")
  func retire() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let diary = Diary()
      let last = Probe("b", diary, onStart: { _ in kill(getpid(), SIGUSR1) })
      let code = ServiceGroup([Keeper(name: "a", diary: diary), last], logger: Logger(label: "main")).run()
      exit(diary.entries == ["start a", "start b", "stop b", "retire a"] ? code : 99)
    }
  }

  @Test("SIGHUP has a service that can read its files again, and ends nothing")
  func hangup() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let diary = Diary()
      let last = Probe("b", diary, onStart: { _ in kill(getpid(), SIGHUP) })
      let code = ServiceGroup([Reader(name: "a", diary: diary), last], logger: Logger(label: "main")).run()
      let entries = diary.entries.filter { $0 != "start b" }
      exit(entries == ["start a", "reload a", "stop b", "stop a"] ? code : 99)
    }
  }

  @Test("SIGTERM keeps membership for a restart, even if SIGUSR1 follows")
  func keeps() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let diary = Diary()
      let last = Probe(
        "b", diary,
        onStart: { _ in
          // `raise` returns after its handler ran. Of two signals that `kill` leaves pending, SIGUSR1 would be delivered first.
          raise(SIGTERM)
          raise(SIGUSR1)
        })
      let code = ServiceGroup([Keeper(name: "a", diary: diary), last], logger: Logger(label: "main")).run()
      exit(diary.entries == ["start a", "start b", "stop b", "stop a"] ? code : 99)
    }
  }

  @Test("a second SIGINT exits at once, while a service still stops")
  func interruptTwice() async {
    await #expect(processExitsWith: .exitCode(ExitCode.interrupted)) {
      let diary = Diary()
      let never = DispatchSemaphore(value: 0)
      let hanging = Probe(
        "a", diary, onStart: { _ in kill(getpid(), SIGINT) },
        onStop: {
          kill(getpid(), SIGINT)
          never.wait()
        })
      exit(ServiceGroup([hanging], logger: Logger(label: "main"), drain: .seconds(60)).run())
    }
  }

  @Test("a peer that has gone does not end the process by SIGPIPE")
  func brokenPipe() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let writer = Probe(
        "writer", Diary(),
        onStart: { onEnd in
          var ends: [Int32] = [0, 0]
          pipe(&ends)
          close(ends[0])
          let written = write(ends[1], "x", 1)
          onEnd(ServiceEnd(exitCode: written == -1 && errno == EPIPE ? 0 : 99, reason: "written"))
        })
      exit(ServiceGroup([writer], logger: Logger(label: "main")).run())
    }
  }
}
