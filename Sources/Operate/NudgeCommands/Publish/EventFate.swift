import Kafka
import NudgeCodec
import NudgeSchema
import ServiceKit
import Synchronization

/// Follows a published event through the topics. Records contain the event that caused them in `source`.
struct EventFate {
  struct PushSeen {
    var userId: String
    var deviceIds: [String]
  }

  let position: RecordPosition
  private let coder = RecordCoder()
  private let codec = RecordCodec()

  /// Why ingest refused it; nil if it did not.
  private(set) var refusal: (code: String, message: String)?
  /// Whether it is on a person's timeline, for events about a person.
  private(set) var isOnTimeline = false
  /// The recipients of a message, for whom a decision is due.
  private(set) var recipients: Set<String> = []
  /// The number of recipients still to come, because a large group's candidates arrive in parts.
  private var recipientsToCome = 0
  /// In the order in which they came.
  private(set) var decisions: [Decision] = []
  /// By push id.
  private(set) var pushes: [String: PushSeen] = [:]
  /// One outcome for each push and device that has ended.
  private(set) var outcomes: [Outcome] = []

  init(position: RecordPosition) { self.position = position }

  /// The topics to read.
  static let topics: [Topic] = [.timeline, .decisions, .pushes, .outcomes, .deadLetters]

  /// Adds a record of one of `topics`. A record that cannot be decoded is not about this event.
  mutating func read(_ record: ConsumerRecord, of topic: Topic) {
    if topic == .deadLetters {
      let letter = DeadLetterFacts(record)
      if letter.origin == position { refusal = (letter.code, letter.message) }
      return
    }
    guard let value = record.valueBytes() else { return }
    switch topic {
    case .timeline:
      guard let event = try? codec.decode(TimelineEvent.self, from: value), event.source == position else { return }
      isOnTimeline = true
      if case .candidate(let candidate) = event.body {
        recipients.formUnion(candidate.recipients.map(\.userId))
        recipientsToCome = candidate.conversation.memberCount - 1
      }
    case .decisions:
      guard let decision = try? coder.decode(Decision.self, from: value), decision.source == position else { return }
      decisions.removeAll { $0.body.userId == decision.body.userId && !$0.body.outcome.isFinal }
      decisions.append(decision)
    case .pushes:
      guard let push = try? codec.decode(PushEvent.self, from: value), push.source == position,
        case .push(let fields) = push.body
      else { return }
      pushes[fields.pushId] = PushSeen(userId: fields.userId, deviceIds: fields.targets.map(\.deviceId))
    case .outcomes:
      guard let outcome = try? coder.decode(Outcome.self, from: value), outcome.source == position else { return }
      outcomes.append(outcome)
    default: break
    }
  }

  /// Whether every recipient has a decision, and every push an outcome on each device.
  var isMessageSettled: Bool {
    guard refusal == nil else { return true }
    guard isOnTimeline, recipients.count >= recipientsToCome,
      Set(decisions.map(\.body.userId)).isSuperset(of: recipients)
    else { return false }
    return decisions.allSatisfy { decision in
      guard let pushId = decision.body.pushId else { return true }
      guard let push = pushes[pushId] else { return false }
      return Set(outcomes.filter { $0.body.pushId == pushId }.map(\.body.deviceId)).isSuperset(of: push.deviceIds)
    }
  }

  /// Whether an event about a person is on the timeline or was refused.
  var isUserEventSettled: Bool { refusal != nil || isOnTimeline }

  /// One line per fact.
  var lines: [String] {
    if let refusal { return ["refused: \(refusal.code): \(refusal.message)"] }
    var lines: [String] = []
    for decision in decisions.sorted(by: { $0.body.userId < $1.body.userId }) {
      let body = decision.body
      let facts = [
        body.reason.rawValue, body.presentation?.rawValue, body.priority.map { "\($0.rawValue) priority" },
      ].compactMap { $0 }.joined(separator: ", ")
      lines.append("\(body.userId): \(body.outcome.rawValue) (\(facts)): \(body.text)")
      for outcome in outcomes where outcome.body.pushId == body.pushId {
        let more = [outcome.body.httpStatus.map { "HTTP \($0)" }, outcome.body.errorCode].compactMap { $0 }
        let detail = more.isEmpty ? "" : " (\(more.joined(separator: ", ")))"
        lines.append(
          "  device \(outcome.body.deviceId): \(outcome.body.result.rawValue)\(detail), \(OutcomeWords.attempts(outcome.body.attempts))"
        )
      }
    }
    if decisions.isEmpty, isOnTimeline { lines.append("taken: it is on the person's timeline") }
    return lines
  }
}

