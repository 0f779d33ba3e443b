import CLoops
import Foundation

/// The machine of a measurement.
enum Machine {
  static var description: String {
    let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    let information = ProcessInfo.processInfo
    return "\(processor ?? "unknown processor"), \(information.activeProcessorCount) cores, "
      + "\(information.physicalMemory >> 30) GiB, \(information.operatingSystemVersionString)"
  }

  /// Returns unused memory to the system and resets the peak.
  static func forgetPeak() throws {
    return_unused_memory()
    // 5: proc(5), clear_refs.
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
  }

  /// This process's peak memory since `forgetPeak`, in megabytes.
  static var peakMegabytes: Double { megabytes("VmHWM:") }

  /// This process's memory now, in megabytes.
  static var residentMegabytes: Double { megabytes("VmRSS:") }

  private static func megabytes(_ name: String) -> Double {
    let line = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix(name) }
    let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    return (kilobytes ?? .nan) / 1000
  }
}
