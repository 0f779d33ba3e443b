import Foundation
import Kafka
import NudgeSchema

@testable import NudgeLab

/// A second producer whose records must all be refused. Each record's header tells the checker the expected code. One thread uses it.
final class ChaosStranger {
  private let producer: Producer
  private let names: TopicNames
  private var random: SeededRandom
  /// A conversation that exists, without the sender among its members.
  private let conversation: String
  /// Records handed to Kafka.
  private(set) var sent = 0

  /// The largest value that the topic takes with key and header.
  private static let largest = 4_194_304 - 1_024

  init(brokers: String, names: TopicNames, seed: UInt64, conversation: String) throws {
    self.names = names
    self.conversation = conversation
    random = SeededRandom(seed: seed)
    var configuration = ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil)
    configuration.set("message.max.bytes", "8000000")
    // As in `Publisher`.
    configuration.set("max.in.flight.requests.per.connection", "1")
    producer = try Producer(configuration, name: "stranger")
  }

  deinit { producer.close() }

  /// Publishes twelve records of each kind, and two of the largest size that the topic takes. Returns at once.
  func publish() throws {
    for _ in 0..<12 {
      for kind in Self.small.shuffled(using: &random) {
        let record = kind(&random, conversation)
        try send(record)
      }
    }
    for (code, byte) in [("invalid_json", UInt8(ascii: "x")), ("invalid_utf8", 0xff)] {
      let conversation = "huge-\(random.next())"
      try send(
        Record(
          code: code, topic: .chatEvents, key: conversation,
          value: [UInt8](repeating: byte, count: Self.largest - conversation.utf8.count)))
    }
  }

  /// Whether Kafka has acknowledged all records.
  func isDone() -> Bool {
    producer.poll(timeout: .zero)
    return producer.queued == 0
  }

  private func send(_ record: Record) throws {
    try producer.produce(
      topic: try producer.topic(names(record.topic)), partition: -1, key: record.key.map { Array($0.utf8) },
      value: record.value, headers: [(name: PipelineChecker.hostileHeader, value: Array(record.code.utf8))])
    sent += 1
  }

  // MARK: Records

  private struct Record {
    var code: String
    var topic: Topic
    var key: String?
    var value: [UInt8]?
  }

  private static func message(
    _ conversation: String, _ random: inout SeededRandom, at time: Int64 = ChatLoad.now(),
    from sender: String = "mallory",
    type: String = "message.created"
  ) -> [UInt8] {
    let id = random.next()
    return Array(
      ChatLoad.event(
        type, "hostile-\(id)", time,
        #""conversationId":"\#(conversation)","messageId":"hostile-\#(id)","senderId":"\#(sender)","text":"Hello""#
      ).utf8)
  }

  /// Records by the reason of their refusal. None names a person of the load.
  private static let small: [@Sendable (inout SeededRandom, String) -> Record] = [
    { random, known in
      let whole = message(known, &random)
      return Record(
        code: "invalid_json", topic: .chatEvents, key: known,
        value: Array(whole.prefix(Int.random(in: 1..<whole.count, using: &random))))
    },
    { random, known in
      Record(
        code: "invalid_json", topic: .chatEvents, key: known,
        value: [UInt8](repeating: UInt8(ascii: "["), count: Int.random(in: 1_000...100_000, using: &random)))
    },
    { random, known in
      var bytes = message(known, &random)
      bytes[bytes.count - 3] = 0xff
      return Record(code: "invalid_utf8", topic: .chatEvents, key: known, value: bytes)
    },
    { _, known in Record(code: "schema_violation", topic: .chatEvents, key: known, value: nil) },
    { random, known in
      let text = #"{"schemaVersion":1,"type":"message.created","eventId":"\#(random.next())","occurredAt":"now"}"#
      return Record(code: "schema_violation", topic: .chatEvents, key: known, value: Array(text.utf8))
    },
    { random, known in
      let text =
        #"{"schemaVersion":99,"type":"message.created","eventId":"\#(random.next())","occurredAt":\#(ChatLoad.now())}"#
      return Record(code: "unsupported_version", topic: .chatEvents, key: known, value: Array(text.utf8))
    },
    { random, known in
      Record(
        code: "unknown_type", topic: .chatEvents, key: known, value: message(known, &random, type: "message.exploded"))
    },
    { random, known in
      Record(code: "missing_key", topic: .userEvents, key: nil, value: message(known, &random))
    },
    { random, known in
      Record(
        code: "key_mismatch", topic: .chatEvents, key: "other-\(random.next())", value: message(known, &random))
    },
    { random, known in
      Record(code: "too_old", topic: .chatEvents, key: known, value: message(known, &random, at: 1_000_000_000_000))
    },
    { random, known in
      Record(
        code: "from_the_future", topic: .chatEvents, key: known,
        value: message(known, &random, at: ChatLoad.now() + 86_400_000))
    },
    { random, known in
      Record(code: "sender_not_member", topic: .chatEvents, key: known, value: message(known, &random))
    },
    { random, _ in
      let unknown = "unknown-\(random.next())"
      return Record(
        code: "unknown_conversation", topic: .chatEvents, key: unknown, value: message(unknown, &random))
    },
    { random, _ in
      let user = "stranger-\(random.next())"
      let text = ChatLoad.event(
        "device.registered", "hostile-\(random.next())", ChatLoad.now(),
        #""userId":"\#(user)","deviceId":"d","token":"","platform":"toaster""#)
      return Record(code: "schema_violation", topic: .userEvents, key: user, value: Array(text.utf8))
    },
  ]
}
