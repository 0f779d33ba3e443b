import NudgeSchema

/// The state of a person that changes with every message. It does not grow with the number of conversations.
public struct UserRow: Codable, Sendable, Equatable {
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
struct DeviceActivity: Codable, Sendable, Equatable {
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
