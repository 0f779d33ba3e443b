public import NudgeCodec
import NudgeSchema

/// The state of a person that changes with every message. It does not grow with the number of conversations.
public struct UserRow: Encodable, Sendable, Equatable {
  /// The most devices with a stored report: those that reported last. Six take at most 8.2 kB with the longest ids.
  static let maxActivities = 6
  /// The most streams stored in addition: those that were opened or renewed last. They take at most 4.3 kB.
  static let maxStreams = 4
  /// The most reachable devices. With one more, the device that has been inactive for longest is dropped.
  static let maxDevices = 32
  /// The most bytes of all their ids together.
  static let maxDeviceIdBytes = 2_500

  /// The last report of each of the person's devices (D1) and their streams that answer banners (D22), newest first.
  var activities: [DeviceActivity] = []
  /// The window of the hourly limit (D4).
  var window: AnalysisWindow?
  /// The start of the window for which the person was told that the analyses are used up.
  var noticedWindow: Milliseconds?
  /// The number of conversations with unread messages.
  var unreadConversations = 0
  var unreadMessages = 0
  /// The badge of the last push; absent if some device has not received a badge.
  var toldBadge: Int?
  /// The ids of reachable devices in the order of registration. They are listed here so that finding them needs no scan.
  var devices: [String] = []
  /// true if the person has a row of learned preferences; absent otherwise.
  var hasTaught: Bool?
  /// The number of conversations with a row (`PersonContext.beginConversation`). Absent if a release without this count wrote the row.
  var conversations: Int?
  /// When the badge was last pushed for a message that is not shown.
  var badgeRaisedAt: Milliseconds?
  /// When a raised badge is pushed; absent if no timer is set.
  var badgeDueAt: Milliseconds?
  /// When the person catches up; absent if no timer is set.
  var catchUpAt: Milliseconds?
  /// true if messages wait for a catch-up, although all of them may have been read since. Without `catchUpAt` they wait for a device.
  /// Absent if none wait.
  var hasMissed: Bool?
  /// The alerts of the last days that a budget paid for; absent if there were none.
  var spentAlerts: SpentAlerts?
  /// When the person was deleted, if they have registered again. They are not notified of earlier messages. Absent for people who were not
  /// deleted.
  var erasedUpTo: Milliseconds?

  /// The policy's unit of the badge when the row was written; absent for conversations.
  var policyBadgeMode: BadgeMode?

  /// A person's first row. They have no conversations, so none need to be read for counting.
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
  /// The open conversation; absent if none is open.
  var conversationId: String?
  var stamp: EventStamp
  /// The last sign of a person at the device. Absent in rows of releases that did not store it; then the report's time counts.
  var personAt: Milliseconds?
  /// The device's window or tab; absent if it has only one.
  var tabId: String?

  /// The last sign of a person at the device.
  var lastSign: Milliseconds { personAt ?? stamp.occurredAt }
}

extension UserRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "user"
  /// Version 2 added the last badge, 3 whether the person has given feedback, 4 the number of conversations, 5 the times of badge pushes, 6
  /// the catch-up, 7 the alerts of the day, 8 when the person was deleted and signs of a person at a device, 9 the policy's unit of the
  /// badge.
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

/// The hourly limit (D4). A window begins with an analysis and ends one hour later, by the messages' own times.
///
/// A message that is older than the current window, such as one from a conversation's backlog, counts in the current window. So no window
/// exceeds its limit, in whatever order messages come.
struct AnalysisWindow: Encodable, Sendable, Equatable {
  static let length: Milliseconds = 3_600_000

  var startedAt: Milliseconds
  var used: Int

  /// Requests an analysis of a message of that time. Returns false if the limit is reached. A limit of 0 allows none; the window then
  /// begins with the first request.
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
  /// Updates the counters after a conversation's unread messages changed.
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

  /// The badge on the devices; nil if some device may show another. While a raise waits, devices that were told nothing
  /// show none.
  var shownBadge: Int? { badgeDueAt == nil ? toldBadge : toldBadge ?? 0 }

  /// The badge for a push that must not raise it, as after a read. While a raise waits, for the end of quiet hours or of
  /// a minute, it is at most what the devices show.
  func loweredBadge(_ mode: BadgeMode) -> Int {
    badgeDueAt == nil ? badge(mode) : min(badge(mode), shownBadge ?? 0)
  }
}
