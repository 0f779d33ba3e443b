internal import Foundation
internal import Synchronization

/// Emulates FCM's HTTP v1 API, Google's OAuth server and a push service of Web Push: HTTP/2 over TLS with its own CA, and plain HTTP/2.
///
/// It is as strict as FCM and refuses in FCM's words. It fails on request, see ``Fault``.
///
/// - `POST /token`: an assertion signed with the key of ``serviceAccountFile`` for an access token;
/// - `POST /v1/projects/{project}/messages:send`: a message;
/// - `POST /wpush/{id}`: a push to a browser's subscription (RFC 8030), see `BrowserSubscription`;
/// - `POST /webhook`: an escalation, which is recorded and not checked;
/// - `GET /emulator/stats`: ``counters`` as JSON;
/// - `GET /emulator/tokens`: messages by device token and status, if it counts them;
/// - `POST /emulator/faults`: a ``FaultFile`` that replaces the present faults;
/// - `POST /emulator/uninstalled`: answers `{"tokens": […]}` with UNREGISTERED from now on, endpoints of subscriptions with 410,
///   as if their apps were removed;
/// - `POST /emulator/subscriptions`: `{"names": […]}` for subscriptions of browsers with these names, as apps register them.
///
/// ``adminURL`` serves these over HTTP/1.1, and `GET /deliveries`, the stream of messages to devices; with
/// ``FCMEmulatorConfiguration/appsFile`` `POST /apps`, with which the page opens the app of a phone.
public final class FCMEmulator: Sendable {
  /// The base URL with TLS, `https://127.0.0.1:PORT`.
  public let url: String
  /// The base URL without TLS. Absent without such a listener.
  public let plainURL: String?
  /// The certificate of the CA to trust, in PEM.
  public let caFile: String
  /// The service account, as downloaded from Google's console; its `token_uri` is the emulator's.
  public let serviceAccountFile: String

  /// The URL of the page with the phones and of the emulator's own endpoints. Absent if they are not served.
  public let adminURL: String?

  /// The public half of the key that signs apps' tokens, in PEM, for ingest's `--jwt-keys-file`. Absent without apps.
  public let appKeysFile: String?
  /// The `iss` of apps' tokens.
  public static let appIssuer = PhoneApps.issuer
  /// The `aud` of apps' tokens.
  public static let appAudience = PhoneApps.audience

  private let configuration: FCMEmulatorConfiguration
  private let phones: PhonesServer?
  private let server: EmulatorServer
  private let ledger: EmulatorLedger
  private let temporaryDirectory: String?
  private let phase = Mutex(Phase.ready)

  private enum Phase { case ready, running, stopped }

  /// Opens the listeners, and writes the CA and the service account. ``start()`` begins to accept requests.
  ///
  /// - Throws: ``FCMEmulatorError`` if an address is taken, a file cannot be written, or the configuration has no project.
  init(_ configuration: FCMEmulatorConfiguration = FCMEmulatorConfiguration()) throws(FCMEmulatorError) {
    guard let project = configuration.projects.first, configuration.projects.allSatisfy(Self.isProject) else {
      throw FCMEmulatorError("the emulator needs a project: small letters, digits and hyphens")
    }
    guard configuration.accessTokenLifetime >= .seconds(1), configuration.maxConcurrentStreams > 0,
      configuration.delay >= .zero, configuration.keepRequests >= 0,
      configuration.faults.allSatisfy({ (0...1).contains($0.ratio) && $0.delay >= .zero && $0.skip >= 0 })
    else {
      throw FCMEmulatorError("the emulator's limits and delays must not be negative, and ratios lie between 0 and 1")
    }
    if let objection = configuration.appsObjection { throw FCMEmulatorError(objection) }
    self.configuration = configuration
    let secure = try Listener(configuration.listen, isTLS: true)
    let plain = try configuration.plainListen.map { (address) throws(FCMEmulatorError) in
      try Listener(address, isTLS: false)
    }
    let host = configuration.listen.host == "0.0.0.0" ? "127.0.0.1" : configuration.listen.host
    url = "https://\(host):\(secure.port)"
    plainURL = plain.map { "http://\(configuration.plainListen?.host ?? host):\($0.port)" }
    let identity = try EmulatorIdentity(project: project, host: configuration.listen.host)
    let directory =
      configuration.directory
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("fcm-emulator-\(UUID().uuidString)").path
    temporaryDirectory = configuration.directory == nil ? directory : nil
    let tokenURI = url + "/token"
    (caFile, serviceAccountFile) = try identity.write(to: directory, tokenURI: tokenURI)
    ledger = EmulatorLedger(configuration)
    let control = EmulatorControl(
      ledger: ledger, seed: configuration.seed, countsTokens: configuration.countsTokens,
      pushService: url)
    let apps = try configuration.appsFile.map { (path) throws(FCMEmulatorError) in
      try PhoneApps(path: path, directory: directory, now: configuration.now)
    }
    appKeysFile = apps?.keysFile
    let board = configuration.adminAddress.map { _ in PhoneBoard() }
    let deliveries = configuration.adminAddress.map { _ in DeliveryLog() }
    phones = try configuration.adminAddress.flatMap { (address) throws(FCMEmulatorError) in
      guard let board, let deliveries else { return nil }
      return try PhonesServer(
        address: address, board: board, deliveries: deliveries,
        decisions: configuration.decisionFile.map { DecisionFile(path: $0) }, apps: apps, control: control)
    }
    adminURL = phones?.url
    server = try EmulatorServer(
      configuration, ledger: ledger, control: control, identity: identity,
      tokenEndpoint: TokenEndpoint(account: identity.account, audience: tokenURI),
      pushService: PushService(origin: url, plainOrigin: plainURL, keys: configuration.vapidKeys), phones: board,
      deliveries: deliveries,
      listeners: plain.map { [secure, $0] } ?? [secure])
  }

  deinit {
    stop()
  }

  /// Starts to accept requests. A second call does nothing.
  public func start() {
    let starts = phase.withLock { phase in
      defer { if phase == .ready { phase = .running } }
      return phase == .ready
    }
    if starts { server.start() }
  }

  /// Closes all connections and writes the rest of the record file. A second call does nothing.
  public func stop() {
    let former = phase.withLock { phase in
      defer { phase = .stopped }
      return phase
    }
    if former != .stopped {
      server.stop()
      phones?.stop()
    }
    if former != .stopped, let temporaryDirectory {
      // A leftover temporary directory is harmless.
      try? FileManager.default.removeItem(atPath: temporaryDirectory)
    }
  }

  /// The counters since the start. A request is counted before its answer is sent.
  public var counters: FCMEmulatorCounters { ledger.counters }

  /// The latest requests, oldest first, up to ``FCMEmulatorConfiguration/keepRequests``.
  public func requests() -> [RecordedRequest] { ledger.requests }

  /// Replaces the faults, and restarts the counts of `skip` and `times`.
  public func setFaults(_ faults: [Fault], seed: UInt64 = 1) {
    ledger.setFaults(faults, seed: seed)
  }

  /// Issues an access token as the token endpoint does, for tests that need no OAuth.
  public func issueAccessToken() -> String {
    ledger.issueToken(now: configuration.now(), lifetime: configuration.accessTokenLifetime)
  }

  private static func isProject(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
  }
}
