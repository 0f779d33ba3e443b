public import Foundation

/// What an ``FCMEmulator`` listens on, believes and answers.
public struct FCMEmulatorConfiguration: Sendable {
  /// The address and port of the TLS listener; port 0 lets the system choose.
  public var listen: FCMEmulatorAddress
  /// The address and port of the plain listener (HTTP/2 with prior knowledge); nil for none.
  public var plainListen: FCMEmulatorAddress?
  /// Where the CA's certificate and the service account are written; nil for a temporary folder that is removed at the end.
  public var directory: String?
  /// The projects it knows; the first is the service account's. Others are answered 404.
  public var projects: [String]
  /// A file to which every request is appended as a line of JSON; nil for none.
  public var recordFile: String?
  /// Where the page with the phones is served, in plain HTTP without credentials; nil for nowhere.
  public var adminAddress: FCMEmulatorAddress?
  /// A file of records of `nudge.decisions`, a line of JSON each, from which the page tells why a push was made; nil for none.
  public var decisionFile: String?
  /// How many of the latest requests ``FCMEmulator/requests()`` keeps in memory.
  public var keepRequests: Int
  /// What to do in place of answering well, first match first.
  public var faults: [Fault]
  /// Seeds the choice of a fault's `ratio`.
  public var seed: UInt64
  /// How long each answer to a message is held back.
  public var delay: Duration
  /// Counts messages by device token and status, for `GET /emulator/tokens`.
  public var countsTokens: Bool
  /// Takes any bearer token, for benchmarks.
  public var acceptAnyToken: Bool
  /// How long an issued access token is good for; whole seconds, at least 1.
  public var accessTokenLifetime: Duration
  /// Streams a connection may have open at a time (FCM: 100).
  public var maxConcurrentStreams: Int
  /// Whether answers carry `content-length`. Without, libcurl 7.88.1 resets every finished stream.
  public var sendsContentLength: Bool
  /// The time of day, for the expiry of tokens and for records.
  public var now: @Sendable () -> Date

  /// A configuration; see the properties for meaning and units.
  public init(
    listen: FCMEmulatorAddress = FCMEmulatorAddress(), plainListen: FCMEmulatorAddress? = FCMEmulatorAddress(),
    directory: String? = nil, projects: [String] = ["nudge-demo"], recordFile: String? = nil,
    adminAddress: FCMEmulatorAddress? = nil, decisionFile: String? = nil, keepRequests: Int = 0, faults: [Fault] = [],
    seed: UInt64 = 1, delay: Duration = .zero, countsTokens: Bool = false, acceptAnyToken: Bool = false,
    accessTokenLifetime: Duration = .seconds(3_600), maxConcurrentStreams: Int = 100, sendsContentLength: Bool = true,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.listen = listen
    self.plainListen = plainListen
    self.directory = directory
    self.projects = projects
    self.recordFile = recordFile
    self.adminAddress = adminAddress
    self.decisionFile = decisionFile
    self.keepRequests = keepRequests
    self.faults = faults
    self.seed = seed
    self.delay = delay
    self.countsTokens = countsTokens
    self.acceptAnyToken = acceptAnyToken
    self.accessTokenLifetime = accessTokenLifetime
    self.maxConcurrentStreams = maxConcurrentStreams
    self.sendsContentLength = sendsContentLength
    self.now = now
  }
}

/// An IPv4 address and port to listen on.
public struct FCMEmulatorAddress: Sendable, Hashable {
  /// The address in dotted form.
  public var host: String
  /// The port; 0 lets the system choose.
  public var port: UInt16

  /// An address; by default a port of the system's choice on loopback.
  public init(host: String = "127.0.0.1", port: UInt16 = 0) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`; nil when it is not that.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    let host = String(text[..<colon])
    self.init(host: host == "localhost" ? "127.0.0.1" : host, port: port)
  }
}

/// Why the emulator cannot start.
public struct FCMEmulatorError: Error, Sendable, CustomStringConvertible {
  /// What was tried, why it failed, and what to do.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
