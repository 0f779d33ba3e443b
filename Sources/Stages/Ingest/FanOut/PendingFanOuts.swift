import NudgeSchema
import StreamRuntime

/// The conversations with a pending fan-out, of all tasks of a thread, in round-robin order.
///
/// A hint that saves a scan. It may name rows that were removed, or that an undone step made; it never lacks one.
struct PendingFanOuts {
  private struct Task {
    /// Keys of rows, in the order of the events.
    var keys: [ExactText: [RowKey]] = [:]
    /// Conversations in round-robin order.
    var turns: [ExactText] = []
  }

  private var tasks: [Int32: Task] = [:]

  /// Whether a task has no pending fan-out.
  func isEmpty(partition: Int32) -> Bool { tasks[partition]?.turns.isEmpty ?? true }

  /// The rows that a conversation may have.
  func keys(of conversationId: String, partition: Int32) -> [RowKey] {
    guard let task = tasks[partition] else { return [] }
    return task.keys[ExactText(conversationId)] ?? []
  }

  mutating func add(_ key: RowKey, of conversationId: String, partition: Int32) {
    let id = ExactText(conversationId)
    if tasks[partition]?.keys[id] == nil { tasks[partition, default: Task()].turns.append(id) }
    tasks[partition]?.keys[id, default: []].append(key)
  }

  /// Corrects the hint: the rows that a conversation has.
  mutating func set(_ keys: [RowKey], of conversationId: String, partition: Int32) {
    let id = ExactText(conversationId)
    guard keys.isEmpty else {
      tasks[partition]?.keys[id] = keys
      return
    }
    tasks[partition]?.keys[id] = nil
    tasks[partition]?.turns.removeAll { $0 == id }
  }

  /// The next conversation, which then goes to the end of the order.
  mutating func next(partition: Int32) -> String? {
    guard let first = tasks[partition]?.turns.first else { return nil }
    tasks[partition]?.turns.removeFirst()
    tasks[partition]?.turns.append(first)
    return first.text
  }

  mutating func forget(partition: Int32) { tasks[partition] = nil }
}
