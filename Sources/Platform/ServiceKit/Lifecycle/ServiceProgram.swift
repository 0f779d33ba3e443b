import Foundation

/// The outermost layer of a service's executable: settings in, exit code out.
public struct ServiceProgram: Sendable {
  private let schema: SettingsSchema
  private let check: @Sendable (SettingsValues) throws -> Void
  private let run: @Sendable (SettingsValues) throws -> Int32

  /// - Parameters:
  ///   - schema: What it can be told.
  ///   - check: For `--check`: throws what would keep it from running, such as a key file that cannot be read.
  ///   - run: Runs until the end, and returns what the process exits with.
  public init(
    _ schema: SettingsSchema, check: @escaping @Sendable (SettingsValues) throws -> Void,
    run: @escaping @Sendable (SettingsValues) throws -> Int32
  ) {
    self.schema = schema
    self.check = check
    self.run = run
  }

  /// Does what the process's own command line and environment ask for, and ends the process.
  public func runProcess() -> Never { endProcess(main()) }

  /// Does what the process's own command line and environment ask for. Returns what it is to exit with.
  func main() -> Int32 {
    let process = ProcessInfo.processInfo
    return main(
      Array(process.arguments.dropFirst()), environment: process.environment,
      output: { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) },
      errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
  }

  /// Does what the arguments (without the program's name) ask for.
  /// - Parameters:
  ///   - output: Takes what goes to standard output, a text without its last newline.
  ///   - errors: The same for standard error.
  /// - Returns: What the process exits with: `ExitCode.usage` for settings that are wrong, `ExitCode.failure` for what `--check` finds, `ExitCode.software` for what else keeps it from running.
  public func main(
    _ arguments: [String], environment: [String: String], output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    do {
      switch try schema.parse(arguments, environment: environment) {
      case .print(let text):
        output(text)
      case .check(let values):
        do {
          try check(values)
        } catch let error where !(error is SettingsError) {
          errors("\(schema.program): \(error)")
          return ExitCode.failure
        }
        output("\(schema.program): the settings are good")
      case .run(let values):
        Allocator.shareArenas(environment: environment)
        return try run(values)
      }
      return ExitCode.success
    } catch let error as SettingsError {
      errors("\(schema.program): \(error)")
      return ExitCode.usage
    } catch {
      errors("\(schema.program): \(error)")
      return ExitCode.software
    }
  }
}
