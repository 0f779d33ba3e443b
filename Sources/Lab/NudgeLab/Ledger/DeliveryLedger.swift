import NudgeSchema

/// Follows a load's messages through the pipeline by counting, and lists those that are missing. A value without I/O.
///
/// A *pair* is a person and a message: the load expects it, a candidate names it, a decision ends it. A deferred pair may stay open for
/// minutes, so it counts as settled, in a count of its own. A *delivery* is a push and a device: a push names it, an outcome ends it,
/// requests are sent for it. Records may come in any order, because several topics are read at once.
///
/// A catch-up has no decision. It is a digest, which later pushes with the same id update, or the push of the only message that waited.
///
/// A real broker that reads committed records shows each record once. librdkafka's mock broker also shows records of aborted transactions:
/// such a repeat has the same origin, and is counted separately.
struct DeliveryLedger: Sendable {
  /// Whether records of aborted transactions are visible.
  let seesAborted: Bool
  /// Whether requests are counted. If not, an outcome ends a delivery.
  let seesRequests: Bool

  /// The prefix of the ids of the load's own messages. Other people's messages are left out of all counts. Absent: all messages are the
  /// load's.
  private let ownPrefix: String?
  private(set) var foreignMessages: Set<String> = []
  private(set) var foreignPushes: Set<String> = []
  // MARK: Counts

  /// Pairs of the load's acknowledged messages.
  private(set) var expected = 0
  /// Pairs that candidates name.
  private(set) var candidates = 0
  /// Pairs with a final decision.
  private(set) var decisions = 0
  /// Pairs with a deferred decision that have no final decision yet.
  private(set) var deferred = 0
  /// Decisions by reason, without repeats.
  private(set) var decisionsByReason: [DecisionReason: Int] = [:]
  private(set) var pushes = 0
  /// Devices of all pushes.
  private(set) var targets = 0
  private(set) var outcomes = 0
  private(set) var outcomesByResult: [OutcomeResult: Int] = [:]
  /// Answered requests for messages, by HTTP status.
  private(set) var requestsByStatus: [Int: Int] = [:]
  /// Requests that were taken: FCM answers 200, push services 201.
  var requestsTaken: Int { requestsByStatus.reduce(0) { $0 + (Self.isTaken($1.key) ? $1.value : 0) } }
  /// Dead letters by code.
  private(set) var deadLetters: [String: Int] = [:]
  /// Banners and notices.
  private(set) var banners = 0
  /// Records seen again with the same origin, if aborted transactions are visible.
  private(set) var repeats = 0
  /// The time from a message's publication to the first request for one of its pushes, by device.
  private(set) var latency = LatencyHistogram()
  /// Finds the pushes that wait for quota.
  var quotaWaits = QuotaWaits()

  // MARK: Open pairs and deliveries

  private var openPairs = 0
  private var openDeliveries = 0
  private var openPushes = 0
  /// Pairs that were decided twice, and candidates, pushes and outcomes that exist twice.
  private(set) var doubled: [String] = []
  /// Requests for tokens that the load did not register.
  private(set) var unregisteredTokens: [String] = []

  private(set) var users = Numbering()
  private(set) var messages = Numbering()
  private(set) var pushIds = Numbering()
  private(set) var devices = Numbering()
  private(set) var pairs: [NumberPair: Pair] = [:]
  private(set) var deliveries: [NumberPair: Delivery] = [:]
  private(set) var pushStates: [Int32: PushState] = [:]
  private var publishedAt: [Int32: Milliseconds] = [:]
  private var deviceOfToken: [String: Int32] = [:]
  private var ownDevices: Set<String> = []
  /// First requests for messages whose acknowledgement has not arrived yet.
  private var requestsAhead: [(message: Int32, at: Milliseconds)] = []
  /// The events published before the messages.
  var introduction = Introduction()

  init(seesAborted: Bool, seesRequests: Bool = true, ownPrefix: String? = nil) {
    self.ownPrefix = ownPrefix
    self.seesAborted = seesAborted
    self.seesRequests = seesRequests
  }

  // MARK: The load's own input
  /// Adds a device of the load, with its token.
  mutating func register(deviceId: String, token: String, platform: Platform) {
    deviceOfToken[token] = devices.number(deviceId)
    ownDevices.insert(deviceId)
    introduction.expectDevice(deviceId)
    quotaWaits.register(deviceId: deviceId, platform: platform)
  }

  /// Adds a message that the broker has acknowledged.
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

