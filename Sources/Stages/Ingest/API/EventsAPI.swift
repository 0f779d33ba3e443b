import Glibc
import HTTPServer
import ServiceKit

/// The HTTP API of ingest: it accepts events, and provides streams and schemas.
final class EventsAPI: ReloadingService {
  let name = "http"

  private let server: HTTPServer
  private let producer: EventProducer
  private let rejections: RejectionTail
  private let decisions: DecisionTail
  private let live: LiveService
  private let questions = PersonQuestions()
  private let credentials: Credentials
  private let logger: Logger
  private let health: HealthState
  private let timer = RepeatingTimer("http-files", every: EventsAPI.fileInterval)

  /// How often the key files are checked for changes.
  private static let fileInterval: Duration = .seconds(1)

  /// The most open connections. Further ones wait in the system's queue.
  private static let connections = 2_048

  /// The API for the settings; nil if it is turned off.
  /// - Throws: `SettingsError` for settings or key files that cannot be used; `KafkaError`, `HTTPServerError`.
  static func make(_ context: ServiceContext, rules: IngestRules, spans: (any SpanRecorder)?) throws -> EventsAPI? {
    guard try APISettings.isWanted(context.values) else {
      context.logger.info("the HTTP API is off: it needs --api-keys-file or --jwt-keys-file")
      return nil
    }
    return try EventsAPI(context, rules: rules, spans: spans)
  }

  init(
    _ context: ServiceContext, rules: IngestRules, spans: (any SpanRecorder)? = nil,
    limits: EventProducer.Limits = EventProducer.Limits(), server serverLimits: HTTPServerLimits? = nil,
    live liveLimits: LiveStreams.Limits? = nil
  ) throws {
    let logger = context.logger.with(label: "ingest.http")
    self.logger = logger
    health = context.health
    let values = context.values
    credentials = try Credentials(
      apiKeysFile: values[APISettings.apiKeysFile], tokenKeysFile: values[APISettings.tokenKeysFile],
      issuer: values[APISettings.tokenIssuer], audience: values[APISettings.tokenAudience], logger: logger)
    let metrics = APIMetrics(context.metrics)
    producer = try EventProducer(settings: context.settings, limits: limits, logger: logger, metrics: metrics)
    let rates = CallerRates(
      backendEvents: values[APISettings.rate], backendBytes: values[APISettings.bytes],
      userEvents: values[APISettings.userRate], userBytes: values[APISettings.userBytes])
    rejections = RejectionTail(settings: context.settings, logger: logger, metrics: metrics)
    decisions = DecisionTail(settings: context.settings, logger: logger)
    let asked = RejectionsEndpoint(credentials: credentials, rates: rates, tail: rejections)
    let events = EventsEndpoint(
      credentials: credentials, rates: rates,
      producer: producer, decisions: decisions, rules: rules, metrics: metrics, spans: spans)
    let streams = Self.streams(values, logger)
    live = LiveService(
      context, credentials: credentials, rates: rates, questions: questions, producer: producer,
      limits: liveLimits ?? LiveStreams.Limits(values, streams: streams), logger: logger)
    let people = PersonEndpoint(
      credentials: credentials, rates: rates, producer: producer, questions: questions, rules: rules,
      apiMetrics: metrics, metrics: PersonMetrics(context.metrics), obstacle: { [live] in live.obstacle() })
    server = try HTTPServer(
      address: values[APISettings.address],
      routes: [events.route, asked.route] + people.routes + [live.route].compactMap { $0 } + DocumentRoutes.all,
      limits: serverLimits
        ?? HTTPServerLimits(
          bodySize: RequestBody.maxBytes, bodyBudget: values[APISettings.bodyBudget] << 20,
          connections: Self.connections, streams: streams + DecisionStreams.Limits().streams,
          connectionsPerAddress: values[APISettings.connectionsPerAddress],
          idleTimeout: .seconds(15), transferTime: .seconds(20), handlerThreads: 2),
      cors: Self.cors(values[APISettings.corsOrigins]), log: { logger.warning("HTTP API: \($0)") },
      onAnswer: { metrics.count($0) })
    if values[APISettings.anyAudience] {
      logger.warning("users' tokens for any audience are accepted (--jwt-any-audience)")
    }
    health.readiness.set(name, .notReady("starting"))
  }

  /// How many streams may be open, which the limit of open files restricts.
  private static func streams(_ values: SettingsValues, _ logger: Logger) -> Int {
    let wanted = APISettings.hasStreams(values) ? values[APISettings.liveStreams] : 0
    let others = connections + 1_024
    let streams = min(wanted, max(0, OpenFiles.allow(others + wanted) - others))
    if streams < wanted {
      logger.notice(
        "fewer streams than --live-streams may be open: raise the limit of open files (ulimit -Hn)",
        ["streams": .int(streams), "wanted": .int(wanted)])
    }
    return streams
  }

  private static func cors(_ origins: [String]) -> CORSPolicy? {
    origins.isEmpty
      ? nil
      : CORSPolicy(
        origins: Set(origins),
        requestHeaders: ["Authorization", "Content-Type", "Content-Encoding", "traceparent", "Last-Event-ID"],
        exposedHeaders: ["Retry-After", "Date", "Nudge-Next", "Nudge-Forgotten"])
  }

  /// The check of `--check`.
  var check: ServiceCheck {
    ServiceCheck("HTTP API") { [credentials] in credentials.summary }
  }

  /// The port on which it listens; 0 before `start`.
  var port: Int { server.port }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    producer.start()
    rejections.start()
    decisions.start()
    live.start()
    do {
      try server.start()
    } catch {
      live.stop()
      decisions.close()
      rejections.close()
      producer.close()
      throw error
    }
    timer.start { [credentials] in credentials.reload(force: false) }
    logger.info("HTTP API listens", ["address": .string(server.boundAddress), "port": .int(server.port)])
    health.readiness.set(name, .ready)
  }

  /// Answers pending requests, and ends.
  func stop() {
    live.stop()
    timer.stop()
    // Answers the waiting requests, so that the server need not wait for them.
    questions.close()
    decisions.close()
    rejections.close()
    server.stop()
    producer.close()
  }

  func reload() { credentials.reload(force: true) }
}

/// The process's limit on open files.
enum OpenFiles {
  /// Raises the limit to this number, or to the system's maximum. Many systems start at 1,024 and allow more.
  /// Returns the limit in force.
  static func allow(_ count: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return count }
    guard limit.rlim_cur < rlim_t(count) else { return count }
    limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
