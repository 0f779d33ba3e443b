import Foundation
import NudgeSchema
import ServiceKit

/// `nudge load`.
enum LoadCommand {
  private static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(7 * 86_400)),
    help: "How long messages are published, the rise included.")
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 0.1...100_000, placeholder: "N",
    help: "Messages a second; each is for all members of its conversation.")
  private static let ramp = Setting<Duration>(
    "ramp", environment: .none, default: .zero, in: .zero...(.seconds(86_400)),
    help: "Rises from nothing to --rate in this time.")
  private static let burst = Setting<LoadShape.Burst?>(
    "burst", environment: .none, default: nil,
    help: "So many times as many messages, for so long, once in a period: 10x5s/1m.")
  private static let groups = Setting<Int>(
    "groups", environment: .none, default: GeneratedChatLog.defaultGroups, in: 1...100_000,
    help: "Groups of the built-in log, 5 to 11 people each; every 8 bring 40 people and 4 pairs of friends.")
  private static let members = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...1_000,
    help: "Members of a conversation at most: its last so many speakers.")
  private static let chatLog = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "Chat log to play, JSON lines, plain or gzip. Default: one the program makes itself.")
  private static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of the people, and of the log it makes itself."
  )
  private static let settleTimeout = Setting<Duration>(
    "settle-timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait, after the last message, for everything to be accounted for.")
  private static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Does it. Without, what would be published is printed.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Prints one JSON object on standard output, and progress on standard error.")

  static let command = Command(
    "load",
    abstract:
      "Publishes the demo's load to a cluster whose services run, and accounts for all of it from the topics: every recipient "
      + "has a decision, every target an outcome. For test clusters whose dispatcher sends to the emulator: the devices' tokens "
      + "are made up, and FCM itself would refuse them. People and conversations have ids of their own (load-RUN-…) and are "
      + "signed out in the end. Exits with 1 where something is missing.",
    settings: ClusterSettings.all + [
      duration, rate, ramp, burst, groups, members, chatLog, seed, settleTimeout, yes, json,
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
    let source: ChatLogSource = input[chatLog].map { .file($0) } ?? .generated(seed: start, groups: input[groups])
    let wanted = max(1, Int(shape.messages(in: input[duration].seconds).rounded()))
    let cast = try LoadCast(source, messages: wanted, seed: start, prefix: prefix)
    guard cast.messages > 0 else { throw ReadingError("\(source.name) has no messages") }
    let cluster = ClusterSettings(input)
    guard input[yes] else {
      print(
        "would publish \(cast.messages) messages of \(cast.people.count) people with "
          + "\(cast.people.flatMap(\.devices).count) devices in \(cast.conversations) conversations to "
          + "\(cluster.bootstrapServers), topics \(cluster.topics(.chatEvents)) and \(cluster.topics(.userEvents)).\n"
          + "Nothing was published. The devices' tokens are made up: only where the dispatcher sends to the emulator, add --yes."
      )
      return ExitCode.success
    }
    let interrupts = Interrupts()
    let display = DemoDisplay(
      input[json] ? .standardError : .standardOutput, environment: ProcessInfo.processInfo.environment)
    let summary = try ClusterLoad(
      cluster: cluster, cast: cast,
      plan: LoadRun.Plan(
        source: source, cast: cast, shape: shape, members: input[members], seed: start, run: run, prefix: prefix,
        retiresPeople: true),
      duration: input[duration], settleTimeout: input[settleTimeout], interrupts: interrupts, display: display
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
