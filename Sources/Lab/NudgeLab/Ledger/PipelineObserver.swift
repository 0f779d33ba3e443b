import Foundation
import Kafka
import NudgeCommands
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Reads the pipeline's topics from their ends at the start of a run, and enters the records into a ledger. Not thread-safe.
final class PipelineObserver {
  /// The topics that a ledger counts.
  static let counted: [Topic] = [.timeline, .decisions, .pushes, .outcomes, .deadLetters, .banners]
  private static let batchRecords = 2_000
  private static let batchBytes = 4 << 20

  private let consumer: Consumer
  private let names: TopicNames
  private let coder = RecordCoder()
  private let decisionLines: DecisionLines?
  private let keyPrefix: [UInt8]?
  private var batch: [ConsumerRecord] = []
  private var places: [TopicPartition] = []
  /// The number of partitions of the topic that has the most.
  let partitions: Int
  /// The pause between two rounds of reading. With zero, fetches wait at the broker.
  private let rest: Duration
  /// The end of the current pause. Absent while reading.
  private var restsUntil: ContinuousClock.Instant?
  /// The start of the current round, and the partitions that it has not yet read to their ends.
  private var looksSince = ContinuousClock.now
  private var unread: Set<TopicPartition> = []

  /// The longest round. It ends even if a partition has no leader.
  private static let longestLook: Duration = .seconds(1)
  /// The longest time for reading the lanes.
  private static let longestLaneReading: Duration = .seconds(60)

  /// A pause that a display does not show.
  static let unhurried: Duration = .milliseconds(200)

  /// Finds the ends of the topics.
  ///
  /// A broker checks every partition of a waiting fetch whenever one of them gets a record or a marker. On two cores, a
  /// fetch that always waits for all topics would take more CPU than the pipeline; `rest` avoids that.
  /// - Parameters:
  ///   - topics: The topics to read.
  ///   - isFresh: Whether the topics are new and are read from the beginning.
  ///   - decisionLines: The file that gets the decisions that made a push.
  ///   - keyPrefix: Records whose key does not begin with it are skipped.
  ///   - rest: The pause between two rounds of reading.
  init(
    _ configuration: ClientConfiguration, names: TopicNames, topics: [Topic] = counted, isFresh: Bool,
    decisionLines: DecisionLines? = nil, keyPrefix: String? = nil, rest: Duration = .zero
  ) throws {
    self.rest = rest
    self.keyPrefix = keyPrefix.map { Array($0.utf8) }
    self.names = names
    self.decisionLines = decisionLines
    var configuration = configuration
    configuration.set("enable.partition.eof", rest > .zero ? "true" : "false")
    consumer = try Consumer(configuration, name: "nudge-demo")
    let full = topics.map { names($0) }
    let counts = try consumer.partitionCounts(of: full, timeout: .seconds(30))
    var places: [TopicPartitionOffset] = []
    for topic in full {
      guard let count = counts[topic], count > 0 else { throw CommandError("the topic \(topic) does not exist") }
      for partition in 0..<Int32(clamping: count) {
        let place = TopicPartition(topic: topic, partition: partition)
        let offset =
          isFresh ? Offset.beginning : try consumer.watermarks(place, timeout: .seconds(30)).high
        places.append(TopicPartitionOffset(place, offset: offset))
      }
    }
    try consumer.assign(places)
    self.places = places.map(\.topicPartition)
    unread = Set(self.places)
    partitions = counts.values.max() ?? 1
  }

  /// Reads the dispatcher's lanes, from the beginning of its changelog to its end. Needs a broker with isolation.
  static func readLanes(
    _ configuration: ClientConfiguration, names: TopicNames, keyPrefix: String? = nil,
    into ledger: inout DeliveryLedger
  ) throws {
    let observer = try PipelineObserver(
      configuration, names: names, topics: [.dispatcherState], isFresh: true, keyPrefix: keyPrefix, rest: unhurried)
    defer { observer.close() }
    let deadline = ContinuousClock.now + longestLaneReading
    repeat {
      _ = try observer.read(into: &ledger, timeout: .milliseconds(100))
      guard ContinuousClock.now < deadline else {
        throw CommandError(
          "\(names(.dispatcherState)) could not be read to its end within \(longestLaneReading.settingText), so what waits "
            + "cannot be told from what is missing")
      }
    } while !observer.unread.isEmpty
  }

  /// Reads available records, and waits for the first one at most `timeout`. Returns the number of records read.
  func read(into ledger: inout DeliveryLedger, timeout: Duration) throws -> Int {
    if let restsUntil {
      let left = ContinuousClock.now.duration(to: restsUntil)
      guard left <= .zero else {
        usleep(UInt32(clamping: min(left, timeout).milliseconds * 1000))
        return 0
      }
      try consumer.resume(places)
      self.restsUntil = nil
      looksSince = .now
      unread = Set(places)
    }
    batch.removeAll(keepingCapacity: true)
    let event = consumer.poll(
      into: &batch, maxRecords: Self.batchRecords, maxBytes: Self.batchBytes, timeout: timeout)
    if case .error(let error) = event {
      if error.isOffsetOutOfRange {
        throw CommandError(
          "the broker dropped records before the demo could read them (\(error)): lower --rate, or use a real broker")
      }
      // Other errors are transient: a lost connection, a topic that was just created.
      if error.isFatal { throw error }
    }
    for record in batch { try enter(record, into: &ledger) }
    if case .endOfPartition(let place, _) = event { unread.remove(place) }
    if rest > .zero, unread.isEmpty || looksSince.duration(to: .now) >= Self.longestLook {
      // Pausing drops fetched records. No partition starves, because each was read to its end first.
      try consumer.pause(places)
      restsUntil = .now + rest
    }
    return batch.count
  }

