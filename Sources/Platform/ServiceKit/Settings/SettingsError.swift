/// A mistake on the command line, in the environment or in a configuration file, with its fix. The process exits with `ExitCode.usage`.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// For a person: the setting, its value, what is allowed.
  public let description: String

  /// An error with the text a person is to read.
  public init(_ description: String) { self.description = description }
}
