import Synchronization
import Testing
import TestSupport

@testable import KafkaTransactions

/// The transactional producer against brokers that are broken on purpose: each call ends in time, with an error that says what happened.
@Suite("Brokers that misbehave", .ownThread)
struct HostileBrokerTests {
  private func producer(_ broker: FakeBroker) throws -> TransactionalProducer {
    var configuration = try TransactionalProducerConfiguration(bootstrapServers: "127.0.0.1:\(broker.port)")
    configuration.requestTimeout = .milliseconds(300)
    return try TransactionalProducer(configuration, transactionalIDs: ["x"], topics: ["t"], group: nil)
  }

  /// The error of opening a producer on a broker with these answers, within the time-out.
  private func failure(_ answer: @escaping FakeBroker.Answer) throws -> TransactionalProducerError? {
    let broker = FakeBroker(answer)
    defer { broker.close() }
    let producer = try producer(broker)
    var failure: TransactionalProducerError?
    let time = ContinuousClock().measure {
      do throws(TransactionalProducerError) {
        try producer.open(timeout: .seconds(1))
      } catch { failure = error }
    }
    #expect(time < .seconds(3))
    return failure
  }

  @Test("a broker that says nothing")
  func silence() throws {
    let failure = try failure { _, _ in [] }
    #expect(failure?.kind == .passing)
    #expect(failure?.reason.contains("in time") == true, "\(String(describing: failure))")
  }

  @Test("a broker that hangs up")
  func hangsUp() throws {
    #expect(try failure { _, _ in nil }?.reason.contains("closed the connection") == true)
  }

  @Test("no listener")
  func nobody() throws {
    let broker = FakeBroker { _, _ in nil }
    broker.close()
    let producer = try producer(broker)
    let failure = #expect(throws: TransactionalProducerError.self) { try producer.open(timeout: .seconds(1)) }
    #expect(failure?.kind == .passing)
  }

  @Test(
    "lengths that cannot be: what else speaks on that port is not waited for",
    arguments: [[0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 0], Array("HTTP/1.1 400".utf8)]
      as [[UInt8]])
  func lengths(_ bytes: [UInt8]) throws {
    let failure = try failure { _, _ in bytes }
    #expect(failure?.reason.contains("Kafka listener") == true, "\(String(describing: failure))")
  }

  @Test("an answer that never ends, a byte at a time")
  func drips() throws {
    // The length says 1 MiB, of which a little comes; the rest is waited for no longer than a request may take.
    #expect(try failure { _, _ in [0, 0x10, 0, 0] + [UInt8](repeating: 0, count: 100) }?.kind == .passing)
  }

  @Test("an answer to another request")
  func confused() throws {
    let failure = try failure { _, _ in [0, 0, 0, 6, 9, 9, 9, 9, 0, 0] }
    #expect(failure?.reason.contains("cannot be understood") == true)
  }

  @Test("an old broker, which does not know the version it is asked in")
  func old() throws {
    let failure = try failure { key, correlation in
      var writer = WireWriter()
      writer.int32(10)
      writer.int32(correlation)
      writer.int16(35)
      writer.int32(0)
      return writer.bytes
    }
    #expect(failure?.kind == .refused)
    #expect(failure?.reason.contains("transaction.version") == true)
  }

  /// Answers as a lone broker that commits everything, from `AnswerSample`s of its own.
  static func sample(_ key: Int16, _ correlation: Int32, port: Int32) -> [UInt8] {
    var body = WireWriter()
    body.int32(0)
    body.int32(correlation)
    if key != APIVersionsRequest.key { body.noTags() }
    switch key {
    case APIVersionsRequest.key:
      body.int16(0)
      body.array([0, 3, 10, 22, 26, 28] as [Int16]) { writer, key in
        writer.int16(key)
        writer.int16(0)
        writer.int16(20)
        writer.noTags()
      }
      body.int32(0)
      var feature = WireWriter()
      feature.array(["transaction.version"]) { writer, name in
        writer.text(name)
        writer.int16(2)
        writer.int16(0)
        writer.noTags()
      }
      body.raw([1, 2, UInt8(feature.bytes.count)] + feature.bytes)
    case MetadataRequest.key:
      body.int32(0)
      body.array([1] as [Int32]) { writer, node in
        writer.int32(node)
        writer.text("127.0.0.1")
        writer.int32(port)
        writer.text(nil)
        writer.noTags()
      }
      body.text(nil)
      body.int32(1)
      body.array(["t"]) { writer, topic in
        writer.int16(0)
        writer.text(topic)
        writer.int64(0)
        writer.int64(0)
        writer.bool(false)
        writer.array([0] as [Int32]) { writer, partition in
          writer.int16(0)
          writer.int32(partition)
          writer.int32(1)
          writer.int32(0)
          for _ in 0..<3 { writer.array([] as [Int32]) { $0.int32($1) } }
          writer.noTags()
        }
        writer.int32(0)
        writer.noTags()
      }
      body.noTags()
    case FindCoordinatorRequest.key:
      body.int32(0)
      body.array(["x"]) { writer, id in
        writer.text(id)
        writer.int32(1)
        writer.text("127.0.0.1")
        writer.int32(port)
        writer.int16(0)
        writer.text(nil)
        writer.noTags()
      }
      body.noTags()
    case ProduceRequest.key:
      body.array(["t"]) { writer, topic in
        writer.text(topic)
        writer.array([0] as [Int32]) { writer, partition in
          writer.int32(partition)
          writer.int16(0)
          writer.int64(41)
          writer.int64(-1)
          writer.int64(0)
          writer.array([] as [Int32]) { $0.int32($1) }
          writer.text(nil)
          writer.noTags()
        }
        writer.noTags()
      }
      body.int32(0)
      body.noTags()
    default:
      // InitProducerId and EndTxn have the same fields.
      body.int32(0)
      body.int16(0)
      body.int64(5)
      body.int16(1)
      body.noTags()
    }
    body.overwrite(int32: Int32(body.bytes.count - 4), at: 0)
    return body.bytes
  }

