import Foundation
import Kafka
import NudgeClient
import NudgeCommands
import NudgeSchema
import ServiceKit
import VirtualPhone

enum DeviceCommand {
  private static let emulator = Setting<String>(
    required: "emulator", environment: .none, placeholder: "URL",
    help: "The emulator's admin address, such as http://127.0.0.1:8080; the demo prints it.",
    check: WebAddresses.check("http"))
  private static let user = Setting<String?>(
    "user", environment: .none, default: nil, placeholder: "USER", help: "Sign in as this user at the start.")
  private static let device = Setting<String?>(
    "device", environment: .none, default: nil, placeholder: "ID",
    help: "The device's id. Default: USER/phone, or a new one.")
  private static let platform = Setting<Platform>(
    "platform", environment: .none, default: .ios, help: "The phone's platform.")
  private static let pushService = Setting<String?>(
    "push-service", environment: .none, default: nil, placeholder: "URL",
    help:
      "The phone is reached by Web Push, at the push service of the emulator with this address (url of its ready line). Default: by FCM.",
    check: WebAddresses.check("https"))
  private static let renders = Setting<Bool>(
    "renders", environment: .none, default: false,
    help: "With --platform android: the app draws its notifications (renders).")
  private static let locale = Setting<String?>(
    "locale", environment: .none, default: nil, placeholder: "TAG", help: "The phone's language, such as de-CH.")
  private static let script = Setting<String?>(
    "script", environment: .none, default: nil, placeholder: "FILE",
    help:
      "Play this script; - is standard input. Default on a terminal: you hold the phone."
  )
  private static let timeout = Setting<Duration>(
    "timeout", environment: .none, default: .seconds(20), in: .milliseconds(1)...(.seconds(3_600)),
    help: "How long a waiting step of a script waits.")
  private static let bootstrapServers = Setting<String?>(
    "bootstrap-servers", environment: "NUDGE_KAFKA_BOOTSTRAP_SERVERS", default: nil, placeholder: "HOST:PORT,…",
    help: "Kafka brokers: phones publish there, and get in-app banners from there.",
    check: BrokerAddresses.adviceIfPresent(for:))
  private static let ingest = Setting<String?>(
    "ingest-url", environment: .none, default: nil, placeholder: "URL",
    help: "Publish to ingest's HTTP API (--http-address of nudge-ingest) instead of Kafka.",
    check: WebAddresses.check("http"))
  private static let apiKey = Setting<String?>(
    "api-key", environment: "NUDGE_API_KEY", default: nil, placeholder: "KEY",
    help: "The API's key, or a JSON Web Token of the user's, which also opens their live stream; with --ingest-url.",
    secret: true)

  enum Platform: String, SettingValue, CaseIterable {
    case ios, android, web, desktop

    var device: Device.Platform {
      switch self {
      case .ios: .ios
      case .android: .android
      case .web: .web
      case .desktop: .desktop
      }
    }
  }

