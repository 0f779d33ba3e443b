import Testing

@testable import ServiceKit

@Suite("Service program")
struct ServiceProgramTests {
  private struct Unreadable: Error, CustomStringConvertible {
    let description = "keys.json cannot be read"
  }

  private static let threads = ServiceSettings.threads

  private func run(_ arguments: String...) -> (code: Int32, output: String, errors: String) {
    let schema = SettingsSchema(program: "nudge-x", abstract: "X.", version: "1.0", settings: [Self.threads])
    let program = ServiceProgram(
      schema, check: { if $0[Self.threads] == 2 { throw Unreadable() } },
      run: { values in
        if values[Self.threads] == 2 { throw Unreadable() }
        return Int32(values[Self.threads])
      })
    var output = ""
    var errors = ""
    let code = program.main(arguments, environment: [:], output: { output += $0 }, errors: { errors += $0 })
    return (code, output, errors)
  }

  @Test("the run's result is the exit code; a thrown error is printed and exits with 70")
  func runs() {
    #expect(run("--threads=5") == (5, "", ""))
    #expect(run("--threads=2") == (ExitCode.software, "", "nudge-x: keys.json cannot be read"))
  }

  @Test("--check says whether it could run, without running")
  func check() {
    #expect(run("--check", "--threads=5") == (0, "nudge-x: the settings are good", ""))
    #expect(run("--check", "--threads=2") == (ExitCode.failure, "", "nudge-x: keys.json cannot be read"))
  }

  @Test("wrong settings exit with 64 before anything runs; help and version are printed")
  func settings() {
    #expect(run("--threads=x") == (ExitCode.usage, "", "nudge-x: --threads: 'x' is not allowed: use a whole number"))
    #expect(run("--version") == (0, "nudge-x 1.0", ""))
    #expect(run("--print-config") == (0, "threads = 1  (default)", ""))
  }
}
