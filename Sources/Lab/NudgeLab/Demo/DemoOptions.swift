import Foundation
import Kafka
import ServiceKit

/// The options of `nudge demo`.
struct DemoOptions: Sendable {
  // Has no environment variable: a demo must not find a production broker there.
  static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(20), in: .seconds(1)...(.seconds(86_400)),
    help: "How long messages are published.")
  static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 0.1...20_000, placeholder: "N", help: "Messages a second.")
  static let chatLog = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "Chat log to play, JSON lines, plain or gzip. Default: a generated one.")
  static let members = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...1_000,
    help: "Members of a conversation: its latest speakers.")
  static let kafkaHome = Setting<String?>(
    "kafka-home", environment: .none, default: nil, placeholder: "DIR",
    help: "Start a broker of this Kafka distribution, on free ports. Default: the embedded broker.")
  static let bootstrapServers = Setting<String?>(
    "bootstrap-servers", environment: .none, default: nil, placeholder: "HOST:PORT,…",
    help: "Use a running broker. The demo creates topics there, and deletes them after a success.",
    check: BrokerAddresses.adviceIfPresent(for:))
  static let kafkaProperties = Setting<[String: String]>(
    "kafka-property", environment: .none, default: [:],
    help: "A property of librdkafka, for the services and the demo; with --bootstrap-servers.")
  static let topicPrefix = Setting<String?>(
    "topic-prefix", environment: .none, default: nil, placeholder: "PREFIX",
    help: "Prefix of the topics' names; the topics are kept. Default: a new one with --bootstrap-servers, else none.")
  static let partitions = Setting<Int>(
    "partitions", environment: .none, default: 4, in: 1...64, help: "Partitions of each topic the demo creates.")
  static let kills = Setting<KillPlan>(
    "kill", environment: .none, default: KillPlan(),
    help: "Kill (SIGKILL) a service this long after the first message and restart it; needs a real broker.")
  static let settleTimeout = Setting<Duration>(
    "settle-timeout", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait for the account after the last message.")
  static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of the people, and of the generated log."
  )
  static let serviceLogLevel = Setting<LogLevel>(
    "log-level", environment: .none, default: .info, help: "The services' log level.")
  static let keep = Setting<Bool>(
    "keep", environment: .none, default: false,
    help: "Keep the directory with logs, state and the record of requests, even after a success.")
  static let console = Setting<Bool>(
    "console", environment: .none, default: false,
    help: "Serve the console (nudge console), and stay until Ctrl-C once everything is accounted for.")
  static let http = Setting<Bool>(
    "http", environment: .none, default: false,
    help:
      "Also take events over HTTP: prints the URL, a key, and a line of curl. Apps can be opened on the page with the phones."
  )
  static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Print one JSON object on standard output, and progress on standard error.")

  static let all: [any AnySetting] = [
    duration, rate, chatLog, members, kafkaHome, bootstrapServers, kafkaProperties, topicPrefix, partitions, kills,
    settleTimeout, seed, serviceLogLevel, keep, console, http, json,
  ]

  enum Broker: Sendable, Equatable {
    /// librdkafka's mock cluster in this process.
    case embedded
    /// A broker started from a distribution.
    case local(home: String)
    /// A running broker.
    case running(bootstrapServers: String)
  }

  let duration: Duration
  /// Messages a second.
  let rate: Double
  let source: ChatLogSource
  /// The most members of a conversation.
  let members: Int
  let broker: Broker
  /// librdkafka's properties by name.
  let kafkaProperties: [String: String]
  /// The topics' prefix. Absent: the demo chooses one.
  let topicPrefix: String?
  /// Partitions of each topic.
  let partitions: Int
  let kills: [KillPlan.Kill]
  /// How long to wait for the account after the last message.
  let settleTimeout: Duration
  /// Seed of the people and the generated log.
  let seed: UInt64
  let serviceLogLevel: LogLevel
  /// Whether the directory is kept after a success.
  let keep: Bool
  /// Whether the console is served until Ctrl-C.
  let console: Bool
  /// Whether ingest takes events over HTTP.
  let http: Bool
  let json: Bool

  /// Parses the command line.
  /// - Throws: `SettingsError` for options that contradict each other.
  init(_ input: CommandInput) throws(SettingsError) {
    duration = input[Self.duration]
    rate = input[Self.rate]
    members = input[Self.members]
    kafkaProperties = input[Self.kafkaProperties]
    topicPrefix = input[Self.topicPrefix]
    partitions = input[Self.partitions]
    kills = input[Self.kills].kills.sorted { $0.after < $1.after }
    settleTimeout = input[Self.settleTimeout]
    seed = UInt64(input[Self.seed])
    serviceLogLevel = input[Self.serviceLogLevel]
    keep = input[Self.keep]
    console = input[Self.console]
    http = input[Self.http]
    json = input[Self.json]
    source =
      input[Self.chatLog].map { .file($0) }
      ?? .generated(seed: seed, groups: GeneratedChatLog.groups(rate: rate, duration: duration))
    switch (input[Self.kafkaHome], input[Self.bootstrapServers]) {
    case (nil, nil): broker = .embedded
    case (let home?, nil):
      if let fault = LocalBroker.fault(of: URL(fileURLWithPath: home)) {
        throw SettingsError(
          "--kafka-home: \(fault). Give the folder of an unpacked Kafka (https://kafka.apache.org/downloads), or leave the "
            + "flag out for the embedded broker")
      }
      broker = .local(home: home)
    case (nil, let servers?): broker = .running(bootstrapServers: servers)
    case (.some, .some): throw SettingsError("--kafka-home and --bootstrap-servers: give one of them")
    }
    try checkBroker()
  }

  private func checkBroker() throws(SettingsError) {
    guard broker == .embedded else { return }
    guard kills.isEmpty else {
      throw SettingsError(
        "--kill needs a real broker: the embedded one has no transactions, so a killed service loses and repeats "
          + "records. Add --kafka-home DIR or --bootstrap-servers LIST")
    }
    let limit = DemoBroker.embeddedRateLimit(members: members, partitions: partitions)
    guard rate <= limit else {
      throw SettingsError(
        "--rate \(rate.settingText) is too fast for the embedded broker with \(members) members: it keeps 5 MiB a partition, "
          + "and a reader that is seconds behind would lose records. Use at most "
          + "--rate \(Int(limit)), or a real broker (--kafka-home DIR)")
    }
  }

  /// Messages of the whole duration.
  var messages: Int { max(1, Int((duration.seconds * rate).rounded())) }
}

