public import ServiceKit
import StreamRuntime

/// The analyzer process: settings in, stream threads and their surroundings out.
public enum AnalyzerService {
  /// The program, with settings, help and checks.
  public static let program = ServiceProgram(
    name: "analyzer",
    abstract: "Reads each person's timeline and decides, message by message, whether and how they are notified.",
    settings: AnalyzerSettings.all,
    examples: [
      "nudge-analyzer --bootstrap-servers kafka:9092 --state-dir /var/lib/nudge --instance analyzer-0",
      "nudge-analyzer --bootstrap-servers kafka:9092 --check",
    ],
    build: parts)

  /// Runs the process and returns what it exits with; `arguments` are without the program's name.
  public static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
    program.run(arguments, environment: environment)
  }

  private static func parts(_ context: ServiceContext) -> ServiceParts {
    let rules = AnalyzerSettings.rules(from: context)
    let streams = StreamService(
      .init(settings: context.settings), logger: context.logger, health: context.health, metrics: context.metrics,
      makeStage: { AnalyzerStage(rules: rules) })
    return ServiceParts(services: [streams], checks: [streams.topicCheck])
  }
}
