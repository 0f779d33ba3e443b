import NudgeSchema

extension PersonContext {
  /// `user.activity`: replaces that device's former report, unless it is older (D1, D12). One that says that a conversation is open
  /// settles what was held there: it is read.
  mutating func report(_ activity: Activity) throws {
    let open = activity.state == .foreground ? activity.conversationId : nil
    let isNew = user.report(
      DeviceActivity(deviceId: activity.deviceId, state: activity.state, conversationId: open, stamp: cause.stamp))
    try see(activity.deviceId)
    if isNew, let open { try confirmOpen(open, on: activity.deviceId) }
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
  /// Notes a device's report. Only the last `maxActivities` devices to report are kept. False: it is no newer than the device's last.
  @discardableResult
  mutating func report(_ activity: DeviceActivity) -> Bool {
    if let index = activities.firstIndex(where: { sameId($0.deviceId, activity.deviceId) }) {
      guard activities[index].stamp < activity.stamp else { return false }
      activities.remove(at: index)
    }
    let index = activities.firstIndex { $0.stamp < activity.stamp } ?? activities.endIndex
    activities.insert(activity, at: index)
    if activities.count > Self.maxActivities { activities.removeLast() }
    return true
  }

  /// The newest report that says the conversation is open in the foreground, where it is no older than `horizon` before
  /// that time.
  func activity(showing conversationId: String, at time: Milliseconds, horizon: Milliseconds) -> DeviceActivity? {
    activities.first {
      $0.state == .foreground && time - $0.stamp.occurredAt <= horizon
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }
  }

  /// Whether the app is open on a device.
  func isInApp(on deviceId: String, at time: Milliseconds, horizon: Milliseconds) -> Bool {
    activities.contains {
      $0.state == .foreground && time - $0.stamp.occurredAt <= horizon && sameId($0.deviceId, deviceId)
    }
  }

  /// Whether the app is open on some device.
  func isInApp(at time: Milliseconds, horizon: Milliseconds) -> Bool {
    activities.contains { $0.state == .foreground && time - $0.stamp.occurredAt <= horizon }
  }
}

extension PersonContext {
  /// Devices that have the conversation open at the record's time.
  func devices(showing conversationId: String) -> [String] {
    user.activities.filter {
      $0.state == .foreground && cause.happenedAt - $0.stamp.occurredAt <= rules.activityHorizon
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }.map(\.deviceId)
  }
}
