public import Foundation

/// The number on the app's icon, counted on the device (C9).
///
/// Each call that may change the number returns the number to set.
///
/// ```swift
/// var badge = BadgeCounter(mode: .conversations)
/// setBadge(badge.refresh(unreadMessages: ["c1": 2]))                          // at launch
/// setBadge(badge.received(messageId: "m3", in: "c2", sentAt: push.timestamp))
/// setBadge(badge.received(push))                                              // counts its message, and takes its number
/// setBadge(badge.opened("c1"))
/// ```
public struct BadgeCounter: Sendable {
  /// The unit that the badge counts: the user's preference `badgeMode`.
  public enum Mode: String, Sendable, Codable {
    /// Conversations with unread messages.
    case conversations
    /// Unread messages.
    case messages
  }

  private struct Unread: Sendable {
    /// Unread messages of the list that was loaded at launch.
    var loaded = 0
    /// Unread messages that arrived since, in the order of arrival.
    var arrived: [ReadMark.SentMessage] = []
    var count: Int { loaded + arrived.count }
  }

  private var mode: Mode
  /// Unread messages by conversation; no entry has a count of 0.
  private var unread: [String: Unread] = [:]
  // Push and real-time channel may deliver the same message in any order, one of them possibly after it was read.
  private var counted = RecentIds()
  private var openConversationId: String?
  /// The services' number minus this device's. It is positive for messages that this device has not received, and
  /// negative until the device learns of a read on another device.
  private var difference = 0

  /// A counter with nothing unread.
  public init(mode: Mode = .conversations) {
    self.mode = mode
  }

  /// The number to show; 0 when everything is read.
  public var value: Int { max(0, counted(in: mode) + difference) }

  private func counted(in mode: Mode) -> Int {
    switch mode {
    case .conversations: unread.count
    case .messages: unread.values.reduce(0) { $0 + $1.count }
    }
  }

  /// A message of another user has arrived. It counts once, but not in the open conversation. `sentAt` is the push's
  /// `timestamp`, by which a later read mark can cover the message.
  public mutating func received(messageId: String, in conversationId: String, sentAt: Date? = nil) -> Int {
    if counted.insert(NotificationId.message(messageId, in: conversationId)), conversationId != openConversationId {
      unread[conversationId, default: Unread()].arrived.append(
        ReadMark.SentMessage(messageId: messageId, sentAt: sentAt))
    }
    return value
  }

  /// The services report their number, which includes messages that this device has not received. Later calls count
  /// from it.
  public mutating func reported(_ badge: Int) -> Int {
    difference = badge - counted(in: mode)
    return value
  }

  /// The former name of ``reported(_:)``.
  @available(*, deprecated, renamed: "reported(_:)")
  public mutating func told(_ badge: Int) -> Int { reported(badge) }

  /// A push has arrived and was not dropped. Counts its message, or removes what it reports as read or deleted; then
  /// adopts its number.
  public mutating func received(_ push: PushPayload) -> Int {
    switch push.content {
    case .message(let message):
      _ = received(messageId: message.messageId, in: message.conversationId, sentAt: push.timestamp)
    case .badge:
      // The push of a message that only changes the badge.
      if let conversationId = push.conversationId, let messageId = push.messageId {
        _ = received(messageId: messageId, in: conversationId, sentAt: push.timestamp)
      }
    case .read(let mark, _): _ = read(mark)
    case .deleted(let conversationId, let messageId, _): remove(messageId, from: conversationId)
    case .catchUp, .catchUpEnded: break
    }
    return push.badge.map { reported($0) } ?? value
  }

  /// The app was launched: the icon shows this number, and these pushes are in the notification centre.
  public mutating func launched(showing number: Int, delivered: [PushPayload]) -> Int {
    for push in delivered { _ = received(push) }
    return reported(number)
  }

  private mutating func remove(_ messageId: String, from conversationId: String) {
    guard var conversation = unread[conversationId] else { return }
    conversation.arrived.removeAll { $0.messageId == messageId }
    unread[conversationId] = conversation.count > 0 ? conversation : nil
  }

  /// The whole conversation was read.
  public mutating func read(_ conversationId: String) -> Int {
    unread[conversationId] = nil
    return value
  }

  /// A conversation was read up to a mark, here or on another device. Newer messages stay unread.
  public mutating func read(_ mark: ReadMark) -> Int {
    guard var conversation = unread[mark.conversationId] else { return value }
    let isCovered = mark.covers(conversation.arrived)
    conversation.arrived = zip(conversation.arrived, isCovered).filter { !$0.1 }.map { $0.0 }
    conversation.loaded = 0
    unread[mark.conversationId] = conversation.count > 0 ? conversation : nil
    return value
  }

  /// A conversation is on the screen: it is read, and messages that arrive in it are read until it closes.
  public mutating func opened(_ conversationId: String) -> Int {
    openConversationId = conversationId
    return read(conversationId)
  }

  /// No conversation is on the screen, or the app is in the background.
  public mutating func closed() {
    openConversationId = nil
  }

  /// The list of conversations was loaded, as at every launch. It replaces all former counts: a conversation that is
  /// not in the list has no unread messages.
  public mutating func refresh(unreadMessages: [String: Int]) -> Int {
    unread = unreadMessages.filter { $0.value > 0 && $0.key != openConversationId }.mapValues { Unread(loaded: $0) }
    difference = 0
    return value
  }

  /// The user has changed what the badge counts.
  public mutating func modeChanged(to mode: Mode) -> Int {
    self.mode = mode
    // The services' number in the former mode does not apply to the new one.
    difference = 0
    return value
  }

  /// The user has signed out. Returns 0.
  public mutating func signedOut() -> Int {
    self = BadgeCounter(mode: mode)
    return value
  }
}