  private static let count = Setting<Int>(
    "count", environment: .none, default: 1, in: 1...20_000,
    help: "A load of this many phones; each is checked against what it must show.")
  private static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(86_400)),
    help: "How long people write and act; with --count.")
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 20, in: 0.1...1_000, placeholder: "N",
    help: "Messages a second; with --count.")
  private static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of people's actions; with --count.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Print the summary as one JSON object, and progress on standard error; with --count.")

  static let command = Command(
    "device",
    abstract: "Plays phones with the app: by hand, by a script, or as a load.",
    discussion:
      "A phone registers, reports what is open, shows what the emulator delivers, answers, reads, signs in "
      + "and out. A terminal shows the keys. A script has one command a line, and every event is printed as "
      + "a line of JSON: "
      + PhoneScript.help.replacing("\n", with: " · ")
      + ". With --count, new people (device-RUN-…) write, read, answer, come and go, and each phone is checked against what it must show. Exits with 1 if an expected event did not come.",
    settings: [
      emulator, bootstrapServers, ServiceSettings.kafkaProperties, ServiceSettings.topicPrefix, ingest, apiKey, user,
      device, platform, pushService, renders, locale, script, timeout, count, duration, rate, seed, json,
    ],
    examples: [
      "nudge device --user bob --emulator http://127.0.0.1:8080 --bootstrap-servers kafka:9092",
      "printf 'wait-registered\\nwait-for Lunch\\nreply At noon\\nshow\\n' | nudge device --user bob "
        + "--emulator http://127.0.0.1:8080 --bootstrap-servers kafka:9092",
      "nudge device --user bob --script bob.txt --emulator http://127.0.0.1:8080 --ingest-url http://127.0.0.1:8090",
      "nudge device --count 1000 --duration 1m --emulator http://127.0.0.1:8080 --bootstrap-servers kafka:9092",
    ]
  ) { input in
    // Closing the terminal also ends the command.
    let interrupts = Interrupts(and: [SIGHUP])
    return input[count] > 1 ? try load(input, interrupts) : try play(input, interrupts)
  }

  private static func play(_ input: CommandInput, _ interrupts: Interrupts) throws -> Int32 {
    let run = String(UInt32.random(in: .min ... .max), radix: 36)
    let name = input[user] ?? "virtual-\(run)"
    let deviceId = input[device] ?? "\(name)/phone"
    let fleet = try fleet(input, tokenPrefix: "virtual-\(run)-", bannersOf: deviceId)
    defer { fleet.close() }
    let phone = fleet.add(
      deviceId: deviceId, platform: input[platform].device, locale: input[locale],
      renders: input[renders], pushService: input[pushService])
    guard input[script] != nil || !PhoneTerminal.isThere else {
      if let user = input[user] { try fleet.send(phone, .signIn(userId: user)) }
      let paint = Paint(isOn: ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty)
      try HeldPhone.hold(phone, of: fleet, paint: paint) { interrupts.count > 0 }
      return interrupts.count > 0 ? ExitCode.interrupted : ExitCode.success
    }
    let lines = try ScriptLines(path: input[script])
    let scripted = ScriptedPhone(fleet, phone: phone, timeout: input[timeout]) { line in
      // Written without a buffer: the reader may wait for this line before it writes the next step.
      try FileHandle.standardOutput.write(contentsOf: try CommandOutput.encoder.encode(line) + Data("\n".utf8))
    }
    if let user = input[user] { try fleet.send(phone, .signIn(userId: user)) }
    let isFine = try scripted.play(lines) { interrupts.count > 0 }
    if interrupts.count > 0 { return ExitCode.interrupted }
    return isFine ? ExitCode.success : ExitCode.failure
  }

  private static func load(_ input: CommandInput, _ interrupts: Interrupts) throws -> Int32 {
    guard input[user] == nil, input[device] == nil, input[script] == nil else {
      throw SettingsError("--user, --device and --script are for one phone, not for --count")
    }
    let run = "device-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    // Without a gateway, because a message shown as a banner would not be shown as a push.
    let fleet = try fleet(input, tokenPrefix: "\(run)-", bannersOf: nil)
    defer { fleet.close() }
    let file = input[json] ? FileHandle.standardError : .standardOutput
    let load = DeviceLoad(
      fleet,
      DeviceLoad.Plan(
        phones: input[count], duration: input[duration], rate: input[rate], seed: UInt64(input[seed]), run: run),
      say: { try? file.write(contentsOf: Data("\($0)\n".utf8)) }, isInterrupted: { interrupts.count > 0 })
    let summary = try load.run()
    try CommandOutput.print(summary, asJSON: input[json], text: summary.text)
    guard summary.isFine else { return ExitCode.failure }
    return interrupts.count > 0 ? ExitCode.interrupted : ExitCode.success
  }

  /// Phones with the publisher and the streams that the command line asks for.
  /// - Parameter deviceId: The phone that gets banners. Absent: no phone does.
  private static func fleet(_ input: CommandInput, tokenPrefix: String, bannersOf deviceId: String?) throws
    -> PhoneFleet
  {
    let publisher: any PhonePublisher
    var banners: (any BannerSource)?
    switch (input[bootstrapServers], input[ingest]) {
    case (_, let url?):
      guard let key = input[apiKey] else { throw SettingsError("--ingest-url needs --api-key (NUDGE_API_KEY)") }
      publisher = try HTTPPhonePublisher(url: url, credentials: key)
      // A user's own token opens the user's stream, as in an app. An API key does not.
      if let deviceId, key.split(separator: ".").count == 3 {
        banners = try LiveFeed(url: url, token: key, deviceId: deviceId)
      }
    case (let servers?, nil):
      let cluster = ClusterSettings(
        bootstrapServers: servers, properties: input[ServiceSettings.kafkaProperties],
        topics: TopicNames(prefix: input[ServiceSettings.topicPrefix]))
      _ = try cluster.admin()
      publisher = try KafkaPhonePublisher(
        cluster.client(.producer(bootstrapServers: servers, transactionalID: nil)), topics: cluster.topics)
      if deviceId != nil {
        banners = try BannerFeed(
          cluster.client(.consumer(bootstrapServers: servers, group: nil)), topics: cluster.topics)
      }
    case (nil, nil): throw SettingsError("say where events go: --bootstrap-servers, or --ingest-url and --api-key")
    }
    do {
      return PhoneFleet(
        tokenPrefix: tokenPrefix, publisher: publisher,
        stream: try EmulatorStream(url: input[emulator], tokenPrefix: tokenPrefix), banners: banners)
    } catch {
      publisher.close()
      banners?.close()
      throw error
    }
  }
}
