import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema

/// Runs more transactions of one transactional id than a producer has epochs (32,767), so that it gets a new producer id meanwhile. Then
/// reads all records back.
enum SingleIDRun {
  private static let id = "sink-single"
  private static let topic = "sink-single"
  /// Records of each transaction, in one partition.
  private static let recordsEach = 2
  private static let timeout: Duration = .seconds(30)

  static func measure(_ context: BenchmarkContext, _ broker: BenchmarkBroker, _ target: TransactionTarget) throws {
    let transactions = context.options.transactions
    try broker.create([(topic, TopicPlan(.decisions))], partitions: 1)
    let sink = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: target.bootstrapServers), transactionalIDs: [id],
      topics: [topic],
      group: target.group)
    try sink.open(timeout: timeout)
    defer { sink.close() }
    let before = try identity(context, target)
    var latencies: [Double] = []
    latencies.reserveCapacity(transactions)
    var content = sink.makeContent(timestamp: 0)
    for number in 0..<transactions {
      let start = Clocks.steady
      fill(&content, number, target)
      let outcome = sink.commit(content, timeout: timeout)
      guard case .committed = outcome else {
        throw BenchmarkFailure("transaction \(number + 1) of \(transactions) by one id: \(outcome)")
      }
      latencies.append((Clocks.steady - start) * 1e3)
      // One id waits for its own markers: this takes minutes.
      if (number + 1) % 10_000 == 0 { context.report.progress("  one id: \(number + 1) of \(transactions)") }
    }
    let after = try identity(context, target)
    context.report.note("transactional id \(id): \(before) at first, \(after) after \(transactions) transactions")
    let edge = min(1000, transactions)
    let (first, last) = (Samples(Array(latencies.prefix(edge))), Samples(Array(latencies.suffix(edge))))
    let all = Samples(latencies)
    let found = try readBack(target, expected: transactions * recordsEach)
    context.report.row(
      "one id, \(transactions) in a row",
      [
        .init(name: "committed", value: Double(latencies.count), unit: ""),
        .init(name: "p50", value: all.median, unit: "ms"),
        .init(name: "p99", value: all.quantile(0.99), unit: "ms"),
        .init(name: "max", value: all.max, unit: "ms"),
        .init(name: "p50 of the first \(edge)", value: first.median, unit: "ms"),
        .init(name: "p50 of the last \(edge)", value: last.median, unit: "ms"),
        .init(name: "producer ids", value: before.producerID == after.producerID ? 1 : 2, unit: ""),
        .init(
          name: "records read back", value: Double(found), unit: "", target: "= \(transactions * recordsEach)"),
      ])
    guard found == transactions * recordsEach else {
      throw BenchmarkFailure("\(found) records are there, \(transactions * recordsEach) were committed")
    }
    try broker.delete([topic])
  }

  /// Each record has its transaction's number.
  private static func fill(_ content: inout TransactionContent, _ number: Int, _ target: TransactionTarget) {
    content.reset(timestamp: Int64(Date().timeIntervalSince1970 * 1000))
    for _ in 0..<recordsEach { content.append(topic: 0, partition: 0, key: nil, value: Array(String(number).utf8)) }
    content.offsets = TransactionOffsets(
      group: target.group, memberID: target.member, generation: target.generation, instanceID: nil,
      offsets: [.init(topic: target.topics[0], partition: 0, offset: Int64(number), metadata: "")])
  }

  private struct Identity: CustomStringConvertible {
    var producerID: Int
    var epoch: Int
    var description: String { "producer \(producerID), epoch \(epoch)" }
  }

  /// The transactional id's current producer, from its coordinator.
  private static func identity(_ context: BenchmarkContext, _ target: TransactionTarget) throws -> Identity {
    let home = URL(fileURLWithPath: context.options.kafkaHome ?? "").standardizedFileURL
    let text = try Program.run(
      home.appendingPathComponent("bin/kafka-transactions.sh").path,
      ["--bootstrap-server", target.bootstrapServers, "describe", "--transactional-id", id])
    let rows = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
    guard let row = rows.first(where: { $0.dropFirst().first == Substring(id) }), row.count > 3,
      let producerID = Int(row[2]), let epoch = Int(row[3])
    else { throw BenchmarkFailure("kafka-transactions.sh says nothing of \(id): \(text)") }
    return Identity(producerID: producerID, epoch: epoch)
  }

  /// The number of records that a read_committed consumer gets. Throws if any transaction's are missing or out of order.
  private static func readBack(_ target: TransactionTarget, expected: Int) throws -> Int {
    let place = TopicPartition(topic: topic, partition: 0)
    let consumer = try Consumer(
      ClientConfiguration.consumer(
        bootstrapServers: target.bootstrapServers, group: nil, reportsEndOfPartition: true), name: "reader")
    defer { consumer.close() }
    try consumer.warmUp(topics: [topic], timeout: .seconds(10))
    try consumer.assign([TopicPartitionOffset(place, offset: 0)])
    var count = 0
    var deadline = Clocks.steady + 30
    while Clocks.steady < deadline {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record(let record):
        let number = Int(String(decoding: record.valueBytes() ?? [], as: UTF8.self))
        guard number == count / recordsEach else {
          throw BenchmarkFailure(
            "record \(count) is of transaction \(number ?? -1), and should be of \(count / recordsEach)")
        }
        count += 1
        deadline = Clocks.steady + 30
      case .endOfPartition:
        // The last transaction's markers may still be missing: they determine the end.
        if count >= expected { return count }
      case .error(let error): throw error
      case nil, .assigned, .revoked: break
      }
    }
    return count
  }
}
