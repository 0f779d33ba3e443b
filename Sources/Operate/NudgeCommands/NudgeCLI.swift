import Foundation
public import ServiceKit

/// The `nudge` program: the operator's commands, and those that its executable adds from other modules.
public struct NudgeCLI: Sendable {
  /// Every command, in the order of the help.
  package let commands: [Command]

  private static let operatorCommands: [Command] = [
    TopicsCommand.command,
    StateCommand.command,
    UpgradeCommand.command,
    PublishCommand.command,
    ImportCommand.command,
    ExplainCommand.command,
    FunnelCommand.command,
    TailCommand.command,
    DeadLettersCommand.command,
    RejectionsCommand.command,
    ReplayCommand.command,
    SimulateCommand.command,
    EraseCommand.command,
    LagCommand.command,
    DoctorCommand.command,
    ConsoleCommand.command,
    SupportBundleCommand.command,
    PolicyCommand.command,
    RulesCommand.command,
    VapidCommand.command,
  ]

  /// Lists the operator's commands, then `added`, then `completion`, which prints shell completions for them all.
  public init(adding added: [Command] = []) {
    commands = CompletionCommand.completing(Self.operatorCommands + added)
  }

  /// Runs the process's own command line: `endProcess(NudgeCLI().main())`.
  public func main() -> Int32 {
    let process = ProcessInfo.processInfo
    let code = run(
      Array(ProcessArguments.all().dropFirst()), environment: process.environment, output: { print($0) },
      errors: CommandOutput.report)
    guard let reason = StandardOutput.flush() else { return code }
    CommandOutput.report("nudge: standard output could not be written (\(reason)), so the output is incomplete")
    return code == ExitCode.success ? ExitCode.failure : code
  }

  /// Runs a command line.
  /// - Parameters:
  ///   - arguments: The words after the program's name.
  ///   - output: Receives help and version, without the last newline. Commands write to standard output themselves.
  ///   - errors: Receives error messages, without the last newline.
  /// - Returns: The process's exit code.
  public func run(
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

/// `nudge completion`.
enum CompletionCommand {
  private static let shell = PositionalArgument("shell", help: "bash or zsh.")

  /// Appends `completion` to a program's commands. Its scripts complete them all, `completion` included.
  static func completing(_ commands: [Command]) -> [Command] {
    commands + [
      Command(
        "completion", abstract: "Prints a completion script for bash or zsh.", arguments: [shell],
        examples: ["source <(nudge completion bash)", "nudge completion zsh > \"${fpath[1]}/_nudge\""]
      ) { input in
        let name = input.argument("shell") ?? ""
        guard let shell = ShellCompletion.Shell(rawValue: name) else {
          throw SettingsError("unknown shell \(name): use bash or zsh")
        }
        print(ShellCompletion.script(for: shell, program: "nudge", commands: completing(commands)))
        return ExitCode.success
      }
    ]
  }
}
