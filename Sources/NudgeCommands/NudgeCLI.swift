public import ServiceKit

/// The `nudge` program: what operators and developers do with a pipeline.
public enum NudgeCLI {
  /// Every command, in the order of the help. Each has a folder of its own beside this file.
  static let commands: [Command] = [
    TopicsCommand.command,
    DemoCommand.command,
  ]

  /// Runs what the arguments (without the program's name) ask for, and returns what the process exits with.
  public static func run(
    _ arguments: [String], environment: [String: String], output: (String) -> Void = { print($0) },
    errors: (String) -> Void = StandardError.write
  ) -> Int32 {
    CommandDispatcher(
      program: "nudge", abstract: "Tools for Nudge, the push-notification pipeline.", version: NudgeVersion.current,
      commands: commands,
      examples: [
        "nudge topics create --bootstrap-servers kafka:9092",
        "nudge topics check --bootstrap-servers kafka:9092",
      ]
    ).run(arguments, environment: environment, output: output, errors: errors)
  }
}
