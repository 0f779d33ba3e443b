import Foundation

/// The resources another process of this machine has used, from `/proc`.
enum ProcessUsage {
  /// CPU seconds of all threads since the start, ended ones included, in steps of 10 ms.
  static func cpuSeconds(_ process: Int32) throws -> Double { try cpuSeconds(stat: "/proc/\(process)/stat") }

  /// CPU seconds of the process's current threads of this name, in steps of 10 ms each.
  static func cpuSeconds(_ process: Int32, thread name: String) throws -> Double {
    let folder = "/proc/\(process)/task"
    var sum = 0.0
    for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
      // It may have ended since the folder was listed.
      guard let text = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8),
        text.trimmingCharacters(in: .whitespacesAndNewlines) == name
      else { continue }
      sum += try cpuSeconds(stat: "\(folder)/\(thread)/stat")
    }
    return sum
  }

  private static func cpuSeconds(stat path: String) throws -> Double {
    // proc(5): field 3 follows the name, which is in parentheses and may contain anything.
    let fields = try fields(path)
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      throw BenchmarkFailure("\(path) has no CPU time")
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The peak resident memory (`VmHWM`), in megabytes of 1,000,000 bytes.
  static func peakMegabytes(_ process: Int32) throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
    else { throw BenchmarkFailure("/proc/\(process)/status has no VmHWM") }
    return kibibytes * 1024 / 1e6
  }

  /// The process of this name that this one has started, directly or by a shell, with `text` in its arguments.
  static func descendant(named name: String, mentioning text: String) throws -> Int32 {
    for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      guard let process = Int32(entry) else { continue }
      // It may have ended since the folder was listed.
      guard let command = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8),
        command.trimmingCharacters(in: .whitespacesAndNewlines) == name,
        let arguments = FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
      else { continue }
      if String(decoding: arguments, as: UTF8.self).contains(text) && isDescendant(process) { return process }
    }
    throw BenchmarkFailure("no process called \(name) with \(text) was started by this one")
  }

  private static func isDescendant(_ process: Int32) -> Bool {
    var current = process
    while current > 1 {
      if current == getpid() { return true }
      guard let fields = try? fields("/proc/\(current)/stat"), fields.count > 1, let parent = Int32(fields[1]) else {
        return false
      }
      current = parent
    }
    return false
  }

  private static func fields(_ path: String) throws -> [Substring] {
    let stat = try String(contentsOfFile: path, encoding: .utf8)
    guard let end = stat.lastIndex(of: ")") else { throw BenchmarkFailure("\(path) is not understood") }
    return stat[stat.index(after: end)...].split(separator: " ")
  }
}
