import Foundation
import ServiceKit
import Synchronization
import TestSupport
import Testing
import WebPush

@testable import Dispatcher

@Suite("Files of VAPID keys while the dispatcher runs")
struct VAPIDKeyFilesTests {
  private final class Uses: Sendable {
    private let keys = Mutex<[[String]]>([])
    var all: [[String]] { keys.withLock { $0 } }
    func add(_ keys: [VAPIDKey]) { self.keys.withLock { $0.append(keys.map(\.publicKey)) } }
  }

  private final class Bench {
    let folder: TemporaryDirectory
    let log = LogCapture()
    private let used = Uses()
    private(set) var files: VAPIDKeyFiles?
    private(set) var paths: [String] = []

    init(_ contents: [String]) throws {
      folder = try TemporaryDirectory()
      for (index, text) in contents.enumerated() {
        paths.append("\(folder.path)/\(index).pem")
        try write(text, index)
      }
      let watched = VAPIDKeyFiles.watched(paths)
      files = VAPIDKeyFiles(
        files: watched, keys: try VAPIDKey.keys(inFiles: paths), log: Logger(label: "test", sink: log.sink)
      ) { [used] in used.add($0) }
    }

    func write(_ text: String, _ index: Int = 0) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: paths[index]), options: .atomic)
    }

    /// A change is taken at the second look, when the file has stayed as it is.
    func look() { for _ in 0..<3 { files?.reload() } }

    var uses: [[String]] { used.all }
    var faults: Int { log.entries.count { $0.level == .error } }
  }

  private let old = try? VAPIDKey.makePEM()
  private let new = try? VAPIDKey.makePEM()

  private func publicKey(_ pem: String) throws -> String { try VAPIDKey(pem: pem).publicKey }

  @Test(
    "issue 57: a rotated file is used without a restart, the new key first; one that cannot be used changes nothing")
  func rotation() throws {
    let (old, new) = (try #require(old), try #require(new))
    let bench = try Bench([old])
    bench.look()
    #expect(bench.uses.isEmpty && bench.log.entries.isEmpty)
    for fault in ["", "no key", new + "rubbish"] {
      try bench.write(fault)
      bench.look()
    }
    #expect(bench.uses.isEmpty && (1...3).contains(bench.faults), "\(bench.log.entries)")
    try bench.write(new + old)
    bench.look()
    #expect(try bench.uses == [[publicKey(new), publicKey(old)]])
    // The same keys once more, and then without the old one.
    try bench.write(new + old + "\n")
    bench.look()
    #expect(bench.uses.count == 1)
    try bench.write(new)
    bench.look()
    #expect(try bench.uses.last == [publicKey(new)] && bench.uses.count == 2)
    // Without the file nothing changes.
    try FileManager.default.removeItem(atPath: bench.paths[0])
    bench.look()
    #expect(bench.uses.count == 2)
    // The reason of a fault has none of the file's words.
    let secrets = (old + new).split(separator: "\n").filter { !$0.hasPrefix("-----") }
    let said = bench.log.entries.map { "\($0)" }.joined()
    #expect(!secrets.contains { said.contains($0) } && !said.contains("rubbish"))
  }

  @Test("issue 57: of several files each is looked at")
  func several() throws {
    let (old, new) = (try #require(old), try #require(new))
    let bench = try Bench([old, new])
    let third = try VAPIDKey.makePEM()
    try bench.write(third, 1)
    bench.look()
    #expect(try bench.uses == [[publicKey(old), publicKey(third)]])
    // The same key in both is a fault, which is said once.
    try bench.write(old, 1)
    bench.look()
    bench.look()
    #expect(bench.uses.count == 1 && bench.faults == 1)
    try bench.write(new, 1)
    bench.look()
    #expect(try bench.uses.last == [publicKey(old), publicKey(new)])
  }
}
