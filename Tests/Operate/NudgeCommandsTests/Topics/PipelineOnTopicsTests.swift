import Analyzer
import Dispatcher
@testable import FCMEmulator
import Foundation
import Ingest
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("Three services on nudge's topics")
struct PipelineOnTopicsTests {
  @Test("a registered phone gets its owner's message; all three services exit with 0")
  func message() throws {
    let broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, partitions: 2)
    var emulatorConfiguration = FCMEmulatorConfiguration()
    emulatorConfiguration.keepRequests = 100
    let emulator = try FCMEmulator(emulatorConfiguration)
    emulator.start()
    defer { emulator.stop() }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }

    let brokers = broker.bootstrapServers
    let services = [
      RunningService(IngestService.assembly, brokers: brokers, stateDirectory: directory.path),
      RunningService(AnalyzerService.assembly, brokers: brokers, stateDirectory: directory.path),
      RunningService(
        DispatcherService.assembly, brokers: brokers, stateDirectory: directory.path,
        [
          "--fcm-url", emulator.url, "--fcm-credentials", emulator.serviceAccountFile, "--fcm-ca-file",
          emulator.caFile,
        ]),
    ]
    wait(for: "three services to be ready") {
      services.allSatisfy(\.isReady) || services.contains { $0.exitCode != nil }
    }

    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil), name: "app")
    let coder = RecordCoder()
    let now = SystemClock.milliseconds()
    func produce(_ event: some Encodable, to topic: Topic, key: String) throws {
      try producer.produce(
        topic: try producer.topic(topic.rawValue), partition: Murmur2.partition(of: Array(key.utf8), count: 2),
        key: Array(key.utf8), value: try coder.encode(event))
      try producer.flush(timeout: .seconds(30))
    }
    try produce(
      UserEvent(
        Envelope(eventId: "e1", occurredAt: now),
        .deviceRegistered(
          DeviceRegistered(userId: "bob", deviceId: "phone", token: "token-of-bob", platform: .android))),
      to: .userEvents, key: "bob")
    try wait(for: "the device to be on bob's timeline") { try count(.timeline, on: broker) == 1 }
    try produce(
      ChatEvent(
        Envelope(eventId: "e2", occurredAt: now),
        .conversationUpdated(
          ConversationUpdated(
            conversationId: "c", kind: .direct, name: nil,
            members: [Member(userId: "ann", displayName: "Ann"), Member(userId: "bob", displayName: "Bob")]))),
      to: .chatEvents, key: "c")
    try produce(
      ChatEvent(
        Envelope(eventId: "e3", occurredAt: now),
        .messageCreated(MessageCreated(conversationId: "c", messageId: "m", senderId: "ann", text: "Lunch?"))),
      to: .chatEvents, key: "c")

    wait(for: "a request at FCM") { emulator.requests().contains { $0.path.hasSuffix("messages:send") } }
    let body = String(
      decoding: emulator.requests().last { $0.path.hasSuffix("messages:send") }?.body ?? [], as: UTF8.self)
    #expect(body.contains("token-of-bob") && body.contains("Lunch?"))
    try wait(for: "its outcome") { try count(.outcomes, on: broker) == 1 }

    for service in services { service.stop() }
    wait(for: "three services to end", atMost: 30) { services.allSatisfy { $0.exitCode != nil } }
    for (service, name) in zip(services, ["ingest", "analyzer", "dispatcher"]) {
      #expect(service.exitCode == ExitCode.success)
      #expect(service.log.entries.allSatisfy { $0.metadata["service"] != nil && $0.metadata["instance"] == "test-0" })
      let listens = try #require(service.line("admin server listens"), "\(name)")
      let ready = try #require(service.line("ready"), "\(name)")
      #expect(listens < ready, "\(name) can say why it is not ready before it is")
      #expect(!"\(service.log.entries)".contains("token-of-bob"), "T4")
    }
  }

  /// How many records a topic has.
  private func count(_ topic: Topic, on broker: EmbeddedBroker) throws -> Int {
    let consumer = try Consumer(
      ClientConfiguration.consumer(
        bootstrapServers: broker.bootstrapServers, group: nil, reportsEndOfPartition: true), name: "test")
    defer { consumer.close() }
    try consumer.assign(
      [0, 1].map { TopicPartitionOffset(TopicPartition(topic: topic.rawValue, partition: $0), offset: 0) })
    var records = 0
    var ends = 0
    let deadline = Date(timeIntervalSinceNow: 30)
    while ends < 2, Date() < deadline {
      switch consumer.poll(timeout: .milliseconds(100)) {
      case .record: records += 1
      case .endOfPartition: ends += 1
      case .error(let error): throw error
      case nil, .assigned, .revoked: break
      }
    }
    return records
  }
}
