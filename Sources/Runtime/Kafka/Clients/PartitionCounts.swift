import CLibrdkafka
import Foundation

extension Client {
  /// How many partitions each topic has. Topics that do not exist are not in the answer.
  ///
  /// A topic that was made a moment ago may have no leaders yet: asked again until the time is over.
  func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    let deadline = Deadline(after: timeout)
    var counts: [String: Int] = [:]
    for name in topics {
      guard let topic = rd_kafka_topic_new(pointer, name, nil) else {
        throw KafkaError("open topic \"\(name)\"", rd_kafka_last_error())
      }
      defer { rd_kafka_topic_destroy(topic) }
      counts[name] = try partitionCount(of: topic, named: name, until: deadline)
    }
    return counts
  }

  private func partitionCount(of topic: OpaquePointer, named name: String, until deadline: Deadline)
    throws(KafkaError) -> Int?
  {
    let operation = "ask for the metadata of topic \"\(name)\""
    while true {
      let metadata = try Metadata(operation, client: pointer, topic: topic, timeout: deadline.remaining)
      guard let found = metadata.topics.first(where: { $0.name == name }) else {
        return nil
      }
      switch found.error {
      case RD_KAFKA_RESP_ERR_NO_ERROR: return found.partitions
      case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: return nil
      case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE where !deadline.isPast:
        // A pause between two questions, so that a broker that is electing is not flooded.
        usleep(20_000)
      default: throw KafkaError(operation, found.error)
      }
    }
  }
}

/// Owns an answer of `rd_kafka_metadata`.
struct Metadata: ~Copyable {
  private let pointer: UnsafePointer<rd_kafka_metadata>

  /// Asks for one topic, or for all of them.
  init(_ operation: String, client: OpaquePointer, topic: OpaquePointer?, timeout: Duration) throws(KafkaError) {
    var answer: UnsafePointer<rd_kafka_metadata>?
    let code = rd_kafka_metadata(client, topic == nil ? 1 : 0, topic, &answer, timeout.milliseconds)
    try KafkaError.check(operation, code, client: client)
    guard let answer else { throw KafkaError(operation, RD_KAFKA_RESP_ERR__FAIL) }
    pointer = answer
  }

  deinit { rd_kafka_metadata_destroy(pointer) }

  /// The brokers told of, copied.
  var brokers: [(id: Int32, host: String, port: Int32)] {
    UnsafeBufferPointer(start: pointer.pointee.brokers, count: Int(pointer.pointee.broker_cnt)).map {
      ($0.id, $0.host.map { String(cString: $0) } ?? "", $0.port)
    }
  }

  /// The topics told of, copied.
  var topics: [(name: String, partitions: Int, error: rd_kafka_resp_err_t)] {
    UnsafeBufferPointer(start: pointer.pointee.topics, count: Int(pointer.pointee.topic_cnt)).map {
      ($0.topic.map { String(cString: $0) } ?? "", Int($0.partition_cnt), $0.err)
    }
  }
}
