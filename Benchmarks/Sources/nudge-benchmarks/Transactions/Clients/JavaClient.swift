import Foundation

/// The Java client of the Kafka distribution, in a process of its own, which gets its orders by standard input.
final class JavaClient: TransactionClient {
  static let name = "Java client"
  let name: String = JavaClient.name
  private let process = Process()
  private let orders = Pipe()
  private let answers = Pipe()
  private let log: URL
  private var rest = Data()

  private struct Answer: Decodable {
    let latencies: [Double]
    let cpuSeconds: Double
  }

  private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("TouchTransactions.java")

  /// Compiles and starts it; nil, with a note, where there is no Java compiler.
  static func start(_ target: TransactionTarget, context: BenchmarkContext, directory: URL) throws -> JavaClient? {
    let binaries = ProcessInfo.processInfo.environment["JAVA_HOME"].map { "\($0)/bin" }
    guard let home = context.options.kafkaHome, let java = Program.find("java", in: binaries),
      let compiler = Program.find("javac", in: binaries)
    else {
      context.report.note("skipped the Java client: java and javac (a JDK) are neither in JAVA_HOME/bin nor in PATH")
      return nil
    }
    let libraries = "\(URL(fileURLWithPath: home).standardizedFileURL.path)/libs/*"
    let classes = directory.appendingPathComponent("java-client")
    try Program.run(compiler, ["-cp", libraries, "-d", classes.path, source.path])
    return try JavaClient(java, "\(libraries):\(classes.path)", target, log: classes.appendingPathComponent("log"))
  }

  private init(_ java: String, _ path: String, _ target: TransactionTarget, log: URL) throws {
    self.log = log
    guard FileManager.default.createFile(atPath: log.path, contents: nil) else {
      throw BenchmarkFailure("\(log.path) cannot be written")
    }
    // setpriv becomes the program, which ends with this thread, the benchmark's main one.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments =
      [
        "--pdeathsig", "KILL", java, "-cp", path, "TouchTransactions", target.bootstrapServers, target.group,
        target.member, String(target.generation), String(target.recordBytes),
      ] + target.topics
    process.standardInput = orders
    process.standardOutput = answers
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
  }

  func run(_ shape: TransactionShape, transactions: Int) throws -> TransactionRun {
    // A pipe that nobody reads would end this process by SIGPIPE.
    guard process.isRunning else { throw failure }
    try orders.fileHandleForWriting.write(
      contentsOf: Data("\(shape.partitions) \(shape.records) \(transactions)\n".utf8))
    let answer = try JSONDecoder().decode(Answer.self, from: readLine())
    return TransactionRun(latencies: answer.latencies, cpuSeconds: answer.cpuSeconds)
  }

  private func readLine() throws -> Data {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        defer { rest = Data(rest[rest.index(after: end)...]) }
        return Data(rest[rest.startIndex..<end])
      }
      let more = answers.fileHandleForReading.availableData
      guard !more.isEmpty else { throw failure }
      rest += more
    }
  }

  private var failure: BenchmarkFailure {
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    return BenchmarkFailure(
      "\(Self.name) ended; it says \(text.split(separator: "\n").suffix(10).joined(separator: "\n"))")
  }

  /// It ends with its input.
  func close() {
    try? orders.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
