import Analyzer
import Foundation
import Ingest
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@Suite("T2: one token, one owner")
struct AccountSwitchTests {
  /// `SWITCHES=100000` makes the run longer.
  @Test(
    "1,000 account switches, each partition lagging by turns, restarts in between: no push after the claim to the former owner"
  )
  func switches() throws {
    var random = SeededGenerator(announcedFor: "account switches")
    let count: Int = runParameter("SWITCHES") ?? 1_000
    let world = try SwitchingWorld(phones: 6, people: 10)
    var switches = 0
    while switches < count {
      switch random.below(10) {
      case 0...2: switches += try world.signIn(random.below(6), random.below(10)) ? 1 : 0
      case 3...6: try world.write(from: random.below(10), to: random.below(10))
      case 7: world.hold(random.below(4))
      case 8: try world.restart(random.below(4))
      default: break
      }
      for _ in 0..<random.below(12) { try world.turn(&random) }
      #expect(world.violations.isEmpty, "seed \(random.seed), switch \(switches): \(world.violations)")
      if !world.violations.isEmpty { return }
    }
    world.holdNone()
    while try world.turn(&random) {}
    #expect(world.violations.isEmpty, "seed \(random.seed): \(world.violations)")
    // The test proves nothing unless former owners got pushes before and new ones after.
    #expect(world.pushes > count / 4, "\(world.pushes) pushes")
    #expect(world.changesOfOwner > count / 2, "\(world.changesOfOwner) changes")
    #expect(world.pushesToFormerOwnersNow > count / 100, "\(world.pushesToFormerOwnersNow)")
    print("\(switches) switches, \(world.changesOfOwner) changes of owner, \(world.pushes) pushes")
  }
}

/// Ingest and analyzer on four partitions, with their topics between them. Each partition is read at its own pace.
private final class SwitchingWorld {
  private static let partitions: Int32 = 4
  private static let start: Milliseconds = 1_800_000_000_000

  private struct Place: Hashable {
    var topic: Topic
    var partition: Int32
  }

  private let ingest: StageDriver<IngestStage>
  private let analyzer: StageDriver<AnalyzerStage>
  private let phones: Int
  private let people: Int
  /// Records written and not read yet.
  private var waiting: [Place: [OutputRecord]] = [:]
  /// The partition that is not read at present.
  private var held: Int32?
  private var now = SwitchingWorld.start
  private var events = 0

  /// The owner of each token, by the decided claims.
  private var owners: [String: String] = [:]
  /// The tokens that a recipient owned when the candidate was written, by message and recipient.
  private var tokensAtCandidate: [String: Set<String>] = [:]

  private(set) var pushes = 0
  private(set) var changesOfOwner = 0
  /// Pushes decided after the token changed owner, from records before the claim. They show that partitions lag.
  private(set) var pushesToFormerOwnersNow = 0
  private(set) var violations: [String] = []

  init(phones: Int, people: Int) throws {
    self.phones = phones
    self.people = people
    ingest = StageDriver(IngestStage(IngestRules()), partitions: Self.partitions, now: Self.start)
    analyzer = StageDriver(
      AnalyzerStage(rules: AnalyzerRules(hash: { SHA256Digest.of($0) })), partitions: Self.partitions,
      now: Self.start)
    for person in 0..<people {
      // So that each message notifies.
      try publish(
        .preferences(
          PreferencesUpdated(
            userId: user(person), preferences: PreferencesPatch(maxAnalysesPerHour: 0, fallback: .notifyAll))))
    }
  }

  private func user(_ number: Int) -> String { "user-\(number)" }
  private func token(_ phone: Int) -> String { "token-\(phone)" }

  // MARK: Events

  /// A user signs in on a phone without a sign-out before. Returns whether another user had signed in there.
  func signIn(_ phone: Int, _ person: Int) throws -> Bool {
    let former = signedIn[phone]
    signedIn[phone] = person
    try publish(
      .deviceRegistered(
        DeviceRegistered(userId: user(person), deviceId: "phone-\(phone)", token: token(phone), platform: .ios)))
    return former != nil && former != person
  }
  private var signedIn: [Int: Int] = [:]

