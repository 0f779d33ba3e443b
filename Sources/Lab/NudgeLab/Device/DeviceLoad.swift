import Foundation
import NudgeClient
import NudgeCommands
import NudgeSchema
import ServiceKit
import VirtualPhone

/// Many virtual phones whose owners write, read, answer, come and go. Each phone is checked against what it must show.
final class DeviceLoad {
  struct Plan {
    let phones: Int
    let duration: Duration
    /// Messages a second.
    let rate: Double
    let seed: UInt64
    /// The part that all ids of this run have.
    let run: String
  }

  /// The result of a load.
  struct Summary: Encodable {
    var phones: Int
    var people: Int
    var conversations: Int
    var messages: Int
    /// Owners' actions besides writing, by name.
    var actions: [String: Int]
    var seconds: Double
    /// Milliseconds from a message to a phone that shows it.
    var latencyMs: Latency?
    var expectations: PhoneExpectations.Verdict

    struct Latency: Encodable {
      var p50: Int64
      var p95: Int64
      var p99: Int64
      var max: Int64
    }

    /// Whether every expectation holds and at least one message had to be shown.
    var isFine: Bool { expectations.violated == 0 && expectations.expected > 0 }

    /// The result for a person.
    var text: String {
      let done = actions.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      var lines = [
        "\(phones) phones of \(people) people in \(conversations) conversations, \(messages) messages in "
          + "\(Int(seconds.rounded())) s; \(done)",
        "had to be shown \(expectations.expected), on the badge alone \(expectations.expectedSilent), kept back "
          + "\(expectations.expectedSuppressed), close to a change \(expectations.open); shown \(expectations.seen)",
        "badges and lock screens compared: \(expectations.screens)",
      ]
      if let latencyMs {
        lines.append(
          "from message to phone: p50 \(latencyMs.p50) ms, p95 \(latencyMs.p95) ms, p99 \(latencyMs.p99) ms, "
            + "max \(latencyMs.max) ms")
      }
      lines.append(
        expectations.violated == 0 ? "no expectation violated" : "\(expectations.violated) expectations violated:")
      lines += expectations.violations.map { "  \($0)" }
      return lines.joined(separator: "\n")
    }
  }

  /// How long registering the phones may take.
  private static let introduction: Duration = .seconds(120)
  /// After the last expected push, phones are read until no push has arrived for this long.
  private static let silence: Duration = .seconds(4)
  /// The longest wait for that silence.
  private static let settling: Duration = .seconds(90)

  private let fleet: PhoneFleet
  private let plan: Plan
  private let say: (String) -> Void
  private let isInterrupted: () -> Bool
  private var random: SeededRandom
  private var expectations = PhoneExpectations()
  private var people: [String] = []
  /// Each person's conversations.
  private var memberships: [String: [String]] = [:]
  private var talkers: [(userId: String, conversationId: String)] = []
  private var phonesOf: [String: [Int]] = [:]
  private var ownerOf: [Int: String] = [:]
  private var isBusy: Set<Int> = []
  private var later: [(at: ContinuousClock.Instant, phone: Int, what: Later)] = []
  private var greeted: Set<Int> = []
  private var lastShown = ContinuousClock.now
  private var actions: [String: Int] = [:]
  private var written = 0

  private enum Later {
    case input(PhoneInput)
    /// No action is pending.
    case free
  }

  /// The fleet must have no phones yet. `say` is called with lines about the progress.
  init(_ fleet: PhoneFleet, _ plan: Plan, say: @escaping (String) -> Void, isInterrupted: @escaping () -> Bool) {
    self.fleet = fleet
    self.plan = plan
    self.say = say
    self.isInterrupted = isInterrupted
    random = SeededRandom(seed: plan.seed, "device load")
    fleet.onSight = { [unowned self] sight in see(sight) }
    fleet.onPublish = { [unowned self] _, event in expectations.published(event) }
  }

  /// Runs the load and checks the phones.
  func run() throws -> Summary {
    try introduce()
    say("\(fleet.phones.count) phones are known to the services; \(plan.duration.settingText) of messages begin")
    let start = ContinuousClock.now
    try play(from: start)
    let seconds = start.duration(to: .now).seconds
    say("waiting until nothing comes any more")
    try settle()
    return Summary(
      phones: fleet.phones.count, people: people.count, conversations: Set(memberships.values.joined()).count,
      messages: written, actions: actions, seconds: seconds, latencyMs: latency,
      expectations: expectations.verdict(phones: fleet.phones))
  }

  private func see(_ sight: PhoneFleet.Sight) {
    if case .shown(_, _, let push) = sight.note {
      lastShown = .now
      if push.conversationId?.hasPrefix("\(plan.run)-hello-") == true { greeted.insert(sight.phone) }
    }
    expectations.record(
      sight.note, by: sight.phone, userId: fleet.phones[sight.phone].userId,
      at: Int64(sight.at.timeIntervalSince1970 * 1_000))
  }

