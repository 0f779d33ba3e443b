import Testing

@testable import ServiceKit

@Suite("Commands")
struct CommandTests {
  private static let partitions = Setting<Int>("partitions", default: 6, in: 1...999, help: "How many.")

  private struct Broken: Error, CustomStringConvertible {
    let description = "no broker answers"
  }

  private static let dispatcher = CommandDispatcher(
    program: "nudge", abstract: "Operates Nudge.", version: "1.2.3",
    commands: [
      Command(
        "topics", abstract: "Looks after topics.",
        subcommands: [
          Command(
            "create", abstract: "Makes the topics.", settings: [partitions],
            arguments: [
              PositionalArgument("prefix", help: "What their names begin with."),
              PositionalArgument("topic", help: "Only these.", count: .optional),
            ], examples: ["nudge topics create prod --partitions 12"]
          ) { input in
            Int32(input[partitions] + input.arguments("topic").count * 100)
          }
        ]),
      Command("echo", abstract: "Says it.", arguments: [PositionalArgument("text", help: "What.", count: .many)]) {
        Int32($0.arguments("text").joined().count)
      },
      Command("break", abstract: "Fails.") { _ in throw Broken() },
      Command("usage", abstract: "Fails otherwise.") { _ in throw SettingsError("--from and --to do not go together") },
    ], examples: ["nudge topics create prod"])

  private func run(_ arguments: String...) -> (code: Int32, output: String, errors: String) {
    var output = ""
    var errors = ""
    let code = Self.dispatcher.run(
      arguments, environment: [:], output: { output += $0 }, errors: { errors += $0 })
    return (code, output, errors)
  }

  @Test("a command runs with its settings and arguments, and its result is the exit code")
  func runs() {
    #expect(run("topics", "create", "prod").code == 6)
    #expect(run("topics", "create", "prod", "--partitions", "12", "one").code == 112)
    #expect(run("echo", "a", "--", "--b").code == 4)
  }

  @Test("usage errors exit with 64 and suggest the intended name")
  func usage() {
    #expect(run("topcis") == (64, "", "unknown command 'topcis': did you mean 'topics'?\nSee nudge --help"))
    #expect(run("topics", "crate").errors == "unknown command 'crate': did you mean 'create'?\nSee nudge topics --help")
    #expect(run("--what").errors.hasPrefix("unknown flag '--what'"))
    let missing = run("topics", "create")
    #expect(missing.code == 64)
    #expect(
      missing.errors
        == "nudge topics create: PREFIX is missing: What their names begin with; see nudge topics create --help")
    #expect(run("topics", "create", "a", "b", "c").errors.contains("unexpected argument 'c'"))
    #expect(run("topics", "create", "a", "--partitons=1").errors.contains("did you mean --partitions?"))
    let nothing = run()
    #expect(nothing.code == 64)
    #expect(
      nothing.errors.hasPrefix("nudge: a command is missing\n") && nothing.errors.contains("Usage: nudge COMMAND"))
    #expect(run("topics").code == 64)
    #expect(run("usage") == (64, "", "nudge usage: --from and --to do not go together"))
  }

  @Test("a flag with one value is refused when it is given twice; the last of two would silently win")
  func twice() {
    for arguments in [["--partitions", "3", "--partitions", "4"], ["--partitions=3", "--partitions=3"]] {
      var errors = ""
      let code = Self.dispatcher.run(
        ["topics", "create", "prod"] + arguments, environment: [:], output: { _ in }, errors: { errors += $0 })
      #expect(code == ExitCode.usage)
      #expect(errors.contains("--partitions is given twice, and has one value"), "\(errors)")
    }
  }

  @Test("help NAME is NAME --help, at every level")
  func helpOf() {
    #expect(run("help", "topics") == run("topics", "--help"))
    #expect(run("help", "topics", "create") == run("topics", "create", "--help"))
    #expect(run("topics", "help", "create") == run("topics", "create", "--help"))
    #expect(run("help", "topcis").errors.contains("did you mean 'topics'?"))
  }

  @Test("a command that fails says why and exits with 1")
  func fails() {
    #expect(run("break") == (1, "", "nudge break: no broker answers"))
  }

  @Test("there is help at every level, and a version")
  func help() {
    let top = run("--help")
    #expect(top.code == 0)
    #expect(top.output.contains("topics  Looks after topics."))
    #expect(top.output.contains("Examples:\n  nudge topics create prod"))
    #expect(run("help") == top)
    #expect(run("topics", "--help").output.contains("create  Makes the topics."))
    let create = run("topics", "create", "--help")
    #expect(create.code == 0)
    #expect(create.output.hasPrefix("Makes the topics.\n\nUsage: nudge topics create PREFIX [TOPIC] [flags]"))
    #expect(create.output.contains("--partitions N"))
    #expect(create.output.contains("nudge topics create prod --partitions 12"))
    #expect(!create.output.contains("--print-config"))
    #expect(run("--version").output == "nudge 1.2.3")
  }
}
