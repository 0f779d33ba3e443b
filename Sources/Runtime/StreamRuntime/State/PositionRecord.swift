import NudgeSchema

/// The position of a task, which is the last record of each of its transactions in the changelog. A restart continues from it, whatever the
/// group's committed offsets are.
struct PositionRecord: Codable, Equatable {
  /// The number of the task's transactions so far.
  var sequence: Int64
  /// The next offset to read of each input, by the topic's catalogue name.
  var next: [String: Int64]
  /// Identifies the writer: instance, thread, process start and epoch of the task. It distinguishes a committed transaction of this writer
  /// from one of another owner.
  var writer: String
  /// While lost state is being rebuilt, the offset of the last record to rebuild from, for each input that has not reached it.
  var rebuildTo: [String: Int64]?
  /// Identifies the repair of lost state that began this changelog. Absent if the task itself began it. All later positions have it, so
  /// that a store of the lost changelog is recognised.
  var history: String?
  /// The generations of inputs that were created again, by the topics' catalogue names. Absent if no input was. All later positions have
  /// them.
  var generations: [String: InputGeneration]?
  /// The ids of the topics to which the position belongs. Absent in records of former releases, and if the broker has no ids.
  var topicIDs: TopicIDs?
  /// The offsets of handovers of former owners that may still be needed. Absent if there are none before `next`.
  var handovers: HandoverRange?
  /// The level at which the task writes. Absent: the first.
  var level: FormatLevel?
  /// The highest level that the writer's release knows. Absent: the first.
  var known: FormatLevel?

  /// The sequence of a task's first transaction.
  static let firstSequence: Int64 = 1

  /// The changelog key of position records. No row key of a stage starts with `@`.
  static let key = RowKey("@position")

  /// The metadata of the offsets committed in the same transaction.
  var offsetMetadata: String { "nudge:\(sequence)" }

  /// The sequence in an offset's metadata. Absent if the stage did not commit the offset.
  static func sequence(inMetadata metadata: String) -> Int64? {
    guard metadata.hasPrefix("nudge:") else { return nil }
    return Int64(metadata.dropFirst("nudge:".count))
  }

  /// The next offset of an input. Absent: the beginning of its log.
  func next(_ topic: Topic) -> Int64? { next[topic.rawValue] }
}

/// The generation of an input's records (`Origin.generation`). The stage writes it into the origins of its outputs, so that the next stage
/// does not take an output for a repeat because its cause has a low offset.
public struct InputGeneration: Codable, Sendable, Equatable {
  /// The generation of records from `from` on.
  public var number: Int32
  /// The first offset of this generation. The records before it already existed when the topic lost some.
  public var from: Int64
  /// The generation of earlier records. Absent: 0.
  public var former: Int32?

  /// The generation of the record at an offset. Absent: 0.
  func at(_ offset: Int64) -> Int32? { offset >= from ? number : former }
}

extension PositionRecord {
  /// The generations by topic.
  var generationsByTopic: [Topic: InputGeneration] {
    guard let generations else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: generations.compactMap { name, it in Topic(rawValue: name).map { ($0, it) } })
  }

  /// Reads the record at an offset of a changelog.
  /// - Throws: `StoreFailure`, which ends the thread, for a tombstone or a record that cannot be decoded.
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

/// The ids of a stage's inputs and changelog, by the topics' catalogue names. Kafka gives another id to a topic that is deleted and created
/// again. A position belongs to the topics with the ids that were written with it.
struct TopicIDs: Codable, Equatable, Sendable {
  private var byName: [String: String]

  /// Makes the ids. A topic is missing if the broker has no ids, as the embedded broker, or does not have the topic now.
  init(_ byTopic: [Topic: String] = [:]) {
    byName = Dictionary(uniqueKeysWithValues: byTopic.map { ($0.key.rawValue, $0.value) })
  }

  init(from decoder: any Decoder) throws {
    byName = try decoder.singleValueContainer().decode([String: String].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(byName)
  }

  /// Whether no id is known.
  var isEmpty: Bool { byName.isEmpty }

  /// The topics whose present id differs.
  func replaced(by now: TopicIDs) -> Set<Topic> {
    Set(
      byName.compactMap { name, id in
        guard let found = now.byName[name], found != id else { return nil }
        return Topic(rawValue: name)
      })
  }

  /// Says that topics of a running task have another id now. Absent if all are as they were.
  func complaint(about now: TopicIDs, _ names: TopicNames) -> String? {
    let replaced = replaced(by: now)
    guard !replaced.isEmpty else { return nil }
    return replaced.map { names($0) }.sorted().joined(separator: ", ")
      + ": deleted and created again while it was in use. Nothing is committed any more; the tasks wait for nudge state accept-loss "
      + "(docs/operations.md, Lost state)"
  }

  /// These ids, completed by the present ids of topics without one. Positions of former releases have none.
  func adopting(_ now: TopicIDs) -> TopicIDs {
    var all = self
    all.byName.merge(now.byName) { known, _ in known }
    return all
  }
}

/// Offsets of the first input, in a position record. `to` is the first offset that does not belong to the range.
struct HandoverRange: Codable, Equatable {
  var from: Int64
  var to: Int64

  /// The ranges of an input to read again: the handovers that may be needed, and the unread records.
  static func spans(_ kept: HandoverRange?, _ unread: Range<Int64>) -> [Range<Int64>] {
    guard let kept, kept.from < kept.to, kept.from < unread.lowerBound else { return [unread] }
    if kept.to >= unread.lowerBound { return [kept.from..<unread.upperBound] }
    return [kept.from..<kept.to, unread]
  }
}
