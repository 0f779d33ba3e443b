import Foundation

/// Decides what the app does with a push, an in-app banner or a notice that has arrived.
///
/// It knows the signed-in user, whether the app is in the foreground, the open conversation, the read marks, and the
/// messages that it has presented. So each message gets only one banner, by push or inside the app.
///
/// ```swift
/// var presenter = NotificationPresenter(userId: "ann", isForeground: true, openConversationId: "c1")
/// switch presenter.receive(push) {
/// case .present(let options, let badge): …           // .banner, .list, .sound, .badge
/// case .setBadge(let badge): …
/// case .removeNotifications(let mark, let badge): …  // see ReadMark.covered(in:)
/// case .removeNotification(_, let messageId, let badge): …
/// case .presentCatchUp(let catchUp, let options, let badge): …
/// case .removeCatchUp(let pushId, let badge): …
/// case .synchronize: …                               // see messagesDeleted()
/// case .drop(let reason): …
/// }
/// if presenter.admits(banner) { perform(banners.receive(.message(banner), at: now)) }
/// ```
public struct NotificationPresenter: Sendable {
  /// The app's reaction to a push.
  public enum Action: Sendable, Equatable {
    /// Present the message with these options, in place of an earlier notification of the same message. Set the badge to
    /// the number, if there is one.
    case present(PresentationOptions, badge: Int?)
    /// Present nothing; set the badge.
    case setBadge(Int)
    /// Remove the notifications and banners that the mark covers, and set the badge.
    case removeNotifications(ReadMark, badge: Int)
    /// Remove the notification and banner of this message, and set the badge. The notification has the id
    /// ``NotificationId/message(_:in:)``. On Android also remove the one with ``NotificationId/conversation(_:)``,
    /// which may show the message's text.
    case removeNotification(conversationId: String, messageId: String, badge: Int)
    /// Present the catch-up with these options. In the foreground show its list inside the app. Set the badge to the
    /// number, if there is one.
    case presentCatchUp(CatchUp, PresentationOptions, badge: Int?)
    /// All messages of a catch-up are read: remove its notification, whose id is the push's (``PushPayload/pushId``),
    /// and set the badge.
    case removeCatchUp(pushId: String, badge: Int)
    /// FCM has discarded pushes for this device: fetch conversations and unread messages from your backend, and set the
    /// badge.
    case synchronize
    /// Do nothing.
    case drop(DropReason)
  }

  /// Why the app does nothing with a push.
  public enum DropReason: Sendable, Equatable {
    /// The push is for a user who is not signed in on this device.
    case otherRecipient
    /// The user has its conversation open.
    case openConversation
    /// The message was presented before, and the push has no badge.
    case alreadyShown
    /// The message was deleted before this push arrived, and the push has no badge.
    case takenBack
    /// The user has read the message on another device, and the push has no badge.
    case alreadyRead
  }

  /// The signed-in user. While it is nil, every push is dropped.
  public private(set) var userId: String?
  /// Whether the app is in the foreground.
  public var isForeground: Bool
  /// The conversation on the screen. It counts only in the foreground.
  public var openConversationId: String?
  /// Whether a real-time channel for in-app banners is connected. Without one, a silent push is shown as a banner while
  /// the app is in the foreground.
  public var hasLiveChannel: Bool

  // Messages that had a banner, or a notification while the app was in the background.
  private var announced = RecentIds()
  // Messages listed without a banner while the app was in the foreground. Their in-app banner may still arrive.
  private var listed = RecentIds()
  // FCM does not keep order: a message or its edit may arrive after the push that deletes it or marks it as read.
  private var deleted = RecentIds()
  private var readMarks = RecentMarks()
  private var notices = RecentIds()
  private var endedCatchUps = RecentIds()

  /// A presenter for the signed-in user; nil while nobody is.
  public init(
    userId: String?, isForeground: Bool, openConversationId: String? = nil, hasLiveChannel: Bool = false
  ) {
    self.userId = userId
    self.hasLiveChannel = hasLiveChannel
    self.isForeground = isForeground
    self.openConversationId = openConversationId
  }

