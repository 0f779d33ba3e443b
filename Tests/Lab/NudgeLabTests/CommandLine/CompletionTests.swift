import Foundation
import ServiceKit
import Testing

@testable import NudgeCommands
@testable import NudgeLab

@Suite("Completion in a shell")
struct CompletionTests {
  /// Bash's completions of a command line's last word.
  private func offers(_ line: [String]) throws -> [String] {
    let script = ShellCompletion.script(
      for: .bash, program: "nudge", commands: NudgeCLI(adding: LabCommands.all).commands)
    let words = line.map { "'\($0)'" }.joined(separator: " ")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [
      "--norc", "-c",
      "\(script)\nCOMP_WORDS=(\(words)); COMP_CWORD=\(line.count - 1); _nudge; printf '%s\\n' \"${COMPREPLY[@]}\"",
    ]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.split(separator: "\n").map(String.init)
  }

  @Test("commands, their subcommands, their flags, and the values of a flag that can be listed")
  func bash() throws {
    #expect(try offers(["nudge", "exp"]) == ["explain"])
    #expect(Set(try offers(["nudge", "dead-letters", ""])) == ["list", "show", "replay", "edit", "discard", "--help"])
    let flags = try offers(["nudge", "replay", "force", "--"])
    #expect(
      flags.contains("--confirm") && flags.contains("--yes") && flags.contains("--no-yes") && !flags.contains("--max"))
    #expect(try offers(["nudge", "state", "list", "--stage", ""]) == ["ingest", "analyzer", "dispatcher"])
    #expect(try offers(["nudge", "state", "list", "--stage", "ana"]) == ["analyzer"])
    #expect(try offers(["nudge", "explain", "--user", ""]).isEmpty, "nobody can list people: bash offers files")
    // The value of a flag is no command.
    #expect(try offers(["nudge", "explain", "--user", "replay", "--tex"]) == ["--texts"])
  }

  @Test("both scripts have every command and every flag", arguments: ShellCompletion.Shell.allCases)
  func complete(_ shell: ShellCompletion.Shell) {
    let script = ShellCompletion.script(
      for: shell, program: "nudge", commands: NudgeCLI(adding: LabCommands.all).commands)
    for name in ["topics", "state", "explain", "tail", "dead-letters", "replay", "lag", "doctor", "demo", "completion"]
    {
      #expect(script.contains("'nudge \(name)')"), "\(name)")
    }
    for flag in ["--token-hash", "--from-offset", "--analyses-per-hour", "--kafka-property"] {
      #expect(script.contains(flag), "\(flag)")
    }
  }
}
