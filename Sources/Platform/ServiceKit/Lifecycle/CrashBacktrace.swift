import Foundation

/// Has the Swift runtime write a backtrace to standard error when the process dies by a signal.
///
/// The runtime reads `SWIFT_BACKTRACE` before `main`, so a process that was started without it has to start its program again.
enum CrashBacktrace {
  static let variable = "SWIFT_BACKTRACE"

  /// Text without registers, images or memory: those could hold tokens. The runtime's default in a development build shows the memory
  /// that registers point to, and its JSON format always does.
  static let options =
    "enable=yes,color=no,interactive=no,registers=none,images=none,threads=crashed,limit=64,sanitize=yes,cache=no,output-to=stderr"

  /// Replaces the process's program with itself, with the variable set; once, because the variable is set then.
  ///
  /// Returns if the variable is set already (also to `enable=no`), or the runtime's helper program is not found, or the system refuses.
  static func enable(environment: [String: String]) {
    guard environment[variable] == nil,
      let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      let helper = helpers(besideProgram: program, runtime: runtimePath()).first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else { return }
    setenv(variable, "\(options),swift-backtrace=\(helper)", 1)
    // The same arguments, including the name.
    var arguments = ProcessArguments.all().map { strdup($0) } + [nil]
    // It returns only if it fails.
    execv("/proc/self/exe", &arguments)
    for argument in arguments { free(argument) }
    unsetenv(variable)
  }

  /// Where the helper may be: beside the program as in the image, then in the toolchain whose runtime library the process uses.
  static func helpers(besideProgram program: String, runtime: String?) -> [String] {
    let folder = "libexec/swift/linux"
    let prefix = parent(parent(program))
    var found = ["\(prefix)/\(folder)/swift-backtrace-static"]
    // PREFIX/lib/swift/linux/libswiftCore.so
    if let runtime { found.append("\(parent(parent(parent(parent(runtime)))))/\(folder)/swift-backtrace") }
    return found
  }

  private static func parent(_ path: String) -> String { (path as NSString).deletingLastPathComponent }

  /// The file of the Swift runtime; nil where it is linked into the program.
  private static func runtimePath() -> String? {
    let maps = String(decoding: ProcessArguments.contents(of: "/proc/self/maps"), as: UTF8.self)
    guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix("/libswiftCore.so") }) else { return nil }
    return line.firstIndex(of: "/").map { String(line[$0...]) }
  }
}
