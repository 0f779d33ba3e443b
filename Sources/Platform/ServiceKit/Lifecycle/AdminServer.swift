public import HTTPServer
import Synchronization

/// Serves `/livez` (also `/healthz`), `/readyz` and `/metrics` of a service. It logs its address, and `ready` when the
/// service first becomes ready.
public final class AdminServer: Service {
  /// `admin`.
  public let name = "admin"
  private let server: HTTPServer
  private let health: HealthState
  private let logger: Logger

  /// `address` is the value of `--admin-address`; port 0 lets the system choose.
  /// - Throws: `HTTPServerError` when the address cannot be read.
  public init(address: String, health: HealthState, metrics: MetricsRegistry, logger: Logger) throws(HTTPServerError) {
    self.health = health
    self.logger = logger
    server = try HTTPServer(
      address: address,
      routes: [
        HTTPRoute(.get, "/livez") { _ in Self.answer(health.liveness, good: "alive", bad: "not alive") },
        // The path from before Kubernetes distinguished the two.
        HTTPRoute(.get, "/healthz") { _ in Self.answer(health.liveness, good: "alive", bad: "not alive") },
        HTTPRoute(.get, "/readyz") { _ in Self.answer(health.readiness, good: "ready", bad: "not ready") },
        HTTPRoute(.get, "/metrics") { _ in
          HTTPServerResponse(
            headers: [("Content-Type", PrometheusText.contentType)], body: Array(metrics.exposition().utf8))
        },
      ],
      limits: HTTPServerLimits(bodySize: 1_024, connections: 64, handlerThreads: 1),
      log: { logger.warning("admin server: \($0)") })
  }

  /// The port it listens on; 0 before `start`.
  public var port: Int { server.port }

  /// Listens.
  /// - Throws: `HTTPServerError` if the address is in use or does not belong to this machine.
  public func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    try server.start()
    logger.info("admin server listens", ["address": .string(server.boundAddress), "port": .int(server.port)])
    let announcement = ReadinessAnnouncement(logger: logger)
    health.readiness.observe { announcement.announce($0) }
  }

  /// Returns once the requests in flight have been answered.
  public func stop() { server.stop() }

  private static func answer(_ checks: HealthChecks, good: String, bad: String) -> HTTPServerResponse {
    let reasons = checks.reasons
    return .json(
      HealthAnswer(
        status: reasons.isEmpty ? good : bad, reasons: reasons, remarks: checks.remarks.isEmpty ? nil : checks.remarks),
      status: reasons.isEmpty ? 200 : 503)
  }

  private struct HealthAnswer: Encodable {
    let status: String
    let reasons: [String: String]
    /// Warnings, possibly of a service that is ready; nil if there are none.
    let remarks: [String: String]?
  }
}

/// Logs `ready` the first time, because people and scripts wait for that line. Later changes have other messages.
final class ReadinessAnnouncement: Sendable {
  private let wasReady = Atomic<Bool>(false)
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// Called for each change, one at a time.
  func announce(_ isReady: Bool) {
    let earlier = wasReady.load(ordering: .relaxed)
    switch (isReady, earlier) {
    case (true, false):
      wasReady.store(true, ordering: .relaxed)
      logger.info("ready")
    case (true, true): logger.notice("is ready again")
    case (false, true): logger.warning("is no longer ready")
    case (false, false): break
    }
  }
}
