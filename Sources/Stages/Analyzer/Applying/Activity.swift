import NudgeSchema

extension PersonContext {
  /// `user.activity`: replaces that device's former report, unless it is older (D1, D12). One that says that a conversation is open
  /// settles what was held there: it is read, as long as there are signs of a person at the device.
  mutating func report(_ activity: Activity) throws {
    if let live = activity.live { return user.report(stream: activity, isOpen: live, cause.stamp) }
    let open = activity.state == .foreground ? activity.conversationId : nil
    let claim = user.report(
      DeviceActivity(
        deviceId: activity.deviceId, state: activity.state, conversationId: open, stamp: cause.stamp,
        personAt: activity.lastInputAt.map { min($0, cause.happenedAt) }, tabId: activity.tabId))
    try see(activity.deviceId)
    if let open, let claim, rules.activityHorizon.holds(claim, at: cause.happenedAt) {
      try confirmOpen(open, on: activity.deviceId)
    }
  }

  /// The person has read, written or tapped: on a device, or, where it is not said on which, on those that show the conversation.
  mutating func seePerson(on deviceId: String?, in conversationId: String) {
    for index in user.activities.indices where !user.activities[index].isStream {
      let claim = user.activities[index]
      let isThere =
        deviceId.map { sameId($0, claim.deviceId) }
        ?? (claim.conversationId.map { sameId($0, conversationId) } ?? false)
      if isThere { user.activities[index].personAt = max(claim.lastSign, cause.happenedAt) }
    }
  }

  /// `message.sent`: the person wrote, and so has read the conversation up to their own message. It says nothing about which
  /// conversation is open: a reply from the lock screen opens none (D1).
  mutating func wrote(_ sent: MessageSent) throws {
    let before = try conversation(sent.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    let place = MessagePlace(at: cause.happenedAt, order: cause.origin.order)
    let arrival = conversation.place(arrivingAt: cause.happenedAt, order: cause.origin.order)
    let sender = MessageKey(userId).value
    let key = conversation.key(of: MessageKey(sent.messageId), from: sender)
    // So that "read up to" may name it, too.
    if conversation.message(key) == nil {
      conversation.add(RecentMessage(key: key, place: arrival, marks: [], sender: sender))
    }
    seePerson(on: nil, in: sent.conversationId)
    if conversation.lastWord != nil { conversation.record(LastWord(at: cause.happenedAt, isUnhelpful: false)) }
    try respond(.replied, in: &conversation, id: sent.conversationId)
    conversation.read(upTo: place)
    try keep(conversation, was: before, for: sent.conversationId)
    try cancelRead(conversation, was: before, for: sent.conversationId, last: sent.messageId)
    if conversation.unread < before.unread {
      try pushRead(
        sent.conversationId, upTo: sent.messageId, at: cause.happenedAt, except: devices(showing: sent.conversationId))
    }
  }
}

extension UserRow {
  /// Notes a device's report. Only the last `maxActivities` devices, or tabs of one, to report are kept. Returns it with the last sign of a person
  /// there: one that changes something is a sign itself. nil: it is no newer than the device's last.
  @discardableResult
  mutating func report(_ report: DeviceActivity) -> DeviceActivity? {
    var activity = report
    let said = report.personAt ?? .min
    activity.personAt = max(said, report.stamp.occurredAt)
    if let index = activities.firstIndex(where: { $0.isOfOneTab(report) }) {
      let known = activities[index]
      guard known.stamp < report.stamp else { return nil }
      if known.state == report.state, sameId(known.conversationId, report.conversationId) {
        activity.personAt = max(said, known.lastSign)
      }
      activities.remove(at: index)
    }
    let index = activities.firstIndex { $0.stamp < activity.stamp } ?? activities.endIndex
    activities.insert(activity, at: index)
    trim(atMost: Self.maxActivities) { !$0.isStream }
    return activity
  }

  /// Takes the report of a stream: it is open, or has ended. A device has one, that which opened or was renewed last; the end of another says
  /// nothing of it.
  mutating func report(stream report: Activity, isOpen: Bool, _ stamp: EventStamp) {
    let stream = DeviceActivity(stream: report.tabId ?? "", of: report.deviceId, stamp: stamp)
    if let index = activities.firstIndex(where: { $0.isStream && sameId($0.deviceId, report.deviceId) }) {
      let known = activities[index]
      guard known.stamp < stamp, isOpen || sameId(known.tabId, stream.tabId) else { return }
      activities.remove(at: index)
    }
    guard isOpen else { return }
    activities.insert(stream, at: activities.firstIndex { $0.stamp < stamp } ?? activities.endIndex)
    trim(atMost: Self.maxStreams) { $0.isStream }
  }