  /// Another user has signed in, or nobody is signed in any more. Forgets everything about the former user.
  public mutating func userChanged(to userId: String?) {
    guard userId != self.userId else { return }
    self = NotificationPresenter(userId: userId, isForeground: isForeground, hasLiveChannel: hasLiveChannel)
  }

  /// A push has arrived.
  public mutating func receive(_ push: PushPayload) -> Action {
    guard let userId, push.recipientId == userId else { return .drop(.otherRecipient) }
    switch push.content {
    case .badge(let badge):
      return .setBadge(badge)
    case .read(let mark, let badge):
      readMarks.insert(mark)
      return .removeNotifications(mark, badge: badge)
    case .deleted(let conversationId, let messageId, let badge):
      _ = deleted.insert(NotificationId.message(messageId, in: conversationId))
      return .removeNotification(conversationId: conversationId, messageId: messageId, badge: badge)
    case .catchUp(let catchUp):
      return receive(catchUp, of: push)
    case .catchUpEnded(let badge):
      _ = endedCatchUps.insert(push.pushId)
      return .removeCatchUp(pushId: push.pushId, badge: badge)
    case .message(let message):
      return receive(message, of: push)
    }
  }

  private mutating func receive(_ catchUp: CatchUp, of push: PushPayload) -> Action {
    let rest = catchUp.without { line in
      deleted.contains(NotificationId.message(line.messageId, in: line.conversationId))
        || readMarks.cover(line.messageId, in: line.conversationId, sentAt: nil)
    }
    // All its messages are read. FCM does not keep order, so such a catch-up may still arrive.
    if endedCatchUps.contains(push.pushId) || rest.lines.isEmpty && catchUp.lines.count == catchUp.messages {
      return push.badge.map(Action.setBadge) ?? .drop(.alreadyRead)
    }
    let presentation = catchUp.presentation
    return .presentCatchUp(
      rest, isForeground ? presentation.foreground : presentation.background, badge: push.badge)
  }

  private mutating func receive(_ message: PushPayload.Message, of push: PushPayload) -> Action {
    func present(nothingBecause reason: DropReason) -> Action { push.badge.map(Action.setBadge) ?? .drop(reason) }
    // Message ids are unique within their conversation only.
    let id = NotificationId.message(message.messageId, in: message.conversationId)
    if deleted.contains(id) { return present(nothingBecause: .takenBack) }
    if isForeground, message.conversationId == openConversationId { return .drop(.openConversation) }
    if readMarks.cover(message.messageId, in: message.conversationId, sentAt: push.timestamp) {
      return present(nothingBecause: .alreadyRead)
    }
    let presentation = message.presentation
    let isRepeat = presentation != .badge && (announced.contains(id) || listed.contains(id))
    // The system replaces the notification of an edited message, so it is presented again.
    guard !isRepeat || message.replaces else { return present(nothingBecause: .alreadyShown) }
    var options = isForeground ? presentation.foreground : presentation.background
    switch presentation {
    case .badge: break
    case .silent where isForeground && (hasLiveChannel || message.replaces): _ = listed.insert(id)
    case .silent where isForeground:
      options.insert(.banner)
      _ = announced.insert(id)
    case .alert, .silent: _ = announced.insert(id)
    }
    return .present(options, badge: push.badge)
  }

  /// FCM has discarded this device's stored pushes because there were more than 100: Android's `onDeletedMessages`.
  public func messagesDeleted() -> Action { userId == nil ? .drop(.otherRecipient) : .synchronize }

  /// The user has read a conversation up to a mark on this device, for example with Mark Read. Pushes of messages that
  /// the mark covers are no longer presented.
  public mutating func conversationRead(_ mark: ReadMark) {
    readMarks.insert(mark)
  }

