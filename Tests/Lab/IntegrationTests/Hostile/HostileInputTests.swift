import Foundation
import Kafka
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Hostile inputs")
  struct HostileInputTests {
    /// `NUDGE_HOSTILE_INPUTS=1000000` is the long run (docs/architecture.md).
    private static let count: Int = runParameter("NUDGE_HOSTILE_INPUTS") ?? 5_000

    @Test(
      "M5: whatever is written to ingest's inputs, at full speed: each is refused once with a reason, or is an event")
    func accounted() throws {
      let random = SeededGenerator(announcedFor: "hostile inputs")
      let count = Self.count
      let inputs = try HostileInputs(seed: random.seed, partitions: Pipeline.partitions)
      let pipeline = try Pipeline("hostile")
      try pipeline.start([.ingest], instance: nil)
      let memory = try ResidentMemory(of: "nudge-ingest", named: pipeline.directory.path)
      let atRest = try memory.megabytes()
      // The same records again where a run is repeated; their times are those of now.
      let now = ChatLoad.now()
      let begin = ContinuousClock.now
      let load = HostileLoad(inputs, count: count, now: now, brokers: pipeline.brokers, names: pipeline.names)

      var ledger = HostileLedger(count: count, partitions: Pipeline.partitions, prefix: pipeline.names.prefix)
      let reader = try TopicReader(
        brokers: pipeline.brokers, names: pipeline.names, partitions: Pipeline.partitions, keepsValues: false)
      var samples: [(share: Double, megabytes: Double)] = []
      var nextSample = 0.0
      func sample() throws {
        let share = Double(ledger.processed) / Double(count)
        guard share >= nextSample else { return }
        samples.append((share, try memory.megabytes()))
        nextSample = min(1, nextSample + 0.05)
      }
      let patience = 60 + Double(count) / 500
      try waitUntil(
        "all \(count) are accounted for", atMost: patience,
        state: { "\(ledger.summary); logs in \(pipeline.directory.path)" }
      ) {
        try pipeline.check()
        try reader.read { ledger.read($0) }
        try sample()
        return try load.isDone() && ledger.isComplete
      }
      let took = begin.duration(to: .now) / .seconds(1)
      let inTheEnd = try memory.megabytes()

      // It continues as before.
      let chat = ChatLoad("after", groups: 2, members: 3, messages: 10)
      try pipeline.publisher.publish(chat.introductions + chat.chat.map { $0() })
      try waitUntil("what is published afterwards to be read", state: { "logs in \(pipeline.directory.path)" }) {
        try pipeline.check()
        try reader.read { ledger.read($0) }
        return chat.expected.keys.allSatisfy { ledger.messages.contains($0) }
      }
      pipeline.stop()

      var silent: [Int] = []
      for number in 0..<count where ledger.refusals[number] == 0 {
        if !inputs.couldBeEvent(inputs.input(number, now: now)) { silent.append(number) }
      }
      let shown = silent.prefix(3).map { number in
        let input = inputs.input(number, now: now)
        let key = String(decoding: input.key ?? [], as: UTF8.self).prefix(80)
        return "\(number) on \(input.topic.rawValue), key \(key): "
          + String(decoding: input.value?.prefix(600) ?? [], as: UTF8.self)
      }
      #expect(silent.isEmpty, "seed \(random.seed): \(silent.count) neither refused nor events: \(shown)")
      let twice = ledger.refusals.indices.filter { ledger.refusals[$0] > 1 }
      #expect(twice.isEmpty, "seed \(random.seed): refused twice: \(twice.prefix(10))")
      let refused = ledger.byCode.values.reduce(0, +)
      let taken = ledger.refusals.count { $0 == 0 }
      #expect(refused + taken == count)
      #expect(ledger.byCode["internal"] == nil, "a defect of ours: \(ledger.byCode)")
      // It would prove little if all were refused for one reason, or none were events.
      #expect(ledger.byCode.count >= 8 && taken > count / 50 && ledger.withOutputs > count / 100, "\(ledger.summary)")
      let figures = [0.1, 0.5, 1].map { share in
        let found = samples.first { $0.share >= share }?.megabytes ?? inTheEnd
        return "\(Int(found)) MB at \(Int(share * 100)) %"
      }
      print(
        "hostile inputs: \(count) in \(Int(took)) s (\(Int(Double(count) / took))/s): \(taken) events, of which "
          + "\(ledger.withOutputs) had outputs; \(refused) refused: "
          + ledger.byCode.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
          + "; \(ledger.moved) on another partition than their key's; resident: \(Int(atRest)) MB at rest, "
          + "\(figures.joined(separator: ", ")), \(Int(inTheEnd)) MB in the end")
      // After the first tenth all that has a bound has reached it, in a run of this size.
      if count >= 500_000, let early = samples.first(where: { $0.share >= 0.1 })?.megabytes {
        #expect(inTheEnd < early * 1.25 + 32, "resident memory grows")
      }
      pipeline.hasPassed = silent.isEmpty && twice.isEmpty
    }
  }
}

