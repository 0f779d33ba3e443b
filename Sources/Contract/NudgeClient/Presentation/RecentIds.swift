import Foundation

/// The last 256 ids that were handled. The same message arrives on another way within seconds or minutes, so that is
/// enough to recognise it.
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

/// The latest read marks, one a conversation, of the 256 conversations read last.
struct RecentMarks: Sendable {
  private static let capacity = 256
  private var marks: [ReadMark] = []

  /// Adds a mark in place of an earlier one of its conversation.
  mutating func insert(_ mark: ReadMark) {
    if let former = marks.firstIndex(where: { $0.conversationId == mark.conversationId }) {
      // FCM does not keep order: a mark that arrives late takes nothing back.
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
