import Analyzer
import Foundation
import NudgeConsole
import ServiceKit

/// `nudge console`.
enum ConsoleCommand {
  private static let address = Setting<String>(
    "address", environment: .none, default: "127.0.0.1", placeholder: "HOST",
    help: "The address to listen on. A browser needs the token of the printed link, wherever it is.")
  private static let port = Setting<Int>(
    "port", environment: .none, default: 8095, in: 0...65_535, help: "The port to listen on; 0 for any free one.")
  private static let names = Setting<[String]>(
    "host", environment: .none, default: [], placeholder: "NAME,…",
    help: "Host names under which browsers may open it, besides IP addresses and localhost, such as that of a proxy.")
  private static let token = Setting<String?>(
    "token", environment: "NUDGE_CONSOLE_TOKEN", default: nil, placeholder: "TOKEN",
    help:
      "A token of your own, so that links outlast a restart. Prefer the variable: other users of the host see flags.",
    secret: true,
    check: { $0.map { ConsoleSecret.isToken($0) } ?? true ? nil : "16 or more letters, digits and .-_~" })
  private static let allowActions = Setting<Bool>(
    "allow-actions", environment: .none, default: false,
    help: "Allow actions that write: replay, correct and discard dead letters, start and stop replays.")
  private static let texts = Redaction.texts
  private static let phones = Setting<String?>(
    "phones", environment: .none, default: nil, placeholder: "URL",
    help: "Show the page with a demo's phones as a page of the console.", check: WebAddresses.check("http"))

  private static let ingest = Setting<String?>(
    "ingest-url", environment: .none, default: nil, placeholder: "URL",
    help: "Read decisions from ingest's HTTP API (GET /v1/live) instead of Kafka. Needs --api-key.",
    check: WebAddresses.check("http"))
  private static let apiKey = Setting<String?>(
    "api-key", environment: "NUDGE_API_KEY", default: nil, placeholder: "KEY",
    help: "A backend's key for --ingest-url. Prefer the variable to the flag.", secret: true)

  private static let admin = Setting<[String]>(
    "admin", environment: .none, default: [], placeholder: "HOST:PORT,…",
    help: "Addresses of services (--admin-address): the overview shows whether they are ready, and what they paused.",
    check: AdminAddresses.advice(for:))

  static let command = Command(
    "console",
    abstract: "Serves the other commands' results as web pages.",
    discussion:
      "The pages show the last 15 minutes, decisions as they are made, a person's day with the phone beside it, who got "
      + "a message and who did not, dead letters, replays and the policy. The console only reads, unless "
      + "--allow-actions is given. Each page has a link of its own, and names the command that prints the same.",
    settings: ClusterSettings.all + [address, port, names, token, allowActions, texts, admin, phones, ingest, apiKey]
      + ReplayCommand.deciding,
    examples: [
      "nudge console --bootstrap-servers kafka:9092",
      "nudge console --address 0.0.0.0 --host nudge.example --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let values = input.values
    var options = RunningConsole.Options(
      allowsActions: input[allowActions], showsTexts: input[texts], phones: input[phones], services: input[admin])
    if let url = input[ingest] {
      guard let key = input[apiKey] else { throw SettingsError("--ingest-url needs --api-key (NUDGE_API_KEY)") }
      _ = try EventStreamAddress(url: url)
      options.stream = ConsoleStream(url: url, apiKey: key)
    }
    options.rules = { try AnalyzerSettings.rules(from: values) }
    _ = try options.rules()
    let console = try RunningConsole(
      ClusterSettings(input),
      at: ConsoleAddress(host: input[address], port: input[port], names: input[names], token: input[token]),
      options)
    defer { console.stop() }
    print("The console: \(console.url)")
    print(input[allowActions] ? "It reads and writes. Ctrl-C ends it." : "It only reads. Ctrl-C ends it.")
    fflush(nil)
    Interrupts().wait()
    return ExitCode.success
  }
}

/// A console that is being served.
package final class RunningConsole {
  package struct Options: Sendable {
    /// Whether actions may write.
    package var allowsActions = false
    /// Whether texts of messages are shown.
    package var showsTexts = false
    /// The page with a demo's phones.
    package var phones: String?
    /// `HOST:PORT` of services whose metrics are shown.
    package var services: [String] = []
    /// The API from whose stream decisions are read; nil to read them from Kafka.
    package var stream: ConsoleStream?
    /// The analyzer's rules, for everything that the console decides again.
    var rules: @Sendable () throws -> AnalyzerRules = { AnalyzerRules(hash: { SHA256Digest.of($0) }) }

    package init(
      allowsActions: Bool = false, showsTexts: Bool = false, phones: String? = nil, services: [String] = []
    ) {
      self.allowsActions = allowsActions
      self.showsTexts = showsTexts
      self.phones = phones
      self.services = services
    }
  }

  private let server: ConsoleServer

  /// Starts to serve.
  package convenience init(_ cluster: ClusterSettings, host: String, port: Int, _ options: Options) throws {
    try self.init(cluster, at: ConsoleAddress(host: host, port: port), options)
  }

  init(_ cluster: ClusterSettings, at address: ConsoleAddress, _ options: Options) throws {
    server = try ConsoleServer(address, answers: CommandAnswers(cluster: cluster, options: options)) { message in
      CommandOutput.report(message)
    }
    try server.start()
  }

  /// The console's URL, with the token.
  package var url: String { server.url }

  package func stop() { server.stop() }
}
