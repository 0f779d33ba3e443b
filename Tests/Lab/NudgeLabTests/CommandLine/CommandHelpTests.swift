import Foundation
import Testing

@testable import NudgeCommands
@testable import NudgeLab
@testable import ServiceKit

@Suite("Help of nudge's commands")
struct CommandHelpTests {
  private let nudge = NudgeCLI(adding: LabCommands.all)

  @Test("nudge --help lists every command; an unknown one exits with 64 and a suggestion")
  func commandLine() {
    var output = ""
    #expect(nudge.run(["--help"], environment: [:], output: { output = $0 }, errors: { _ in }) == ExitCode.success)
    for command in nudge.commands { #expect(output.contains("  \(command.name) ")) }
    #expect(nudge.run(["topcis"], environment: [:], output: { _ in }, errors: { output = $0 }) == ExitCode.usage)
    #expect(output.contains("did you mean 'topics'?"))
  }

  @Test("the help of every command and group of commands ends with its examples")
  func examples() {
    var seen = 0
    func look(at commands: [Command], _ path: [String]) {
      for command in commands {
        let path = path + [command.name]
        var output = ""
        let status = nudge.run(path + ["--help"], environment: [:], output: { output = $0 }, errors: { _ in })
        let example = output.components(separatedBy: "\nExamples:\n").dropFirst().first ?? ""
        // One may begin with a variable, or with what is piped into it.
        #expect(
          status == ExitCode.success && example.contains("nudge \(path.joined(separator: " "))"), "\(path): \(output)")
        seen += 1
        look(at: command.subcommands, path)
      }
    }
    look(at: nudge.commands, [])
    #expect(seen > 30)
  }

  @Test("each command takes one line of nudge --help on a terminal of 80 columns")
  func oneLineEach() {
    let width = nudge.commands.map(\.name.count).max() ?? 0
    for command in nudge.commands {
      #expect(width + 4 + command.abstract.count <= 80, "\(command.name): \(command.abstract)")
      #expect(command.abstract.hasSuffix("."), "\(command.name)")
    }
  }
}
