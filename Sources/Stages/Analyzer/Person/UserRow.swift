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

extension UserRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "user"
  /// 2 has the badge that was told, 3 whether the person has taught something, 4 the number of conversations, 5 the times of
  /// badge pushes, 6 the catch-up, 7 the alerts of the day, 8 when the person was deleted
  /// and signs of a person at a device, 9 how the policy counts badges.
  public static var versions: RowVersions { RowVersions(9) }

  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    // The last message the person wrote, which earlier releases kept as a sign of presence.
    var written: WrittenMessage?
    try row.optional(&written)
    try row.optional(&window)
    try row.optional(&noticedWindow)
    try row.optional(&toldBadge)
    row.mark(&hasTaught)
    try row.optional(&conversations)
    try row.optional(&badgeRaisedAt)
    try row.optional(&badgeDueAt)
    try row.optional(&catchUpAt)
    row.mark(&hasMissed)
    try row.optional(&spentAlerts)
    try row.optional(&erasedUpTo)
    let hasSigns = row.flag(activities.contains { $0.personAt != nil || $0.tabId != nil })
    if row.flag(policyBadgeMode == .messages) { policyBadgeMode = .messages }
    try row.field(&unreadConversations)
    try row.field(&unreadMessages)
    try row.field(&devices)
    try row.field(&activities, as: ActivitiesForm(hasSigns: hasSigns))
  }
}

private struct WrittenMessage: PackedFields {
  var conversationId = ""
  var stamp = EventStamp.blank

  static var blank: Self { Self() }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&conversationId)
    try row.field(&stamp)
  }
}

/// Without signs of a person, which come behind all of them.
extension DeviceActivity: PackedFields {
  static var blank: Self { Self(deviceId: "", state: .background, stamp: .blank) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&deviceId)
    try row.field(&state)
    try row.field(&conversationId)
    try row.field(&stamp)
  }
}

private struct ActivitiesForm: PackedForm {
  var hasSigns: Bool

  /// The signs of a person at a device.
  private struct Signs: PackedFields {
    var activity: DeviceActivity

    static var blank: Self { Self(activity: .blank) }

    mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
      try row.flags()
      try row.optional(&activity.personAt)
      try row.optional(&activity.tabId)
    }
  }

  func read(from row: inout RowReader) throws(RowFormatError) -> [DeviceActivity] {
    var activities = try [DeviceActivity](packed: &row)
    guard hasSigns else { return activities }
    for index in activities.indices {
      var signs = Signs(activity: activities[index])
      try signs.read(from: &row)
      activities[index] = signs.activity
    }
    return activities
  }

  func write(_ activities: [DeviceActivity], into row: inout RowWriter) {
    activities.pack(into: &row)
    guard hasSigns else { return }
    for activity in activities { Signs(activity: activity).pack(into: &row) }
  }
}

extension AnalysisWindow: PackedFields {
  static var blank: Self { Self(startedAt: 0, used: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&startedAt)
    try row.field(&used)
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