  /// Drops the oldest of a kind, where there are too many of it.
  private mutating func trim(atMost limit: Int, where isKind: (DeviceActivity) -> Bool) {
    let kind = activities.indices.filter { isKind(activities[$0]) }
    if kind.count > limit, let last = kind.last { activities.remove(at: last) }
  }

  /// The newest report that says the conversation is open in the foreground, where it is no older than `horizon` before
  /// that time.
  func activity(showing conversationId: String, at time: Milliseconds, horizon: ActivityHorizon) -> DeviceActivity? {
    activities.first {
      horizon.holds($0, at: time)
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }
  }

  /// Whether the app is open on a device: it says so, or says nothing, and has a stream that answers banners.
  func isInApp(on deviceId: String, at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    var isSilent = true
    for activity in activities where !activity.isStream && sameId(activity.deviceId, deviceId) {
      if horizon.holds(activity, at: time) { return true }
      isSilent = false
    }
    return isSilent && hasStream(on: deviceId, at: time, horizon: horizon)
  }

  /// Whether the app is open on some device.
  func isInApp(at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    activities.contains {
      $0.isStream ? isInApp(on: $0.deviceId, at: time, horizon: horizon) : horizon.holds($0, at: time)
    }
  }

  /// Whether a banner that is shown on a device is answered.
  func answersBanners(on deviceId: String, at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    hasStream(on: deviceId, at: time, horizon: horizon) && isInApp(on: deviceId, at: time, horizon: horizon)
  }

  private func hasStream(on deviceId: String, at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    activities.contains {
      $0.isStream && time - $0.stamp.occurredAt <= horizon.report && sameId($0.deviceId, deviceId)
    }
  }
}

extension PersonContext {
  /// Devices that have the conversation open at the record's time.
  func devices(showing conversationId: String) -> [String] {
    user.activities.filter {
      rules.activityHorizon.holds($0, at: cause.happenedAt)
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }.map(\.deviceId)
  }
}

/// For how long reports hold: they are claims, and only signs of a person keep them up (D1).
struct ActivityHorizon {
  /// After a report, in milliseconds.
  var report: Milliseconds
  /// After the last sign of a person, in milliseconds: reports that only repeat are none.
  var person: Milliseconds

  /// Whether a device says at a time that the app is open, and somebody is at it.
  func holds(_ activity: DeviceActivity, at time: Milliseconds) -> Bool {
    activity.state == .foreground && time - activity.stamp.occurredAt <= report && time - activity.lastSign <= person
  }

  /// For how long a message waits for a read on a device, in milliseconds: no longer than there may be somebody at it.
  func wait(on activity: DeviceActivity, of message: Milliseconds, atMost wait: Milliseconds) -> Milliseconds {
    min(wait, max(0, activity.lastSign + person - message))
  }
}

extension AnalyzerRules {
  var activityHorizon: ActivityHorizon {
    ActivityHorizon(report: reportHorizon, person: Milliseconds(policy.presenceRepeatMinutes) * 60_000)
  }
}

extension DeviceActivity {
  /// Begins the tab of a stream. No client can say so: an id has no control characters.
  private static let streamMark: UInt8 = 1

  /// An open stream: a tab of its own of the device, at which there is nobody. So rows are as they were before there were streams, and
  /// an older release reads no presence in it.
  fileprivate init(stream: String, of deviceId: String, stamp: EventStamp) {
    let tab = String(decoding: [Self.streamMark], as: UTF8.self) + stream
    self.init(deviceId: deviceId, state: .idle, conversationId: nil, stamp: stamp, tabId: tab)
  }

  /// Whether it is the word of a stream, not of the app.
  var isStream: Bool { tabId?.utf8.first == Self.streamMark }

  fileprivate func isOfOneTab(_ other: DeviceActivity) -> Bool {
    sameId(deviceId, other.deviceId) && sameId(tabId, other.tabId)
  }
}
