import Foundation

/// The process's command line.
public enum ProcessArguments {
  /// The arguments, the program's name first.
  ///
  /// On Linux the Swift runtime finds them in memory before the environment. A library that the loader puts before the program
  /// (`LD_PRELOAD`) may have moved the environment by then; the runtime then finds none, and /proc has them still.
  public static func all() -> [String] {
    let known = CommandLine.arguments
    return known.isEmpty ? split(contents(of: "/proc/self/cmdline")) : known
  }

  /// The arguments of a text that ends each with a zero byte.
  static func split(_ text: [UInt8]) -> [String] {
    text.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Foundation's readers of whole files stop after a page of a file in /proc, whose size is 0.
  static func contents(of path: String) -> [UInt8] {
    (try? FileHandle(forReadingAtPath: path)?.readToEnd()).map(Array.init) ?? []
  }
}
