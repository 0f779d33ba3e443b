import Foundation

/// One of Nudge's programs as a process, whose log is read while it runs.
final class ServiceProcess {
  /// The committed transactions, from its log.
  struct Committed {
    var records = 0
    var outputs = 0
    var rows = 0
    var transactions = 0
  }

  private struct CommittedLine: Decodable {
    let records: Int
    let outputs: Int
    let rows: Int
  }

  let name: String
  /// The process id.
  var number: Int32 { process.processIdentifier }
  private let process = Process()
  private let log: URL
  private let file: FileHandle
  private var rest = Data()
  private var readyLine: String?
  /// The address of its HTTP API, once logged.
  private(set) var apiPort: Int?
  private(set) var committed = Committed()
  /// Errors it has logged. Warnings are left out: the service recovers from them by itself.
  private(set) var complaints: [String] = []

  /// Starts a program of a folder; its output goes to a file.
  /// - Parameter name: how errors call it; nil: as the program.
  init(_ program: String, in programs: URL, _ arguments: [String], log: URL, name: String? = nil) throws {
    self.name = name ?? program
    self.log = log
    guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
      throw BenchmarkFailure("\(log.path) cannot be written")
    }
    file = try FileHandle(forReadingFrom: log)
    let output = try FileHandle(forWritingTo: log)
    // setpriv becomes the program: it keeps its process id, and ends with this thread, the benchmark's main thread.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments = ["--pdeathsig", "KILL", programs.appendingPathComponent(program).path] + arguments
    // Settings in the caller's environment are not meant for this service.
    process.environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("NUDGE_") && $0.key != "GOOGLE_APPLICATION_CREDENTIALS"
    }
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// Reads the log since the last call. Throws if the process has ended.
  func readLog() throws {
    // Take the status before the log is read, so that the log is complete.
    let isRunning = process.isRunning
    rest += try file.readToEnd() ?? Data()
    while let end = rest.firstIndex(of: 0x0A) {
      try read(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
      rest = rest[rest.index(after: end)...]
    }
    guard isRunning else {
      throw BenchmarkFailure("\(name) ended with status \(process.terminationStatus); its log says \(lastWords)")
    }
  }

  private struct ListensLine: Decodable {
    let port: Int
  }

  private func read(_ line: String) throws {
    if line.contains(#""message":"HTTP API listens""#) {
      apiPort = try JSONDecoder().decode(ListensLine.self, from: Data(line.utf8)).port
    }
    if line.contains(#""message":"committed""#) {
      let entry = try JSONDecoder().decode(CommittedLine.self, from: Data(line.utf8))
      committed.records += entry.records
      committed.outputs += entry.outputs
      committed.rows += entry.rows
      committed.transactions += 1
    } else if line.contains(#""message":"ready""#) || line.contains(#""ready":true"#) {
      readyLine = line
    } else if line.contains(#""level":"error""#) {
      complaints.append(line)
    }
  }

  /// The end of its log.
  var lastWords: String {
    ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").suffix(5).joined(separator: "\n")
  }

  /// Waits until it logs that it is ready; returns the line.
  func waitUntilReady() throws -> String {
    let deadline = Clocks.steady + 60
    while true {
      try readLog()
      if let readyLine { return readyLine }
      guard Clocks.steady < deadline else { throw BenchmarkFailure("\(name) is not ready after 60 s: \(lastWords)") }
      usleep(5_000)
    }
  }

  /// Stops it with SIGTERM. Returns the end of its output.
  @discardableResult
  func stop() throws -> String {
    process.terminate()
    let deadline = Clocks.steady + 60
    while process.isRunning {
      guard Clocks.steady < deadline else {
        kill(number, SIGKILL)
        throw BenchmarkFailure("\(name) did not end within 60 s of SIGTERM: \(lastWords)")
      }
      usleep(10_000)
    }
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkFailure("\(name) ended with status \(process.terminationStatus): \(lastWords)")
    }
    return lastWords
  }
}

/// An FCM emulator's addresses and files: the line it prints when it is ready.
struct EmulatorReady: Decodable {
  let url: String
  let serviceAccount: String
  let caFile: String

  /// Waits for an emulator's line.
  init(of emulator: ServiceProcess) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(try emulator.waitUntilReady().utf8))
  }
}