/// The result of each hostile input.
private struct HostileLedger {
  private struct Place: Hashable {
    var topic: String
    var partition: Int32
    var offset: Int64
  }

  private let prefix: String
  /// The number of the input at each place, by topic and partition; -1: none of the test's.
  private var numbers: [String: [[Int32]]] = [:]
  /// Dead letters of each input.
  private(set) var refusals: [UInt8]
  /// Inputs that were written twice: by the test, and to their key's partition by ingest.
  private var seen: [UInt8]
  private var unseen: Int
  /// The result of an input on a timeline.
  private var causes = Set<Place>()
  private var next: [Int32: [String: Int64]] = [:]
  private(set) var byCode: [String: Int] = [:]
  private(set) var moved = 0
  /// Messages that became candidates.
  private(set) var messages = Set<String>()
  private let decoder = JSONDecoder()

  /// `prefix`: of the topics' names.
  init(count: Int, partitions: Int32, prefix: String) {
    self.prefix = prefix
    refusals = [UInt8](repeating: 0, count: count)
    seen = refusals
    unseen = count
    for topic in PipelineChecker.stages["ingest"]?.inputs ?? [] {
      numbers[topic] = [[Int32]](repeating: [], count: Int(partitions))
    }
  }

  /// How many inputs had outputs on timelines.
  var withOutputs: Int { causes.count { number(at: $0) != nil } }

  /// How many records ingest's positions have passed.
  var processed: Int { Int(next.values.reduce(0) { $0 + $1.values.reduce(0, +) }) }

  /// Whether all are on their topics, and ingest's positions are behind the last of each partition.
  var isComplete: Bool {
    unseen == 0
      && numbers.allSatisfy { topic, partitions in
        partitions.indices.allSatisfy {
          partitions[$0].isEmpty || next[Int32($0)]?[topic] ?? 0 >= Int64(partitions[$0].count)
        }
      }
  }

  var summary: String {
    "\(seen.count - unseen) of \(seen.count) written, \(processed) processed, refused: \(byCode), \(moved) moved"
  }

  mutating func read(_ record: KafkaRecord) {
    if numbers[record.topic] != nil {
      take(input: record)
    } else if record.topic == "nudge.dead-letters" {
      refuse(record)
    } else if record.topic == "nudge.ingest-state", record.key == "@position" {
      guard let position = try? decoder.decode(Wire.Position.self, from: Data(record.value ?? [])) else { return }
      next[record.partition] = position.next
    } else if record.topic == "nudge.timeline" {
      guard let header = try? decoder.decode(Wire.Header.self, from: Data(record.value ?? [])) else {
        Issue.record("ingest wrote what is no timeline event at \(record.partition)/\(record.offset)")
        return
      }
      // The direct cause: a claim names its source.
      let origin = header.origin
      causes.insert(
        Place(topic: String(origin.topic.dropFirst(prefix.count)), partition: origin.partition, offset: origin.offset))
      if header.type == "message.candidate",
        let candidate = try? decoder.decode(Wire.Candidate.self, from: Data(record.value ?? []))
      {
        messages.insert(candidate.messageId)
      }
    }
  }

