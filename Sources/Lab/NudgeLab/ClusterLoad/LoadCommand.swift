import Foundation
import NudgeCommands
import NudgeSchema
import ServiceKit

enum LoadCommand {
  private static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(7 * 86_400)),
    help: "How long messages are published, including the ramp.")
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 0.1...100_000, placeholder: "N",
    help: "Messages a second; each is for all members of its conversation.")
  private static let ramp = Setting<Duration>(
    "ramp", environment: .none, default: .zero, in: .zero...(.seconds(86_400)),
    help: "The rate rises from 0 to --rate in this time.")
  private static let burst = Setting<LoadShape.Burst?>(
    "burst", environment: .none, default: nil,
    help: "A higher rate for part of each period: 10x5s/1m is ten times the rate, for 5 s of each minute.")
  private static let groups = Setting<Int?>(
    "groups", environment: .none, default: nil,
    help: "Groups of the built-in log, of 5 to 11 people; 8 groups have 40 people and 4 pairs of friends. Default: "
      + "enough to keep devices below FCM's limits.",
    check: { $0.map { (1...100_000).contains($0) } ?? true ? nil : "a value from 1 to 100000" })
  private static let members = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...1_000,
    help: "The most members of a conversation: its latest speakers.")
  private static let chatLog = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "Chat log to play, JSON lines, plain or gzip. Default: a generated one.")
  private static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of the people, and of the generated log."
  )
  private static let settleTimeout = Setting<Duration>(
    "settle-timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait for the account after the last message.")
  private static let quota = Setting<Int>(
    "fcm-quota", environment: .none, default: QuotaWaits.Limits().perProjectAndMinute, in: 60...60_000_000,
    help: "The dispatcher's --fcm-quota: pushes that wait for it are not missing.")
  private static let devicePerHour = Setting<Int>(
    "fcm-device-per-hour", environment: .none, default: QuotaWaits.Limits().perDeviceAndHour, in: 0...60_000_000,
    help: "The dispatcher's --fcm-device-per-hour: pushes that wait for it are not missing.")
  private static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Publish; without it, only print what would be published.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Print one JSON object on standard output, and progress on standard error.")

  static let command = Command(
    "load",
    abstract: "Publishes a load to a running cluster, and accounts for it.",
    discussion:
      "Checks from the topics that every recipient has a decision and every target an outcome. Pushes that wait "
      + "in the lanes for FCM's quota are printed apart, and are no failure. For test clusters whose dispatcher sends to the emulator: the tokens are invented, and FCM would reject "
      + "them. People and conversations have new ids (load-RUN-…); the people are signed out at the end. "
      + "Exits with 1 if something is missing.",
    settings: ClusterSettings.all + [
      duration, rate, ramp, burst, groups, members, chatLog, seed, settleTimeout, quota, devicePerHour, yes, json,
    ],
    examples: [
      "nudge load --rate 200 --duration 5m --bootstrap-servers kafka:9092",
      "nudge load --rate 100 --ramp 1m --burst 10x5s/1m --groups 200 --duration 10m --yes --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let shape = LoadShape(rate: input[rate], ramp: input[ramp].seconds, burst: input[burst])
    let start = UInt64(input[seed])
    let run = String(UInt32.random(in: .min ... .max), radix: 36)
    let prefix = "load-\(run)-"
    let source: ChatLogSource =
      input[chatLog].map { .file($0) }
      ?? .generated(
        seed: start, groups: input[groups] ?? GeneratedChatLog.groups(rate: input[rate], duration: input[duration]))
    let wanted = max(1, Int(shape.messages(in: input[duration].seconds).rounded()))
    let cast = try LoadCast(source, messages: wanted, seed: start, prefix: prefix)
    guard cast.messages > 0 else { throw CommandError("\(source.name) has no messages") }
    let cluster = ClusterSettings(input)
    guard input[yes] else {
      print(
        "would publish \(cast.messages) messages of \(cast.people.count) people with "
          + "\(cast.people.flatMap(\.devices).count) devices in \(cast.conversations) conversations to "
          + "\(cluster.bootstrapServers), topics \(cluster.topics(.chatEvents)) and \(cluster.topics(.userEvents)).\n"
          + "Nothing was published. The devices' tokens are invented: add --yes only if the dispatcher sends to the emulator."
      )
      return ExitCode.success
    }
    let interrupts = Interrupts()
    let display = LiveDisplay(
      input[json] ? .standardError : .standardOutput, environment: ProcessInfo.processInfo.environment)
    let summary = try ClusterLoad(
      cluster: cluster, cast: cast,
      plan: LoadRun.Plan(
        source: source, cast: cast, shape: shape, members: input[members], seed: start, run: run, prefix: prefix,
        retiresPeople: true),
      duration: input[duration], settleTimeout: input[settleTimeout],
      limits: QuotaWaits.Limits(perDeviceAndHour: input[devicePerHour], perProjectAndMinute: input[quota]),
      interrupts: interrupts, display: display
    ).run()
    if input[json] {
      try CommandOutput.print(json: summary)
    } else {
      print(summary.text(display.colours))
    }
    guard summary.account.isBalanced else {
      for complaint in summary.account.complaints { FileHandle.standardError.write(Data("\(complaint)\n".utf8)) }
      return ExitCode.failure
    }
    return summary.interrupted ? ExitCode.interrupted : ExitCode.success
  }
}
