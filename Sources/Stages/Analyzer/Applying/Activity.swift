import NudgeSchema

extension PersonContext {
  /// `user.activity`: replaces the device's former report unless it is older (D1, D12). A report that a conversation is
  /// open settles its held messages as read, as long as there are signs of a person at the device.
  mutating func report(_ activity: Activity) throws {
    if let live = activity.live { return user.report(stream: activity, isOpen: live, cause.stamp) }
    let open = activity.state == .foreground ? activity.conversationId : nil
    let claim = user.report(
      DeviceActivity(
        deviceId: activity.deviceId, state: activity.state, conversationId: open, stamp: cause.stamp,
        personAt: activity.lastInputAt.map { min($0, cause.happenedAt) }, tabId: activity.tabId))
    try see(activity.deviceId)
    if let open, let claim, rules.activityHorizon.holds(claim, at: cause.happenedAt) {
      try confirmOpen(open, by: claim)
    }
  }

  /// The person has read, written or tapped: on this device, or without a device on those that show the conversation.
  mutating func seePerson(on deviceId: String?, in conversationId: String) {
    for index in user.activities.indices where !user.activities[index].isStream {
      let claim = user.activities[index]
      let isThere =
        deviceId.map { sameId($0, claim.deviceId) }
        ?? (claim.conversationId.map { sameId($0, conversationId) } ?? false)
      if isThere { user.activities[index].personAt = max(claim.lastSign, cause.happenedAt) }
    }
  }

  /// `message.sent`: the person wrote, so they have read the conversation up to their own message. It does not show
  /// which conversation is open, because a reply from the lock screen opens none (D1).
  mutating func wrote(_ sent: MessageSent) throws {
    let before = try conversation(sent.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    let place = MessagePlace(at: cause.happenedAt, order: cause.origin.order)
    let arrival = conversation.place(arrivingAt: cause.happenedAt, order: cause.origin.order)
    let sender = MessageKey(userId).value
    let key = conversation.key(of: MessageKey(sent.messageId), from: sender)
    // It is added so that a later "read up to" may name it.
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
  /// Records a device's report, and keeps only the `maxActivities` devices or tabs that reported last. Returns the
  /// report with the time of the last sign of a person there; a report that changes something is a sign itself. Returns
  /// nil if the report is not newer than the device's last one.
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

  /// Records that a stream is open or has ended. A device has one stream: the one that was opened or renewed last. The
  /// end of any other stream changes nothing.
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

  /// Drops the oldest reports of a kind if there are too many.
  private mutating func trim(atMost limit: Int, where isKind: (DeviceActivity) -> Bool) {
    let kind = activities.indices.filter { isKind(activities[$0]) }
    if kind.count > limit, let last = kind.last { activities.remove(at: last) }
  }

  /// The newest foreground report with this conversation open that is at most `horizon` old at that time.
  func activity(showing conversationId: String, at time: Milliseconds, horizon: ActivityHorizon) -> DeviceActivity? {
    activities.first {
      horizon.holds($0, at: time)
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }
  }

  /// Whether the app is open on a device: the device reports it, or does not report but has a stream that answers
  /// banners.
  func isInApp(on deviceId: String, at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    var isSilent = true
    for activity in activities where !activity.isStream && sameId(activity.deviceId, deviceId) {
      if horizon.holds(activity, at: time) { return true }
      isSilent = false
    }
    return isSilent && hasStream(on: deviceId, at: time, horizon: horizon)
  }

  /// Whether the app is open on any device.
  func isInApp(at time: Milliseconds, horizon: ActivityHorizon) -> Bool {
    activities.contains {
      $0.isStream ? isInApp(on: $0.deviceId, at: time, horizon: horizon) : horizon.holds($0, at: time)
    }
  }

  /// Whether a device answers the banners that it shows.
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
  /// Devices that had the conversation open when the record reached Nudge.
  func devices(showing conversationId: String) -> [String] {
    user.activities.filter {
      rules.activityHorizon.holds($0, at: cause.arrivedAt)
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }.map(\.deviceId)
  }
}

/// How long reports are valid. They are only claims, and stay valid only with signs of a person (D1).
struct ActivityHorizon {
  /// How old the last sign of a person may be where an urgent message waits for a read, and how long it waits at most,
  /// in milliseconds.
  private static let urgent: Milliseconds = 60_000

  /// The time after a report, in milliseconds.
  var report: Milliseconds
  /// The time after the last sign of a person, in milliseconds. A repeated report is not a sign.
  var person: Milliseconds

  /// The horizon for urgent messages.
  var ofUrgent: ActivityHorizon { ActivityHorizon(report: report, person: min(person, Self.urgent)) }

  /// Whether the device's report says that the app is open at this time, with somebody using it.
  func holds(_ activity: DeviceActivity, at time: Milliseconds) -> Bool {
    activity.state == .foreground && time - activity.stamp.occurredAt <= report && time - activity.lastSign <= person
  }

  /// How long a message waits for a read on a device, in milliseconds: at most as long as somebody may still be there.
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
  /// The first byte of a stream's tab id. No client can send it, because ids have no control characters.
  private static let streamMark: UInt8 = 1

  /// An open stream, stored as a separate tab of the device that shows no presence. So the form of the row is
  /// unchanged, and an older release reads no presence from it.
  fileprivate init(stream: String, of deviceId: String, stamp: EventStamp) {
    let tab = String(decoding: [Self.streamMark], as: UTF8.self) + stream
    self.init(deviceId: deviceId, state: .idle, conversationId: nil, stamp: stamp, tabId: tab)
  }

  /// Whether this is a stream's report instead of the app's.
  var isStream: Bool { tabId?.utf8.first == Self.streamMark }

  fileprivate func isOfOneTab(_ other: DeviceActivity) -> Bool {
    sameId(deviceId, other.deviceId) && sameId(tabId, other.tabId)
  }
}
