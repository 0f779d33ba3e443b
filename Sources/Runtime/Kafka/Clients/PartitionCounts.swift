import CLibrdkafka
import Foundation

extension Client {
  /// The number of partitions of each topic; without topics that do not exist.
  ///
  /// A new topic may have no leaders yet: the request is repeated until the time-out.
  func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    let deadline = ContinuousClock.now + timeout
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

  private func partitionCount(of topic: OpaquePointer, named name: String, until deadline: ContinuousClock.Instant)
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
        // A pause between two requests, so as not to flood a broker during an election.
        usleep(20_000)
      default: throw KafkaError(operation, found.error)
      }
    }
  }
}

/// Owns a result of `rd_kafka_metadata`.
struct Metadata: ~Copyable {
  private let pointer: UnsafePointer<rd_kafka_metadata>

  /// Requests the metadata of one topic, or of all.
  init(_ operation: String, client: OpaquePointer, topic: OpaquePointer?, timeout: Duration) throws(KafkaError) {
    var answer: UnsafePointer<rd_kafka_metadata>?
    let code = rd_kafka_metadata(client, topic == nil ? 1 : 0, topic, &answer, timeout.milliseconds)
    try KafkaError.check(operation, code, client: client)
    guard let answer else { throw KafkaError(operation, RD_KAFKA_RESP_ERR__FAIL) }
    pointer = answer
  }

  deinit { rd_kafka_metadata_destroy(pointer) }

  /// A copy of the brokers.
  var brokers: [(id: Int32, host: String, port: Int32)] {
    UnsafeBufferPointer(start: pointer.pointee.brokers, count: Int(pointer.pointee.broker_cnt)).map {
      ($0.id, $0.host.map { String(cString: $0) } ?? "", $0.port)
    }
  }

  /// A copy of the topics.
  var topics: [(name: String, partitions: Int, error: rd_kafka_resp_err_t)] {
    UnsafeBufferPointer(start: pointer.pointee.topics, count: Int(pointer.pointee.topic_cnt)).map {
      ($0.topic.map { String(cString: $0) } ?? "", Int($0.partition_cnt), $0.err)
    }
  }
}
