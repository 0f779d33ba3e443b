import NudgeSchema

/// What went into the pipeline and what came out of it, pair by pair. A value: records in, counts and complaints out.
///
/// A *pair* is a person and a message: the load expects it, a candidate names it, a decision ends it. A *delivery* is a
/// push and a device: a push names it, an outcome ends it, requests are made for it. Records may come in any order, as
/// they are read from several topics at once.
///
/// On a real broker, read committed, everything is there exactly once. The embedded broker has no transactions: what an
/// aborted one wrote stays, and the same is written again. There a repeat is known by its equal origin, and only counted.
struct Account: Sendable {
  /// Whether records of aborted transactions can be seen.
  let seesAborted: Bool
  /// Whether requests are told of; if not, an outcome is the end of a delivery.
  let seesRequests: Bool

  // MARK: Counts

  /// Pairs the load's acknowledged messages make.
  private(set) var expected = 0
  /// Pairs that candidates name.
  private(set) var candidates = 0
  /// Pairs with a decision.
  private(set) var decisions = 0
  /// Decisions by reason, repeats apart.
  private(set) var decisionsByReason: [DecisionReason: Int] = [:]
  /// Pushes.
  private(set) var pushes = 0
  /// Devices of all pushes.
  private(set) var targets = 0
  /// Outcomes.
  private(set) var outcomes = 0
  /// Outcomes by result.
  private(set) var outcomesByResult: [OutcomeResult: Int] = [:]
  /// Requests for messages that the emulator answered, by status.
  private(set) var requestsByStatus: [Int: Int] = [:]
  /// Dead letters by code.
  private(set) var deadLetters: [String: Int] = [:]
  /// Banners and notices.
  private(set) var banners = 0
  /// Records that came again with the same origin, where that is no fault.
  private(set) var repeats = 0
  /// From the publication of a message to the first request for one of its pushes, by device.
  private(set) var latency = LatencyHistogram()

  // MARK: What is open

  private var openPairs = 0
  private var openDeliveries = 0
  private var openPushes = 0
  /// Pairs decided more than once; candidates, pushes and outcomes that are there more than once.
  private(set) var doubled: [String] = []
  /// Requests for tokens that are none of the load's.
  private(set) var strangers: [String] = []

  private struct Pair {
    var isExpected = false
    var candidate: Origin?
    var decision: Origin?

    var isSettled: Bool { isExpected && candidate != nil && decision != nil }
  }

  private struct Delivery {
    var isTarget = false
    var outcome: (result: OutcomeResult, origin: Origin)?
    /// Requests answered 200.
    var answered = 0
    /// Whether one must be.
    var needsAnswer: Bool

    init(needsAnswer: Bool) { self.needsAnswer = needsAnswer }

    /// A request may have been answered without its outcome saying so, where the dispatcher was killed between.
    var isSettled: Bool { isTarget && outcome.map { $0.result != .sent || answered > 0 || !needsAnswer } ?? false }
    /// Requests answered 200 that no outcome tells of.
    var unrecorded: Int { max(0, answered - (outcome?.result == .sent ? 1 : 0)) }
  }

  private struct PushState {
    var origin: Origin?
    var isOfMessage = false
    var isDecided = false

    var isSettled: Bool { origin != nil && (isDecided || !isOfMessage) }
  }

  private var users = Numbering()
  private var messages = Numbering()
  private var pushIds = Numbering()
  private var devices = Numbering()
  private var pairs: [NumberPair: Pair] = [:]
  private var deliveries: [NumberPair: Delivery] = [:]
  private var pushStates: [Int32: PushState] = [:]
  private var publishedAt: [Int32: Milliseconds] = [:]
  private var deviceOfToken: [String: Int32] = [:]
  /// First requests of messages whose acknowledgement the load has not told of yet.
  private var requestsAhead: [(message: Int32, at: Milliseconds)] = []
  private var devicesOnTimeline: Set<Int32> = []
  private var preferencesOnTimeline: Set<Int32> = []

  /// An empty account.
  init(seesAborted: Bool, seesRequests: Bool = true) {
    self.seesAborted = seesAborted
    self.seesRequests = seesRequests
  }

  // MARK: What goes in

  /// A device of the load and the token it is reached by.
  mutating func register(deviceId: String, token: String) { deviceOfToken[token] = devices.number(deviceId) }

