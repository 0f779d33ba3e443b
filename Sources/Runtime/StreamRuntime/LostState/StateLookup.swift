import Foundation
public import Kafka
public import NudgeSchema

/// Finds rows of a stage's state in its changelog: those a restore would find. One thread uses it; calls block while the
/// changelog of a task is read, which is all of it.
public final class StateLookup {
  public struct Found: Sendable, Equatable {
    /// The task it belongs to.
    public var task: Int32
    public var key: RowKey
    /// As the stage wrote it.
    public var bytes: [UInt8]

    public init(task: Int32, key: RowKey, bytes: [UInt8]) {
      self.task = task
      self.key = key
      self.bytes = bytes
    }
  }

  private let logs: StageLogs

  private static let timeout: Duration = .seconds(30)

  /// Connects in the background.
  /// - Parameters:
  ///   - properties: librdkafka's, set after ours.
  ///   - log: gets librdkafka's log lines.
  public init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String,
    properties: [String: String] = [:],
    log: @escaping @Sendable (KafkaLogLine) -> Void = { _ in }
  ) throws(KafkaError) {
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: log)
  }

  /// The row of a key and the rows whose keys begin with it and have more parts, in key order, task by task.
  /// - Parameter owner: the id by which records reach the task that has the row, so that only that task's changelog is
  ///   read; nil: all are.
  /// - Throws: `KafkaError`; `StateRepairError` where the changelog is missing or cannot be read to its end.
  public func rows(at key: RowKey, ownedBy owner: String?) throws -> [Found] {
    let count = try logs.partitionCount(timeout: Self.timeout)
    try logs.reader.warmUp([logs.changelog])
    let tasks =
      owner.map { [Murmur2.partition(of: Array($0.utf8), count: count)] } ?? Array(0..<count)
    return try tasks.flatMap { try rows(at: key, of: $0, in: logs.changelog($0)) }
  }

  private func rows(at key: RowKey, of task: Int32, in changelog: TopicPartition) throws -> [Found] {
    let ends = try logs.reader.ends(of: changelog)
    var rows = ChangelogRows(after: nil, offset: ends.start, coder: logs.coder)
    try logs.reader.records(of: changelog, from: ends.start, to: ends.high) { record in
      guard let bytes = record.keyBytes() else { return }
      let found = RowKey(bytes: bytes)
      guard found == PositionRecord.key || found == key || found.isBelow(key) else { return }
      try rows.read(offset: record.offset, key: found, bytes: record.valueBytes())
    }
    return rows.take().compactMap { row in
      row.bytes.map { Found(task: task, key: row.key, bytes: $0) }
    }
  }
}
