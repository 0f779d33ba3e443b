import Foundation
import Kafka
import TestSupport

@testable import NudgeLab

/// Debian's Prometheus with the project's rules. It scrapes the services of a pipeline twice a second; the waits of the rules are
/// shortened to a second.
final class Prometheus {
  static let program = URL(fileURLWithPath: "/usr/bin/prometheus")
  static let isInstalled = FileManager.default.isExecutableFile(atPath: program.path)

  private let process: SupervisedProcess
  private let port: Int

  /// Starts it. `targets` are the admin ports of services by stage.
  init(_ targets: [String: Int], directory: URL) throws {
    let port = Int.random(in: 15_000..<30_000)
    self.port = port
    let rules = try String(
      contentsOf: Repository.file("Deploy/prometheus/alerts.yml"), encoding: .utf8)
    try rules.replacing(/for: \d+m/, with: "for: 1s").write(
      to: directory.appendingPathComponent("alerts.yml"), atomically: true, encoding: .utf8)
    let configuration = directory.appendingPathComponent("prometheus.yml")
    let jobs = targets.sorted { $0.key < $1.key }.map {
      "      - {targets: ['127.0.0.1:\($0.value)'], labels: {stage: \($0.key)}}\n"
    }.joined()
    try """
    global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
    rule_files: [alerts.yml]
    scrape_configs:
      - job_name: nudge
        static_configs:
    \(jobs)
    """.write(to: configuration, atomically: true, encoding: .utf8)
    process = try SupervisedProcess(
      Self.program,
      [
        "--config.file=\(configuration.path)", "--storage.tsdb.path=\(directory.path)/tsdb",
        "--web.listen-address=127.0.0.1:\(port)", "--log.level=warn",
      ], environment: ProcessInfo.processInfo.environment, log: directory.appendingPathComponent("prometheus.log"))
  }

  deinit {
    process.send("TERM")
    if !process.waitForEnd(timeout: .seconds(5)) { process.send("KILL") }
  }

  /// Whether it answers queries. Until it has read its store it answers with a line of text.
  var isReady: Bool {
    (try? SocketClient(port: port).page("/-/ready"))?.contains("is Ready") ?? false
  }

  private func ask(_ target: String) throws -> NSDictionary? {
    guard isReady else { return nil }
    let page = try SocketClient(port: port).page(target)
    return try JSONSerialization.jsonObject(with: Data(page.utf8)) as? NSDictionary
  }

  /// The values of a query's series; empty while it does not answer.
  func values(_ query: String) throws -> [Double] {
    let escaped = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let data = try ask("/api/v1/query?query=\(escaped)")?["data"] as? NSDictionary
    return (data?["result"] as? [NSDictionary] ?? []).compactMap {
      (($0["value"] as? [Any])?.last as? String).flatMap { Double($0) }
    }
  }

  /// The names of firing alerts.
  func firing() throws -> Set<String> {
    let data = try ask("/api/v1/alerts")?["data"] as? NSDictionary
    return Set(
      (data?["alerts"] as? [NSDictionary] ?? []).filter { $0["state"] as? String == "firing" }.compactMap {
        ($0["labels"] as? NSDictionary)?["alertname"] as? String
      })
  }
}