  // MARK: Records read

  mutating func candidate(messageId: String, recipients: [String], origin: Origin) {
    if countsForeign(messageId) { return }
    let number = messages.number(messageId)
    for userId in recipients {
      let key = NumberPair(first: users.number(userId), second: number)
      var pair = pairs[key] ?? Pair()
      if let before = pair.candidate {
        record(again: before == origin, "candidate of \(messageId) for \(userId)")
        continue
      }
      candidates += 1
      pair.candidate = origin
      keep(pair, key)
    }
  }

  /// Adds a decision. Decisions of a replay are not part of the load.
  mutating func decision(
    userId: String, messageId: String, isFinal: Bool = true, reason: DecisionReason, pushId: String?, origin: Origin,
    replayId: String?
  ) {
    guard replayId == nil else { return }
    if countsForeign(messageId) { return }
    let key = NumberPair(first: users.number(userId), second: messages.number(messageId))
    var pair = pairs[key] ?? Pair()
    if let pushId {
      // A deferred decision names the push that the device in the person's hand got at once.
      let number = pushIds.number(pushId)
      var push = pushStates[number] ?? PushState()
      push.isDecided = true
      keep(push, number)
    }
    if !isFinal {
      if let before = pair.deferral {
        record(again: before == origin, "deferral of \(messageId) for \(userId)")
      } else {
        if pair.decision == nil { deferred += 1 }
        pair.deferral = origin
        keep(pair, key)
      }
      return
    }
    if let before = pair.decision {
      record(again: before == origin, "decision on \(messageId) for \(userId)")
    } else {
      decisions += 1
      if pair.deferral != nil { deferred -= 1 }
      decisionsByReason[reason, default: 0] += 1
      pair.decision = origin
      pair.push = pushId.map { pushIds.number($0) }
      keep(pair, key)
      findCatchUp(key)
    }
  }

  /// Adds a push to a person's devices. `messageId` is the message whose decision made it; `isUpdate`: it updates a catch-up that was pushed
  /// before.
  mutating func push(
    pushId: String, userId: String, messageId: String?, isUpdate: Bool = false, deviceIds: [String], origin: Origin
  ) {
    if messageId.map(isForeign) ?? (ownPrefix != nil && !deviceIds.contains { ownDevices.contains($0) }) {
      foreignPushes.insert(pushId)
      return forget(pushId)
    }
    let number = pushIds.number(pushId)
    if isUpdate { return update(number, deviceIds: deviceIds, origin: origin) }
    var push = pushStates[number] ?? PushState()
    if let before = push.origin {
      // The devices that had to wait get a record of their own with the same id.
      let known = deviceIds.contains { deliveries[.init(first: number, second: devices.number($0))]?.isTarget == true }
      if before == origin || known { record(again: before == origin, "push \(pushId)") }
    } else {
      pushes += 1
      push.origin = origin
    }
    push.pair = messageId.map { NumberPair(first: users.number(userId), second: messages.number($0)) }
    keep(push, number)
    for deviceId in deviceIds {
      let key = NumberPair(first: number, second: devices.number(deviceId))
      var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
      if !delivery.isTarget { targets += 1 }
      delivery.isTarget = true
      keep(delivery, key)
    }
    guard let key = push.pair, !push.isDecided else { return }
    var pair = pairs[key] ?? Pair()
    pair.unnamed = number
    keep(pair, key)
    findCatchUp(key)
  }

  /// Adds an update of a catch-up. A device may get it without the catch-up itself, because it was not reachable then.
  private mutating func update(_ number: Int32, deviceIds: [String], origin: Origin) {
    var isAgain = false
    for deviceId in deviceIds {
      let key = NumberPair(first: number, second: devices.number(deviceId))
      var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
      if delivery.updates.contains(origin) {
        isAgain = true
        continue
      }
      targets += 1
      delivery.updates.append(origin)
      keep(delivery, key)
    }
    let name = pushIds.name(number)
    if isAgain { record(again: true, "update of push \(name)") }
  }

  /// Looks whether a push that no decision names is the catch-up of one message: the message's decision made no push, or a device left the
  /// message to the catch-up.
  private mutating func findCatchUp(_ key: NumberPair) {
    guard let pair = pairs[key], pair.decision != nil, let number = pair.unnamed, var push = pushStates[number],
      !push.isDecided, pair.push.map({ pushStates[$0]?.isLeftToCatchUp == true }) ?? true
    else { return }
    push.isCatchUp = true
    keep(push, number)
  }

