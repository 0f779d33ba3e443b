import Foundation

/// The push service of `../shared/webpush`, which is other people's reading of the standards, with subscriptions that a state file has.
public final class PushServiceRig {
  private static let script = Repository.file("../shared/webpush/push_server.py").path
  private static let python = Repository.file(".build/python/bin/python").path

  /// The reason why it cannot be used; nil: it can.
  public static let missing: String? = {
    guard FileManager.default.fileExists(atPath: script) else { return "there is no ../shared/webpush" }
    guard PythonJudge.isInstalled, (try? PythonJudge.run("import hypercorn, h2", "").status) == 0 else {
      return "http-ece and hypercorn are not installed: make tools"
    }
    return nil
  }()

  private let folder: TemporaryDirectory
  private let process = Process()
  /// The beginning of endpoints.
  public let origin: String
  /// The certificate authority to trust.
  public var caFile: String { folder.path + "/certs/ca.pem" }

  /// A subscription, as the state file has it.
  public struct Subscription: Codable {
    /// A message that waits for the browser.
    public struct Message: Codable {
      private let body: String
      /// Its `Topic`.
      public let topic: String?
      /// Its `Urgency`.
      public let urgency: String

      /// The sealed bytes.
      public var bytes: [UInt8] {
        let digits = Array(body.utf8).map { $0 >= 0x61 ? $0 - 0x57 : $0 - 0x30 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
      }
    }

    private let uaid: String
    private let id: String
    /// The last part of its endpoint.
    public let token: String
    private let key: String?
    private let gone: Bool
    private let min_urgency: String
    /// In the order in which they came.
    public let messages: [Message]

    /// - Parameters:
    ///   - key: the VAPID key that it was made with, in base64url.
    ///   - isGone: the browser has ended it.
    public init(_ token: String, key: String, isGone: Bool = false) {
      (uaid, id, self.token, self.key, gone) = ("u-" + token, "c-" + token, token, key, isGone)
      (min_urgency, messages) = ("very-low", [])
    }
  }

  /// Starts it.
  public init(_ subscriptions: [Subscription]) throws {
    folder = try TemporaryDirectory()
    let ports = (0..<2).map { _ in Self.freePort() }
    origin = "https://localhost:\(ports[0])"
    try JSONEncoder().encode(subscriptions).write(to: URL(fileURLWithPath: folder.path + "/state.json"))
    process.executableURL = URL(fileURLWithPath: Self.python)
    process.arguments = [
      Self.script, "--port", "\(ports[1])", "--tls-port", "\(ports[0])", "--certs", folder.path + "/certs", "--record",
      folder.path + "/record.jsonl", "--state", folder.path + "/state.json", "--vapid", "require", "--need-sub",
      "--unifiedpush",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // Threads that run tests block signals, and a child inherits that: it would never see SIGTERM.
    var (nothing, blocked) = (sigset_t(), sigset_t())
    sigemptyset(&nothing)
    pthread_sigmask(SIG_SETMASK, &nothing, &blocked)
    defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    try process.run()
    // It says where it listens before it does.
    _ = try output.fileHandleForReading.read(upToCount: 1)
  }

  /// A port that nothing listens on.
  private static func freePort() -> Int {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(listener, address, length) == 0, getsockname(listener, address, &length) == 0 else { return 0 }
        return Int(UInt16(bigEndian: pointer.pointee.sin_port))
      }
    }
  }

  /// Ends it, and gives the subscriptions with the messages that wait for them.
  public func stop() throws -> [Subscription] {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
    return try JSONDecoder().decode(
      [Subscription].self, from: Data(contentsOf: URL(fileURLWithPath: folder.path + "/state.json")))
  }

  /// The requests that it saw.
  public func requests() throws -> [[String: Any]] {
    try String(contentsOfFile: folder.path + "/record.jsonl", encoding: .utf8).split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }

  deinit { if process.isRunning { process.terminate() } }
}
