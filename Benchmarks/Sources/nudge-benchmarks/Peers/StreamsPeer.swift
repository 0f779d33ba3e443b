import Foundation

/// Kafka Streams with the same two stages, compiled at run time against the distribution's jars, each stage in a process of its own.
struct StreamsPeer {
  /// The part of the topology that a process runs.
  enum Stage: String {
    /// As ingest: a message becomes a candidate for each partition of its recipients.
    case fanout
    /// As the analyzer: a candidate becomes a decision and perhaps a push for each recipient.
    case decide
  }

  /// The peer's name in reports.
  let name: String
  private let java: String
  private let path: String
  private let broker: BenchmarkBroker
  private let partitions: Int32

  private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("StreamsPeer.java")
  /// As much as a service of this kind is usually given.
  private static let heap = "-Xmx2g"

  /// Compiles it; nil, with a note, where `--peer` asks for none, or Java's compiler or the library is missing.
  init?(_ context: BenchmarkContext, _ broker: BenchmarkBroker) throws {
    guard context.options.hasStreamsPeer else { return nil }
    let binaries = ProcessInfo.processInfo.environment["JAVA_HOME"].map { "\($0)/bin" }
    guard let home = context.options.kafkaHome, let java = Program.find("java", in: binaries),
      let compiler = Program.find("javac", in: binaries)
    else {
      context.report.note("skipped Kafka Streams: java and javac (a JDK) are neither in JAVA_HOME/bin nor in PATH")
      return nil
    }
    let libraries = URL(fileURLWithPath: home).standardizedFileURL.appendingPathComponent("libs")
    let jars = try FileManager.default.contentsOfDirectory(atPath: libraries.path)
    // Not kafka-streams-test-utils or -examples.
    guard let jar = jars.first(where: { $0.hasPrefix("kafka-streams-") && $0.dropFirst(14).first?.isNumber == true })
    else {
      context.report.note(
        "skipped Kafka Streams: \(libraries.path) has no kafka-streams-*.jar; a whole distribution has, or copy it there")
      return nil
    }
    let hasRocksDB = jars.contains { $0.hasPrefix("rocksdbjni") }
    if !hasRocksDB {
      context.report.note("Kafka Streams keeps its state in memory: \(libraries.path) has no rocksdbjni*.jar")
    }
    name = "Kafka Streams \(jar.dropFirst(14).dropLast(4))" + (hasRocksDB ? "" : ", in memory")
    let classes = broker.directory.appendingPathComponent("streams-peer")
    try Program.run(compiler, ["-cp", "\(libraries.path)/*", "-d", classes.path, Self.source.path])
    self.java = java
    path = "\(libraries.path)/*:\(classes.path)"
    self.broker = broker
    partitions = context.options.partitions
  }

  /// Starts a stage. It continues where a former process with this application's name and state stopped.
  /// - Parameter interval: between two commits, in milliseconds.
  func start(
    _ stage: Stage, application: String, from input: String, prefix: String, interval: Int, threads: Int
  ) throws -> ServiceProcess {
    let java = URL(fileURLWithPath: java)
    let state = broker.directory.appendingPathComponent("streams-state")
    return try ServiceProcess(
      java.lastPathComponent, in: java.deletingLastPathComponent(),
      [
        Self.heap, "-cp", path, "StreamsPeer", stage.rawValue, broker.bootstrapServers, application, state.path, prefix,
        input, String(partitions), String(interval), String(threads),
      ], log: broker.directory.appendingPathComponent("\(application)-\(UUID().uuidString).log"),
      name: "\(name) (\(stage.rawValue))")
  }
}