  /// A message was published: the broker has acknowledged it.
  mutating func published(_ message: LoadMessage) {
    let number = messages.number(message.messageId)
    publishedAt[number] = message.at
    for userId in message.recipients {
      let key = NumberPair(first: users.number(userId), second: number)
      var pair = pairs[key] ?? Pair()
      if !pair.isExpected { expected += 1 }
      pair.isExpected = true
      keep(pair, key)
    }
    guard !requestsAhead.isEmpty else { return }
    for ahead in requestsAhead where ahead.message == number { latency.add(milliseconds: ahead.at - message.at) }
    requestsAhead.removeAll { $0.message == number }
  }

  // MARK: What is read

  /// A device's registration reached its owner's timeline.
  mutating func deviceRegistered(_ deviceId: String) { devicesOnTimeline.insert(devices.number(deviceId)) }

  /// A change of preferences reached the person's timeline.
  mutating func preferencesUpdated(_ userId: String) { preferencesOnTimeline.insert(users.number(userId)) }

  /// How many devices and people with preferences the timeline has seen.
  var introduced: (devices: Int, preferences: Int) { (devicesOnTimeline.count, preferencesOnTimeline.count) }

  /// A candidate on the timeline.
  mutating func candidate(messageId: String, recipients: [String], origin: Origin) {
    let number = messages.number(messageId)
    for userId in recipients {
      let key = NumberPair(first: users.number(userId), second: number)
      var pair = pairs[key] ?? Pair()
      if let before = pair.candidate {
        note(again: before == origin, "candidate of \(messageId) for \(userId)")
        continue
      }
      candidates += 1
      pair.candidate = origin
      keep(pair, key)
    }
  }

  /// A decision; those of a replay are none of the load's.
  mutating func decision(
    userId: String, messageId: String, reason: DecisionReason, pushId: String?, origin: Origin, replayId: String?
  ) {
    guard replayId == nil else { return }
    let key = NumberPair(first: users.number(userId), second: messages.number(messageId))
    var pair = pairs[key] ?? Pair()
    if let before = pair.decision {
      note(again: before == origin, "decision on \(messageId) for \(userId)")
    } else {
      decisions += 1
      decisionsByReason[reason, default: 0] += 1
      pair.decision = origin
      keep(pair, key)
    }
    guard let pushId else { return }
    let number = pushIds.number(pushId)
    var push = pushStates[number] ?? PushState()
    push.isDecided = true
    keep(push, number)
  }

  /// A push.
  mutating func push(pushId: String, messageId: String?, deviceIds: [String], origin: Origin) {
    let number = pushIds.number(pushId)
    var push = pushStates[number] ?? PushState()
    if let before = push.origin {
      note(again: before == origin, "push \(pushId)")
    } else {
      pushes += 1
      push.origin = origin
    }
    push.isOfMessage = messageId != nil
    keep(push, number)
    for deviceId in deviceIds {
      let key = NumberPair(first: number, second: devices.number(deviceId))
      var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
      if !delivery.isTarget { targets += 1 }
      delivery.isTarget = true
      keep(delivery, key)
    }
  }

  /// An outcome.
  ///
  /// `after`: milliseconds since the event's own time; counts as latency where no requests are told of.
  mutating func outcome(
    pushId: String, deviceId: String, result: OutcomeResult, origin: Origin, after: Milliseconds? = nil
  ) {
    let key = NumberPair(first: pushIds.number(pushId), second: devices.number(deviceId))
    var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
    if let before = delivery.outcome {
      note(again: before.origin == origin && before.result == result, "outcome of push \(pushId) on \(deviceId)")
      return
    }
    outcomes += 1
    outcomesByResult[result, default: 0] += 1
    if let after, !seesRequests, result == .sent { latency.add(milliseconds: after) }
    delivery.outcome = (result, origin)
    keep(delivery, key)
  }

  /// A request for a message that the emulator has answered.
  mutating func request(pushId: String, token: String, messageId: String?, status: Int, at: Milliseconds) {
    requestsByStatus[status, default: 0] += 1
    guard let device = deviceOfToken[token] else {
      strangers.append("push \(pushId) went to a token nobody registered")
      return
    }
    guard status == 200 else { return }
    let key = NumberPair(first: pushIds.number(pushId), second: device)
    var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
    delivery.answered += 1
    keep(delivery, key)
    if delivery.answered == 1, let messageId { measure(messages.number(messageId), at: at) }
  }