  /// A message was deleted, as reported by `GET /v1/live`. Its banner or push is no longer presented.
  public mutating func messageWithdrawn(_ messageId: String, in conversationId: String) {
    _ = deleted.insert(NotificationId.message(messageId, in: conversationId))
  }

  /// An in-app banner has arrived. Returns whether to show it: `BannerQueue.receive(_:at:)` with `.message`.
  public mutating func admits(_ banner: InAppBanner) -> Bool {
    let id = NotificationId.message(banner.messageId, in: banner.conversationId)
    guard let userId, banner.userId == userId, banner.senderId != userId, isForeground,
      banner.conversationId != openConversationId, !deleted.contains(id),
      !readMarks.cover(banner.messageId, in: banner.conversationId, sentAt: banner.sentAt)
    else { return false }
    return announced.insert(id)
  }

  /// A notice has arrived. Returns whether to show it: `BannerQueue.receive(_:at:)` with `.notice`.
  public mutating func admits(_ notice: InAppNotice) -> Bool {
    guard let userId, notice.userId == userId, isForeground else { return false }
    return notices.insert(notice.noticeId)
  }
}

/// How the system presents a notification. The names are those of `UNNotificationPresentationOptions`, to which an app
/// converts them.
///
/// ```swift
/// let pairs: [(PresentationOptions, UNNotificationPresentationOptions)] =
///   [(.banner, .banner), (.list, .list), (.sound, .sound), (.badge, .badge)]
/// completionHandler(pairs.filter { options.contains($0.0) }.reduce(into: []) { $0.insert($1.1) })
/// ```
public struct PresentationOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Options from their bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A banner at the top of the screen.
  public static let banner = PresentationOptions(rawValue: 1)
  /// An entry in the notification list.
  public static let list = PresentationOptions(rawValue: 2)
  /// The notification sound.
  public static let sound = PresentationOptions(rawValue: 4)
  /// The number on the app's icon.
  public static let badge = PresentationOptions(rawValue: 8)
}

extension PushPayload.Presentation {
  /// The options while the app is in the foreground. ``NotificationPresenter`` adds a banner for a silent message if no
  /// real-time channel delivers one.
  public var foreground: PresentationOptions {
    switch self {
    case .alert: [.banner, .sound, .badge]
    case .silent: [.list, .badge]
    case .badge: [.badge]
    }
  }

  /// The options while the app is in the background or not running.
  public var background: PresentationOptions {
    switch self {
    case .alert: [.banner, .list, .sound, .badge]
    case .silent: [.list, .badge]
    case .badge: [.badge]
    }
  }
}

/// The last 256 ids that were handled. The same message arrives through another channel within seconds or minutes, so
/// 256 ids are enough to recognise it.
struct RecentIds: Sendable {
  private static let capacity = 256
  private var ids: [String] = []

  func contains(_ id: String) -> Bool { ids.contains(id) }

  /// Adds an id, and forgets the oldest if there are too many. Returns false if the id was known.
  mutating func insert(_ id: String) -> Bool {
    guard !ids.contains(id) else { return false }
    if ids.count == Self.capacity { ids.removeFirst() }
    ids.append(id)
    return true
  }
}

/// The latest read mark of each of the 256 conversations that were read last.
struct RecentMarks: Sendable {
  private static let capacity = 256
  private var marks: [ReadMark] = []

  /// Adds a mark, which replaces an earlier one of its conversation.
  mutating func insert(_ mark: ReadMark) {
    if let former = marks.firstIndex(where: { $0.conversationId == mark.conversationId }) {
      // FCM does not keep order: a late, older mark must not replace a newer one.
      if let time = marks[former].time, let later = mark.time, later < time { return }
      marks.remove(at: former)
    } else if marks.count == Self.capacity {
      marks.removeFirst()
    }
    marks.append(mark)
  }

  /// Whether a mark covers the message.
  func cover(_ messageId: String, in conversationId: String, sentAt: Date?) -> Bool {
    marks.contains { $0.covers(messageId: messageId, in: conversationId, sentAt: sentAt) }
  }
}
