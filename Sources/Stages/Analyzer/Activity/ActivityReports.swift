import NudgeSchema

extension PersonStep {
  /// `user.activity`: replaces that device's former report, unless it is older (D1, D12).
  mutating func report(_ activity: Activity) throws {
    user.report(
      DeviceActivity(
        deviceId: activity.deviceId, state: activity.state,
        conversationId: activity.state == .foreground ? activity.conversationId : nil, stamp: cause.envelope.stamp))
    try see(activity.deviceId)
  }

  /// `message.sent`: the person wrote. It counts as activity in the conversation and as having read it.
  mutating func wrote(_ sent: MessageSent) throws {
    let before = try conversation(sent.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    let stamp = cause.envelope.stamp
    if user.written.map({ $0.stamp < stamp }) ?? true {
      user.written = WrittenMessage(conversationId: sent.conversationId, stamp: stamp)
    }
    let place = MessagePlace(at: cause.occurredAt, order: cause.origin.order)
    let key = MessageKey(sent.messageId)
    // So that "read up to" may name it, too.
    if conversation.message(key) == nil { conversation.add(RecentMessage(key: key, place: place, marks: [])) }
    try respond(.replied, in: &conversation, id: sent.conversationId)
    conversation.read(upTo: place)
    try keep(conversation, was: before, for: sent.conversationId)
    try cancelRead(conversation, was: before, for: sent.conversationId, last: sent.messageId)
    if conversation.unread < before.unread {
      try pushRead(sent.conversationId, except: devices(showing: sent.conversationId))
    }
  }
}

extension UserRow {
  /// Notes a device's report. Only the last `maxActivities` devices to report are kept.
  mutating func report(_ activity: DeviceActivity) {
    if let index = activities.firstIndex(where: { sameId($0.deviceId, activity.deviceId) }) {
      guard activities[index].stamp < activity.stamp else { return }
      activities.remove(at: index)
    }
    let index = activities.firstIndex { $0.stamp < activity.stamp } ?? activities.endIndex
    activities.insert(activity, at: index)
    if activities.count > Self.maxActivities { activities.removeLast() }
  }

  /// The newest report that says the conversation is open in the foreground, where it is no older than `horizon` before
  /// that time.
  func activity(showing conversationId: String, at time: Milliseconds, horizon: Milliseconds) -> DeviceActivity? {
    activities.first {
      $0.state == .foreground && time - $0.stamp.occurredAt <= horizon
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }
  }

  /// When the person wrote in the conversation, where that still says that they are there. Nobody says which device it
  /// was written on: the next report of any of them is better news.
  func writing(in conversationId: String, at time: Milliseconds, horizon: Milliseconds) -> Milliseconds? {
    guard let written = currentWriting(at: time, horizon: horizon), sameId(written.conversationId, conversationId)
    else { return nil }
    return written.stamp.occurredAt
  }

  /// Whether the person has the conversation before their eyes (D1).
  func sees(_ conversationId: String, at time: Milliseconds, horizon: Milliseconds) -> Bool {
    activity(showing: conversationId, at: time, horizon: horizon) != nil
      || writing(in: conversationId, at: time, horizon: horizon) != nil
  }

  /// Whether the app is open on some device.
  func isInApp(at time: Milliseconds, horizon: Milliseconds) -> Bool {
    activities.contains { $0.state == .foreground && time - $0.stamp.occurredAt <= horizon }
      || currentWriting(at: time, horizon: horizon) != nil
  }

  private func currentWriting(at time: Milliseconds, horizon: Milliseconds) -> WrittenMessage? {
    guard let written, time - written.stamp.occurredAt <= horizon else { return nil }
    if let newest = activities.first, written.stamp < newest.stamp { return nil }
    return written
  }
}

extension PersonStep {
  /// Devices that have the conversation open at the record's time.
  func devices(showing conversationId: String) -> [String] {
    user.activities.filter {
      $0.state == .foreground && cause.occurredAt - $0.stamp.occurredAt <= rules.activityHorizon
        && $0.conversationId.map { sameId($0, conversationId) } ?? false
    }.map(\.deviceId)
  }
}
