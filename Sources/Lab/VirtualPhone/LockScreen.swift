import Foundation
public import NudgeClient

/// The notifications that a device shows. A later one with the same tag replaces an earlier one.
public struct LockScreen: Sendable, Equatable {
  public struct Entry: Sendable, Equatable, Codable {
    /// A later notification with the same tag replaces this one.
    public var tag: String
    /// The conversation that notifications are grouped by.
    public var thread: String
    /// The message it shows. Absent if the push names none.
    public var messageId: String?
    /// The first line.
    public var title: String
    public var body: String
    /// Whether it shows a picture.
    public var hasPicture: Bool
    /// How the device presented it: `alert` with a sound, `silent` without.
    public var presentation: PushPayload.Presentation
    /// The push that brought its present text.
    public var pushId: String
    /// When it arrived, in milliseconds since the epoch.
    public var at: Int64
    /// When its message was sent, in seconds since the epoch.
    public var sentAt: Int64?
    /// How many later pushes have replaced it.
    public var replaced: Int

    /// The notification of a push that arrived at a time, in milliseconds since the epoch.
    public init(_ visible: DeliveredMessage.Visible, of message: DeliveredMessage, at: Int64) {
      tag = visible.tag
      thread = visible.thread
      messageId = message.data["messageId"]
      title = visible.title
      body = visible.body
      hasPicture = visible.hasPicture
      presentation = visible.isAlert ? .alert : .silent
      pushId = message.pushId
      self.at = at
      sentAt = message.data["timestamp"].flatMap { Int64($0) }
      replaced = 0
    }

    /// The notification that the app makes of a banner that was never shown, at a time in milliseconds since the epoch.
    init(_ banner: InAppBanner, at: Int64) {
      tag = NotificationId.message(banner.messageId, in: banner.conversationId)
      thread = banner.conversationId
      messageId = banner.messageId
      title = [banner.senderName, banner.subtitle(.english)].compactMap(\.self).joined(separator: " ")
      body = banner.preview
      hasPicture = false
      presentation = .silent
      pushId = banner.pushId ?? ""
      self.at = at
      sentAt = banner.occurredAt / 1_000
      replaced = 0
    }

    /// Whether it came with a banner and a sound.
    public var isAlert: Bool { presentation == .alert }
  }

  /// The most entries on the screen. A further one replaces the oldest.
  public static let capacity = 50
  /// The most notifications of an app that Android shows. It drops every further one.
  public static let mostOnAndroid = 50

  /// The notifications, newest first.
  public private(set) var entries: [Entry] = []

  public init() {}

  /// Shows a notification on top, in place of one with the same tag. Returns the entry as shown.
  @discardableResult
  public mutating func show(_ entry: Entry) -> Entry {
    var entry = entry
    if let former = entries.firstIndex(where: { $0.tag == entry.tag }) {
      entry.replaced = entries.remove(at: former).replaced + 1
    }
    entries.insert(entry, at: 0)
    if entries.count > Self.capacity { entries.removeLast() }
    return entry
  }

  /// Removes the notifications that a read mark covers, and returns them.
  @discardableResult
  public mutating func remove(_ mark: ReadMark) -> [Entry] {
    let thread = Array(entries.filter { $0.thread == mark.conversationId }.reversed())
    let isCovered = mark.covers(
      thread.map { entry in
        ReadMark.SentMessage(
          messageId: entry.messageId ?? "",
          sentAt: entry.sentAt.map { Date(timeIntervalSince1970: TimeInterval($0)) })
      })
    let tags = Set(zip(thread, isCovered).filter { $0.1 }.map { $0.0.tag })
    return remove { tags.contains($0.tag) }
  }

  /// Removes the notification of a message, and returns it. Message ids are unique within their conversation only.
  @discardableResult
  public mutating func remove(messageId: String, in conversationId: String) -> [Entry] {
    remove { $0.messageId == messageId && $0.thread == conversationId }
  }

  /// Whether Android drops another notification with this tag.
  public func isFull(for tag: String) -> Bool {
    entries.count >= Self.mostOnAndroid && !entries.contains { $0.tag == tag }
  }

  /// Removes the notification with a tag, and returns it.
  @discardableResult
  public mutating func remove(tag: String) -> [Entry] { remove { $0.tag == tag } }

  /// Removes all notifications, and returns them.
  @discardableResult
  public mutating func clear() -> [Entry] { remove { _ in true } }

  private mutating func remove(where isRemoved: (Entry) -> Bool) -> [Entry] {
    let removed = entries.filter(isRemoved)
    if !removed.isEmpty { entries.removeAll(where: isRemoved) }
    return removed
  }
}
