import ServiceKit
import Testing

@testable import NudgeCommands
@testable import ServiceKit

@Suite("Commands that write agree")
struct WritingTests {
  /// Every command with its words.
  private static func all(_ commands: [Command], _ path: [String] = []) -> [(path: [String], command: Command)] {
    commands.flatMap { command in
      [(path + [command.name], command)] + all(command.subcommands, path + [command.name])
    }
  }

  private static func flags(_ command: Command) -> Set<String> { Set(command.settings.map(\.name)) }

  /// What operators undo, repeat or take away with: a dry run unless `--yes`.
  private static let asking: Set<String> = [
    "erase", "dead-letters replay", "dead-letters edit", "dead-letters discard", "replay resend-missing",
    "replay resend-failed", "replay rederive", "replay force", "replay resume", "replay stop", "state accept-loss",
    "state rebuild", "state adopt-topics", "state end-transactions", "topics repartition", "upgrade finalize",
  ]
  /// What producers and setups do.
  private static let acting: Set<String> = [
    "topics create", "import", "publish message", "publish device", "publish preferences",
  ]

  @Test("each takes --dry-run; what asks for --yes takes --why")
  func flags() {
    var seen: Set<String> = []
    for (path, command) in Self.all(NudgeCLI().commands) where command.run != nil {
      let name = path.joined(separator: " ")
      let flags = Self.flags(command)
      if flags.contains("yes") || flags.contains("dry-run") || Self.asking.contains(name) || Self.acting.contains(name)
      {
        seen.insert(name)
        #expect(flags.contains("dry-run"), "\(name)")
        #expect(flags.isSuperset(of: ["yes", "why"]) == Self.asking.contains(name), "\(name)")
      }
    }
    #expect(seen == Self.asking.union(Self.acting))
  }

  @Test("--yes with --dry-run contradicts itself; a reason that is required is asked for before anything else")
  func reasons() {
    let arguments: [String: [String]] = [
      "erase": ["--user", "ann"], "dead-letters edit": ["2@17", "--set", "a=1"], "replay resume": ["20261122-1-a"],
      "replay stop": ["20261122-1-a"], "replay force": ["--message", "m"], "topics repartition": ["--partitions", "8"],
    ]
    for name in Self.asking.sorted() {
      let words = name.split(separator: " ").map(String.init)
      let own = arguments[name] ?? (words[0] == "state" ? ["--stage", "ingest"] : [])
      func run(_ flags: [String]) -> (code: Int32, errors: String) {
        var errors = ""
        // Nobody listens on port 1, and nobody is asked.
        let code = NudgeCLI().run(
          words + own + flags + ["--bootstrap-servers", "127.0.0.1:1"], environment: [:], output: { _ in },
          errors: { errors += $0 })
        return (code, errors)
      }
      let both = run(["--yes", "--dry-run", "--why", "x"])
      #expect(both.code == ExitCode.usage && both.errors.contains("exclude each other"), "\(name): \(both)")
      guard words[0] != "state", words[0] != "topics" else { continue }
      let missing = run(["--yes"])
      #expect(missing.code == ExitCode.usage && missing.errors.contains("--why is missing"), "\(name): \(missing)")
    }
  }
}
