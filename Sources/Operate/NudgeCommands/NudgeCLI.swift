import Foundation
import ServiceKit

/// The `nudge` program: what operators and developers do with a pipeline.
public enum NudgeCLI {
  /// Every command, in the order of the help. Each has a folder of its own beside this file.
  static let commands: [Command] = [
    TopicsCommand.command,
    StateCommand.command,
    PublishCommand.command,
    ImportCommand.command,
    ExplainCommand.command,
    TailCommand.command,
    DeadLettersCommand.command,
    ReplayCommand.command,
    SimulateCommand.command,
    LagCommand.command,
    DoctorCommand.command,
    LoadCommand.command,
    DemoCommand.command,
    DeviceCommand.command,
    RelevanceCommand.command,
    PolicyCommand.command,
    RulesCommand.command,
    CompletionCommand.command,
  ]

  /// Runs what the process's own command line asks for: `endProcess(NudgeCLI.main())`.
  public static func main() -> Int32 {
    let process = ProcessInfo.processInfo
    return run(
      Array(process.arguments.dropFirst()), environment: process.environment, output: { print($0) },
      errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
  }

  /// Runs what the arguments (without the program's name) ask for, and returns what the process exits with.
  /// - Parameters:
  ///   - output: Takes help and version, without their last newline; commands write to standard output themselves.
  ///   - errors: The same for standard error.
  public static func run(
    _ arguments: [String], environment: [String: String], output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    CommandDispatcher(
      program: "nudge", abstract: "Tools for Nudge, the push-notification pipeline.", version: NudgeVersion.current,
      commands: commands,
      examples: [
        "nudge topics create --bootstrap-servers kafka:9092",
        "nudge topics check --bootstrap-servers kafka:9092",
        "nudge state list --stage analyzer --bootstrap-servers kafka:9092",
        "nudge publish message --from ann --to bob --text 'Lunch?' --wait --bootstrap-servers kafka:9092",
        "nudge explain --user ann --bootstrap-servers kafka:9092",
        "nudge dead-letters list --bootstrap-servers kafka:9092",
      ]
    ).run(arguments, environment: environment, output: output, errors: errors)
  }
}
