import Foundation

/// Makes the Swift runtime write a backtrace to standard error when a signal kills the process.
///
/// The runtime reads `SWIFT_BACKTRACE` before `main`, so a process that was started without it must start its program
/// again.
enum CrashBacktrace {
  static let variable = "SWIFT_BACKTRACE"

  /// Text without registers, images or memory, which could contain tokens. In a development build the runtime's default
  /// shows the memory that registers point to, and its JSON format always does.
  static let options =
    "enable=yes,color=no,interactive=no,registers=none,images=none,threads=crashed,limit=64,sanitize=yes,cache=no,output-to=stderr"

  /// Starts the process's program again with the variable set. It happens only once, because the variable is set then.
  ///
  /// Returns if the variable is already set (also to `enable=no`), if the runtime's helper program is not found, or if
  /// the system refuses.
  static func enable(environment: [String: String]) {
    guard environment[variable] == nil,
      let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      let helper = helpers(besideProgram: program, runtime: runtimePath()).first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else { return }
    setenv(variable, "\(options),swift-backtrace=\(helper)", 1)
    // The arguments stay the same, including the program's name.
    var arguments = ProcessArguments.all().map { strdup($0) } + [nil]
    // It returns only if it fails.
    execv("/proc/self/exe", &arguments)
    for argument in arguments { free(argument) }
    unsetenv(variable)
  }

  /// Where the helper may be: beside the program, as in the image, or in the toolchain whose runtime library the
  /// process uses.
  static func helpers(besideProgram program: String, runtime: String?) -> [String] {
    let folder = "libexec/swift/linux"
    let prefix = parent(parent(program))
    var found = ["\(prefix)/\(folder)/swift-backtrace-static"]
    // PREFIX/lib/swift/linux/libswiftCore.so
    if let runtime { found.append("\(parent(parent(parent(parent(runtime)))))/\(folder)/swift-backtrace") }
    return found
  }

  private static func parent(_ path: String) -> String { (path as NSString).deletingLastPathComponent }

  /// The file of the Swift runtime; nil if it is linked into the program.
  private static func runtimePath() -> String? {
    let maps = String(decoding: ProcessArguments.contents(of: "/proc/self/maps"), as: UTF8.self)
    guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix("/libswiftCore.so") }) else { return nil }
    return line.firstIndex(of: "/").map { String(line[$0...]) }
  }
}