  private func enter(_ record: ConsumerRecord, into ledger: inout DeliveryLedger) throws {
    guard let topic = names.topic(named: record.topic) else { return }
    if topic == .dispatcherState { return try enterLane(record, into: &ledger) }
    if let keyPrefix {
      guard let key = record.key, key.count >= keyPrefix.count, key.prefix(keyPrefix.count).elementsEqual(keyPrefix)
      else { return }
    }
    if topic == .deadLetters {
      let code = record.header(RecordHeader.errorCode).map { String(decoding: $0, as: UTF8.self) }
      return ledger.deadLetter(code: code ?? "unknown")
    }
    guard let value = record.value else { return }
    do {
      switch topic {
      case .timeline: try enterTimeline(value, into: &ledger)
      case .decisions:
        let it = try coder.decode(DecisionGlance.self, from: value)
        ledger.decision(
          userId: it.userId, messageId: it.messageId, isFinal: it.outcome.isFinal, reason: it.reason, pushId: it.pushId,
          origin: it.origin,
          replayId: it.replayId)
        if it.pushId != nil { try decisionLines?.append(value) }
      case .pushes:
        let it = try coder.decode(PushGlance.self, from: value)
        guard let pushId = it.pushId, let targets = it.targets else { return }
        ledger.push(
          pushId: pushId, userId: it.userId, messageId: it.decidedMessageId,
          isUpdate: it.kind == .digest && it.replaces == true, deviceIds: targets.map(\.deviceId), origin: it.origin)
      case .outcomes:
        guard case .outcome(let it) = try coder.decode(OutcomesGlance.self, from: value) else { return }
        ledger.outcome(
          pushId: it.pushId, deviceId: it.deviceId, result: it.result, origin: it.origin,
          after: it.finishedAt - it.occurredAt, requests: it.attempts, at: it.finishedAt,
          isLeftToCatchUp: it.catchUp == true)
      case .banners:
        if try coder.decode(BannerGlance.self, from: value).isShown { ledger.banner() }
      default: break
      }
    } catch let error as DecodingError {
      throw CommandError(
        "a record of \(record.topicPartition) at \(record.offset) does not match its schema: \(error)")
    }
  }

  /// Enters a row of a lane: its key begins with `w` or `o`, NUL, and the user id.
  private func enterLane(_ record: ConsumerRecord, into ledger: inout DeliveryLedger) throws {
    guard let key = record.key, key.count > 2, key[0] == UInt8(ascii: "w") || key[0] == UInt8(ascii: "o"), key[1] == 0,
      key.dropFirst(2).starts(with: keyPrefix ?? [])
    else { return }
    try ledger.quotaWaits.row(RowKey(bytes: [UInt8](key)), record.value, coder: coder)
  }

  private func enterTimeline(_ value: UnsafeRawBufferPointer, into ledger: inout DeliveryLedger) throws {
    let it = try coder.decode(TimelineGlance.self, from: value)
    switch it.type {
    case "message.candidate":
      guard let messageId = it.messageId, let recipients = it.recipients else { return }
      ledger.candidate(messageId: messageId, recipients: recipients.map(\.userId), origin: it.origin)
    case "device.registered": if let deviceId = it.deviceId { ledger.introduction.deviceRegistered(deviceId) }
    case "preferences.updated": if let userId = it.userId { ledger.introduction.preferencesUpdated(userId) }
    default: break
    }
  }

  func close() { consumer.close() }
}

/// The fields of a record on `nudge.timeline` that the ledger reads.
struct TimelineGlance: Decodable {
  struct Recipient: Decodable { let userId: String }
  let type: String
  let origin: Origin
  let userId: String?
  let deviceId: String?
  let messageId: String?
  let recipients: [Recipient]?
}

/// The fields of a record on `nudge.pushes` that the ledger reads. A `push.cancelled` has no push id.
struct PushGlance: Decodable {
  struct Target: Decodable { let deviceId: String }
  let pushId: String?
  let userId: String
  let kind: Push.Kind?
  let replaces: Bool?
  let messageId: String?
  let targets: [Target]?
  let origin: Origin

  /// The message whose decision made the push. Absent for badges, reads, edits and deletions, whose message was decided earlier.
  var decidedMessageId: String? { kind == .deleted || kind == .read || replaces == true ? nil : messageId }
}

/// A record of `nudge.banners`, as far as the observer counts it. Reports of changes to an open app are not counted.
struct BannerGlance: Decodable {
  let type: String

  var isShown: Bool { type == "banner" || type == "notice" }
}

/// Writes decisions that made a push to a file, one JSON object a line. The emulator's page of phones reads it.
final class DecisionLines {
  private let file: FileHandle

  /// Creates the file. Only its owner can read it, because decisions show who reads what and when.
  init(path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else { throw CommandError("\(path) cannot be written") }
    self.file = file
  }

  /// Appends a record's value with the console's words for its checks.
  func append(_ value: UnsafeRawBufferPointer) throws {
    try file.write(contentsOf: Data(try DecisionWithWords.json(value)) + [0x0A])
  }
}
