import Foundation

/// The processes of one service, which share its partitions.
struct ServiceInstances {
  /// How long they may go without a commit.
  private static let patience = 60.0

  let processes: [ServiceProcess]

  /// Their commits, added up.
  var committed: ServiceProcess.Committed {
    processes.reduce(into: ServiceProcess.Committed()) { sum, process in
      sum.records += process.committed.records
      sum.outputs += process.committed.outputs
      sum.rows += process.committed.rows
      sum.transactions += process.committed.transactions
    }
  }

  var complaints: [String] { processes.flatMap(\.complaints) }

  func waitUntilReady() throws {
    for process in processes { _ = try process.waitUntilReady() }
  }

  /// CPU time until now, of all.
  func cpuSeconds() throws -> Double {
    try processes.reduce(0) { try $0 + ProcessUsage.cpuSeconds($1.number) }
  }

  /// The sum of their peaks.
  func peakMegabytes() throws -> Double {
    try processes.reduce(0) { try $0 + ProcessUsage.peakMegabytes($1.number) }
  }

  /// Waits until together they have committed this many records.
  func wait(for what: String, until condition: (ServiceProcess.Committed) -> Bool) throws {
    var deadline = Clocks.steady + Self.patience
    var records = 0
    while true {
      for process in processes { try process.readLog() }
      let committed = committed
      if condition(committed) { return }
      if committed.records > records {
        records = committed.records
        deadline = Clocks.steady + Self.patience
      }
      guard Clocks.steady < deadline else {
        let logs = processes.map { "\($0.name): \($0.lastWords)" }.joined(separator: "\n")
        throw BenchmarkFailure("no further work on \(what): \(committed); the logs say \(logs)")
      }
      usleep(10_000)
    }
  }

  func stop() throws {
    for process in processes { try process.stop() }
  }
}