  private var latency: Summary.Latency? {
    let all = expectations.latencies.sorted()
    guard let p50 = all.quantile(0.5), let p95 = all.quantile(0.95), let p99 = all.quantile(0.99), let max = all.last
    else { return nil }
    return Summary.Latency(p50: p50, p95: p95, p99: p99, max: max)
  }

  // MARK: People and phones

  /// Registers people and conversations. Four people have five phones. People are in groups of five, and neighbours in direct
  /// conversations.
  private func introduce() throws {
    let count = max(2, plan.phones * 4 / 5)
    people = (0..<count).map { "\(plan.run)-p\($0)" }
    // Every second Android app draws its own notifications.
    let platforms: [(platform: Device.Platform, renders: Bool)] = [
      (.ios, false), (.android, false), (.ios, false), (.android, true), (.web, false),
    ]
    for number in 0..<plan.phones {
      let userId = people[number % count]
      let kind = platforms[number % platforms.count]
      let phone = fleet.add(
        deviceId: "\(userId)/\(number < count ? "phone" : "tablet")", platform: kind.platform, renders: kind.renders)
      ownerOf[phone] = userId
      phonesOf[userId, default: []].append(phone)
    }
    for start in stride(from: 0, to: count, by: 5) {
      let members = Array(people[start..<min(start + 5, count)])
      if members.count > 2 { try converse("\(plan.run)-g\(start / 5)", members, isGroup: true) }
    }
    for pair in stride(from: 0, to: count - 1, by: 2) {
      try converse("\(plan.run)-d\(pair / 2)", [people[pair], people[pair + 1]], isGroup: false)
    }
    for (index, userId) in people.enumerated() {
      guard let phones = phonesOf[userId] else { continue }
      expectations.person(userId)
      for phone in phones { try fleet.send(phone, .signIn(userId: userId)) }
      var change = PreferencesChange()
      change.defaultLevels = .init(direct: .smart)
      change.maxAnalysesPerHour = 0
      change.fallback = index % 3 == 2 ? .simpleRules : .notifyAll
      // At this level alone the person's fallback decides.
      change.defaultLevels = .init(direct: .smart, group: .smart)
      try fleet.send(phones[0], .prefer(change))
      if index % 100 == 0 { try fleet.turn(waiting: .zero) }
    }
    try greet()
  }

  private func converse(_ id: String, _ members: [String], isGroup: Bool) throws {
    expectations.conversation(id, members: members, isGroup: isGroup)
    for member in members { memberships[member, default: []].append(id) }
    talkers.append((members[0], id))
    try publish(
      id,
      .conversationUpdated(
        ConversationUpdated(
          conversationId: id, kind: isGroup ? .group : .direct, name: isGroup ? id : nil,
          members: members.map { Member(userId: $0, displayName: $0) })))
  }

  private func publish(_ id: String, _ body: ChatEventBody) throws {
    try fleet.publish(
      ChatEvent(
        Envelope(eventId: UUID().uuidString.lowercased(), occurredAt: SystemClock.milliseconds()), body))
  }

  /// Greets everybody until each phone has shown a greeting. Its device and preferences have then reached the analyzer.
  private func greet() throws {
    let deadline = ContinuousClock.now + Self.introduction
    var round = 0
    while greeted.count < fleet.phones.count {
      round += 1
      for (index, userId) in people.enumerated() where phonesOf[userId]?.allSatisfy(greeted.contains) == false {
        let id = "\(plan.run)-hello-\(index)"
        let host = "\(plan.run)-host"
        try publish(
          id,
          .messageCreated(
            MessageCreated(
              conversationId: id, messageId: "\(id)-\(round)", senderId: host, text: "Hello",
              conversation: ConversationSnapshot(
                kind: .direct, members: [host, userId].map { Member(userId: $0, displayName: $0) }))))
      }
      let isDone = try fleet.turn(
        until: { isInterrupted() || greeted.count == fleet.phones.count }, within: .seconds(5))
      if isDone { break }
      guard ContinuousClock.now < deadline else {
        throw CommandError(
          "\(fleet.phones.count - greeted.count) of \(fleet.phones.count) phones were not reached within "
            + "\(Self.introduction.settingText): check that the services run ('nudge lag') and that the dispatcher sends to this emulator"
        )
      }
      say("\(greeted.count) of \(fleet.phones.count) phones are known")
    }
    // Greetings are not part of the load. They are read until no badge counts one, because a late greeting may follow. A browser learns of
    // a read only while its page is open.
    func counts(_ phone: VirtualPhone) -> Bool { phone.badge > 0 && phone.device.platform != .web }
    var isRead = false
    while !isRead, !isInterrupted() {
      for (index, userId) in people.enumerated() {
        guard let phones = phonesOf[userId], phones.contains(where: { counts(fleet.phones[$0]) }) else { continue }
        try fleet.send(phones[0], .read(conversationId: "\(plan.run)-hello-\(index)"))
      }
      isRead = try fleet.turn(
        until: { isInterrupted() || (fleet.openEvents == 0 && !fleet.phones.contains(where: counts)) },
        within: .seconds(3))
      guard ContinuousClock.now < deadline else { throw CommandError("the badges do not fall to 0 before the load") }
    }
  }

