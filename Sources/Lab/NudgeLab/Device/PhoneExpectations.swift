import NudgeClient
import VirtualPhone

/// Computes what virtual phones must show from the published events alone, and compares it with what they showed.
///
/// The people of a load have used up their smart analyses, so that a rule known here decides each message: `notify_all` or the simple
/// rules. Events of different topics have no order among each other. A message close to a change (an owner, a report, a read) may therefore
/// be decided either way, and nothing is expected of it.
struct PhoneExpectations {
  /// Milliseconds since the epoch.
  typealias Time = Int64

  /// How long a change may take to reach all services, in milliseconds.
  static let margin: Time = 3_000
  /// How long an activity report or a written message counts as presence, in milliseconds.
  static let horizon: Time = 120_000
  /// How long a report that only repeats the last one counts as presence, in milliseconds.
  static let repeats: Time = 300_000
  /// How long an alert of a direct conversation suppresses the sound of later messages, in milliseconds.
  static let burst: Time = 5_000
  /// How long an alert of a group suppresses the sound of later messages, in milliseconds.
  static let groupBurst: Time = 60_000

  /// How a message must appear.
  enum Appearance: String, Sendable, Equatable {
    case alert, silent, badge
  }

  /// A period during which a phone has one owner and one token.
  struct Ownership {
    let userId: String
    /// When the token's registration was acknowledged. Absent until it is.
    var since: Time?
    var until: Time?
  }

  private struct Conversation {
    let members: [String]
    let isGroup: Bool
  }

  private struct Message {
    let id: String
    let conversationId: String
    let senderId: String
    let text: String
    let at: Time
  }

  private struct Report {
    let deviceId: String
    let at: Time
    let conversationId: String?
    /// Since when the device has shown it. A report that only repeats is no sign of a person.
    var since: Time
  }

  private struct Person {
    var reports: [Report] = []
    var writes: [(conversationId: String, at: Time)] = []
    var reads: [(conversationId: String, at: Time, upTo: Time)] = []
  }

  private struct Seen {
    let phone: Int
    let messageId: String
    let at: Time
    let userId: String?
    let appearance: Appearance
    let title: String
    let body: String
  }

  /// The result of the comparison.
  struct Verdict: Encodable, Equatable {
    /// Messages that phones had to show.
    var expected = 0
    /// Messages that may change only the badge.
    var expectedSilent = 0
    /// Messages that must not be shown, because the owner had the conversation open or had just written there.
    var expectedSuppressed = 0
    /// Messages close to a change, of which nothing is expected.
    var open = 0
    /// Messages that phones showed.
    var seen = 0
    /// Badges and lock screens compared at the end.
    var screens = 0
    var violated = 0
    /// The first violations, in words.
    var violations: [String] = []

    mutating func violate(_ text: @autoclosure () -> String) {
      violated += 1
      if violations.count < 20 { violations.append(text()) }
    }
  }

  private var conversations: [String: Conversation] = [:]
  private var people: [String: Person] = [:]
  private var messages: [String: Message] = [:]
  private var order: [String] = []
  private var ownerships: [[Ownership]] = []
  private var wasOffline: Set<Int> = []
  private var seen: [Seen] = []
  private var faults: [String] = []

  // MARK: Input

  mutating func conversation(_ id: String, members: [String], isGroup: Bool) {
    conversations[id] = Conversation(members: members, isGroup: isGroup)
  }

  /// Adds a person. Rules decide, because the person's hourly limit is 0.
  mutating func person(_ userId: String) { people[userId] = people[userId] ?? Person() }

  /// Adds an event that a phone published.
  mutating func published(_ event: ClientEvent) {
    let at = event.occurredAt
    switch event.body {
    case .messageCreated(let message):
      messages[message.messageId] = Message(
        id: message.messageId, conversationId: message.conversationId, senderId: message.senderId, text: message.text,
        at: at)
      order.append(message.messageId)
      people[message.senderId, default: Person()].writes.append((message.conversationId, at))
    case .messageRead(let read):
      let upTo = read.messageId.flatMap { messages[$0]?.at } ?? at
      people[read.userId, default: Person()].reads.append((read.conversationId, at, upTo))
    case .userActivity(let activity):
      let shown = activity.state == .foreground ? activity.conversationId : nil
      let last = people[activity.userId]?.reports.last { $0.deviceId == activity.deviceId }
      people[activity.userId, default: Person()].reports.append(
        Report(
          deviceId: activity.deviceId, at: at, conversationId: shown,
          since: last.map { $0.conversationId == shown ? $0.since : at } ?? at))
    case .feedbackSubmitted, .notification, .deviceRegistered, .deviceUnregistered, .preferencesUpdated: break
    }
  }

