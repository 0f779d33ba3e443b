import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// Reads what the pipeline writes, from where its topics ended when the demo began, and enters it into an account.
/// One thread uses it.
final class PipelineObserver {
  private static let topics: [Topic] = [.timeline, .decisions, .pushes, .outcomes, .deadLetters, .banners]
  private static let batchRecords = 2_000
  private static let batchBytes = 4 << 20

  private let consumer: Consumer
  private let names: NudgeSchema.TopicNames
  private let coder = RecordCoder()
  private let decisionLines: DecisionLines?
  private let keyPrefix: [UInt8]?
  private var batch: [ConsumerRecord] = []
  private var places: [TopicPartition] = []
  /// How long nothing is asked for between two looks; zero: records are waited for at the broker.
  private let rest: Duration
  /// Nothing is asked for until then; nil: the broker is asked.
  private var restsUntil: ContinuousClock.Instant?
  /// When the look under way began, and which partitions it has not read to their ends.
  private var looksSince = ContinuousClock.now
  private var unread: Set<TopicPartition> = []

  /// A look that takes longer ends as well: a partition may have no leader for a while.
  private static let longestLook: Duration = .seconds(1)

  /// A `rest` that shows what happens soon enough for people.
  static let unhurried: Duration = .milliseconds(200)

  /// Finds the ends of the topics. `isFresh`: the topics were made a moment ago, so that all is read. `decisionLines` gets
  /// the decisions that made a push. `keyPrefix`: records whose keys begin otherwise are somebody else's.
  /// `rest`: between two looks. A broker looks at all partitions of a reader that waits each time that one of them gets a
  /// record or a marker: with one that waits for all the pipeline writes, two cores are busy with that rather than with it.
  init(
    _ configuration: ClientConfiguration, names: NudgeSchema.TopicNames, isFresh: Bool,
    decisionLines: DecisionLines? = nil, keyPrefix: String? = nil, rest: Duration = .zero
  ) throws {
    self.rest = rest
    self.keyPrefix = keyPrefix.map { Array($0.utf8) }
    self.names = names
    self.decisionLines = decisionLines
    var configuration = configuration
    configuration.set("enable.partition.eof", rest > .zero ? "true" : "false")
    consumer = try Consumer(configuration, name: "nudge-demo")
    let full = Self.topics.map { names($0) }
    let counts = try consumer.partitionCounts(of: full, timeout: .seconds(30))
    var places: [TopicPartitionOffset] = []
    for topic in full {
      guard let count = counts[topic], count > 0 else { throw DemoError("the topic \(topic) is not there") }
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
  }

  /// Reads what is there, waiting for the first record no longer than told. Returns how many records came.
  func read(into account: inout Account, timeout: Duration) throws -> Int {
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
        throw DemoError(
          "the broker dropped records before the demo could read them (\(error)): lower --rate, or use a real broker")
      }
      // The rest passes: a connection lost, a topic made a moment ago.
      if error.isFatal { throw error }
    }
    for record in batch { try enter(record, into: &account) }
    if case .endOfPartition(let place, _) = event { unread.remove(place) }
    if rest > .zero, unread.isEmpty || looksSince.duration(to: .now) >= Self.longestLook {
      // What was fetched and not polled is fetched again: each partition was read to its end, so none is for ever behind.
      try consumer.pause(places)
      restsUntil = .now + rest
    }
    return batch.count
  }

  private func enter(_ record: ConsumerRecord, into account: inout Account) throws {
    guard let topic = names.topic(named: record.topic) else { return }
    if let keyPrefix {
      guard let key = record.key, key.count >= keyPrefix.count, key.prefix(keyPrefix.count).elementsEqual(keyPrefix)
      else { return }
    }
    if topic == .deadLetters {
      let code = record.header(RecordHeader.errorCode).map { String(decoding: $0, as: UTF8.self) }
      return account.deadLetter(code: code ?? "unknown")
    }
    guard let value = record.value else { return }
    do {
      switch topic {
      case .timeline: try enterTimeline(value, into: &account)
      case .decisions:
        let it = try coder.decode(DecisionGlance.self, from: value)
        account.decision(
          userId: it.userId, messageId: it.messageId, reason: it.reason, pushId: it.pushId, origin: it.origin,
          replayId: it.replayId)
        if it.pushId != nil { try decisionLines?.append(value) }
      case .pushes:
        let it = try coder.decode(PushGlance.self, from: value)
        guard let pushId = it.pushId, let targets = it.targets else { return }
        account.push(
          pushId: pushId, messageId: it.decidedMessageId, deviceIds: targets.map(\.deviceId), origin: it.origin)
      case .outcomes:
        let it = try coder.decode(OutcomeGlance.self, from: value)
        account.outcome(
          pushId: it.pushId, deviceId: it.deviceId, result: it.result, origin: it.origin,
          after: it.finishedAt - it.occurredAt)
      case .banners: account.banner()
      default: break
      }
    } catch let error as DecodingError {
      throw DemoError("a record of \(record.topicPartition) at \(record.offset) is not as the catalogue says: \(error)")
    }
  }

  private func enterTimeline(_ value: UnsafeRawBufferPointer, into account: inout Account) throws {
    let it = try coder.decode(TimelineGlance.self, from: value)
    switch it.type {
    case "message.candidate":
      guard let messageId = it.messageId, let recipients = it.recipients else { return }
      account.candidate(messageId: messageId, recipients: recipients.map(\.userId), origin: it.origin)
    case "device.registered": if let deviceId = it.deviceId { account.deviceRegistered(deviceId) }
    case "preferences.updated": if let userId = it.userId { account.preferencesUpdated(userId) }
    default: break
    }
  }

  /// Ends the client.
  func close() { consumer.close() }
}
