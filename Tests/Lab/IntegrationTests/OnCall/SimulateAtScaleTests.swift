import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands
@testable import NudgeLab

extension PipelineTests {
  /// `nudge simulate` on the decisions of an analyzer: 40,000 of them, or as many as `NUDGE_SIMULATED_DECISIONS` says. For its
  /// times `NUDGE_TEST_PROGRAMS` names the directory of a release build.
  @Suite("nudge simulate over many decisions")
  struct SimulateAtScaleTests {
    @Test("D15: bounded memory; no difference under the same policy; with direct: smart exactly the direct messages")
    func simulates() throws {
      let recorded = try RecordedDay(decisions: runParameter("NUDGE_SIMULATED_DECISIONS") ?? 40_000)
      try recorded.decide()
      let same = try recorded.simulate([], expectsSame: true)
      #expect(same.status == 0 && same.result["compared"] as? Int == recorded.decisions, "\(same.result)")
      #expect(same.result["same"] as? Int == recorded.decisions)
      #expect(same.result["insufficient"] as? Int == 0 && same.result["unrecorded"] as? Int == 0)

      let policy = recorded.directory.appendingPathComponent("smart.json")
      try Data(#"{"defaultLevels":{"direct":"smart"}}"#.utf8).write(to: policy)
      let smart = try recorded.simulate(["--policy", policy.path, "--examples", "1000"], expectsSame: true)
      #expect(smart.status == 3)
      let changes = smart.result["changes"] as? [[String: Any]] ?? []
      #expect(changes.compactMap { $0["messages"] as? Int }.reduce(0, +) == recorded.directByDefault)
      #expect(smart.result["compared"] as? Int == recorded.decisions)
      let examples = smart.result["examples"] as? [[String: String]] ?? []
      #expect(examples.count == 1_000 && examples.allSatisfy { $0["conversationId"]?.hasPrefix("direct-") == true })
      for run in [same, smart] { #expect(run.megabytes <= 150, "\(run.megabytes) MB") }
      recorded.hasPassed = true
    }
  }
}

/// A timeline of direct messages and groups within the last hour, and what an analyzer decided of it.
private final class RecordedDay {
  private static let partitions: Int32 = 8
  private static let perGroup = 100
  /// Direct messages to a person, and messages to a group.
  private static let messages = 100
  /// Every tenth of the people with direct messages has a level of their own for direct conversations.
  private static let ownLevel = 10

  let decisions: Int
  /// Direct messages to people who chose no level.
  private(set) var directByDefault = 0
  let directory: URL
  var hasPassed = false
  private let brokers: String
  private let names = TopicNames(prefix: "simulate.")
  private let programs: URL
  private let coder = RecordCoder()
  private let producer: Producer
  private let start = ChatLoad.now() - 45 * 60_000
  private var offsets: [Int32: Int64] = [:]

  /// `decisions` is rounded: three tenths are of direct messages, the others of groups of 100.
  init(decisions wanted: Int) throws {
    let people = max(10, wanted * 3 / 10 / Self.messages)
    let groups = max(1, wanted * 7 / 10 / Self.messages / Self.perGroup)
    decisions = (people + groups * Self.perGroup) * Self.messages
    brokers = try RealKafka.bootstrapServers()
    directory = RealKafka.directory.appendingPathComponent("simulate")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    programs =
      ProcessInfo.processInfo.environment["NUDGE_TEST_PROGRAMS"].map { URL(fileURLWithPath: $0) }
      ?? DemoProgram.directoryOfThisProgram()
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    _ = try TopicCreation.create(on: admin, names: names, partitions: Int(Self.partitions))
    producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "test-timeline")
    try write(people: people, groups: groups)
    try producer.flush(timeout: .seconds(300))
  }

  deinit {
    producer.close()
    if hasPassed { try? FileManager.default.removeItem(at: directory) }
  }

  private func write(people: Int, groups: Int) throws {
    for number in 0..<people {
      let user = "person-\(number)"
      try gain(user)
      if number % Self.ownLevel == 0 {
        try send(
          .user(
            .preferences(
              PreferencesUpdated(
                userId: user, preferences: PreferencesPatch(defaultLevels: DefaultLevels(direct: .all))))),
          to: partition(of: user), at: start)
      } else {
        directByDefault += Self.messages
      }
    }
    // A group's members are on one partition, so that a record has all of them.
    var members: [[String]] = []
    var pools: [Int32: [String]] = [:]
    var number = 0
    while members.count < groups {
      let user = "member-\(number)"
      number += 1
      let partition = partition(of: user)
      pools[partition, default: []].append(user)
      guard let pool = pools[partition], pool.count == Self.perGroup else { continue }
      members.append(pool)
      pools[partition] = []
      for user in pool { try gain(user) }
    }
    for message in 0..<Self.messages {
      let time = start + 1 + Int64(message) * 20_000
      for number in 0..<people {
        try candidate("direct-\(number)", message, group: nil, to: ["person-\(number)"], at: time)
      }
      for (number, group) in members.enumerated() {
        try candidate("group-\(number)", message, group: "Group \(number)", to: group, at: time)
      }
    }
  }