  /// A message in a direct conversation, with a snapshot of its members.
  func write(from sender: Int, to recipient: Int) throws {
    guard sender != recipient else { return }
    events += 1
    now += 1_000
    let people = [sender, recipient].sorted()
    let message = MessageCreated(
      conversationId: "c-\(people[0])-\(people[1])", messageId: "m-\(events)", senderId: user(sender), text: "Hello",
      conversation: ConversationSnapshot(
        kind: .direct, members: people.map { Member(userId: user($0), displayName: "Name \($0)") }))
    let event = ChatEvent(Envelope(eventId: "e-\(events)", occurredAt: now), .messageCreated(message))
    append(
      OutputRecord(
        topic: .chatEvents, partition: partition(of: message.conversationId), key: Array(message.conversationId.utf8),
        value: try RecordCoder().encode(event)))
  }

  private func publish(_ body: UserEventBody) throws {
    events += 1
    now += 1_000
    let event = UserEvent(Envelope(eventId: "e-\(events)", occurredAt: now), body)
    append(
      OutputRecord(
        topic: .userEvents, partition: partition(of: body.userId), key: Array(body.userId.utf8),
        value: try RecordCoder().encode(event)))
  }

  private func partition(of key: String) -> Int32 { Murmur2.partition(of: Array(key.utf8), count: Self.partitions) }

  private func append(_ record: OutputRecord) {
    waiting[Place(topic: record.topic, partition: record.partition), default: []].append(record)
  }

  // MARK: Reading

  /// From now on this partition of all topics lags.
  func hold(_ partition: Int) { held = Int32(partition) }

  func holdNone() { held = nil }

  /// Both stages lose the memory of a task.
  func restart(_ partition: Int) throws {
    try ingest.restart(partition: Int32(partition))
    try analyzer.restart(partition: Int32(partition))
  }

  /// One stage reads one record of a partition that does not lag. Returns false if there is none.
  @discardableResult
  func turn(_ random: inout SeededGenerator) throws -> Bool {
    let places = waiting.filter { !$0.value.isEmpty && $0.key.partition != held }.keys.sorted {
      ($0.topic.rawValue, $0.partition) < ($1.topic.rawValue, $1.partition)
    }
    guard !places.isEmpty else { return false }
    let place = places[random.below(places.count)]
    guard let record = waiting[place]?.removeFirst() else { return false }
    ingest.now = now
    analyzer.now = now
    if place.topic == .timeline { try decide(record) } else { try process(record) }
    return true
  }

  private func process(_ record: OutputRecord) throws {
    let result = ingest.send(
      bytes: record.value, to: record.topic, key: record.key, partition: record.partition, headers: record.headers)
    if let rejection = result.rejection { violations.append("ingest refused: \(rejection)") }
    for output in result.outputs {
      append(output)
      guard output.topic == .timeline else { continue }
      switch try ingest.decode(TimelineEvent.self, from: output).body {
      case .deviceGained(let gained):
        if let former = owners[gained.address], former != gained.userId { changesOfOwner += 1 }
        owners[gained.address] = gained.userId
      case .candidate(let candidate):
        for recipient in candidate.recipients {
          tokensAtCandidate["\(candidate.messageId) \(recipient.userId)"] = Set(
            owners.filter { $0.value == recipient.userId }.keys)
        }
      default: break
      }
    }
  }

  private func decide(_ record: OutputRecord) throws {
    let result = analyzer.send(
      bytes: record.value, to: .timeline, key: record.key, partition: record.partition, headers: record.headers)
    if let rejection = result.rejection { violations.append("the analyzer refused: \(rejection)") }
    for output in result.outputs where output.topic == .pushes {
      guard case .push(let push) = try analyzer.decode(PushEvent.self, from: output).body,
        // A read names the message up to which the person has read, and shows nothing.
        push.kind != .read, let messageId = push.messageId
      else { continue }
      for target in push.targets {
        pushes += 1
        if owners[target.address] != push.userId { pushesToFormerOwnersNow += 1 }
        // The timeline has claim and message in the order in which they were written, however late it is read.
        if tokensAtCandidate["\(messageId) \(push.userId)"]?.contains(target.address) != true {
          violations.append(
            "\(messageId) goes to \(target.address) of \(owners[target.address] ?? "nobody") for \(push.userId)")
        }
      }
    }
  }
}
