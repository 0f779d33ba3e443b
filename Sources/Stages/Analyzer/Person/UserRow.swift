public import NudgeCodec
import NudgeSchema

/// The state of a person that changes with every message. It does not grow with the number of conversations.
public struct UserRow: Encodable, Sendable, Equatable {
  /// Devices whose activity is kept: the last to report. Six take at most 8.2 kB, with the longest ids.
  static let maxActivities = 6
  /// Streams that are kept beside them: those that opened or were renewed last. They take at most 4.3 kB.
  static let maxStreams = 4
  /// Devices that can be reached. One more, and the one not seen for longest is dropped.
  static let maxDevices = 32
  /// Bytes of all their ids together.
  static let maxDeviceIdBytes = 2_500

  /// The last report of each of the person's devices (D1), and their streams that answer banners (D22), newest first.
  var activities: [DeviceActivity] = []
  /// The hourly limit's window (D4).
  var window: AnalysisWindow?
  /// The start of the window whose end of analyses the person was told of.
  var noticedWindow: Milliseconds?
  /// Conversations with something unread.
  var unreadConversations = 0
  var unreadMessages = 0
  /// The badge of the last push; nil: a device has not been told a badge.
  var toldBadge: Int?
  /// Ids of the devices that can be reached, in the order they were registered: finding them costs no scan.
  var devices: [String] = []
  /// True: the person has a row of learned preferences; nil: none.
  var hasTaught: Bool?
  /// Conversations of which there is a row (`PersonContext.beginConversation`); nil: a release before there was a count wrote the row.
  var conversations: Int?
  /// When the devices were last told that a message which is not shown raised the badge.
  var badgeRaisedAt: Milliseconds?
  /// When the devices are to be told of a raised badge; nil: no timer is set.
  var badgeDueAt: Milliseconds?
  /// When the person catches up; nil: no timer is set.
  var catchUpAt: Milliseconds?
  /// True: there are rows of messages that wait for a catch-up, unless all of them were read. Without `catchUpAt` they wait for a
  /// device. nil: there are none.
  var hasMissed: Bool?
  /// The alerts of the last days that a budget paid for; nil: there were none.
  var spentAlerts: SpentAlerts?
  /// When the person was deleted, where they registered again: of messages from before they are told nothing. Absent until then.
  var erasedUpTo: Milliseconds?

  /// How the policy counted badges when the row was written; absent: by conversations.
  var policyBadgeMode: BadgeMode?

  /// A person's first row: there is no conversation, and so nothing that would have to be read to count them.
  static var first: UserRow {
    var row = UserRow()
    row.conversations = 0
    return row
  }
}

/// A device's last report.
struct DeviceActivity: Encodable, Sendable, Equatable {
  var deviceId: String
  var state: Activity.State
  /// The open conversation; nil: none.
  var conversationId: String?
  var stamp: EventStamp
  /// The last sign of a person at the device; absent in rows of releases that did not keep it: that of the report.
  var personAt: Milliseconds?
  /// Which of the device's windows or tabs it is; nil: it has one.
  var tabId: String?

  /// The last sign of a person there.
  var lastSign: Milliseconds { personAt ?? stamp.occurredAt }
}

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

/// The hourly limit (D4): a window begins with an analysis and restarts one hour after it, by the messages' own times.
///
/// A message that is older than the window it is decided in (a conversation's backlog behind another's) counts in the
/// current one: no window has more than its limit, whatever the order.
struct AnalysisWindow: Encodable, Sendable, Equatable {
  static let length: Milliseconds = 3_600_000

  var startedAt: Milliseconds
  var used: Int

  /// Asks for an analysis of a message of that time. False: the limit is reached. A limit of 0 allows none; then the
  /// window begins with the first that is refused.
  static func take(_ window: inout AnalysisWindow?, at time: Milliseconds, limit: Int) -> Bool {
    var current = window ?? AnalysisWindow(startedAt: time, used: 0)
    if time - current.startedAt >= length { current = AnalysisWindow(startedAt: time, used: 0) }
    let allowed = current.used < limit
    if allowed { current.used += 1 }
    window = current
    return allowed
  }
}

extension UserRow {
  /// Brings the counters in line with a conversation whose unread messages changed.
  mutating func count(unreadBefore before: Int, after: Int) {
    unreadMessages += after - before
    if before == 0 && after > 0 { unreadConversations += 1 }
    if before > 0 && after == 0 { unreadConversations -= 1 }
  }

  /// The number that the badge shows (D6).
  func badge(_ mode: BadgeMode) -> Int {
    switch mode {
    case .conversations: unreadConversations
    case .messages: unreadMessages
    }
  }
}
