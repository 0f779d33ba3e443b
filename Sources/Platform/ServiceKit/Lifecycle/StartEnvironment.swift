import Foundation

/// Variables that the C library and the Swift runtime read before `main`. A process that was started without them starts its program again.
enum StartEnvironment {
  /// Replaces the process's program with itself, with the variables set that are missing; once, because they are set then.
  ///
  /// Returns if none is missing, or the system refuses.
  static func complete(environment: [String: String]) {
    let missing = [CrashBacktrace.variable(environment: environment), Allocator.variable(environment: environment)]
      .compactMap { $0 }
    // A program with rights of its own starts without such variables, however often it is started.
    guard !missing.isEmpty, !hasOwnRights else { return }
    for (name, value) in missing { setenv(name, value, 1) }
    // The same arguments, including the name.
    var arguments = ProcessArguments.all().map { strdup($0) } + [nil]
    // It returns only if it fails.
    execv("/proc/self/exe", &arguments)
    for argument in arguments { free(argument) }
    for (name, _) in missing { unsetenv(name) }
  }

  /// As the kernel tells the loader: `AT_SECURE` among pairs of words.
  private static var hasOwnRights: Bool {
    let (secure, word) = (23, MemoryLayout<Int>.size)
    return ProcessArguments.contents(of: "/proc/self/auxv").withUnsafeBytes { pairs in
      stride(from: 0, to: pairs.count / (2 * word) * 2 * word, by: 2 * word).contains {
        pairs.loadUnaligned(fromByteOffset: $0, as: Int.self) == secure
          && pairs.loadUnaligned(fromByteOffset: $0 + word, as: Int.self) != 0
      }
    }
  }
}
