import NudgeSchema
import OTLP
import Relevance
public import ServiceKit
import StreamRuntime
import WebPush

/// The ingest process, built from its settings: stream threads and the services around them.
public enum IngestService {
  /// Settings, help, parts and checks.
  public static let assembly = ServiceAssembly(
    name: "ingest",
    abstract: "Validates chat and user events, knows conversations and devices, and writes each person's timeline.",
    settings: IngestSettings.all,
    examples: [
      "nudge-ingest --bootstrap-servers kafka:9092 --state-dir /var/lib/nudge --instance ingest-0",
      "nudge-ingest --bootstrap-servers kafka:9092 --http-address 0.0.0.0:8080 --api-keys-file /etc/nudge/api-keys",
      "nudge-ingest --bootstrap-servers kafka:9092 --http-only --http-address 0.0.0.0:8081 --api-keys-file /etc/nudge/api-keys",
      "nudge-ingest --bootstrap-servers kafka:9092 --check",
    ],
    build: parts)

  private static func parts(_ context: ServiceContext) throws -> ServiceParts {
    let rules = IngestRules(
      freshness: context.settings.freshness.milliseconds,
      tokenLifetime: context.values[IngestSettings.tokenLifetime].milliseconds,
      frame: context.values[IngestSettings.schemaRegistryFrame],
      endpoints: WebPushSettings.rules(context.values), hash: { TokenHash.of($0) })
    let telemetry = try Telemetry(context)
    let spans = telemetry.spans
    // The HTTP API informs producers about their dead letters and sends banners to apps.
    var alsoReads: [Topic] = try APISettings.isWanted(context.values) ? [.deadLetters] : []
    if APISettings.hasStreams(context.values) { alsoReads.append(.banners) }
    let streams = StreamService(
      .init(settings: context.settings, runsTasks: !context.values[APISettings.alone], alsoReads: alsoReads),
      logger: context.logger,
      health: context.health, metrics: context.metrics,
      spans: spans,
      makeStage: {
        // Creating its tables takes about 0.2 s, which the first message should not wait for.
        _ = Urgency.standard
        return IngestStage(rules)
      })
    // After the streams, so that it is stopped before them.
    let api = try EventsAPI.make(context, rules: rules, spans: spans)
    return ServiceParts(
      services: telemetry.services + [streams, api], checks: [streams.topicCheck, api?.check])
  }
}

/// Ingest's settings besides those of every service.
enum IngestSettings {
  static let tokenLifetime = Setting<Duration>(
    "token-lifetime", default: .seconds(270 * 86_400), in: .seconds(86_400)...(.seconds(3_650 * 86_400)),
    help:
      "A token that is not registered again for this long is dropped, as FCM does. Give the analyzer the "
      + "same value.")

  static let schemaRegistryFrame = Setting<SchemaRegistryFrame>(
    "schema-registry-frame", default: .refuse,
    help:
      "Values that begin with the frame of Confluent's schema registry (0x00 and a schema id): refuse them, or skip the frame and read the JSON behind it."
  )

  /// All settings, in the order of the help.
  static let all: [any AnySetting] = [tokenLifetime, schemaRegistryFrame] + WebPushSettings.all + APISettings.all
}
