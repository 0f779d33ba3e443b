import OTLP
public import ServiceKit
import StreamRuntime

/// The analyzer process: settings in, stream threads and their surroundings out.
public enum AnalyzerService {
  /// Settings, help, parts and checks.
  public static let assembly = ServiceAssembly(
    name: "analyzer",
    abstract: "Reads each person's timeline and decides, message by message, whether and how they are notified.",
    settings: AnalyzerSettings.all,
    examples: [
      "nudge-analyzer --bootstrap-servers kafka:9092 --state-dir /var/lib/nudge --instance analyzer-0",
      "nudge-analyzer --bootstrap-servers kafka:9092 --check",
    ],
    build: parts)

  private static func parts(_ context: ServiceContext) throws -> ServiceParts {
    let rules = try AnalyzerSettings.rules(from: context.values)
    var file: PolicyFile?
    if let (path, content) = try AnalyzerSettings.policyFile(from: context.values) {
      file = try PolicyFile(
        path: path, content, defaults: AnalyzerSettings.defaults(from: context.values), hash: rules.hash,
        logger: context.logger.with(label: "analyzer.policy"))
    }
    let telemetry = try Telemetry(context)
    let spans = telemetry.spans
    let streams = StreamService(
      .init(settings: context.settings), logger: context.logger, health: context.health, metrics: context.metrics,
      spans: spans, policy: file.map { file in { file.current } },
      makeStage: { AnalyzerStage(rules: rules) })
    return ServiceParts(
      services: telemetry.services + [file, streams], checks: [file?.check, streams.topicCheck])
  }
}