/// Publishes producers' events and returns the position of each. Not thread-safe.
final class AcknowledgedWriter {
  /// How long an acknowledgement may take.
  static let timeout: Duration = .seconds(15)

  private final class Deliveries: Sendable {
    let all = Mutex<[UInt64: Delivery]>([:])
  }

  private let producer: Producer
  private let names: TopicNames
  private let deliveries = Deliveries()
  private let complaint = LastComplaint()
  private var lastTag: UInt64 = 0

  /// Connects to a broker that answers.
  /// - Throws: `NoBroker` if none answers in time; `KafkaError` for an invalid property.
  init(_ cluster: ClusterSettings) throws {
    // A producer alone would report a missing broker only after its records' time-out.
    _ = try cluster.admin()
    names = cluster.topics
    let deliveries = deliveries
    let complaint = complaint
    var configuration = ClientConfiguration.producer(bootstrapServers: cluster.bootstrapServers, transactionalID: nil)
    configuration.set("message.timeout.ms", String(Self.timeout.milliseconds))
    configuration.set("message.max.bytes", String(TopicPlan(.chatEvents).maxMessageBytes))
    configuration = cluster.client(configuration)
    // With another partitioner ingest would have to rewrite the records to other partitions (M9).
    configuration.set("partitioner", "murmur2_random")
    producer = try Producer(
      configuration, name: "nudge-publish", log: { if $0.level <= 4 { complaint.record($0.message) } },
      onDelivery: { delivery in deliveries.all.withLock { $0[delivery.tag] = delivery } })
  }

  /// Queues an event. Returns its number, which is a key in the result of `flush`.
  @discardableResult
  func add(_ value: [UInt8], to topic: Topic, key: String) throws(KafkaError) -> UInt64 {
    lastTag += 1
    try producer.produce(
      topic: try producer.topic(names(topic)), partition: Producer.anyPartition, key: Array(key.utf8), value: value,
      tag: lastTag)
    return lastTag
  }

  /// Waits until Kafka has acknowledged everything since the last call, and returns the positions.
  /// - Throws: `CommandError` if Kafka did not acknowledge it.
  func flush() throws -> [UInt64: RecordPosition] {
    do throws(KafkaError) {
      // Longer than the records' own time-out, so that each has its report by then.
      try producer.flush(timeout: Self.timeout + .seconds(5))
    } catch {
      throw CommandError("Kafka did not acknowledge: \(error.name): \(error.reason)" + complaint.text)
    }
    let all = deliveries.all.withLock { all in
      defer { all.removeAll() }
      return all
    }
    return try all.mapValues { delivery in
      guard let offset = delivery.offset else {
        let reason = delivery.error.map { "\($0.name): \($0.reason)" } ?? "no reason given"
        throw CommandError(
          "Kafka did not take a record of \(delivery.topicPartition.topic): \(reason). Is the address right, and are the "
            + "topics made ('nudge topics create')?" + complaint.text)
      }
      return RecordPosition(
        topic: delivery.topicPartition.topic, partition: delivery.topicPartition.partition, offset: offset)
    }
  }

  func close() { producer.close() }
}

/// librdkafka's last warning, which is the only place that shows why a broker does not answer.
final class LastComplaint: Sendable {
  private let line = Mutex("")

  func record(_ message: String) { line.withLock { $0 = message } }

  /// Text to append to an error; empty without a warning.
  var text: String {
    let line = line.withLock { $0 }
    return line.isEmpty ? "" : "\nlibrdkafka said last: \(line)"
  }
}