  /// Adds something that a phone showed.
  mutating func record(_ note: PhoneNote, by phone: Int, userId: String?, at: Time) {
    while ownerships.count <= phone { ownerships.append([]) }
    switch note {
    case .signedIn(let userId): ownerships[phone].append(Ownership(userId: userId, since: nil, until: nil))
    case .registered:
      if let last = ownerships[phone].indices.last, ownerships[phone][last].since == nil {
        ownerships[phone][last].since = at
      }
    case .signedOut:
      if let last = ownerships[phone].indices.last { ownerships[phone][last].until = at }
    case .network(let isOnline): if !isOnline { wasOffline.insert(phone) }
    case .shown(let entry, _, let push):
      guard case .message(let message) = push.content else { return }
      let appearance: Appearance =
        switch message.presentation {
        case .alert: .alert
        case .silent: .silent
        case .badge: .badge
        }
      seen.append(
        Seen(
          phone: phone, messageId: message.messageId, at: at, userId: userId, appearance: appearance,
          title: entry.title, body: entry.body))
    case .fault(let text): faults.append(text)
    default: break
    }
  }

  /// Milliseconds from a message to a phone that showed it, in the order shown, for phones that were never offline.
  var latencies: [Int64] {
    seen.compactMap { item in
      guard !wasOffline.contains(item.phone), let message = messages[item.messageId] else { return nil }
      return item.at - message.at
    }
  }

  // MARK: The verdict

  private enum Fate {
    case notified(Appearance)
    case suppressed
    /// The message may be decided either way.
    case open
  }

  /// Compares what phones showed with what they had to show. `phones` is their state at the end.
  func verdict(phones: [VirtualPhone]) -> Verdict {
    var verdict = Verdict()
    for fault in faults { verdict.violate(fault) }
    var judged: [String: [(message: Message, fate: Fate)]] = [:]
    var seenBy: [String: [Seen]] = [:]
    for item in seen {
      verdict.seen += 1
      seenBy["\(item.phone) \(item.userId ?? "") \(item.messageId)", default: []].append(item)
      judge(item, &verdict)
    }
    let phonesOf = phonesByUser
    for id in order {
      guard let message = messages[id], let conversation = conversations[message.conversationId] else { continue }
      for userId in conversation.members where userId != message.senderId {
        let fate = fate(of: message, in: conversation, for: userId)
        judged[userId, default: []].append((message, fate))
        for phone in phonesOf[userId] ?? [] {
          expect(message, fate, userId, phone, seenBy["\(phone) \(userId) \(id)"] ?? [], &verdict)
        }
      }
    }
    for number in phones.indices {
      guard let userId = phones[number].userId else { continue }
      compare(phones[number], number, judged[userId] ?? [], &verdict)
    }
    return verdict
  }

  private var phonesByUser: [String: Set<Int>] {
    var phones: [String: Set<Int>] = [:]
    for (phone, owners) in ownerships.enumerated() {
      for owner in owners { phones[owner.userId, default: []].insert(phone) }
    }
    return phones
  }

  /// Checks that a shown message is for the phone's owner and has the text and title with which it was written.
  private func judge(_ item: Seen, _ verdict: inout Verdict) {
    guard let message = messages[item.messageId], let conversation = conversations[message.conversationId] else {
      // Published by the backend before the load began.
      return
    }
    guard let userId = item.userId, conversation.members.contains(userId) else {
      return verdict.violate(
        "phone \(item.phone) showed \(item.messageId), which is not for \(item.userId ?? "nobody")")
    }
    if message.senderId == userId {
      verdict.violate("phone \(item.phone) showed \(userId) their own message \(item.messageId)")
    }
    // On an Android phone that does not draw its notifications, one silent notification says for how many messages it stands.
    let isText = item.body == message.text || item.appearance == .silent && item.body.hasSuffix(" · \(message.text)")
    if !isText { verdict.violate("phone \(item.phone) showed another text of \(item.messageId)") }
    let sender = message.senderId
    let title = conversation.isGroup ? "\(sender) in \(message.conversationId)" : sender
    if item.title != title {
      verdict.violate("phone \(item.phone) showed \(item.messageId) as \"\(item.title)\", not as \"\(title)\"")
    }
  }

  private func expect(
    _ message: Message, _ fate: Fate, _ userId: String, _ phone: Int, _ seen: [Seen], _ verdict: inout Verdict
  ) {
    let mine = ownerships[phone].filter { $0.userId == userId }
    let isCertain = mine.contains { owner in
      owner.since.map { $0 <= message.at - Self.margin } ?? false
        && owner.until.map { $0 >= message.at + Self.margin } ?? true
    }
    if seen.count > 1 { verdict.violate("phone \(phone) showed \(message.id) \(seen.count) times") }
    switch fate {
    case .open: verdict.open += 1
    case .suppressed:
      verdict.expectedSuppressed += 1
      if !seen.isEmpty { verdict.violate("phone \(phone) showed \(message.id), which \(userId) had before their eyes") }
    case .notified(.badge):
      verdict.expectedSilent += 1
      if !seen.isEmpty { verdict.violate("phone \(phone) showed \(message.id), which is for the badge alone") }
    case .notified(let appearance):
      guard isCertain else {
        verdict.open += 1
        return
      }
      verdict.expected += 1
      guard let first = seen.first else {
        return verdict.violate("phone \(phone) of \(userId) did not show \(message.id)")
      }
      if first.appearance != appearance {
        verdict.violate("phone \(phone) showed \(message.id) as \(first.appearance), not as \(appearance)")
      }
    }
  }

