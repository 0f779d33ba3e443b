import CLoops
import Glibc

/// The bare loop in C on librdkafka.
final class LibrdkafkaClient: TransactionClient {
  let name = "C loop, librdkafka"
  private var loop: OpaquePointer?

  init(_ target: TransactionTarget) throws {
    var reason = [CChar](repeating: 0, count: 512)
    // The loop keeps none of these.
    let topics = target.topics.map { strdup($0) }
    defer { for topic in topics { free(topic) } }
    let names = topics.map { UnsafePointer($0) }
    let loop = target.bootstrapServers.withCString { servers in
      target.group.withCString { group in
        target.member.withCString { member in
          "librdkafka".withCString { id in
            "lz4".withCString { compression in
              names.withUnsafeBufferPointer { names in
                var settings = touch_loop_settings(
                  bootstrap_servers: servers, transactional_id: id, topics: names.baseAddress,
                  topic_count: Int32(names.count), group: group, member: member, generation: target.generation,
                  record_bytes: Int32(target.recordBytes), compression: compression)
                return touch_loop_open(&settings, &reason, reason.count)
              }
            }
          }
        }
      }
    }
    guard let loop else { throw Self.failure(reason) }
    self.loop = loop
  }

  func run(_ shape: TransactionShape, transactions: Int) throws -> TransactionRun {
    var reason = [CChar](repeating: 0, count: 512)
    var run = TransactionRun(latencies: [Double](repeating: 0, count: transactions), cpuSeconds: 0)
    let status = touch_loop_run(
      loop, Int32(shape.partitions), Int32(shape.records), transactions, &run.latencies, &run.cpuSeconds, &reason,
      reason.count)
    guard status == 0 else { throw Self.failure(reason) }
    return run
  }

  func close() {
    if let loop { touch_loop_close(loop) }
    loop = nil
  }

  private static func failure(_ reason: [CChar]) -> BenchmarkFailure {
    let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return BenchmarkFailure("C loop: \(String(decoding: text, as: UTF8.self))")
  }
}
