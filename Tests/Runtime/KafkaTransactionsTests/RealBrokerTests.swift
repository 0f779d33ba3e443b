import Foundation
import Kafka
import TestSupport
import Testing

@testable import KafkaTransactions

/// The transactional producer and a real Kafka. Off unless there is one:
/// `KAFKA_HOME=/path/to/kafka swift test --filter KafkaTransactionsTests`.
@Suite(
  "The transactional producer on a real broker", .ownThread, .serialized,
  .enabled(if: SecuredBroker.isAvailable, "KAFKA_HOME=/path/to/kafka enables it"))
struct RealBrokerTests {
  private let secured: SecuredBroker
  private let servers: String
  private let admin: Admin
  private let topics: [String]
  private let patience = Duration.seconds(30)
  /// An old timestamp would begin a new segment of the log with each marker, and have them deleted.
  private let now = Int64(Date().timeIntervalSince1970 * 1000)

  init() throws {
    secured = try SecuredBroker.shared.get()
    servers = secured.servers
    admin = try Admin(ClientConfiguration(bootstrapServers: servers))
    let name = "t-\(UUID().uuidString.prefix(8))"
    topics = (0..<3).map { "\(name)-\($0)" }
    let made = try admin.createTopics(
      topics.map { .init(name: $0, partitions: 4, replicationFactor: 1, configuration: [:]) }, timeout: patience)
    for topic in topics { try made[topic]?.get() }
    let (admin, topics) = (admin, topics)
    try wait(for: "the new topics") {
      try admin.partitionCounts(of: topics, timeout: .seconds(5)).values.filter { $0 == 4 }.count == topics.count
    }
  }

