import ServiceKit

/// `nudge completion`.
enum CompletionCommand {
  private static let shell = PositionalArgument("shell", help: "bash or zsh.")

  static let command = Command(
    "completion", abstract: "Prints a script that completes nudge's command line in a shell.", arguments: [shell],
    examples: ["source <(nudge completion bash)", "nudge completion zsh > \"${fpath[1]}/_nudge\""]
  ) { input in
    let name = input.argument("shell") ?? ""
    guard let shell = ShellCompletion.Shell(rawValue: name) else {
      throw SettingsError("\(name) is no shell that scripts are made for: use bash or zsh")
    }
    print(ShellCompletion.script(for: shell, program: "nudge", commands: NudgeCLI.commands))
    return ExitCode.success
  }
}
