import Testing

@testable import NudgeCommands
@testable import ServiceKit

@Suite("Commands take the same flags")
struct CommandFlagsTests {
  private static func leaves(_ commands: [Command], _ path: [String] = []) -> [(name: String, command: Command)] {
    commands.flatMap { command in
      command.run == nil
        ? leaves(command.subcommands, path + [command.name])
        : [((path + [command.name]).joined(separator: " "), command)]
    }
  }

  private static let all = leaves(NudgeCLI().commands)
  private static func flags(_ command: Command) -> Set<String> { Set(command.settings.map(\.name)) }

  @Test("--json: each takes it but those whose output is a page, a script or JSON anyway")
  func json() {
    let others: Set<String> = ["console", "completion", "policy show"]
    for (name, command) in Self.all {
      #expect(Self.flags(command).contains("json") == !others.contains(name), "\(name)")
    }
  }

  @Test("--until: each that takes --since takes it")
  func until() {
    for (name, command) in Self.all {
      #expect(Self.flags(command).contains("until") == Self.flags(command).contains("since"), "\(name)")
    }
  }

  @Test("--watch of what says how things stand, --follow of what prints records")
  func live() {
    let watched: Set<String> = ["lag", "doctor", "funnel", "dead-letters list", "replay list", "state list"]
    let followed: Set<String> = ["tail", "rejections"]
    for (name, command) in Self.all {
      #expect(Self.flags(command).contains("watch") == watched.contains(name), "\(name)")
      #expect(Self.flags(command).contains("follow") == followed.contains(name), "\(name)")
    }
  }

  private func errors(_ words: [String]) -> String {
    var errors = ""
    let code = NudgeCLI().run(
      words + ["--bootstrap-servers", "127.0.0.1:1"], environment: [:], output: { _ in }, errors: { errors += $0 })
    #expect(code == ExitCode.usage, "\(words): \(errors)")
    return errors
  }

  @Test(
    "a name that is none of those there are is refused before anything is read, with the one that was probably meant",
    arguments: [
      (["tail", "desicions"], "did you mean decisions?"),
      (["tail", "decisions", "--type", "mesage.created"], "message.created"),
      (["tail", "decisions", "--reason", "quiet_hour"], "quiet_hours"),
      (["dead-letters", "list", "--reason", "unknown_conversatoin"], "unknown_conversation"),
      (["dead-letters", "list", "--stage", "analyser"], "analyzer"),
      (["dead-letters", "list", "--topic", "chat.event"], "chat.events"),
      (["replay", "resend-missing", "--reason", "quiet_hour"], "quiet_hours"), (["lag", "--wach", "10s"], "--watch"),
      (["state", "list", "--stage", "analyser"], "analyzer"),
      (["publish", "device", "--user", "a", "--platform", "andriod"], "android"),
    ])
  func meant(words: [String], name: String) {
    let said = errors(words)
    #expect(said.contains("did you mean") && said.contains(name), "\(said)")
  }

  @Test("a span that ends before it begins, and one that is to be followed to an end, are refused")
  func spans() {
    let times = ["--since", "1h", "--until", "2h"]
    for words in [
      ["tail", "decisions"], ["funnel"], ["dead-letters", "list"], ["rejections", "--producer", "chat"],
      ["explain", "--user", "ann"], ["replay", "resend-missing"],
    ] {
      #expect(errors(words + times).contains("--since must be before --until"), "\(words)")
    }
    #expect(errors(["tail", "decisions", "--follow", "--until", "1m"]).contains("exclude each other"))
    #expect(errors(["rejections"]).contains("--producer must be given"))
  }

  @Test("one is one: numbers with their nouns")
  func counted() {
    #expect([0, 1, 2].map { $0.counted("push", "pushes") } == ["0 pushes", "1 push", "2 pushes"])
    #expect(1.counted("record") == "1 record" && 21.counted("record") == "21 records")
  }
}
