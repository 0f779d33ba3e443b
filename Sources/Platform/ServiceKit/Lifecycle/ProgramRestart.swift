import Foundation

/// Starts the process's program again in the same process, with variables that the C library or Swift's runtime read before `main`.
enum ProgramRestart {
  /// A variable of the environment.
  struct Variable: Equatable {
    var name: String
    var value: String
  }

  /// Replaces the process's program with itself, with these variables set. The caller asks for none that are set already, so it happens
  /// once.
  ///
  /// Returns if there are none, or the system refuses.
  static func run(with variables: [Variable]) {
    guard !variables.isEmpty else { return }
    for variable in variables { setenv(variable.name, variable.value, 1) }
    // The same arguments, including the name. execv returns only if it fails.
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    for variable in variables { unsetenv(variable.name) }
  }
}
