public import Foundation

/// The configuration of an ``FCMEmulator``.
public struct FCMEmulatorConfiguration: Sendable {
  /// The address and port of the TLS listener; port 0 lets the system choose.
  public var listen = FCMEmulatorAddress()
  /// The address and port of the plain listener (HTTP/2 with prior knowledge). Absent: no such listener.
  public var plainListen: FCMEmulatorAddress? = FCMEmulatorAddress()
  /// The folder for the CA's certificate and the service account. Absent: a temporary folder that is removed at the end.
  public var directory: String?
  /// The known projects; the first is the service account's. Requests for others get a 404.
  public var projects: [String] = ["nudge-demo"]
  /// The file to which every request is appended as a line of JSON. Absent: requests are not written.
  public var recordFile: String?
  /// The address of the page with the phones, in plain HTTP without credentials. Absent: the page is not served.
  public var adminAddress: FCMEmulatorAddress?
  /// A file of records of `nudge.decisions`, one JSON object a line, by which the page explains a push. Absent: pushes are not explained.
  public var decisionFile: String?
  /// A file `{"api": URL, "devices": {TOKEN: ID}}` with the address of the HTTP API on this machine and the ids of devices, with which the
  /// page opens apps. Another process may write it later. Needs ``adminAddress`` on this machine. Absent: the page opens no apps.
  public var appsFile: String?
  /// How many of the latest requests ``FCMEmulator/requests()`` keeps in memory.
  public var keepRequests = 0
  /// The faults to inject; the first match applies.
  public var faults: [Fault] = []
  /// The seed of the random choice by a fault's `ratio`.
  public var seed: UInt64 = 1
  /// The delay of each answer to a message.
  public var delay: Duration = .zero
  /// Counts messages by device token and status, for `GET /emulator/tokens`.
  public var countsTokens = false
  /// Accepts any bearer token, for benchmarks.
  public var acceptAnyToken = false
  /// The lifetime of an access token; whole seconds, at least 1.
  public var accessTokenLifetime: Duration = .seconds(3_600)
  /// The VAPID keys that subscriptions were made with, in base64url. Pushes signed with another key are refused. Empty: every key is
  /// accepted.
  public var vapidKeys: [String] = []
  /// The maximum of open streams on a connection. FCM allows 100.
  public var maxConcurrentStreams = 100
  /// Whether answers carry `content-length`. Without, libcurl 7.88.1 resets every finished stream.
  public var sendsContentLength = true
  /// The wall clock, for the expiry of tokens and for records.
  public var now: @Sendable () -> Date = { Date() }

  /// Why apps cannot be opened with these settings. Absent if they can be opened or are not wanted.
  var appsObjection: String? {
    guard appsFile != nil else { return nil }
    guard let adminAddress else {
      return "apps are opened on the page of phones: give its address, too (--admin-address)"
    }
    // Any program that reaches the page can sign in as any person.
    return adminAddress.isLoopback
      ? nil : "apps give away users' tokens, so the page of phones must be on 127.0.0.1 (--admin-address)"
  }
}

/// An IPv4 address and port to listen on.
public struct FCMEmulatorAddress: Sendable, Hashable {
  /// The address in dotted form.
  public var host: String
  /// The port; 0 lets the system choose.
  public var port: UInt16

  /// An address; by default loopback with a port that the system chooses.
  public init(host: String = "127.0.0.1", port: UInt16 = 0) {
    self.host = host
    self.port = port
  }

  /// Whether only this machine reaches it.
  var isLoopback: Bool { host.hasPrefix("127.") }

  /// Parses `HOST:PORT`. Fails for any other text.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    let host = String(text[..<colon])
    self.init(host: host == "localhost" ? "127.0.0.1" : host, port: port)
  }
}

/// Why the emulator cannot start.
public struct FCMEmulatorError: Error, Sendable, CustomStringConvertible {
  /// The operation, the reason of the failure, and the remedy.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
