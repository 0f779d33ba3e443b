import Foundation

/// A run of release-built services on a broker of their own.
class BrokerRun {
  let options: BenchmarkOptions
  let report: Report
  let broker: BenchmarkBroker
  /// The folder with the programs.
  let programs: URL
  let topics: BacklogTopics

  init(_ context: BenchmarkContext, _ broker: BenchmarkBroker, programs: URL) throws {
    options = context.options
    report = context.report
    self.broker = broker
    self.programs = programs
    topics = try BacklogTopics(broker, partitions: options.partitions)
  }

  /// A file or folder of the run.
  func file(_ name: String) -> URL { broker.directory.appendingPathComponent(name) }
}