  private func partition(of userId: String) -> Int32 {
    Murmur2.partition(of: Array(userId.utf8), count: Self.partitions)
  }

  private func gain(_ user: String) throws {
    try send(
      .deviceGained(
        DeviceGained(userId: user, deviceId: "phone", token: "token-\(user)", version: 1, platform: .ios)),
      to: partition(of: user), at: start)
  }

  private func candidate(
    _ conversation: String, _ number: Int, group: String?, to people: [String], at time: Milliseconds
  ) throws {
    try send(
      .candidate(
        MessageCandidate(
          conversationId: conversation, messageId: "\(conversation)-\(number)",
          sender: Member(userId: "sender", displayName: "Ada"),
          conversation: CandidateConversation(
            kind: group == nil ? .direct : .group, name: group, memberCount: group == nil ? 2 : people.count + 1,
            activeSpeakers: 2),
          title: group.map { "Ada in \($0)" } ?? "Ada",
          body: number % 3 == 0 ? "Are you coming?" : "see you at the station",
          recipients: people.enumerated().map { index, user in
            Recipient(userId: user, context: RecipientContext(mentioned: group != nil && (index + number) % 20 == 0))
          })), to: partition(of: people[0]), at: time)
  }

  private func send(_ body: TimelineEventBody, to partition: Int32, at time: Milliseconds) throws {
    let offset = offsets[partition, default: 0]
    offsets[partition] = offset + 1
    let origin = Origin(topic: "chat.events", partition: partition, offset: offset)
    let event = TimelineEvent(
      Envelope(eventId: "\(partition)-\(offset)", occurredAt: time), origin: origin, source: origin.position, body)
    try producer.produce(
      topic: try producer.topic(names(.timeline)), partition: partition, key: Array("any".utf8),
      value: try coder.encode(event), timestamp: time)
  }

  /// Runs an analyzer until it has decided everything.
  func decide() throws {
    let began = Date()
    let analyzer = DemoProcess(
      .analyzer, executable: programs.appendingPathComponent("nudge-analyzer"),
      arguments: [
        "--bootstrap-servers", brokers, "--topic-prefix", names.prefix, "--state-dir",
        directory.appendingPathComponent("state").path,
      ], environment: Pipeline.environment, directory: directory)
    try analyzer.start()
    let reader = try Consumer(.consumer(bootstrapServers: brokers, group: nil), name: "test-decisions")
    defer { reader.close() }
    try reader.assign(
      (0..<Self.partitions).map {
        TopicPartitionOffset(TopicPartition(topic: names(.decisions), partition: $0), offset: Offset.beginning)
      })
    var count = 0
    var batch: [ConsumerRecord] = []
    try waitUntil("all is decided", atMost: 1_800, state: { "\(count) of \(decisions)" }) {
      if let status = analyzer.exitStatus { throw StillWaiting(description: analyzer.exitReport(status)) }
      batch.removeAll(keepingCapacity: true)
      if case .error(let error) = reader.poll(into: &batch, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .zero),
        error.isFatal
      {
        throw error
      }
      count += batch.count
      return count >= decisions
    }
    analyzer.terminate()
    #expect(analyzer.waitForEnd(timeout: .seconds(20)) == 0)
    print(String(format: "  %d decisions in %.0f s", count, Date().timeIntervalSince(began)))
  }

  /// Runs `nudge simulate`, and returns its exit status, its result and its highest resident memory.
  func simulate(
    _ arguments: [String], expectsSame: Bool
  ) throws -> (status: Int32, result: [String: Any], megabytes: Int) {
    let process = Process()
    let output = directory.appendingPathComponent("simulate.out")
    try Data().write(to: output)
    process.executableURL = programs.appendingPathComponent("nudge")
    process.arguments =
      ["simulate", "--since", "2h", "--bootstrap-servers", brokers, "--topic-prefix", names.prefix, "--json"]
      + (expectsSame ? ["--expect-same"] : []) + arguments
    process.environment = Pipeline.environment
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    let began = Date()
    try process.run()
    var kilobytes = 0
    while process.isRunning {
      kilobytes = max(kilobytes, Self.highestMemory(of: process.processIdentifier) ?? 0)
      usleep(20_000)
    }
    let status = process.terminationStatus
    let result = try JSONSerialization.jsonObject(with: Data(contentsOf: output)) as? [String: Any] ?? [:]
    let seconds = String(format: "%.1f", Date().timeIntervalSince(began))
    print("  simulate \(arguments.first ?? "with the same policy"): \(seconds) s, at most \(kilobytes >> 10) MB")
    #expect(kilobytes > 0)
    return (status, result, kilobytes >> 10)
  }

  private static func highestMemory(of process: Int32) -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return nil }
    return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }
}
