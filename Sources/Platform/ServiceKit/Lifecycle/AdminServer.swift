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

/// The state that one part of a service reports.
public enum HealthStatus: Sendable, Equatable {
  /// It can do its work.
  case ready
  /// It cannot do its work. The text says why: `task 3: 40 %`.
  case notReady(String)
}

/// The named parts that together make a service ready, or alive.
public final class HealthChecks: Sendable {
  private struct State {
    var parts: [String: HealthStatus]
    var remarks: [String: String] = [:]
    var observers: [@Sendable (Bool) -> Void] = []
    var announced: Bool
  }

  private let state: Mutex<State>

  /// - Parameter parts: Parts that are not ready, with the reason `starting`, until their first report.
  public init(awaiting parts: [String] = []) {
    let awaited = Dictionary(parts.map { ($0, HealthStatus.notReady("starting")) }) { first, _ in first }
    state = Mutex(State(parts: awaited, announced: awaited.isEmpty))
  }

  /// Sets the state of a part, and adds the part if it is new.
  public func set(_ part: String, _ status: HealthStatus) { change { $0[part] = status } }

  /// Sets a warning about a part that is still ready; nil removes it.
  public func setRemark(_ part: String, _ remark: String?) { state.withLock { $0.remarks[part] = remark } }

  /// Warnings, by part.
  public var remarks: [String: String] { state.withLock { $0.remarks } }

  /// Whether every part is ready.
  public var isReady: Bool { state.withLock { Self.isReady($0.parts) } }

  /// The reason of each part that is not ready.
  public var reasons: [String: String] {
    state.withLock { state in
      state.parts.compactMapValues { status in
        if case .notReady(let reason) = status { reason } else { nil }
      }
    }
  }

  /// Calls `observer` now, and again whenever all parts have become ready or one no longer is. It is called under this
  /// object's lock, in the order of the changes, so it must be short and must not call this object.
  public func observe(_ observer: @escaping @Sendable (_ isReady: Bool) -> Void) {
    state.withLock { state in
      state.observers.append(observer)
      observer(Self.isReady(state.parts))
    }
  }

  private func change(_ body: (inout [String: HealthStatus]) -> Void) {
    state.withLock { state in
      body(&state.parts)
      let isReady = Self.isReady(state.parts)
      guard isReady != state.announced else { return }
      state.announced = isReady
      for observer in state.observers { observer(isReady) }
    }
  }

  private static func isReady(_ parts: [String: HealthStatus]) -> Bool {
    parts.values.allSatisfy { $0 == .ready }
  }
}

/// A service's health: whether it is alive (if not, restart it) and whether it is ready (if not, give it no work).
public struct HealthState: Sendable {
  /// For failures that need a restart, such as a thread that has ended.
  public let liveness: HealthChecks
  /// For conditions that can pass: restoring, no broker, FCM refuses the credentials.
  public let readiness: HealthChecks

  /// - Parameter parts: The service is not ready until each of them has reported that it is.
  public init(awaiting parts: [String] = []) {
    liveness = HealthChecks()
    readiness = HealthChecks(awaiting: parts)
  }
}
