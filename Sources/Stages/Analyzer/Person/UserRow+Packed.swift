public import NudgeCodec
import NudgeSchema

extension UserRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "user"
  /// 2 has the badge that was told, 3 whether the person has taught something, 4 the number of conversations, 5 the times of
  /// badge pushes, 6 the catch-up, 7 the alerts of the day, 8 when the person was deleted
  /// and signs of a person at a device, 9 how the policy counts badges.
  public static var versions: RowVersions { RowVersions(9) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() {
      // The last message the person wrote, which earlier releases kept as a sign of presence.
      _ = try row.text()
      _ = try row.stamp()
    }
    if flags.take() { window = AnalysisWindow(startedAt: try row.signed(), used: Int(try row.signed())) }
    if flags.take() { noticedWindow = try row.signed() }
    if flags.take() { toldBadge = Int(try row.signed()) }
    if flags.take() { hasTaught = true }
    if flags.take() { conversations = Int(try row.signed()) }
    if flags.take() { badgeRaisedAt = try row.signed() }
    if flags.take() { badgeDueAt = try row.signed() }
    if flags.take() { catchUpAt = try row.signed() }
    if flags.take() { hasMissed = true }
    if flags.take() {
      let day = Int(try row.signed())
      var used: [Int] = []
      for _ in 0..<(try row.count()) { used.append(Int(try row.signed())) }
      spentAlerts = SpentAlerts(day: day, used: used)
    }
    if flags.take() { erasedUpTo = try row.signed() }
    let hasSigns = flags.take()
    if flags.take() { policyBadgeMode = .messages }
    unreadConversations = Int(try row.signed())
    unreadMessages = Int(try row.signed())
    for _ in 0..<(try row.count()) { devices.append(try row.text()) }
    for _ in 0..<(try row.count()) {
      let deviceId = try row.text()
      let state = try row.choice(of: Activity.State.allCases)
      let conversationId: String? = try row.byte() == 0 ? nil : try row.text()
      activities.append(
        DeviceActivity(deviceId: deviceId, state: state, conversationId: conversationId, stamp: try row.stamp()))
    }
    guard hasSigns else { return }
    for index in activities.indices {
      var flags = RowFlags(bits: try row.unsigned())
      if flags.take() { activities[index].personAt = try row.signed() }
      if flags.take() { activities[index].tabId = try row.text() }
    }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(false)
    flags.add(window != nil)
    flags.add(noticedWindow != nil)
    flags.add(toldBadge != nil)
    flags.add(hasTaught == true)
    flags.add(conversations != nil)
    flags.add(badgeRaisedAt != nil)
    flags.add(badgeDueAt != nil)
    flags.add(catchUpAt != nil)
    flags.add(hasMissed == true)
    flags.add(spentAlerts != nil)
    flags.add(erasedUpTo != nil)
    let hasSigns = activities.contains { $0.personAt != nil || $0.tabId != nil }
    flags.add(hasSigns)
    flags.add(policyBadgeMode == .messages)
    row.unsigned(flags.bits)
    if let window {
      row.signed(window.startedAt)
      row.signed(window.used)
    }
    if let noticedWindow { row.signed(noticedWindow) }
    if let toldBadge { row.signed(toldBadge) }
    if let conversations { row.signed(conversations) }
    if let badgeRaisedAt { row.signed(badgeRaisedAt) }
    if let badgeDueAt { row.signed(badgeDueAt) }
    if let catchUpAt { row.signed(catchUpAt) }
    if let spentAlerts {
      row.signed(spentAlerts.day)
      row.count(spentAlerts.used.count)
      for used in spentAlerts.used { row.signed(used) }
    }
    if let erasedUpTo { row.signed(erasedUpTo) }
    row.signed(unreadConversations)
    row.signed(unreadMessages)
    row.count(devices.count)
    for device in devices { row.text(device) }
    row.count(activities.count)
    for activity in activities {
      row.text(activity.deviceId)
      row.choice(activity.state, of: Activity.State.allCases)
      row.byte(activity.conversationId == nil ? 0 : 1)
      if let conversationId = activity.conversationId { row.text(conversationId) }
      row.stamp(activity.stamp)
    }
    guard hasSigns else { return }
    for activity in activities {
      var flags = RowFlags()
      flags.add(activity.personAt != nil)
      flags.add(activity.tabId != nil)
      row.unsigned(flags.bits)
      if let personAt = activity.personAt { row.signed(personAt) }
      if let tabId = activity.tabId { row.text(tabId) }
    }
  }
}
