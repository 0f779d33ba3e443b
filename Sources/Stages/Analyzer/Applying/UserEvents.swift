import NudgeSchema

extension PersonContext {
  /// An event of the person or their app.
  mutating func process(_ body: UserEventBody, zones: inout TimeZones) throws {
    switch body {
    case .activity(let activity): try report(activity)
    case .read(let read): try self.read(read)
    case .preferences(let update): try change(update.preferences, zones: &zones)
    case .deviceRegistered, .deviceUnregistered:
      // They reach the timeline by way of the claims only, as `deviceGained` and `deviceLost`.
      break
    case .feedback(let feedback): try judge(feedback)
    // Only a device acted, not the person: it teaches nothing.
    case .notificationReceived(let report): try receive(report, .arrived)
    case .notificationOpened(let report):
      seePerson(on: report.deviceId, in: report.conversationId ?? "")
      try react(report, .opened)
      try receive(report, .opened)
    case .notificationDismissed(let report):
      try react(report, .dismissed)
      try receive(report, .dismissed)
    case .deleted: break
    }
  }
}
