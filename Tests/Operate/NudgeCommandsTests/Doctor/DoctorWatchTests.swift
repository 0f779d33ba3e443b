import Foundation
import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("nudge doctor --watch, and its exit codes")
struct DoctorWatchTests {
  private let lag = Finding.problem("lag", "ingest: 17 unprocessed", mend: "look")
  private let letters = Finding.notice("dead letters", "3 in the last hour", mend: "list them")
  private let brokers = Finding.problem("brokers", "none answers", mend: "start them")

  @Test("only changes are told: what appears and what is over, not figures that go on")
  func changes() {
    var watch = DoctorWatch()
    #expect(watch.changes([.good("topics", "all exist"), lag]) == [.appeared(lag)])
    #expect(
      watch.changes([.problem("lag", "ingest: 40 unprocessed", mend: "look"), letters]) == [
        .appeared(letters)
      ])
    #expect(watch.changes([letters, letters]) == [.ended(subject: "lag", .problem)])
    #expect(
      watch.changes([.good("lag", "none"), .good("dead letters", "none")]) == [
        .ended(subject: "dead letters", .notice)
      ])
    #expect(watch.changes([]) == [])
  }

  @Test("without a broker nothing else is over")
  func cutShort() {
    var watch = DoctorWatch()
    _ = watch.changes([lag, letters])
    #expect(watch.changes([brokers]) == [.appeared(brokers)])
    #expect(
      watch.changes([lag]) == [
        .ended(subject: "brokers", .problem), .ended(subject: "dead letters", .notice),
      ])
  }

  @Test("0: well, 1: a problem, 2: no broker, 3: notices where they count")
  func codes() {
    let good = Finding.good("topics", "all exist")
    #expect(DoctorExit.code([good], failsOnNotice: true) == 0)
    #expect(DoctorExit.code([good, letters], failsOnNotice: false) == 0)
    #expect(DoctorExit.code([good, letters], failsOnNotice: true) == 3)
    #expect(DoctorExit.code([good, letters, lag], failsOnNotice: true) == 1)
    #expect(DoctorExit.code([lag, brokers], failsOnNotice: false) == 2)
  }
}

@Suite("nudge support-bundle")
struct SupportBundleTests {
  @Test("of a log the last warnings, errors and backtraces are kept, without anything like a token")
  func log() {
    let token = String(repeating: "aB3-_", count: 30)
    let log = """
      {"level":"info","message":"ready"}
      {"level":"warning","message":"slow"}
      {"level":"error","message":"refused \(token) now"}
      Crash at 0x1234
      """
    let kept = SupportRedaction.lastErrors(of: log)
    #expect(kept.count == 3 && kept[0].contains("slow") && kept[2] == "Crash at 0x1234")
    let shown = SupportRedaction().apply(to: kept.joined(separator: "\n"))
    #expect(!shown.contains(token) && shown.contains("refused"))
    #expect(SupportRedaction.lastErrors(of: log, limit: 1) == ["Crash at 0x1234"])
  }

  @Test("the archive is one that tar reads, with a file for what could not be collected")
  func archive() throws {
    var bundle = SupportBundle(now: 1_795_275_600_000)
    bundle.add("versions.json") { "{}" }
    bundle.add("long.txt") { String(repeating: "012345678 ", count: 200) }
    bundle.add("lag.json") { throw CommandError("no broker answers") }
    #expect(bundle.failures.count == 1)
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "bundle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("bundle.tar")
    try Data(bundle.archive).write(to: file)
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/bin/tar")
    tar.arguments = ["-xf", file.path, "-C", directory.path]
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
    func read(_ name: String) throws -> String {
      try String(
        contentsOf: directory.appendingPathComponent("nudge-support/\(name)"), encoding: .utf8)
    }
    #expect(try read("versions.json") == "{}\n")
    #expect(try read("long.txt").utf8.count == 2_001)
    #expect(try read("lag.json") == "could not be collected: no broker answers\n")
  }

  @Test("a service that does not answer is told, not waited for")
  func pages() {
    for address in ["127.0.0.1:1", "no-port", "no.such.host.invalid:80"] {
      if case .success = PageReader.get(address, "/metrics", timeout: 1) {
        Issue.record("\(address) answered")
      }
    }
  }
}
