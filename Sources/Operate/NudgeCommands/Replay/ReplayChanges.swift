import Kafka
import NudgeSchema

/// The changes of messages and people since they were written, from the timeline: a replay serves no text that was taken back.
struct ReplayChanges {
  private struct Edit {
    var stamp: EventStamp
    var body: String
    var title: String?
    var sender: Member?
  }

  /// The last edit of each message.
  private var edits: [ExactText: Edit] = [:]
  private var deleted: Set<ExactText> = []
  /// When conversations were deleted, and when people last left one.
  private var ended: [ExactText: Milliseconds] = [:]
  private var left: [ExactText: Milliseconds] = [:]
  /// When people were deleted.
  private var erased: [ExactText: Milliseconds] = [:]

  private static let types = [EventType.messageWithdrawn, .userDeleted].map { Array("\"\($0.rawValue)\"".utf8) }

  /// Whether a record may say something of the kind.
  static func mayConcern(_ record: ConsumerRecord) -> Bool { types.contains { record.valueContains($0) } }

  /// Adds an event of the timeline, where it concerns what is selected.
  mutating func add(_ event: TimelineEvent, _ selection: ReplaySelection) {
    switch event.body {
    case .user(.deleted(let user)): Self.note(event.cappedAt, of: user.userId, in: &erased)
    case .withdrawn(let withdrawn):
      let id = withdrawn.conversationId
      if let selected = selection.conversation, !sameId(selected, id) { return }
      switch withdrawn.cause {
      case .conversationDeleted: Self.note(event.cappedAt, of: id, in: &ended)
      case .left: for userId in withdrawn.userIds { Self.note(event.cappedAt, of: Self.pair(userId, id), in: &left) }
      case .deleted: if let messageId = withdrawn.messageId { deleted.insert(ExactText(Self.pair(id, messageId))) }
      case .edited:
        guard let messageId = withdrawn.messageId, let body = withdrawn.body else { return }
        let key = ExactText(Self.pair(id, messageId))
        if let known = edits[key], event.stamp <= known.stamp { return }
        edits[key] = Edit(stamp: event.stamp, body: body, title: withdrawn.title, sender: withdrawn.sender)
      }
    default: return
    }
  }

  private static func note(_ time: Milliseconds, of id: String, in times: inout [ExactText: Milliseconds]) {
    times[ExactText(id)] = max(times[ExactText(id)] ?? time, time)
  }

  private static func pair(_ first: String, _ second: String) -> String { "\(first)\u{0}\(second)" }

  /// Why a person is not served a message any more; nil: nothing says so.
  func standing(of userId: String, _ message: MessageCandidate, sentAt: Milliseconds) -> ReplayPlan.Standing? {
    if erased[ExactText(userId)].map({ sentAt <= $0 }) ?? false { return .erased }
    let id = message.conversationId
    let isWithdrawn =
      deleted.contains(ExactText(Self.pair(id, message.messageId)))
      || ended[ExactText(id)].map { sentAt <= $0 } ?? false
      || left[ExactText(Self.pair(userId, id))].map { sentAt <= $0 } ?? false
    return isWithdrawn ? .withdrawn : nil
  }

  /// Gives a candidate its last text.
  func apply(to message: inout MessageCandidate) {
    guard let edit = edits[ExactText(Self.pair(message.conversationId, message.messageId))] else { return }
    message.body = edit.body
    if let title = edit.title, edit.sender != nil { message.title = title }
    if let sender = edit.sender, sameId(sender.userId, message.sender.userId) { message.sender = sender }
  }
}
