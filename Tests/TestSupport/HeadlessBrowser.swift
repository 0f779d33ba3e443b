public import Foundation
import Glibc

/// Chromium without a window, steered by the DevTools protocol over two pipes. One thread uses it.
public final class HeadlessBrowser {
  /// Why there is none here, with the fix; nil where there is one.
  public static let missing: String? =
    executable == nil ? "no Chromium was found: apt-get install chromium, or set CHROMIUM=/path/to/it" : nil

  private static let executable: String? = {
    let named = ProcessInfo.processInfo.environment["CHROMIUM"].map { [$0] } ?? []
    return (named + ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"])
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// A page, or the browser, did not do what was asked.
  public struct Failure: Error, CustomStringConvertible {
    /// In words.
    public let description: String
  }

  private static let patience = 60.0

  private let process = Process()
  private let folder: URL
  private let input: Int32
  private let output: Int32
  private var received: [UInt8] = []
  private var lastId = 0
  private var session: String?
  /// Exceptions of the page's scripts, and what its console called an error.
  public private(set) var complaints: [String] = []
  /// The ids of service workers' registrations, by scope.
  private var registrations: [String: String] = [:]

  /// Starts it with an empty page of this size.
  public init(width: Int, height: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("browser-\(UUID().uuidString)")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let pipes = ["in", "out"].map { folder.appendingPathComponent($0).path }
    for pipe in pipes { mkfifo(pipe, 0o600) }
    // Opened for reading and writing, so that opening does not block.
    input = Glibc.open(pipes[0], O_RDWR | O_CLOEXEC)
    output = Glibc.open(pipes[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", #"in=$1 out=$2; shift 2; exec "$@" 3<"$in" 4>"$out""#, "browser", pipes[0], pipes[1],
      Self.executable ?? "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
      "--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe",
      "--user-data-dir=\(folder.path)/profile", "--window-size=\(width),\(height)", "about:blank",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] as? String ?? ""
    session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
    _ = try call("Runtime.enable")
    _ = try call("Page.enable")
    _ = try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
  }

  deinit {
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
    }
    close(input)
    close(output)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Goes to a page.
  public func open(_ url: String) throws { _ = try call("Page.navigate", ["url": url]) }

  /// The value of an expression of JavaScript on the page, a promise's included.
  public func evaluate(_ expression: String) throws -> Any? {
    let answer = try call(
      "Runtime.evaluate", ["expression": expression, "returnByValue": true, "awaitPromise": true])
    if let exception = answer["exceptionDetails"] as? [String: Any] {
      throw Failure(description: "\(expression): \(exception["text"] ?? exception)")
    }
    return (answer["result"] as? [String: Any])?["value"]
  }

  /// Waits until an expression is true.
  public func wait(until expression: String, atMost seconds: Double = 30) throws {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while try evaluate("Boolean(\(expression))") as? Bool != true {
      guard Date() < deadline else { throw Failure(description: "not within \(seconds) s: \(expression)") }
      usleep(20_000)
    }
  }

  /// A picture of the window, PNG.
  public func screenshot() throws -> Data {
    let answer = try call("Page.captureScreenshot", ["format": "png"])
    return (answer["data"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
  }

  /// Changes the window's size, and whether the page is to be dark.
  public func resize(width: Int, height: Int, isDark: Bool) throws {
    _ = try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
    _ = try call(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]]])
  }

  /// Lets pages of an origin show notifications.
  public func allowNotifications(of origin: String) throws {
    _ = try call("Browser.grantPermissions", ["origin": origin, "permissions": ["notifications"]])
  }

  /// Delivers a push to the service worker of an origin, as a browser's push service does.
  public func deliverPush(_ data: String, of origin: String) throws {
    _ = try call("ServiceWorker.enable")
    let deadline = Date(timeIntervalSinceNow: Self.patience)
    while true {
      if let id = registrations.first(where: { $0.key.hasPrefix(origin) })?.value {
        _ = try call(
          "ServiceWorker.deliverPushMessage", ["origin": origin, "registrationId": id, "data": data])
        return
      }
      guard Date() < deadline else { throw Failure(description: "\(origin) has no service worker") }
      // Its events come with the next answer.
      _ = try evaluate("1")
      usleep(20_000)
    }
  }

  /// Presses a key, with what it types.
  public func press(_ key: String, text: String? = nil) throws {
    var event: [String: Any] = ["type": text == nil ? "rawKeyDown" : "keyDown", "key": key]
    if let text { event["text"] = text }
    if key == "Tab" { event["windowsVirtualKeyCode"] = 9 }
    _ = try call("Input.dispatchKeyEvent", event)
    _ = try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key])
  }

  // MARK: The protocol: objects of JSON with a NUL behind each

  private func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
    lastId += 1
    var request: [String: Any] = ["id": lastId, "method": method, "params": parameters]
    if let session { request["sessionId"] = session }
    let bytes = Array(try JSONSerialization.data(withJSONObject: request)) + [0]
    guard write(input, bytes, bytes.count) == bytes.count else { throw Failure(description: "\(method): not written") }
    let deadline = Date(timeIntervalSinceNow: Self.patience)
    while true {
      while let message = try next() {
        if message["id"] as? Int == lastId {
          if let error = message["error"] { throw Failure(description: "\(method): \(error)") }
          return message["result"] as? [String: Any] ?? [:]
        }
        note(message)
      }
      guard Date() < deadline else { throw Failure(description: "\(method): no answer within \(Self.patience) s") }
      guard process.isRunning else { throw Failure(description: "\(method): the browser has ended") }
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, 100) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(output, &buffer, buffer.count)
      if count > 0 { received += buffer[..<count] }
    }
  }

  private func next() throws -> [String: Any]? {
    guard let end = received.firstIndex(of: 0) else { return nil }
    defer { received.removeSubrange(...end) }
    return try JSONSerialization.jsonObject(with: Data(received[..<end])) as? [String: Any]
  }

  private func note(_ message: [String: Any]) {
    let parameters = message["params"] as? [String: Any]
    switch message["method"] as? String {
    case "ServiceWorker.workerRegistrationUpdated":
      for registration in parameters?["registrations"] as? [[String: Any]] ?? [] {
        guard let scope = registration["scopeURL"] as? String else { continue }
        registrations[scope] =
          registration["isDeleted"] as? Bool == true ? nil : registration["registrationId"] as? String
      }
    case "Runtime.exceptionThrown": complaints.append("\(parameters ?? [:])")
    case "Runtime.consoleAPICalled":
      if parameters?["type"] as? String == "error" { complaints.append("\(parameters?["args"] ?? "")") }
    default: break
    }
  }
}