  private func producer(
    _ ids: [String] = ["s-\(UUID().uuidString.prefix(8))-a", "s-\(UUID().uuidString.prefix(8))-b"],
    group: String? = nil, at address: String? = nil, _ properties: [(name: String, value: String)] = []
  ) throws -> TransactionalProducer {
    try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: address ?? servers, properties: properties),
      transactionalIDs: ids,
      topics: topics, group: group)
  }

  /// All records that a read_committed reader sees of the topics, as "topic/partition/offset key value", once there are so
  /// many: the broker writes a transaction's markers after it has answered.
  private func committed(_ count: Int) throws -> [String] {
    var found: [String] = []
    try wait(for: "\(count) records") {
      found = try readToEnds()
      return found.count >= count
    }
    return found
  }

  private func readToEnds() throws -> [String] {
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: servers, group: nil, reportsEndOfPartition: true), name: "reader")
    defer { consumer.close() }
    var open: Set<TopicPartition> = []
    for topic in topics { for partition in 0..<4 { open.insert(.init(topic: topic, partition: Int32(partition))) } }
    try consumer.assign(open.map { TopicPartitionOffset($0, offset: 0) })
    var found: [String] = []
    try wait(for: "the ends") {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record(let record): found.append(describe(record))
      case .endOfPartition(let partition, _): open.remove(partition)
      case .error(let error): throw error
      default: break
      }
      return open.isEmpty
    }
    return found.sorted()
  }

  private func describe(_ record: ConsumerRecord) -> String {
    func text(_ bytes: [UInt8]?) -> String {
      bytes.map { $0.count > 50 ? "\($0.count)" : String(decoding: $0, as: UTF8.self) } ?? "-"
    }
    let headers = record.headers().map { " \($0.name)=\(text($0.value))" }.joined()
    return "\(record.topic.suffix(1))/\(record.partition)/\(record.offset) \(text(record.keyBytes())) "
      + text(record.valueBytes()) + headers
  }

  private func expectCommitted(_ outcome: TransactionOutcome, sourceLocation: SourceLocation = #_sourceLocation) {
    guard case .committed = outcome else {
      Issue.record("\(outcome)", sourceLocation: sourceLocation)
      return
    }
  }

  @Test(
    "records of many partitions in one transaction, with keys, tombstones and headers, are read as they were written")
  func content() throws {
    let producer = try producer()
    try producer.open(timeout: patience)
    var content = producer.makeContent(timestamp: now)
    var expected: [String] = []
    for topic in 0..<3 {
      for partition in 0..<4 {
        content.append(topic: topic, partition: Int32(partition), key: Array("k".utf8), value: Array("v".utf8))
        content.append(
          topic: topic, partition: Int32(partition), key: Array("é".utf8), value: nil,
          headers: [("h", Array("x".utf8)), ("empty", nil)])
        expected += ["\(topic)/\(partition)/0 k v", "\(topic)/\(partition)/1 é - h=x empty=-"]
      }
    }
    let outcome = producer.commit(content, timeout: patience)
    guard case .committed(let records) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(records.lastOffset(topic: topics[2], partition: 3) == 1)
    #expect(try committed(expected.count) == expected.sorted())
  }

  @Test("many transactions with two ids in turn, each visible, with a marker behind each")
  func inTurn() throws {
    let producer = try producer()
    try producer.open(timeout: patience)
    for number in 0..<50 {
      var content = producer.makeContent(timestamp: now)
      content.append(topic: 0, partition: 1, key: nil, value: Array("\(number)".utf8))
      let outcome = producer.commit(content, timeout: patience)
      guard case .committed(let records) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      if number == 0 { #expect(records.lastOffset(topic: topics[0], partition: 1) == 0) }
    }
    #expect(try committed(50).count == 50)
    let dump = try secured.tool(
      "kafka-dump-log.sh",
      ["--files", secured.file("data/\(topics[0])-1/00000000000000000000.log"), "--print-data-log"])
    #expect(dump.contains("isTransactional: true"))
    #expect(dump.components(separatedBy: "isControl: true").count == 51, "\(dump.suffix(2000))")
    #expect(!dump.contains("isvalid: false"))
  }

  @Test("content larger than a batch and a request is split, and comes in order")
  func large() throws {
    var configuration = try TransactionalProducerConfiguration(bootstrapServers: servers)
    configuration.maxRequestBytes = 1_000_000
    let producer = try TransactionalProducer(
      configuration, transactionalIDs: ["s-\(UUID())"], topics: topics, group: nil)
    try producer.open(timeout: patience)
    var content = TransactionContent(topics: topics, timestamp: now, maxBatchBytes: 300_000)
    for number in 0..<400 {
      content.append(
        topic: 0, partition: Int32(number % 2), key: Array("\(number)".utf8),
        value: [UInt8](repeating: 7, count: 10_000))
    }
    let outcome = producer.commit(content, timeout: patience)
    guard case .committed(let records) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(records.lastOffset(topic: topics[0], partition: 1) == 199)
    let found = try committed(400)
    let dump = try secured.tool(
      "kafka-dump-log.sh",
      ["--files", secured.file("data/\(topics[0])-1/00000000000000000000.log"), "--deep-iteration"])
    #expect(dump.contains("compresscodec: lz4"))
    #expect(!dump.contains("isvalid: false"))
    #expect(found.count == 400)
    #expect(found.contains("0/1/199 399 10000"))
  }

  @Test("content that the broker never takes is refused for good, and says why")
  func tooLarge() throws {
    let producer = try producer()
    try producer.open(timeout: patience)
    var content = producer.makeContent(timestamp: now)
    // Incompressible bytes.
    var random = SeededGenerator(seed: 1)
    let noise = (0..<2_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    content.append(topic: 0, partition: 0, key: nil, value: noise)
    guard case .refused(_, let reason) = producer.commit(content, timeout: patience) else {
      Issue.record("taken")
      return
    }
    #expect(reason.contains("MESSAGE_TOO_LARGE"))
    try producer.open(timeout: patience)
    var small = producer.makeContent(timestamp: now)
    small.append(topic: 0, partition: 0, key: nil, value: [1])
    expectCommitted(producer.commit(small, timeout: patience))
  }

  @Test("opening the same ids fences the other producer at once and aborts its transaction")
  func fencing() throws {
    let ids = ["s-\(UUID())-a", "s-\(UUID())-b"]
    let former = try producer(ids)
    try former.open(timeout: patience)
    let latter = try producer(ids)
    try latter.open(timeout: patience)
    var content = former.makeContent(timestamp: now)
    content.append(topic: 0, partition: 0, key: nil, value: Array("former".utf8))
    guard case .fenced = former.commit(content, timeout: patience) else {
      Issue.record("not fenced")
      return
    }
    content.reset(timestamp: now)
    content.append(topic: 0, partition: 0, key: nil, value: Array("latter".utf8))
    expectCommitted(latter.commit(content, timeout: patience))
    #expect(try committed(1).map { $0.split(separator: " ").last } == ["latter"])
  }

  @Test("offsets of the group: committed with their metadata; refused to a member of a former generation")
  func offsets() throws {
    let group = "g-\(UUID())"
    let consumer = try Consumer(
      ClientConfiguration.consumer(bootstrapServers: servers, group: group)
        .merging(overrides: [("heartbeat.interval.ms", "200")]), name: "member")
    try consumer.subscribe([topics[0]])
    wait(for: "an assignment") {
      if case .assigned = consumer.poll(timeout: .milliseconds(100)) { return true }
      return false
    }
    try consumer.assign([])
    let member = try consumer.groupMetadata()
    let producer = try producer(group: group)
    try producer.open(timeout: patience)
    func content(_ generation: Int32, _ memberID: String) -> TransactionContent {
      var content = producer.makeContent(timestamp: now)
      content.append(topic: 1, partition: 0, key: nil, value: Array("\(generation)".utf8))
      content.offsets = TransactionOffsets(
        group: group, memberID: memberID, generation: generation, instanceID: nil,
        offsets: (0..<4).map {
          .init(topic: topics[0], partition: $0, offset: 7 + Int64($0), metadata: "nudge:41 ✓")
        })
      return content
    }
    expectCommitted(producer.commit(content(member.generation, member.memberID), timeout: patience))
    let place = TopicPartition(topic: topics[0], partition: 3)
    wait(for: "stable offsets") {
      let found = try? consumer.committed([place], timeout: .milliseconds(500))
      return found == [TopicPartitionOffset(place, offset: 10, metadata: "nudge:41 ✓")]
    }
    for (generation, id) in [(member.generation - 1, member.memberID), (member.generation, "stranger")] {
      guard case .notMember = producer.commit(content(generation, id), timeout: patience) else {
        Issue.record("not refused")
        continue
      }
      try producer.open(timeout: patience)
    }
    expectCommitted(producer.commit(content(member.generation, member.memberID), timeout: patience))
    // Refused records are not visible.
    #expect(try committed(2).count == 2)
  }

  // MARK: Security

  private func security(_ user: String, _ mechanism: String, _ password: String) -> [(name: String, value: String)] {
    [
      ("security.protocol", "sasl_ssl"), ("ssl.ca.location", secured.file("ca.pem")), ("sasl.mechanisms", mechanism),
      ("sasl.username", user), ("sasl.password", password),
    ]
  }

  private func mutual(_ key: String, _ password: String?) -> [(name: String, value: String)] {
    [
      ("security.protocol", "ssl"), ("ssl.ca.location", secured.file("ca.pem")),
      ("ssl.certificate.location", secured.file("client.crt")), ("ssl.key.location", secured.file(key)),
    ] + (password.map { [("ssl.key.password", $0)] } ?? [])
  }

  /// Allows a user what a service needs.
  private func allow(_ user: String) throws {
    for arguments in [["--topic", "*"], ["--transactional-id", "*"], ["--group", "*"]] {
      _ = try secured.tool(
        "kafka-acls.sh",
        ["--bootstrap-server", servers, "--add", "--allow-principal", "User:\(user)", "--operation", "All"] + arguments)
    }
  }

  private func commitOne(_ producer: TransactionalProducer) throws {
    try producer.open(timeout: patience)
    var content = producer.makeContent(timestamp: now)
    content.append(topic: 0, partition: 0, key: nil, value: [UInt8](repeating: 0x61, count: 100_000))
    expectCommitted(producer.commit(content, timeout: patience))
  }

  @Test(
    "encrypted; mutual TLS with a plain and an encrypted key; PLAIN; one listener's login lasts 3 s, and is renewed")
  func encrypted() throws {
    try commitOne(try producer(at: secured.address("MUTUAL"), mutual("client.key", nil)))
    try commitOne(try producer(at: secured.address("MUTUAL"), mutual("client-enc.key", "key-secret")))
    let plain = try producer(at: secured.address("SASL_SSL"), security("alice", "PLAIN", "alice-secret"))
    let began = ContinuousClock.now
    while began.duration(to: .now) < .seconds(5) { try commitOne(plain) }
  }

  @Test("SCRAM-SHA-256 and -512; without permission a clear error, with it a commit")
  func scram() throws {
    let bob = try producer(at: secured.address("SASL_SSL"), security("bob", "SCRAM-SHA-256", "bob-secret"))
    let refusal = #expect(throws: TransactionalProducerError.self) { try bob.open(timeout: patience) }
    #expect(refusal?.kind == .refused)
    #expect(refusal?.reason.contains("allow the service's user") == true, "\(String(describing: refusal))")
    try allow("bob")
    try allow("carol")
    // The broker learns of a permission a moment after the tool was told.
    wait(for: "permission") { (try? bob.open(timeout: patience)) != nil }
    try commitOne(bob)
    try commitOne(try producer(at: secured.address("SASL_SSL"), security("carol", "SCRAM-SHA-512", "carol-secret")))
  }

  @Test(
    "OAUTHBEARER, both clients: a token from a file; the next one before the login expires; one that the broker refuses"
  )
  func bearer() throws {
    let properties = try secured.bearer(#""sub":"mia""#, lifetime: 4, file: "mia.jwt")
    let mia = try producer(at: secured.address("BEARER"), properties)
    let admin = try Admin(
      ClientConfiguration(bootstrapServers: secured.address("BEARER"), properties: properties), name: "mia")
    try commitOne(mia)
    #expect(try admin.listTopics(timeout: patience)[topics[0]] != nil)
    // The program that writes the file replaces the token before it expires.
    _ = try secured.bearer(#""sub":"mia""#, file: "mia.jwt")
    let began = ContinuousClock.now
    while began.duration(to: .now) < .seconds(6) { try commitOne(mia) }
    #expect(try admin.listTopics(timeout: patience)[topics[0]] != nil)
    // Not issued before next year: the broker says so, in JSON.
    let later = Int64(Date().timeIntervalSince1970) + 31_536_000
    let refused = try secured.bearer(#""sub":"mia","iat":\#(later)"#, lifetime: 63_072_000, file: "later.jwt")
    let error = #expect(throws: TransactionalProducerError.self) {
      try producer(at: secured.address("BEARER"), refused).open(timeout: .seconds(3))
    }
    #expect(error?.kind == .refused)
    #expect(error?.reason.contains("SASL_AUTHENTICATION_FAILED") == true, "\(String(describing: error))")
    let stranger = try Admin(
      ClientConfiguration(bootstrapServers: secured.address("BEARER"), properties: refused), name: "stranger")
    #expect(throws: KafkaError.self) { try stranger.listTopics(timeout: .seconds(3)) }
    #expect(stranger.connectionFailure?.isLoginRefused == true, "\(String(describing: stranger.connectionFailure))")
    // No token at all: what is missing is named.
    let none = refused.dropLast() + [("sasl.oauthbearer.token.endpoint.url", "file:///nowhere.jwt")]
    let missing = #expect(throws: TransactionalProducerError.self) {
      try producer(at: secured.address("BEARER"), Array(none)).open(timeout: .seconds(3))
    }
    #expect(missing?.description.contains("/nowhere.jwt cannot be read") == true, "\(String(describing: missing))")
    let without = try Admin(
      ClientConfiguration(bootstrapServers: secured.address("BEARER"), properties: Array(none)), name: "without")
    #expect(throws: KafkaError.self) { try without.listTopics(timeout: .seconds(3)) }
    #expect(without.connectionFailure?.reason.contains("/nowhere.jwt cannot be read") == true)
  }

  @Test(
    "a wrong password, a wrong authority, a certificate that is missing, a key's wrong password: each says what it is")
  func refusals() throws {
    func failure(_ at: String, _ properties: [(name: String, value: String)]) -> TransactionalProducerError? {
      #expect(throws: TransactionalProducerError.self) {
        try producer(at: secured.address(at), properties).open(timeout: .seconds(3))
      }
    }
    let password = failure("SASL_SSL", security("alice", "PLAIN", "nonsense"))
    #expect(password?.kind == .refused)
    #expect(password?.reason.contains("SASL_AUTHENTICATION_FAILED") == true, "\(String(describing: password))")
    #expect(password?.description.contains("nonsense") == false)
    let scram = failure("SASL_SSL", security("bob", "SCRAM-SHA-256", "nonsense"))
    #expect(scram?.reason.contains("SASL_AUTHENTICATION_FAILED") == true, "\(String(describing: scram))")
    let authority = failure(
      "SSL", [("security.protocol", "ssl"), ("ssl.ca.location", secured.file("other-ca.pem"))])
    #expect(authority?.kind == .refused)
    #expect(authority?.reason.contains("ssl.ca.location") == true, "\(String(describing: authority))")
    let missing = failure("MUTUAL", [("security.protocol", "ssl"), ("ssl.ca.location", secured.file("ca.pem"))])
    #expect(missing?.reason.contains("certificate") == true, "\(String(describing: missing))")
    let key = failure("MUTUAL", mutual("client-enc.key", "wrong"))
    #expect(key?.description.contains("ssl.key.password") == true, "\(String(describing: key))")
    let file = failure("SSL", [("security.protocol", "ssl"), ("ssl.ca.location", "/nowhere.pem")])
    #expect(file?.description.contains("/nowhere.pem") == true)
    // Encrypted bytes where plain ones are expected.
    let plain = failure("SSL", [])
    #expect(plain?.kind == .passing)
    #expect(plain?.reason.isEmpty == false)
  }

  @Test("answers of a real broker, changed at random, are read or refused")
  func mutations() throws {
    var random = SeededGenerator(announcedFor: "a real broker's answers")
    let address = BrokerAddress(host: "127.0.0.1", port: Int32(servers.split(separator: ":")[1]) ?? 0)
    func answer<R: WireRequest>(_ request: R) throws -> [UInt8] {
      let deadline = Deadline(after: patience)
      let socket = try TCPSocket.connect(to: address, deadline: deadline)
      try socket.write(WireFrame.encode(request, correlation: 1, client: "t"), deadline: deadline)
      var bytes: [UInt8] = []
      while bytes.count < 4 || bytes.count < 4 + bytes[..<4].reduce(0, { $0 << 8 | Int($1) }) {
        bytes += try socket.read(atMost: 65536, deadline: deadline)
      }
      return Array(bytes.dropFirst(4))
    }
    func check<R: WireRequest>(_ request: R) throws {
      let bytes = try answer(request)
      _ = try WireFrame.decode(R.self, bytes, correlation: 1)
      var refused = 0
      for _ in 0..<3000 {
        do throws(WireError) {
          _ = try WireFrame.decode(R.self, mutate(bytes, &random), correlation: 1)
        } catch { refused += 1 }
      }
      #expect(refused > 0, "\(R.name)")
    }
    let id = "s-\(UUID())"
    try check(APIVersionsRequest())
    try check(MetadataRequest(topics: topics))
    try check(FindCoordinatorRequest(kind: .transaction, id: id))
    try wait(for: "a producer id") {
      let bytes = try answer(InitProducerIDRequest(transactionalID: id, transactionTimeout: 5000))
      return try WireFrame.decode(InitProducerIDRequest.self, bytes, correlation: 1).content.error == .none
    }
    try check(InitProducerIDRequest(transactionalID: id, transactionTimeout: 5000))
    try check(EndTxnRequest(transactionalID: id, producer: .init(id: 1, epoch: 1)))
    var batch = RecordBatch(timestamp: now)
    batch.append(key: nil, value: [1], headers: [])
    try check(
      ProduceRequest(
        transactionalID: id, producer: .init(id: 1, epoch: 1), timeout: 1000, compression: .lz4,
        topics: [.init(name: topics[0], partitions: [.init(index: 0, batch: batch, sequence: 0)])]))
  }
}
