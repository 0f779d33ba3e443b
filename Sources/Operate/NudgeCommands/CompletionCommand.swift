import ServiceKit

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