  private mutating func take(input record: KafkaRecord) {
    let bytes = record.headerBytes[HostileInputs.numberHeader]
    let number = bytes.map { $0.reduce(0) { $0 << 8 | Int32($1) } } ?? -1
    let partition = Int(record.partition)
    // Markers of transactions take offsets as well.
    let missing = Int(record.offset) - (numbers[record.topic]?[partition].count ?? 0)
    numbers[record.topic]?[partition].append(contentsOf: repeatElement(-1, count: missing))
    numbers[record.topic]?[partition].append(number)
    guard number >= 0 else { return }
    seen[Int(number)] += 1
    if seen[Int(number)] == 1 { unseen -= 1 }
    if seen[Int(number)] == 2 { moved += 1 }
    if seen[Int(number)] > 2 { Issue.record("input \(number) was moved twice") }
  }

  private func number(at place: Place) -> Int? {
    guard let all = numbers[place.topic]?[Int(place.partition)], all.indices.contains(Int(place.offset)) else {
      return nil
    }
    let number = all[Int(place.offset)]
    return number < 0 ? nil : Int(number)
  }

  private mutating func refuse(_ letter: KafkaRecord) {
    guard let bytes = letter.headerBytes[HostileInputs.numberHeader], bytes.count == 4 else {
      Issue.record("a dead letter of nothing: \(letter.headers)")
      return
    }
    let number = Int(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    refusals[number] += 1
    byCode[letter.headers["nudge-error-code"] ?? "(none)", default: 0] += 1
  }
}

/// Publishes hostile inputs as fast as Kafka takes them, on a thread of its own.
private final class HostileLoad: Sendable {
  private let state = Mutex<(isDone: Bool, failure: String?)>((false, nil))

  init(_ inputs: HostileInputs, count: Int, now: Int64, brokers: String, names: TopicNames) {
    // A value that nobody changes: what keeps it from being Sendable are the `Any`s of the schemas' examples.
    nonisolated(unsafe) let inputs = inputs
    let thread = Thread { [self] in
      do {
        var configuration = ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil)
        configuration.set("message.max.bytes", "8000000")
        let producer = try Producer(configuration, name: "hostile")
        defer { producer.close() }
        for number in 0..<count {
          let input = inputs.input(number, now: now)
          try producer.produce(
            topic: try producer.topic(names(input.topic)), partition: input.partition, key: input.key,
            value: input.value, headers: input.headers)
          if number % 100 == 0 { producer.poll(timeout: .zero) }
        }
        try producer.flush(timeout: .seconds(120))
        state.withLock { $0.isDone = true }
      } catch {
        state.withLock { $0.failure = "\(error)" }
      }
    }
    thread.start()
  }

  /// Whether Kafka has all of it. Throws where it could not be published.
  func isDone() throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw StillWaiting(description: "the hostile load failed: \(failure)") }
      return state.isDone
    }
  }
}

/// The memory of one of the pipeline's processes, as the system counts it.
private struct ResidentMemory {
  private let status: String

  /// Finds the process that runs a program and has a text among its arguments.
  init(of program: String, named text: String) throws {
    let found = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.first { pid in
      guard let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return false }
      let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return words.first?.hasSuffix("/\(program)") == true && words.contains { $0.contains(text) }
    }
    guard let found else { throw StillWaiting(description: "\(program) does not run") }
    status = "/proc/\(found)/status"
  }

  func megabytes() throws -> Double {
    let text = String(decoding: FileManager.default.contents(atPath: status) ?? Data(), as: UTF8.self)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
      let kilobytes = line.split(separator: " ").compactMap({ Double($0) }).first
    else { throw StillWaiting(description: "\(status) has no VmRSS: the process is gone") }
    return kilobytes / 1_024
  }
}