  private static func content() -> TransactionContent {
    var content = TransactionContent(topics: ["t"], timestamp: 1)
    content.append(topic: 0, partition: 0, key: nil, value: [1])
    return content
  }

  /// A broker with a port that its answers name.
  private func broker(_ change: @escaping @Sendable (Int16, [UInt8]) -> [UInt8]?) -> FakeBroker {
    let box = PortBox()
    let broker = FakeBroker { key, correlation in change(key, Self.sample(key, correlation, port: box.port)) }
    box.port = broker.port
    return broker
  }

  private final class PortBox: Sendable {
    private let value = Mutex<Int32>(0)
    var port: Int32 {
      get { value.withLock { $0 } }
      set { value.withLock { $0 = newValue } }
    }
  }

  @Test("a broker that behaves: committed, and where")
  func wellBehaved() throws {
    let broker = broker { _, bytes in bytes }
    defer { broker.close() }
    let producer = try producer(broker)
    try producer.open(timeout: .seconds(5))
    guard case .committed(let records) = producer.commit(Self.content(), timeout: .seconds(5)) else {
      Issue.record("not committed")
      return
    }
    #expect(records.lastOffset(topic: "t", partition: 0) == 41)
  }

  @Test("answers changed at random: every commit ends in time, as something")
  func mutatedAnswers() throws {
    let seed = SeededGenerator(announcedFor: "a broker with mutated answers").seed
    let random = Mutex(SeededGenerator(seed: seed))
    let isOpen = Mutex(false)
    let broker = broker { key, bytes in
      guard isOpen.withLock({ $0 }) else { return bytes }
      return random.withLock { $0.oneIn(2) ? mutate(bytes, &$0) : bytes }
    }
    defer { broker.close() }
    var outcomes: [String: Int] = [:]
    for _ in 0..<60 {
      isOpen.withLock { $0 = false }
      let producer = try producer(broker)
      try producer.open(timeout: .seconds(5))
      isOpen.withLock { $0 = true }
      let time = ContinuousClock().measure {
        let name = "\(producer.commit(Self.content(), timeout: .milliseconds(400)))".prefix { $0 != "(" }
        outcomes[String(name), default: 0] += 1
      }
      #expect(time < .seconds(2))
    }
    print("outcomes: \(outcomes)")
    #expect(outcomes.values.reduce(0, +) == 60)
  }

  @Test("no answer to the end: unknown; no answer to the records: not committed")
  func lostAnswers() throws {
    for (key, isUnknown) in [(EndTxnRequest.key, true), (ProduceRequest.key, false)] {
      let broker = broker { asked, bytes in asked == key ? [] : bytes }
      defer { broker.close() }
      let producer = try producer(broker)
      try producer.open(timeout: .seconds(5))
      let outcome = producer.commit(Self.content(), timeout: .seconds(1))
      switch outcome {
      case .unknown: #expect(isUnknown)
      case .notCommitted: #expect(!isUnknown)
      default: Issue.record("\(outcome)")
      }
    }
  }

  @Test("a commit on a producer whose last outcome was not a commit is none, until it is opened")
  func notOpen() throws {
    let broker = broker { asked, bytes in asked == ProduceRequest.key ? [] : bytes }
    defer { broker.close() }
    let producer = try producer(broker)
    guard case .notCommitted = producer.commit(Self.content(), timeout: .seconds(1)) else {
      Issue.record("it was never opened")
      return
    }
    try producer.open(timeout: .seconds(5))
    _ = producer.commit(Self.content(), timeout: .milliseconds(300))
    guard case .notCommitted(let reason) = producer.commit(Self.content(), timeout: .seconds(1)) else {
      Issue.record("its epoch is used up")
      return
    }
    #expect(reason.contains("not open"))
  }

  @Test("offsets without a member are not sent: the coordinator would not fence them")
  func nobodysOffsets() throws {
    let broker = broker { _, bytes in bytes }
    defer { broker.close() }
    let producer = try producer(broker)
    try producer.open(timeout: .seconds(5))
    for (member, generation) in [("", 3), ("m", -1)] as [(String, Int32)] {
      var content = Self.content()
      content.offsets = TransactionOffsets(
        group: "g", memberID: member, generation: generation, instanceID: nil,
        offsets: [.init(topic: "i", partition: 0, offset: 1, metadata: "")])
      guard case .notMember = producer.commit(content, timeout: .seconds(1)) else {
        Issue.record("sent")
        return
      }
    }
  }
}