  private mutating func measure(_ message: Int32, at: Milliseconds) {
    if let published = publishedAt[message] {
      latency.add(milliseconds: at - published)
    } else {
      requestsAhead.append((message, at))
    }
  }

  /// A dead letter.
  mutating func deadLetter(code: String) { deadLetters[code, default: 0] += 1 }

  /// A banner or notice.
  mutating func banner() { banners += 1 }

  private mutating func note(again isSame: Bool, _ what: @autoclosure () -> String) {
    if isSame && seesAborted {
      repeats += 1
    } else {
      doubled.append(what())
    }
  }

  // MARK: Keeping track of what is open

  private mutating func keep(_ pair: Pair, _ key: NumberPair) {
    let before = pairs.updateValue(pair, forKey: key)
    openPairs += (pair.isSettled ? 0 : 1) - (before.map { $0.isSettled ? 0 : 1 } ?? 0)
  }

  private mutating func keep(_ delivery: Delivery, _ key: NumberPair) {
    let before = deliveries.updateValue(delivery, forKey: key)
    openDeliveries += (delivery.isSettled ? 0 : 1) - (before.map { $0.isSettled ? 0 : 1 } ?? 0)
  }

  private mutating func keep(_ push: PushState, _ number: Int32) {
    let before = pushStates.updateValue(push, forKey: number)
    openPushes += (push.isSettled ? 0 : 1) - (before.map { $0.isSettled ? 0 : 1 } ?? 0)
  }

  /// Whether nothing that is known of waits for its end.
  var isSettled: Bool { openPairs == 0 && openDeliveries == 0 && openPushes == 0 }
}

// MARK: - What is missing

extension Account {
  /// Requests answered 200 that no outcome tells of: what was in flight when the dispatcher was killed.
  var unrecorded: Int { deliveries.values.reduce(0) { $0 + $1.unrecorded } }

  /// The first few pairs for which something holds, for a message to a person.
  private func pairs(_ limit: Int, where isMeant: @escaping (Pair) -> Bool) -> [String] {
    pairs.lazy.filter { isMeant($0.value) }.prefix(limit).map {
      "message \(messages.name($0.key.second)) for \(users.name($0.key.first))"
    }
  }

  private func deliveries(_ limit: Int, where isMeant: @escaping (Delivery) -> Bool) -> [String] {
    deliveries.lazy.filter { isMeant($0.value) }.prefix(limit).map {
      "push \(pushIds.name($0.key.first)) on \(devices.name($0.key.second))"
    }
  }

  /// Pairs the load made of which no candidate came, or the other way round.
  func withoutCandidate(_ limit: Int) -> [String] { pairs(limit) { $0.isExpected != ($0.candidate != nil) } }

  /// Candidates without a decision, or decisions without a candidate.
  func withoutDecision(_ limit: Int) -> [String] { pairs(limit) { ($0.candidate != nil) != ($0.decision != nil) } }

  /// Targets without an outcome, or outcomes without a target.
  func withoutOutcome(_ limit: Int) -> [String] { deliveries(limit) { $0.isTarget != ($0.outcome != nil) } }

  /// Deliveries that are said to be sent, and that the emulator knows nothing of.
  func withoutRequest(_ limit: Int) -> [String] {
    deliveries(limit) { $0.outcome?.result == .sent && $0.answered == 0 && $0.needsAnswer }
  }

  /// Requests answered 200 that no outcome tells of.
  func withUnrecordedRequest(_ limit: Int) -> [String] { deliveries(limit) { $0.unrecorded > 0 } }

  /// Decisions to notify whose push is missing, or pushes of messages nobody decided.
  func withoutPush(_ limit: Int) -> [String] {
    pushStates.lazy.filter { !$0.value.isSettled }.prefix(limit).map { "push \(pushIds.name($0.key))" }
  }

  /// Decisions to notify, and pushes of messages.
  var notifying: (decided: Int, pushed: Int) {
    pushStates.values.reduce(into: (0, 0)) { counts, push in
      if push.isDecided { counts.0 += 1 }
      if push.isOfMessage { counts.1 += 1 }
    }
  }
}
