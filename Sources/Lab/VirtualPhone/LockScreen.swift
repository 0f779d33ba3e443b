/// The notifications that a device shows: a later one with the same tag takes the place of an earlier one.
public struct LockScreen: Sendable, Equatable {
  /// A notification.
  public struct Entry: Sendable, Equatable, Codable {
    /// What a later one replaces it by.
    public var tag: String
    /// What it is grouped by: the conversation.
    public var thread: String
    /// The message it shows.
    public var messageId: String?
    /// The first line.
    public var title: String
    /// The text.
    public var body: String
    /// It has a picture.
    public var hasPicture: Bool
    /// It came with a sound; else silently.
    public var isAlert: Bool
    /// The push that brought it, as it is now.
    public var pushId: String
    /// When it came, in milliseconds since the epoch.
    public var at: Int64
    /// How often it was replaced.
    public var replaced: Int

    /// The notification of a push that came at a time, in milliseconds since the epoch.
    public init(_ visible: DeliveredMessage.Visible, of message: DeliveredMessage, at: Int64) {
      tag = visible.tag
      thread = visible.thread
      messageId = message.data["messageId"]
      title = visible.title
      body = visible.body
      hasPicture = visible.hasPicture
      isAlert = visible.isAlert
      pushId = message.pushId
      self.at = at
      replaced = 0
    }
  }

  /// Entries that are kept; of more the oldest go.
  public static let capacity = 30

  /// The newest first.
  public private(set) var entries: [Entry] = []

  /// A screen with nothing on it.
  public init() {}

  /// Shows a notification on top, in place of one with the same tag. Returns it as it is shown.
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

  /// Removes the notifications of a conversation; returns them.
  @discardableResult
  public mutating func remove(thread: String) -> [Entry] { remove { $0.thread == thread } }

  /// Removes the notification of a message; returns it.
  @discardableResult
  public mutating func remove(messageId: String) -> [Entry] { remove { $0.messageId == messageId } }

  /// Removes the notification with a tag; returns it.
  @discardableResult
  public mutating func remove(tag: String) -> [Entry] { remove { $0.tag == tag } }

  /// Removes all; returns them.
  @discardableResult
  public mutating func clear() -> [Entry] { remove { _ in true } }

  /// The notifications by conversation, the one with the newest first, the newest of each first.
  public var threads: [[Entry]] {
    var order: [String] = []
    var byThread: [String: [Entry]] = [:]
    for entry in entries {
      if byThread[entry.thread] == nil { order.append(entry.thread) }
      byThread[entry.thread, default: []].append(entry)
    }
    return order.compactMap { byThread[$0] }
  }

  private mutating func remove(where isGone: (Entry) -> Bool) -> [Entry] {
    let removed = entries.filter(isGone)
    if !removed.isEmpty { entries.removeAll(where: isGone) }
    return removed
  }
}
