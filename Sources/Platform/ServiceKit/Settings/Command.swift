/// A command of a program such as `nudge`, or a group of commands.
public struct Command: Sendable {
  /// The name on the command line.
  public let name: String
  /// One short line, for the list of commands.
  public let abstract: String
  let discussion: String
  let settings: [any AnySetting]
  let arguments: [PositionalArgument]
  let examples: [String]
  let subcommands: [Command]
  let run: (@Sendable (CommandInput) throws -> Int32)?

  /// A command without subcommands.
  /// - Parameters:
  ///   - abstract: One short line for the list of commands.
  ///   - discussion: Further text for the command's own help.
  ///   - examples: Complete command lines.
  ///   - run: Runs the command and returns the exit code. A thrown error is printed, and the process exits with
  ///     `ExitCode.usage` for a `SettingsError`, with the code of an `ExitCodeError`, or with `ExitCode.failure`.
  public init(
    _ name: String, abstract: String, discussion: String = "", settings: [any AnySetting] = [],
    arguments: [PositionalArgument] = [], examples: [String] = [],
    run: @escaping @Sendable (CommandInput) throws -> Int32
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.settings = settings
    self.arguments = arguments
    self.examples = examples
    subcommands = []
    self.run = run
  }

  /// A group, such as `topics` with `create` and `list`. Its help shows the first example of each of its commands.
  public init(_ name: String, abstract: String, subcommands: [Command]) {
    self.name = name
    self.abstract = abstract
    discussion = ""
    settings = []
    arguments = []
    examples = subcommands.compactMap(\.examples.first)
    self.subcommands = subcommands
    run = nil
  }
}

/// The input of a command: its settings and positional arguments.
public struct CommandInput: Sendable {
  public let values: SettingsValues
  let positional: [String: [String]]

  /// The value of one of the command's settings.
  public subscript<Value>(_ setting: Setting<Value>) -> Value { values[setting] }

  /// The values of a positional argument, possibly none.
  public func arguments(_ name: String) -> [String] { positional[name] ?? [] }

  /// The first value of a positional argument; nil if it was not given.
  public func argument(_ name: String) -> String? { positional[name]?.first }
}

/// Finds the command that a command line names, and runs it.
public struct CommandDispatcher: Sendable {
  private let program: String
  private let abstract: String
  private let version: String
  private let commands: [Command]
  private let examples: [String]

  public init(program: String, abstract: String, version: String, commands: [Command], examples: [String] = []) {
    self.program = program
    self.abstract = abstract
    self.version = version
    self.commands = commands
    self.examples = examples
  }

  /// Runs the command that the arguments (without the program's name) name.
  /// - Parameters:
  ///   - output: Receives texts for standard output, without the last newline.
  ///   - errors: The same for standard error.
  /// - Returns: The exit code: `ExitCode.usage` if the command line is wrong.
  public func run(
    _ arguments: [String], environment: [String: String], output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    if arguments.first == "--version" {
      output("\(program) \(version)")
      return ExitCode.success
    }
    let layout = HelpLayout(environment: environment)
    var path = program
    var level = commands
    var about = abstract
    var shownExamples = examples
    var rest = arguments[...]
    while true {
      guard let name = rest.first else {
        errors("\(path): a command is missing\n\n" + help(path, about, level, shownExamples, layout))
        return ExitCode.usage
      }
      if name == "help", rest.count > 1 {
        rest = rest.dropFirst() + ["--help"]
        continue
      }
      if name == "--help" || name == "-h" || name == "help" {
        output(help(path, about, level, shownExamples, layout))
        return ExitCode.success
      }
      guard let command = level.first(where: { $0.name == name }) else {
        let kind = name.hasPrefix("-") ? "flag" : "command"
        let meant = NearestName.of(name, among: level.map(\.name)).map { ": did you mean '\($0)'?" } ?? ""
        errors("unknown \(kind) '\(name)'\(meant)\nSee \(path) --help")
        return ExitCode.usage
      }
      rest = rest.dropFirst()
      path += " \(command.name)"
      if let run = command.run {
        return execute(command, run, path: path, Array(rest), environment, output, errors)
      }
      level = command.subcommands
      about = command.abstract
      shownExamples = command.examples
    }
  }

  private func execute(
    _ command: Command, _ run: @Sendable (CommandInput) throws -> Int32, path: String, _ arguments: [String],
    _ environment: [String: String], _ output: (String) -> Void, _ errors: (String) -> Void
  ) -> Int32 {
    let schema = SettingsSchema(
      program: path, abstract: command.abstract, discussion: command.discussion, version: nil,
      settings: command.settings,
      arguments: command.arguments, examples: command.examples, hasProgramFlags: false)
    do {
      var parser = SettingsParser(schema: schema, environment: environment)
      let result = try parser.parse(arguments) { try FileContent.read($0) }
      switch result.request {
      case .print(let text):
        output(text)
        return ExitCode.success
      case .run(let values), .check(let values):
        return try run(CommandInput(values: values, positional: result.positional))
      }
    } catch let error as SettingsError {
      errors("\(path): \(error)")
      return ExitCode.usage
    } catch {
      errors("\(path): \(error)")
      return (error as? any ExitCodeError)?.exitCode ?? ExitCode.failure
    }
  }

  private func help(
    _ path: String, _ about: String, _ level: [Command], _ examples: [String], _ layout: HelpLayout
  ) -> String {
    var sections = [layout.wrapped(about), "Usage: \(path) COMMAND …"]
    sections.append("Commands:\n" + layout.columns(level.map { ($0.name, $0.abstract) }))
    if !examples.isEmpty { sections.append("Examples:\n" + layout.examples(examples)) }
    sections.append("\(path) COMMAND --help says more about a command.")
    return sections.joined(separator: "\n\n")
  }
}
