import NudgeSchema

/// Where a task stands: the last record of each of its transactions in the changelog. It closes the rows before it, and is
/// where the stage starts, whatever the group's committed offsets say.
struct PositionRecord: Codable, Equatable {
  /// Counts the task's transactions; rises by one with each.
  var sequence: Int64
  /// The next offset to read of each input, by the topic's catalogue name.
  var next: [String: Int64]
  /// Who wrote it: the instance, thread and producer's life. Tells "our transaction committed" from "somebody else's".
  var writer: String
  /// While lost state is being rebuilt: of each input that is not done, the offset of the last record that only rebuilds.
  /// nil: nothing is being rebuilt.
  var rebuildTo: [String: Int64]?
  /// Names the repair of lost state this changelog began with, and is in all positions since; nil: it began with the
  /// task. Tells a store of the log that was lost from one of this log.
  var history: String?

  /// The sequence of a task's first transaction.
  static let firstSequence: Int64 = 1

  /// The changelog key of position records. Row keys of stages begin with a letter.
  static let key = RowKey("@position")

  /// What is committed in the metadata field of the offsets of the same transaction.
  var offsetMetadata: String { "nudge:\(sequence)" }

  /// The sequence in an offset's metadata; nil where somebody else committed it.
  static func sequence(inMetadata metadata: String) -> Int64? {
    guard metadata.hasPrefix("nudge:") else { return nil }
    return Int64(metadata.dropFirst("nudge:".count))
  }

  /// The next offset of an input; nil: none recorded, begin at the log's start.
  func next(_ topic: Topic) -> Int64? { next[topic.rawValue] }
}

extension PositionRecord {
  /// Reads the record at an offset of a changelog.
  /// - Throws: where it is a tombstone, or cannot be decoded.
  init(_ bytes: [UInt8]?, offset: Int64, coder: RecordCoder) throws {
    guard let bytes else {
      throw StoreFailure(operation: "restore", reason: "the position record at offset \(offset) is a tombstone")
    }
    do {
      self = try coder.decode(PositionRecord.self, from: bytes)
    } catch {
      throw StoreFailure(
        operation: "restore",
        reason: "the position record at offset \(offset) cannot be read: run the release that wrote it, or a later one")
    }
  }
}
