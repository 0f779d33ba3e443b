/// Scripts that complete a program's command line in a shell, generated from its commands and settings.
public enum ShellCompletion {
  /// A shell for which scripts exist.
  public enum Shell: String, CaseIterable, SettingValue {
    /// GNU Bash, 4 or later.
    case bash
    /// The Z shell.
    case zsh
  }

  /// The script for a program with these commands. Source it, or put it where the shell looks for completions.
  public static func script(for shell: Shell, program: String, commands: [Command]) -> String {
    let levels = [Level(path: program, command: nil, subcommands: commands)] + flattened(commands, below: program)
    return switch shell {
    case .bash: bash(program, levels)
    case .zsh: zsh(program, levels)
    }
  }

  /// A position on the command line: the commands so far, and the possible next words.
  private struct Level {
    var path: String
    var command: Command?
    var subcommands: [Command]

    /// Commands, or flags.
    var words: [String] {
      guard let command, command.run != nil else { return subcommands.map(\.name) + ["--help"] }
      return command.settings.map(\.declaration).flatMap { setting in
        setting.isFlag ? ["--\(setting.name)", "--no-\(setting.name)"] : ["--\(setting.name)"]
      } + ["--help"]
    }

    /// Flags with a value, with the values if they can be listed.
    var values: [(flag: String, choices: [String])] {
      guard let command, command.run != nil else { return [] }
      return command.settings.map(\.declaration).filter { !$0.isFlag }.map { ("--\($0.name)", $0.choices) }
    }
  }

  private static func flattened(_ commands: [Command], below path: String) -> [Level] {
    commands.flatMap { command in
      [Level(path: "\(path) \(command.name)", command: command, subcommands: command.subcommands)]
        + flattened(command.subcommands, below: "\(path) \(command.name)")
    }
  }

  /// Quotes a word for the shell. So far no word needs quotes, because they consist of letters, digits, dots and
  /// dashes.
  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }

  private static func bash(_ program: String, _ levels: [Level]) -> String {
    """
    # Completion of \(program) for bash: source <(\(program) completion bash)
    _\(program)() {
      local cur=${COMP_WORDS[COMP_CWORD]} path=\(quoted(program)) words= i
      for ((i = 1; i < COMP_CWORD; i++)); do
    \(walk(levels, word: "${COMP_WORDS[i]}"))
      done
      case "$path ${COMP_WORDS[COMP_CWORD - 1]}" in
    \(values(levels, { "COMPREPLY=($(compgen -W \(quoted($0)) -- \"$cur\")); return" }))
      esac
      case $path in
    \(words(levels))
      esac
      COMPREPLY=($(compgen -W "$words" -- "$cur"))
    }
    complete -o default -F _\(program) \(program)
    """
  }

  private static func zsh(_ program: String, _ levels: [Level]) -> String {
    """
    #compdef \(program)
    # Completion of \(program) for zsh: \(program) completion zsh > "${fpath[1]}/_\(program)"
    _\(program)() {
      local path_=\(quoted(program)) words_= i
      for ((i = 2; i < CURRENT; i++)); do
    \(walk(levels, word: "${words[i]}", variable: "path_"))
      done
      case "$path_ ${words[CURRENT - 1]}" in
    \(values(levels, { $0.isEmpty ? "_files; return" : "compadd -- \($0); return" }))
      esac
      case $path_ in
    \(words(levels, variable: "words_"))
      esac
      compadd -- ${=words_}
    }
    if [ "${funcstack[1]}" = "_\(program)" ]; then _\(program) "$@"; else compdef _\(program) \(program); fi
    """
  }

  /// Follows the words that are commands.
  private static func walk(_ levels: [Level], word: String, variable: String = "path") -> String {
    let paths = levels.dropFirst().map { quoted($0.path) }.joined(separator: "|")
    return """
          case "$\(variable) \(word)" in
            \(paths)) \(variable)="$\(variable) \(word)" ;;
          esac
      """
  }

  /// Completes the value of a flag, with file names if the values cannot be listed.
  private static func values(_ levels: [Level], _ action: (String) -> String) -> String {
    levels.flatMap { level in
      level.values.map { "    \(quoted("\(level.path) \($0.flag)"))) \(action($0.choices.joined(separator: " "))) ;;" }
    }.joined(separator: "\n")
  }

  private static func words(_ levels: [Level], variable: String = "words") -> String {
    levels.map { "    \(quoted($0.path))) \(variable)=\(quoted($0.words.joined(separator: " "))) ;;" }
      .joined(separator: "\n")
  }
}
