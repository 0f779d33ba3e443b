import Analyzer
import Dispatcher
import Foundation
import Glibc
import Ingest
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge support-bundle`.
enum SupportBundleCommand {
  private static let file = Setting<String?>(
    "output", environment: .none, default: nil, placeholder: "FILE",
    help: "The archive to write. Default: nudge-support-TIME.tar in this directory.")
  private static let admin = Setting<[String]>(
    "admin", environment: .none, default: [], placeholder: "HOST:PORT,…",
    help: "Addresses of services (--admin-address): their metrics and readiness are included.",
    check: AdminAddresses.advice(for:))
  private static let logs = Setting<[String]>(
    "log", environment: .none, default: [], placeholder: "FILE,…",
    help: "Logs of services: their last warnings, errors and backtraces are included.")

  private static let json = CommandOutput.json

  static let command = Command(
    "support-bundle",
    abstract: "Collects what a bug report needs, without texts or secrets.",
    discussion:
      "Versions, settings with secrets left out, what the doctor finds, lag, topics, dead letters by reason, replays, and of the "
      + "services named their metrics, readiness and last errors. Ids of people and conversations are in it. Look through it "
      + "before you send it: it is a tar archive of text files.",
    settings: ClusterSettings.all + [file, admin, logs, json],
    examples: [
      "nudge support-bundle --bootstrap-servers kafka:9092",
      "nudge support-bundle --admin 10.0.0.1:8080,10.0.0.2:8080 --log ingest.log --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let now = SystemClock.milliseconds()
    let cluster = ClusterSettings(input)
    let time = RFC3339.text(now).filter { $0.isNumber }.prefix(14)
    let path = input[file] ?? "nudge-support-\(time).tar"
    // First, because collecting takes long, and longer where no broker answers.
    try PrivateFile.checkFolder(of: path)
    CommandOutput.report("collecting for \(path); up to a minute if a broker or a service does not answer")
    let bundle = collect(
      cluster, admin: input[admin], logs: input[logs], environment: ProcessInfo.processInfo.environment, now: now)
    try PrivateFile.write(bundle.archive, to: path)
    if input[json] {
      try CommandOutput.print(fields: ["path": path, "files": bundle.files.map(\.name), "failures": bundle.failures])
    } else {
      print("\(path): \(bundle.files.count.counted("file")), \(bundle.failures.count) of them could not be collected")
      for failure in bundle.failures { print("    \(failure)") }
    }
    return ExitCode.success
  }

  /// - Parameter environment: This process's environment.
  static func collect(
    _ cluster: ClusterSettings, admin: [String], logs: [String], environment: [String: String], now: Milliseconds
  ) -> SupportBundle {
    var bundle = SupportBundle(
      now: now, redaction: SupportRedaction(environment: environment, properties: cluster.properties))
    bundle.add("versions.json") { try json(versions(now)) }
    bundle.add("settings.json") { try json(settings(cluster, environment)) }
    bundle.add("doctor.txt") {
      var lines: [String] = []
      try DoctorChecks(cluster: cluster, credentials: nil, now: now).run { lines.append($0.shown) }
      return lines.joined(separator: "\n")
    }
    for address in admin {
      let name = address.map { $0.isLetter || $0.isNumber || $0 == "." ? String($0) : "_" }.joined()
      bundle.add("services/\(name).metrics.txt") { try PageReader.get(address, "/metrics").get() }
      bundle.add("services/\(name).readyz.json") { try PageReader.get(address, "/readyz").get() }
    }
    for (number, path) in logs.enumerated() {
      let name = URL(fileURLWithPath: path).lastPathComponent
      bundle.add("logs/\(number)-\(name).txt") {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        return SupportRedaction.lastErrors(of: text).joined(separator: "\n")
      }
    }
    do {
      let browser = try TopicBrowser(cluster)
      bundle.add("topics.json") {
        try json(TopicCreation.report(on: cluster.admin(), names: cluster.topics))
      }
      bundle.add("lag.json") {
        try json(
          LagReading(browser: browser, cluster: cluster).report(
            of: DoctorChecks.stages, now: now, readsPushes: true))
      }
      bundle.add("dead-letters.json") {
        var groups = DeadLetterGroups()
        try DeadLetterSelection(since: now - 86_400_000).read(browser) { letter, _ in
          groups.add(letter)
          return true
        }
        return try json(groups)
      }
      bundle.add("replays.txt") { ReplayHistory(try AuditTrail(browser)).text }
    } catch {
      bundle.add("cluster.txt") { throw error }
    }
    return bundle
  }

  private static func json(_ value: some Encodable) throws -> String {
    String(decoding: try CommandOutput.prettyEncoder.encode(value), as: UTF8.self)
  }

  private static func versions(_ now: Milliseconds) -> [String: String] {
    let process = ProcessInfo.processInfo
    return [
      "nudge": NudgeVersion.current, "librdkafka": KafkaLibrary.version,
      "system": process.operatingSystemVersionString, "processors": String(process.processorCount),
      "memoryBytes": String(process.physicalMemory), "collectedAt": RFC3339.text(now),
    ]
  }

  private static func settings(_ cluster: ClusterSettings, _ environment: [String: String]) -> JSONObject {
    [
      "bootstrapServers": PublicText.value(cluster.bootstrapServers), "topicPrefix": cluster.topics.prefix,
      "kafkaProperties": SupportRedaction.properties(cluster.properties),
      "environment": SupportRedaction.environment(environment),
    ]
  }
}

/// The files of a bundle. A part that cannot be collected becomes a file with the reason.
struct SupportBundle {
  let now: Milliseconds
  private let redaction: SupportRedaction
  private(set) var files: [(name: String, content: String)] = []
  private(set) var failures: [String] = []

  init(now: Milliseconds, redaction: SupportRedaction = SupportRedaction()) {
    self.now = now
    self.redaction = redaction
  }

  /// Adds a file.
  mutating func add(_ name: String, _ content: () throws -> String) {
    do {
      files.append((name, redaction.apply(to: try content()) + "\n"))
    } catch {
      let reason = redaction.apply(to: "\(error)")
      failures.append("\(name): \(reason)")
      files.append((name, "could not be collected: \(reason)\n"))
    }
  }

  /// All files as a tar archive.
  var archive: [UInt8] {
    var archive = TarArchive()
    for (name, content) in files {
      archive.add("nudge-support/\(name)", Array(content.utf8), time: now / 1_000)
    }
    return archive.finished
  }
}

/// A tar archive in memory (POSIX ustar), which `nudge support-bundle` writes.
struct TarArchive {
  private(set) var bytes: [UInt8] = []

  /// Adds a file. `time` is in seconds since the epoch.
  mutating func add(_ name: String, _ content: [UInt8], time: Int64) {
    var header = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int, length: Int) {
      for (index, byte) in text.utf8.prefix(length).enumerated() { header[offset + index] = byte }
    }
    func octal(_ number: Int64, digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    put(name, at: 0, length: 100)
    put(octal(0o600, digits: 7), at: 100, length: 7)
    put(octal(0, digits: 7), at: 108, length: 7)
    put(octal(0, digits: 7), at: 116, length: 7)
    put(octal(Int64(content.count), digits: 11), at: 124, length: 11)
    put(octal(time, digits: 11), at: 136, length: 11)
    put("        ", at: 148, length: 8)
    put("0", at: 156, length: 1)
    put("ustar", at: 257, length: 5)
    put("00", at: 263, length: 2)
    let sum = header.reduce(Int64(0)) { $0 + Int64($1) }
    put(octal(sum, digits: 6), at: 148, length: 6)
    header[154] = 0
    bytes += header + content
    bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
  }

  /// The whole archive.
  var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 1_024) }
}

/// Fetches pages from a service's own port.
struct PageReader {
  /// The page of `HOST:PORT/PATH`, or why there is none.
  static func get(_ address: String, _ path: String, timeout: Int = 5) -> Result<
    String, CommandError
  > {
    guard let colon = address.lastIndex(of: ":"),
      let port = UInt16(address[address.index(after: colon)...])
    else {
      return .failure(CommandError("\(address) is not HOST:PORT"))
    }
    let host = address[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else {
      return .failure(CommandError("\(host) is not known"))
    }
    defer { freeaddrinfo(found) }
    let descriptor = Glibc.socket(first.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return .failure(CommandError("no socket for \(address)")) }
    defer { close(descriptor) }
    var time = timeval(tv_sec: timeout, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    guard connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
      return .failure(CommandError("\(address) does not answer"))
    }
    let request = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n"
    guard
      request.withCString({ Glibc.send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) })
        == request.utf8.count
    else {
      return .failure(CommandError("\(address) takes no request"))
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while answer.count < 16 << 20 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    guard let head = text.range(of: "\r\n\r\n") else {
      return .failure(CommandError("\(address) did not answer in time"))
    }
    return .success(String(text[head.upperBound...]))
  }
}

/// Removes what a bug report must not contain, which is everything not known to be public.
struct SupportRedaction {
  static let hidden = "(set, not shown)"

  /// Values that were removed, longest first. They are also removed from every other file.
  private let secrets: [String]

  /// - Parameters:
  ///   - environment: The command's environment, which is often that of a service.
  ///   - properties: librdkafka's properties.
  init(environment: [String: String] = [:], properties: [String: String] = [:]) {
    let shown = Self.environment(environment)
    let hidden = shown.filter { $0.value == Self.hidden }.compactMap { environment[$0.key] }
    // A short value, such as a number, would also be removed from within other words.
    secrets = (hidden + KafkaProperties.secrets(properties)).filter { $0.utf8.count >= 6 }
      .sorted { $0.utf8.count > $1.utf8.count }
  }

  /// The variables that concern Nudge. Variables of declared settings are shown as by `--print-config`; of the others only the name is
  /// shown.
  static func environment(_ variables: [String: String]) -> [String: String] {
    let own = variables.filter { name, _ in
      ["NUDGE_", "OTEL_", "GOOGLE_APPLICATION_"].contains { name.hasPrefix($0) }
    }
    var shown = own.mapValues { _ in hidden }
    for service in [IngestService.assembly, AnalyzerService.assembly, DispatcherService.assembly] {
      for (name, value) in service.schema.shown(own) {
        shown[name] = value == own[name] || !isMasked(value) ? value : hidden
      }
    }
    return shown
  }

  /// Librdkafka's properties, without secret values.
  static func properties(_ properties: [String: String]) -> [String: String] {
    KafkaProperties.shown(properties).mapValues { isMasked($0) ? hidden : $0 }
  }

  private static func isMasked(_ value: String) -> Bool { !value.isEmpty && value.allSatisfy { $0 == "*" } }

  /// A file of the bundle, line by line: URLs without login, path and query, and without the known secrets.
  func apply(to text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let words = PublicText.line(String(line)).split(separator: " ", omittingEmptySubsequences: false).map { word in
        Self.looksLikeToken(word) ? "(a long word, not shown)" : String(word)
      }
      return secrets.reduce(words.joined(separator: " ")) { $0.replacing($1, with: Self.hidden) }
    }.joined(separator: "\n")
  }

  // MARK: Logs

  /// The last warnings, errors and crashes of a log. Long ones are cut. All other lines are left out, including those of other programs.
  static func lastErrors(of log: String, limit: Int = 300) -> [String] {
    var isCrash = false
    let lines = log.split(separator: "\n", omittingEmptySubsequences: true).filter { line in
      if let level = level(of: line) {
        isCrash = false
        return level >= .warning
      }
      isCrash = isCrash || ["***", "💣", "Crash", "Fatal error", "Thread "].contains { line.hasPrefix($0) }
      return isCrash || line.hasPrefix("nudge-") || line.hasPrefix("nudge:")
    }
    return lines.suffix(limit).map { String($0.prefix(2_000)) }
  }

  /// The level of a line that a service wrote, as JSON or as text.
  private static func level(of line: Substring) -> LogLevel? {
    if line.hasPrefix("{") {
      return LogLevel.allCases.first { line.contains("\"level\":\"\($0.rawValue)\"") } ?? .info
    }
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0].hasSuffix("Z"), words[0].first?.isNumber == true else { return nil }
    return LogLevel(rawValue: words[1].lowercased())
  }

  /// FCM's tokens, keys and JSON Web Tokens are long words without the punctuation of prose. Logs should contain none; this is a safeguard.
  private static func looksLikeToken(_ word: Substring) -> Bool {
    var run = 0
    for byte in word.utf8 {
      let isPart =
        (byte >= 48 && byte <= 58) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
        || byte == 45 || byte == 95
      run = isPart ? run + 1 : 0
      if run >= 100 { return true }
    }
    return false
  }
}
