import Analyzer
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization

@testable import Ingest

/// The stages behind an API under test, on a thread of their own: `user.events` in, `nudge.banners` out.
final class AnsweringPipeline: Sendable {
  private let reader = ReaderThread("pipeline")
  private let stops = Atomic<Bool>(false)
  /// Records of `user.events` that were processed.
  let processed = Atomic<Int>(0)
  /// Claims wait until this is false.
  let holdsClaims = Atomic<Bool>(false)

  init(_ broker: EmbeddedBroker) {
    let servers = broker.bootstrapServers
    reader.start { [self] in
      do { try run(servers) } catch { stops.store(true, ordering: .relaxed) }
    }
  }

  /// Whether it ended by an error.
  var hasFailed: Bool { stops.load(ordering: .relaxed) }

  func close() { reader.close() }

  private func run(_ servers: String) throws {
    let partitions: Int32 = 4
    let ingest = StageDriver(IngestStage(IngestRules()), partitions: partitions)
    let analyzer = StageDriver(
      AnalyzerStage(rules: AnalyzerRules(hash: { SHA256Digest.of($0) })), partitions: partitions)
    let consumer = try Consumer(
      .consumer(bootstrapServers: servers, group: nil, reportsEndOfPartition: false), name: "pipeline")
    defer { consumer.close() }
    let writer = try Producer(.producer(bootstrapServers: servers, transactionalID: nil), name: "pipeline")
    defer { writer.close() }
    try consumer.assign(
      (0..<partitions).map {
        TopicPartitionOffset(
          TopicPartition(topic: Topic.userEvents.rawValue, partition: $0), offset: Offset.beginning)
      })
    var held: [OutputRecord] = []
    func passOn(_ outputs: [OutputRecord]) throws {
      for output in outputs {
        switch output.topic {
        case .deviceClaims: held.append(output)
        case .timeline:
          let result = analyzer.send(
            bytes: output.value, to: .timeline, key: output.key, partition: output.partition, headers: output.headers)
          for banner in result.outputs where banner.topic == .banners {
            try writer.produce(
              topic: try writer.topic(Topic.banners.rawValue), partition: banner.partition, key: banner.key,
              value: banner.value, headers: [])
          }
        default: break
        }
      }
    }
    while reader.isOpen {
      if !held.isEmpty, !holdsClaims.load(ordering: .relaxed) {
        let claims = held
        held = []
        for claim in claims {
          try passOn(
            ingest.send(
              bytes: claim.value, to: .deviceClaims, key: claim.key, partition: claim.partition, headers: claim.headers
            ).outputs)
        }
      }
      guard case .record(let record) = consumer.poll(timeout: .milliseconds(5)) else {
        writer.poll(timeout: .zero)
        continue
      }
      ingest.now = SystemClock.milliseconds()
      analyzer.now = ingest.now
      let headers = [RecordHeader.question, RecordHeader.caller].compactMap { name in
        record.header(name).map { RecordHeaderField(name, Array($0)) }
      }
      try passOn(
        ingest.send(
          bytes: record.valueBytes(), to: .userEvents, key: record.keyBytes(), partition: record.partition,
          headers: headers
        ).outputs)
      processed.add(1, ordering: .relaxed)
      try writer.flush(timeout: .seconds(10))
    }
  }
}
