import Analyzer
import Dispatcher
import Foundation
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
    help: "Addresses of services (--admin-address): their metrics and readiness are included.")
  private static let logs = Setting<[String]>(
    "log", environment: .none, default: [], placeholder: "FILE,…",
    help: "Logs of services: their last warnings, errors and backtraces are included.")

  private static let json = Setting<Bool>("json", environment: .none, default: false, help: "Print JSON.")

  private struct Written: Encodable {
    var path: String
    var files: [String]
    /// Parts that could not be collected, with the reason.
    var failures: [String]
  }

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
    let bundle = collect(
      cluster, admin: input[admin], logs: input[logs], environment: ProcessInfo.processInfo.environment, now: now)
    let time = RFC3339.text(now).filter { $0.isNumber }.prefix(14)
    let path = input[file] ?? "nudge-support-\(time).tar"
    try PrivateFile.write(bundle.archive, to: path)
    if input[json] {
      try CommandOutput.print(json: Written(path: path, files: bundle.files.map(\.name), failures: bundle.failures))
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
      defer { browser.close() }
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
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func versions(_ now: Milliseconds) -> [String: String] {
    let process = ProcessInfo.processInfo
    return [
      "nudge": NudgeVersion.current, "librdkafka": KafkaLibrary.version,
      "system": process.operatingSystemVersionString, "processors": String(process.processorCount),
      "memoryBytes": String(process.physicalMemory), "collectedAt": RFC3339.text(now),
    ]
  }

  private struct Settings: Encodable {
    var bootstrapServers: String
    var topicPrefix: String
    var kafkaProperties: [String: String]
    var environment: [String: String]
  }

  private static func settings(_ cluster: ClusterSettings, _ environment: [String: String]) -> Settings {
    Settings(
      bootstrapServers: PublicText.value(cluster.bootstrapServers), topicPrefix: cluster.topics.prefix,
      kafkaProperties: SupportRedaction.properties(cluster.properties),
      environment: SupportRedaction.environment(environment))
  }
}

/// The files of a bundle. A part that cannot be collected is a file with the reason.
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

  /// All of them as a tar archive.
  var archive: [UInt8] {
    var archive = TarArchive()
    for (name, content) in files {
      archive.add("nudge-support/\(name)", Array(content.utf8), time: now / 1_000)
    }
    return archive.finished
  }
}