/// The services to kill and their times, such as `analyzer@10s`.
struct KillPlan: SettingValue, Equatable {
  struct Kill: Sendable, Equatable {
    let program: DemoProgram
    /// The time since the first message.
    let after: Duration
  }

  /// The kills in the order of the command line.
  var kills: [Kill] = []

  /// Parses one kill, or several separated by commas.
  static func parse(_ text: String) throws(SettingValueError) -> KillPlan {
    let names = DemoProgram.services.map(\.shortName)
    var plan = KillPlan()
    for part in text.split(separator: ",") {
      let halves = part.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
      guard halves.count == 2, let program = DemoProgram.services.first(where: { $0.shortName == halves[0] }) else {
        throw SettingValueError(
          allowed: "SERVICE@TIME such as analyzer@10s, with one of \(names.joined(separator: ", "))")
      }
      plan.kills.append(Kill(program: program, after: try Duration.parse(halves[1])))
    }
    return plan
  }

  /// The plan as text, such as `analyzer@10s,ingest@20s`.
  var settingText: String {
    kills.map { "\($0.program.shortName)@\($0.after.settingText)" }.joined(separator: ",")
  }
  static var placeholder: String { "SERVICE@TIME" }
  mutating func merge(_ later: KillPlan) { kills += later.kills }
  static var isRepeated: Bool { true }
}
