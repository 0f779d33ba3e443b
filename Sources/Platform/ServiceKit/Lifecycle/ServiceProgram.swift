import Foundation

/// The outermost layer of a service's executable: settings in, exit code out.
public struct ServiceProgram: Sendable {
  private let schema: SettingsSchema
  private let check: @Sendable (SettingsValues) throws -> Void
  private let run: @Sendable (SettingsValues) throws -> Int32

  /// - Parameters:
  ///   - schema: Its settings.
  ///   - check: For `--check`: throws the reason why the service could not run, such as an unreadable key file.
  ///   - run: Runs the service until its end, and returns the exit code.
  public init(
    _ schema: SettingsSchema, check: @escaping @Sendable (SettingsValues) throws -> Void,
    run: @escaping @Sendable (SettingsValues) throws -> Int32
  ) {
    self.schema = schema
    self.check = check
    self.run = run
  }

  /// Runs the program with the process's own command line and environment, and ends the process. A crash leaves a backtrace on
  /// standard error.
  public func runProcess() -> Never {
    CrashBacktrace.enable(environment: ProcessInfo.processInfo.environment)
    endProcess(main())
  }

  /// Runs with the process's own command line and environment, and returns the exit code.
  func main() -> Int32 {
    let process = ProcessInfo.processInfo
    return main(
      Array(ProcessArguments.all().dropFirst()), environment: process.environment,
      output: { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) },
      errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
  }

  /// Runs with these arguments (without the program's name).
  /// - Parameters:
  ///   - output: Receives texts for standard output, without the last newline.
  ///   - errors: The same for standard error.
  /// - Returns: The exit code: `ExitCode.usage` for wrong settings, `ExitCode.failure` for a failed `--check`, `ExitCode.software` for any other error.
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
