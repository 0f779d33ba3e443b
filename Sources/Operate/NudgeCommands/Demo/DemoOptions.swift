import ServiceKit

/// What a demo was asked to do.
struct DemoOptions: Sendable {
  // None of these is taken from the environment: a demo must not find a production broker there by accident.
  static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(20), in: .seconds(1)...(.seconds(86_400)),
    help: "How long messages are published.")
  static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 0.1...20_000, placeholder: "N", help: "Messages a second.")
  static let chatLog = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "Chat log to play, JSON lines, plain or gzip. Default: one the program makes itself.")
  static let members = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...1_000,
    help: "Members of a conversation: its last so many speakers.")
  static let kafkaHome = Setting<String?>(
    "kafka-home", environment: .none, default: nil, placeholder: "DIR",
    help: "Kafka distribution to start a real broker of, on free ports. Default: the embedded broker.")
  static let bootstrapServers = Setting<String?>(
    "bootstrap-servers", environment: .none, default: nil, placeholder: "HOST:PORT,…",
    help: "Real broker that runs already. The demo makes topics of its own there and deletes them when all went well.")
  static let kafkaProperties = Setting<[String: String]>(
    "kafka-property", environment: .none, default: [:],
    help: "Any property of librdkafka, for the services and the demo itself; with --bootstrap-servers.")
  static let topicPrefix = Setting<String?>(
    "topic-prefix", environment: .none, default: nil, placeholder: "PREFIX",
    help: "Put before the topics' names, which then stay. Default: a new one with --bootstrap-servers, else none.")
  static let partitions = Setting<Int>(
    "partitions", environment: .none, default: 4, in: 1...64, help: "Partitions of each topic the demo makes.")
  static let kills = Setting<KillPlan>(
    "kill", environment: .none, default: KillPlan(),
    help: "Kill (SIGKILL) a service so long after the first message and start it again; needs a real broker.")
  static let settleTimeout = Setting<Duration>(
    "settle-timeout", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait, after the last message, for everything to be accounted for.")
  static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of the people, and of the log it makes itself."
  )
  static let serviceLogLevel = Setting<LogLevel>(
    "log-level", environment: .none, default: .info, help: "The least that the services log.")
  static let keep = Setting<Bool>(
    "keep", environment: .none, default: false,
    help: "Keep the directory with logs, state and the record of requests, also when all went well.")
  static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Print one JSON object on standard output, and progress on standard error.")

  /// All of them, in the order of the help.
  static let all: [any AnySetting] = [
    duration, rate, chatLog, members, kafkaHome, bootstrapServers, kafkaProperties, topicPrefix, partitions, kills,
    settleTimeout, seed, serviceLogLevel, keep, json,
  ]

  /// Which broker.
  enum Broker: Sendable, Equatable {
    /// In this process.
    case embedded
    /// A distribution to start one of.
    case local(home: String)
    /// One that runs already.
    case running(bootstrapServers: String)
  }

  /// How long messages are published.
  let duration: Duration
  /// Messages a second.
  let rate: Double
  /// Where the messages come from.
  let source: ChatLogSource
  /// Members of a conversation at most.
  let members: Int
  /// Which broker.
  let broker: Broker
  /// librdkafka's, by name.
  let kafkaProperties: [String: String]
  /// Before the topics' names; nil: the demo's choice.
  let topicPrefix: String?
  /// Of each topic.
  let partitions: Int
  /// Who is killed, and when.
  let kills: [KillPlan.Kill]
  /// How long to wait for the account.
  let settleTimeout: Duration
  /// Of people and log.
  let seed: UInt64
  /// Of the services.
  let serviceLogLevel: LogLevel
  /// Whether the directory stays in any case.
  let keep: Bool
  /// Whether the summary is JSON.
  let json: Bool

  /// Takes them from what the command was called with. Throws what does not go together.
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
    json = input[Self.json]
    source = input[Self.chatLog].map { .file($0) } ?? .generated(seed: seed)
    switch (input[Self.kafkaHome], input[Self.bootstrapServers]) {
    case (nil, nil): broker = .embedded
    case (let home?, nil): broker = .local(home: home)
    case (nil, let servers?): broker = .running(bootstrapServers: servers)
    case (.some, .some): throw SettingsError("--kafka-home and --bootstrap-servers: give one of them")
    }
    try checkBroker()
  }

  private func checkBroker() throws(SettingsError) {
    guard broker == .embedded else { return }
    guard kills.isEmpty else {
      throw SettingsError(
        "--kill needs a real broker: the embedded one has no transactions, so a killed service would lose and repeat "
          + "records. Add --kafka-home DIR or --bootstrap-servers LIST")
    }
    let limit = DemoBroker.embeddedRateLimit(members: members, partitions: partitions)
    guard rate <= limit else {
      throw SettingsError(
        "--rate \(rate.settingText) is too much for the embedded broker with \(members) members: it keeps 5 MiB a partition and "
          + "drops what is older, so that a reader only seconds behind would lose records. Use at most "
          + "--rate \(Int(limit)), or a real broker (--kafka-home DIR)")
    }
  }

  /// Messages the whole duration takes.
  var messages: Int { max(1, Int((duration.seconds * rate).rounded())) }
}
