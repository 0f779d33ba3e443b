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
    var rules = AnalyzerSettings.rules(from: context.values)
    let file = try context.values[AnalyzerSettings.simpleRules].map {
      try SimpleRulesFile(path: $0, logger: context.logger.with(label: "analyzer.rules"))
    }
    if let file { rules.simpleRules = { file.rules } }
    let spans = try SpanExporter.make(context)
    let streams = StreamService(
      .init(settings: context.settings), logger: context.logger, health: context.health, metrics: context.metrics,
      spans: spans, makeStage: { [rules] in AnalyzerStage(rules: rules) })
    return ServiceParts(
      services: [any Service]([spans].compactMap { $0 }) + [file].compactMap { $0 } + [streams],
      checks: [file?.check].compactMap { $0 } + [streams.topicCheck])
  }
}