  private func fate(of message: Message, in conversation: Conversation, for userId: String) -> Fate {
    guard let person = people[userId] else { return .open }
    let near = (message.at - Self.margin)...(message.at + Self.margin)
    if person.reports.contains(where: { near.contains($0.at) }) { return .open }
    if person.writes.contains(where: { near.contains($0.at) }) { return .open }
    // A read soon after the message may precede the decision.
    if person.reads.contains(where: { $0.conversationId == message.conversationId && near.contains($0.at) }) {
      return .open
    }
    var latest: [String: Report] = [:]
    for report in person.reports where report.at < message.at { latest[report.deviceId] = report }
    for report in latest.values where report.conversationId == message.conversationId {
      let age = message.at - report.at
      if message.at - report.since > Self.repeats - Self.margin { return .open }
      if age < Self.horizon - Self.margin { return .suppressed }
      if age < Self.horizon + Self.margin { return .open }
    }
    // An urgent message alerts by rule, whatever the person's fallback. The load's groups are small, so other messages are at least in the
    // list.
    guard message.text.contains("urgent") else { return .notified(.silent) }
    return isInBurst(message, of: conversation) ? .open : .notified(.alert)
  }

  /// Whether a phone can tell that the message was read. A push says when its message was sent in whole seconds, so a message of the read's
  /// own second may be newer and stays on the screen. Only the first read that covers the message removes it: after a later read nothing is
  /// unread, and no push is sent.
  private func isReadForCertain(_ message: Message, by person: Person) -> Bool {
    let reads = person.reads.filter { $0.conversationId == message.conversationId }
    let writes = person.writes.filter { $0.conversationId == message.conversationId }
    let all = reads.map { (at: $0.at, upTo: $0.upTo) } + writes.map { (at: $0.at, upTo: $0.at) }
    let first = all.filter { $0.upTo >= message.at }.min { $0.at < $1.at }
    return first.map { $0.upTo / 1_000 > message.at / 1_000 } ?? false
  }

  /// Whether another message of the conversation sounded so shortly before this one that this one must not.
  private func isInBurst(_ message: Message, of conversation: Conversation) -> Bool {
    let burst = (conversation.isGroup ? Self.groupBurst : Self.burst) + Self.margin
    return messages.values.contains { other in
      other.conversationId == message.conversationId && other.id != message.id && other.text.contains("urgent")
        && abs(other.at - message.at) <= burst
    }
  }

  // MARK: The end

  /// Compares the lock screen and badge of a phone that kept its owner and was never offline. A browser is not compared, because badges and
  /// reads are silent and reach it only while its page is open.
  private func compare(
    _ phone: VirtualPhone, _ number: Int, _ judged: [(message: Message, fate: Fate)], _ verdict: inout Verdict
  ) {
    guard phone.device.platform != .web, ownerships.indices.contains(number), ownerships[number].count == 1,
      !wasOffline.contains(number),
      let userId = phone.userId, let person = people[userId]
    else { return }
    verdict.screens += 1
    let shown = Set(phone.lockScreen.entries.compactMap(\.messageId))
    var (unread, perhaps): (Set<String>, Set<String>) = ([], [])
    for (message, fate) in judged {
      let conversationId = message.conversationId
      let isRead =
        person.reads.contains { $0.conversationId == conversationId && $0.upTo >= message.at }
        || person.writes.contains { $0.conversationId == conversationId && $0.at >= message.at }
      if isRead {
        if shown.contains(message.id), isReadForCertain(message, by: person) {
          verdict.violate("phone \(number) still shows \(message.id), which \(userId) has read")
        }
        continue
      }
      switch fate {
      case .open: perhaps.insert(conversationId)
      case .suppressed: break
      case .notified: unread.insert(conversationId)
      }
    }
    perhaps.subtract(unread)
    // A badge counted before a read may arrive after it, and the device that sent the read gets no further badge.
    let mayBeLate = person.reads.contains { read in
      judged.contains { abs($0.message.at - read.at) <= Self.margin }
    }
    let most = unread.count + perhaps.count + (mayBeLate ? 1 : 0)
    if phone.badge < unread.count || phone.badge > most {
      verdict.violate(
        "phone \(number) of \(userId) has the badge \(phone.badge), not \(unread.count)"
          + (most == unread.count ? "" : " to \(most)"))
    }
  }
}
