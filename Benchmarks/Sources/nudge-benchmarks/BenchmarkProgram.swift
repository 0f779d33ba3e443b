import Foundation
import Kafka
import ServiceKit

/// The command line: the benchmarks, their size, and the Kafka to use.
enum BenchmarkProgram {
  static let benchmarks: [any Benchmark.Type] = [
    TransactionsBenchmark.self, LatencyBenchmark.self, SinkBenchmark.self, RestoreBenchmark.self, TimersBenchmark.self,
    StagesBenchmark.self, BacklogBenchmark.self, HTTPBenchmark.self, FanOutBenchmark.self, ErasureBenchmark.self,
    NeighboursBenchmark.self, HostsBenchmark.self,
    TransportBenchmark.self,
  ]

  static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
    let names = arguments.prefix { !$0.hasPrefix("-") }
    let schema = SettingsSchema(
      program: "nudge-benchmarks [NAME …]",
      abstract: "Measures Nudge's services beside bare C loops. Names: "
        + benchmarks.map { $0.name }.joined(separator: ", ") + "; all, unless named.",
      version: NudgeVersion.current, settings: BenchmarkOptions.all,
      examples: [
        "nudge-benchmarks --list", "KAFKA_HOME=/opt/kafka nudge-benchmarks",
        "nudge-benchmarks transactions latency --kafka-home /opt/kafka --repetitions 5 --json",
        "nudge-benchmarks sink --brokers 3 --rounds 2000 --transactions 0",
        "nudge-benchmarks stages", "nudge-benchmarks fanout --large-group 100000",
        "nudge-benchmarks erasure --people 100000 --deletions 10000",
        "nudge-benchmarks transport --firebase-python /opt/firebase/bin/python3",
        "nudge-benchmarks backlog --people 60000 --messages 12000 --chat-log log.jsonl.gz --json",
        "nudge-benchmarks backlog latency --peer streams --people 100000",
      ])
    do {
      switch try schema.parse(Array(arguments.dropFirst(names.count)), environment: environment) {
      case .print(let text):
        print(text)
        return ExitCode.success
      case .run(let values), .check(let values):
        return try run(Array(names), try BenchmarkOptions(values))
      }
    } catch let error as SettingsError {
      FileHandle.standardError.write(Data("nudge-benchmarks: \(error)\n".utf8))
      return ExitCode.usage
    } catch {
      FileHandle.standardError.write(Data("nudge-benchmarks: \(error)\n".utf8))
      return ExitCode.failure
    }
  }

  private static func run(_ names: [String], _ options: BenchmarkOptions) throws -> Int32 {
    if options.list {
      for benchmark in benchmarks {
        print("\(benchmark.name.padding(toLength: 14, withPad: " ", startingAt: 0))\(benchmark.abstract)")
      }
      return ExitCode.success
    }
    for name in names where !benchmarks.contains(where: { $0.name == name }) {
      throw BenchmarkFailure("no benchmark is called \(name); --list names them")
    }
    let chosen = benchmarks.filter { names.isEmpty || names.contains($0.name) }
    let report = Report(isJSON: options.json)
    report.note("\(Machine.description)")
    var broker: BenchmarkBroker?
    if chosen.contains(where: { $0.needsKafka && !$0.startsBroker }) { broker = try BenchmarkBroker.start(options) }
    for benchmark in chosen {
      if benchmark.needsKafka && (options.kafkaHome ?? "").isEmpty {
        report.note("skipped \(benchmark.name): it needs a real Kafka; set KAFKA_HOME=/path/to/kafka or --kafka-home")
        continue
      }
      report.begin(benchmark.name, benchmark.abstract)
      try benchmark.run(BenchmarkContext(options: options, report: report, broker: broker))
    }
    broker?.stop()
    report.end()
    return ExitCode.success
  }
}

protocol Benchmark: SendableMetatype {
  static var name: String { get }
  static var abstract: String { get }
  static var needsKafka: Bool { get }
  /// Whether it needs its own broker, neither warmed up nor filled by other benchmarks.
  static var startsBroker: Bool { get }
  static func run(_ context: BenchmarkContext) throws
}

extension Benchmark {
  static var startsBroker: Bool { false }
}

/// The environment of a benchmark.
struct BenchmarkContext {
  let options: BenchmarkOptions
  let report: Report
  private let startedBroker: BenchmarkBroker?

  init(options: BenchmarkOptions, report: Report, broker: BenchmarkBroker?) {
    self.options = options
    self.report = report
    startedBroker = broker
  }

  /// The folder of the services that a benchmark starts; nil, with a note, if one of them is missing.
  func services(_ programs: [String], for benchmark: String) -> URL? {
    let folder = URL(fileURLWithPath: options.services).standardizedFileURL
    for program in programs {
      let path = folder.appendingPathComponent(program).path
      guard FileManager.default.isExecutableFile(atPath: path) else {
        report.note(
          "skipped \(benchmark): \(path) is missing; make bench builds the services, --services says where they are")
        return nil
      }
    }
    return folder
  }

  /// The broker shared by benchmarks that need one.
  func broker() throws -> BenchmarkBroker {
    guard let startedBroker else { throw BenchmarkFailure("no Kafka was started") }
    return startedBroker
  }
}

/// The reason why a benchmark did not finish.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
