import Foundation

/// The process metrics of Prometheus' own clients, under the same names, and the build's version.
enum ProcessMetrics {
  /// The environment variable with the revision from which the programs were built. The image sets it.
  static let revisionVariable = "NUDGE_REVISION"

  /// Registers the metrics, which are read for each scrape.
  static func register(in metrics: MetricsRegistry, environment: [String: String]) {
    let revision = environment[revisionVariable].flatMap { $0.isEmpty ? nil : String($0.prefix(64)) } ?? "unknown"
    metrics.gauge(
      "nudge_build_info", help: "1, with the version and the revision of the program.",
      labels: ["version": NudgeVersion.current, "revision": revision]
    ).set(1)
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let page = Double(sysconf(Int32(_SC_PAGESIZE)))
    metrics.counter("process_cpu_seconds_total", help: "Time of processors in seconds, of the user and the system.") {
      ProcessState.read().map { Double($0.ticks) / ticks } ?? .nan
    }
    metrics.gauge("process_resident_memory_bytes", help: "Memory in RAM, in bytes.") {
      ProcessState.read().map { Double($0.residentPages) * page } ?? .nan
    }
    metrics.gauge("process_virtual_memory_bytes", help: "Address space, in bytes.") {
      ProcessState.read().map { Double($0.virtualBytes) } ?? .nan
    }
    metrics.gauge("process_threads", help: "Threads.") { ProcessState.read().map { Double($0.threads) } ?? .nan }
    metrics.gauge("process_open_fds", help: "Open file descriptors.") {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) } ?? .nan
    }
    metrics.gauge("process_max_fds", help: "The most file descriptors that may be open.") {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .nan }
      return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
    }
    if let started = ProcessState.read()?.startedTicks, let boot = ProcessState.bootTime() {
      metrics.gauge("process_start_time_seconds", help: "When the process started, in seconds since the epoch.")
        .set(boot + Double(started) / ticks)
    }
  }
}

/// The figures of `/proc/self/stat` (proc(5)).
struct ProcessState: Equatable {
  var ticks: UInt64
  var threads: Int
  var startedTicks: UInt64
  var virtualBytes: UInt64
  var residentPages: Int

  static func read() -> ProcessState? {
    (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)).flatMap { ProcessState($0) }
  }

  /// nil if the text has another form.
  init?(_ text: String) {
    // The program's name is in brackets and may contain blanks and brackets.
    guard let name = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count >= 22, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
      let threads = Int(fields[17]), let started = UInt64(fields[19]), let virtual = UInt64(fields[20]),
      let resident = Int(fields[21])
    else { return nil }
    ticks = user + system
    self.threads = threads
    startedTicks = started
    virtualBytes = virtual
    residentPages = resident
  }

  /// When the host started, in seconds since the epoch.
  static func bootTime() -> Double? {
    let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
    return text?.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
  }
}