  /// Adds an outcome. `after` is the time since the event's own time in milliseconds, which is the latency if requests are not counted.
  /// `requests` were made for it until `at`. `isLeftToCatchUp`: the message is left to the person's catch-up.
  mutating func outcome(
    pushId: String, deviceId: String, result: OutcomeResult, origin: Origin, after: Milliseconds? = nil,
    requests: Int = 0, at: Milliseconds = 0, isLeftToCatchUp: Bool = false
  ) {
    if foreignPushes.contains(pushId) || (ownPrefix != nil && !ownDevices.contains(deviceId)) { return }
    let key = NumberPair(first: pushIds.number(pushId), second: devices.number(deviceId))
    var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
    if let before = delivery.outcomes.first(where: { $0.origin == origin }) {
      record(again: before.result == result, "outcome of push \(pushId) on \(deviceId)")
      return
    }
    outcomes += 1
    outcomesByResult[result, default: 0] += 1
    if let after, !seesRequests, result == .sent { latency.add(milliseconds: after) }
    delivery.outcomes.append((result, origin))
    keep(delivery, key)
    if isLeftToCatchUp {
      var push = pushStates[key.first] ?? PushState()
      push.isLeftToCatchUp = true
      keep(push, key.first)
      if let pair = push.pair { findCatchUp(pair) }
    }
    quotaWaits.ended(deviceId: deviceId, requests: requests, at: at)
  }

  /// Marks the targets without an outcome that wait for quota at a time.
  mutating func findWaits(at now: Milliseconds) {
    for (place, quota) in quotaWaits.waiting(at: now) {
      let key = NumberPair(first: pushIds.number(place.pushId), second: devices.number(place.deviceId))
      deliveries[key]?.quota = quota
    }
  }

  /// Adds an answered request.
  mutating func request(pushId: String, token: String, messageId: String?, status: Int, at: Milliseconds) {
    if messageId.map(isForeign) ?? foreignPushes.contains(pushId) { return }
    guard let device = deviceOfToken[token] else {
      if ownPrefix != nil { return }
      requestsByStatus[status, default: 0] += 1
      unregisteredTokens.append("push \(pushId) went to a token nobody registered")
      return
    }
    requestsByStatus[status, default: 0] += 1
    guard Self.isTaken(status) else { return }
    let key = NumberPair(first: pushIds.number(pushId), second: device)
    var delivery = deliveries[key] ?? Delivery(needsAnswer: seesRequests)
    delivery.answered += 1
    delivery.status = status
    keep(delivery, key)
    if delivery.answered == 1, let messageId { measure(messages.number(messageId), at: at) }
  }

  private static func isTaken(_ status: Int) -> Bool { (200..<300).contains(status) }

  private mutating func measure(_ message: Int32, at: Milliseconds) {
    if let published = publishedAt[message] {
      latency.add(milliseconds: at - published)
    } else {
      requestsAhead.append((message, at))
    }
  }

  mutating func deadLetter(code: String) { deadLetters[code, default: 0] += 1 }

  /// Adds a banner or a notice.
  mutating func banner() { banners += 1 }

  private mutating func record(again isSame: Bool, _ what: @autoclosure () -> String) {
    if isSame && seesAborted { repeats += 1 } else { doubled.append(what()) }
  }

  // MARK: Other people's messages

  private func isForeign(_ messageId: String) -> Bool { ownPrefix.map { !messageId.hasPrefix($0) } ?? false }

  private mutating func countsForeign(_ messageId: String) -> Bool {
    guard isForeign(messageId) else { return false }
    foreignMessages.insert(messageId)
    return true
  }

  /// Forgets a push that belongs to another person's message. Its outcomes and requests may have been read before the push itself.
  private mutating func forget(_ pushId: String) {
    let number = pushIds.number(pushId)
    for (key, delivery) in deliveries where key.first == number {
      deliveries[key] = nil
      if !delivery.isSettled { openDeliveries -= 1 }
      for outcome in delivery.outcomes {
        outcomes -= 1
        outcomesByResult[outcome.result, default: 0] -= 1
      }
      if delivery.answered > 0 { requestsByStatus[delivery.status, default: 0] -= delivery.answered }
    }
  }

  // MARK: Counts of open pairs and deliveries

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

  /// Whether every pair, push and delivery has ended.
  var isSettled: Bool { openPairs == 0 && openDeliveries == 0 && openPushes == 0 }
}