  // MARK: Actions

  private func play(from start: ContinuousClock.Instant) throws {
    let end = start + plan.duration
    var next = start
    while ContinuousClock.now < end, !isInterrupted() {
      while next <= .now {
        next += .seconds(1 / plan.rate)
        try write()
        if random.chance(20) { try act() }
      }
      try doLater()
      try fleet.turn(waiting: .milliseconds(2))
    }
  }

  /// Writes a message, mostly as one of the frequent authors, so that the others get pushes.
  private func write() throws {
    var (userId, conversationId) = random.pick(talkers)
    if random.chance(10) {
      userId = random.pick(people)
      guard let theirs = memberships[userId] else { return }
      conversationId = random.pick(theirs)
    }
    guard let phone = phonesOf[userId]?.first, !isBusy.contains(phone), fleet.phones[phone].userId == userId,
      fleet.phones[phone].isOnline
    else { return }
    written += 1
    let text = random.chance(20) ? "This is urgent, number \(written)" : "Number \(written) of a long talk"
    try fleet.send(phone, .write(text, conversationId: conversationId))
  }

  private func act() throws {
    let phone = random.number(0...(fleet.phones.count - 1))
    guard !isBusy.contains(phone), let userId = ownerOf[phone], let conversations = memberships[userId] else { return }
    switch random.number(0...99) {
    case ..<35:
      count("opened a conversation")
      try fleet.send(phone, .openConversation(random.pick(conversations)))
      after(seconds: random.number(5...15), phone, .input(.close))
      after(seconds: 16, phone, .free)
    case ..<60: try answer(phone)
    case ..<75:
      count("lost the network")
      try fleet.send(phone, .network(false))
      after(seconds: random.number(1...6), phone, .input(.network(true)))
      after(seconds: 7, phone, .free)
    case ..<85:
      count("reinstalled")
      isBusy.insert(phone)
      try fleet.reinstall(phone)
      after(seconds: 5, phone, .free)
    default:
      // Another person signs in on this phone for a while.
      let guest = random.pick(people)
      guard guest != userId else { return }
      count("lent to another account")
      try fleet.send(phone, .signIn(userId: guest))
      after(seconds: random.number(6...12), phone, .input(.signIn(userId: userId)))
      after(seconds: 14, phone, .free)
    }
  }

  private func answer(_ phone: Int) throws {
    guard let newest = fleet.phones[phone].lockScreen.entries.first, let messageId = newest.messageId else { return }
    let answers: [(String, NotificationResponse)] = [
      ("marked as read", .markRead), ("found helpful", .helpful), ("found not helpful", .notHelpful),
      ("dismissed", .dismiss), ("replied", .reply("Reply \(written)")), ("tapped", .open), ("tapped", .open),
    ]
    let (name, response) = random.pick(answers)
    count(name)
    try fleet.send(phone, .respond(response, messageId: messageId))
    if response == .open {
      after(seconds: random.number(5...15), phone, .input(.close))
      after(seconds: 16, phone, .free)
    }
  }

  private func count(_ action: String) { actions[action, default: 0] += 1 }

  private func after(seconds: Int, _ phone: Int, _ what: Later) {
    isBusy.insert(phone)
    later.append((.now + .seconds(seconds), phone, what))
  }

  private func doLater(all: Bool = false) throws {
    let now = ContinuousClock.now
    let due = later.filter { all || $0.at <= now }
    guard !due.isEmpty else { return }
    later.removeAll { all || $0.at <= now }
    for (_, phone, what) in due.sorted(by: { $0.at < $1.at }) {
      switch what {
      case .input(let input): try fleet.send(phone, input)
      case .free: isBusy.remove(phone)
      }
    }
  }

  /// Signs everybody in, and waits until no push arrives any more.
  private func settle() throws {
    let deadline = ContinuousClock.now + Self.settling
    while !later.isEmpty, !isInterrupted() {
      try doLater(all: true)
      try fleet.turn(waiting: .milliseconds(5))
    }
    lastShown = .now
    while !isInterrupted(), ContinuousClock.now < deadline,
      fleet.openEvents > 0 || lastShown.duration(to: .now) < Self.silence
    {
      try fleet.turn()
    }
  }
}
