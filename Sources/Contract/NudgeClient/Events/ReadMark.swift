public import Foundation

/// How far a conversation has been read.
///
/// A mark covers the message it names and every older message of the conversation, but no newer one. So a notification
/// that arrived after the person had read stays on the screen.
///
/// ```swift
/// // Remove what a `.removeNotifications(mark, badge:)` covers from the notification centre.
/// let delivered = await center.deliveredNotifications().sorted { $0.date < $1.date }
/// let pushes = delivered.map { try? PushPayload(userInfo: $0.request.content.userInfo) }
/// let gone = Set(mark.covered(in: pushes.compactMap(\.self)).map(\.pushId))
/// let identifiers = zip(delivered, pushes)
///   .filter { gone.contains($1?.pushId ?? "") }.map { $0.0.request.identifier }
/// center.removeDeliveredNotifications(withIdentifiers: identifiers)
/// ```
public struct ReadMark: Sendable, Equatable {
  /// The conversation that was read.
  public let conversationId: String
  /// The last message read. Nil if the push or event names none; then only `time` decides.
  public let messageId: String?
  /// When that message was sent, to the second; without `messageId`, when the conversation was read. A mark with
  /// neither covers the whole conversation.
  public let time: Date?

  /// A mark at a message, or at a time.
  public init(conversationId: String, messageId: String? = nil, time: Date? = nil) {
    self.conversationId = conversationId
    self.messageId = messageId
    self.time = time
  }

  /// The pushes that the mark covers. `delivered` has those in the notification centre in the order of arrival, oldest
  /// first.
  public func covered(in delivered: [PushPayload]) -> [PushPayload] {
    let messages = delivered.filter { push in
      if case .message(let message) = push.content { message.conversationId == conversationId } else { false }
    }
    let isCovered = covers(messages.map { SentMessage(messageId: $0.messageId ?? "", sentAt: $0.timestamp) })
    return zip(messages, isCovered).filter { $0.1 }.map { $0.0 }
  }

  /// Whether the mark certainly covers a message, judged without its neighbours: the message is the last one read, or
  /// was sent in an earlier second.
  func covers(messageId: String, in conversationId: String, sentAt: Date?) -> Bool {
    guard conversationId == self.conversationId else { return false }
    if messageId == self.messageId { return true }
    guard let time, let sentAt else { return false }
    return Self.second(sentAt) < Self.second(time)
  }

  private static func second(_ time: Date) -> Double { time.timeIntervalSince1970.rounded(.down) }

  /// A message of the conversation and the time it was sent.
  public struct SentMessage: Sendable, Equatable {
    /// The message's id.
    public let messageId: String
    /// When it was sent; nil if that is unknown.
    public let sentAt: Date?

    /// A message and its time.
    public init(messageId: String, sentAt: Date?) {
      self.messageId = messageId
      self.sentAt = sentAt
    }
  }

  /// Which of these messages of the conversation, in the order they arrived, the mark covers.
  ///
  /// Times decide first. They have a resolution of one second, so the order of arrival decides within a second. If
  /// neither tells, a mark that names a message does not cover the other message, and a mark that names none does.
  public func covers(_ messages: [SentMessage]) -> [Bool] {
    let last = messageId.flatMap { id in messages.lastIndex { $0.messageId == id } }
    let bound = last.flatMap { messages[$0].sentAt } ?? time
    return messages.indices.map { index in
      if messages[index].messageId == messageId { return true }
      if let bound, let sentAt = messages[index].sentAt {
        if Self.second(sentAt) != Self.second(bound) { return sentAt < bound }
      } else if messageId == nil {
        return time == nil || messages[index].sentAt == nil
      }
      return last.map { index < $0 } ?? (messageId == nil)
    }
  }
}
