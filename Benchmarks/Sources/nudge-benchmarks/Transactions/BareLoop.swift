import CLoops
import NudgeSchema

/// The bare loop in C on its own topics.
enum BareLoop {
  struct Run {
    var records: Int
    var cost: Cost
    /// Milliseconds of each transaction, from begin to the end of its commit.
    var latencies: [Double]
    var transactions: Int
  }

  static func topics(prefix: String) -> [(name: String, plan: TopicPlan)] {
    [("\(prefix)bare-output", TopicPlan(.decisions)), ("\(prefix)bare-changelog", TopicPlan(.analyzerState))]
  }

  /// Runs on this thread until this many records of the prefix's input are committed.
  static func run(bootstrapServers: String, prefix: String, records: Int, batch: Int) throws -> Run {
    var latencies = [Double](repeating: 0, count: records)
    var result = transaction_loop_result()
    var reason = [CChar](repeating: 0, count: 512)
    let topics = topics(prefix: prefix).map(\.name)
    let status = latencies.withUnsafeMutableBufferPointer { latencies in
      bootstrapServers.withCString { servers in
        "\(prefix)bare".withCString { name in
          TopicNames(prefix: prefix)(.timeline).withCString { input in
            topics[0].withCString { output in
              topics[1].withCString { changelog in
                var settings = transaction_loop_settings(
                  bootstrap_servers: servers, group: name, transactional_id: name, input: input, output: output,
                  changelog: changelog, database: nil, people: 0, row_bytes: 0, output_bytes: (0, 0),
                  records: records, unmeasured: 0, batch: Int32(batch), latencies: latencies.baseAddress,
                  latencies_capacity: latencies.count)
                return transaction_loop(&settings, &result, &reason, reason.count)
              }
            }
          }
        }
      }
    }
    guard status == 0 else {
      let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BenchmarkFailure("bare loop: \(String(decoding: text, as: UTF8.self))")
    }
    return Run(
      records: result.records, cost: Cost(seconds: result.seconds, cpuSeconds: result.cpu_seconds),
      latencies: Array(latencies.prefix(result.transactions)), transactions: result.transactions)
  }
}
