import ServiceKit

/// Why a command cannot go on: what failed, and what to do about it.
package struct CommandError: ExitCodeError, Equatable, CustomStringConvertible {
  package let description: String
  package let exitCode: Int32

  package init(_ description: String, exitCode: Int32 = ExitCode.failure) {
    self.description = description
    self.exitCode = exitCode
  }
}
