import NudgeSchema

@testable import Analyzer

/// The requirement on held messages, without its implementation: the oracle keeps each message and each report. Times are those
/// of the events, which come in their order.
struct HoldOracle {
  /// A final decision, or one that is deferred.
  struct Decided: Equatable, CustomStringConvertible {
    var messageId: String
    var outcome: DecisionBody.Outcome
    var reason: DecisionReason
    var description: String { "\(messageId) \(outcome.rawValue) \(reason.rawValue)" }
  }

  private struct Message {
    let id: String
    let conversation: String
    let at: Milliseconds
    /// It waits until then; nil: it is decided.
    var heldUntil: Milliseconds?
    /// Its decision was made at once, and only the badge waits.
    var isBadgeOnly = false
    /// Its alert waits, because another device is active.
    var isAlert = false
    var isUnread = false
    let isUrgent: Bool
    /// It sounded on some device.
    var hasRung = false
  }

  private struct Report {
    let at: Milliseconds
    let isForeground: Bool
    let conversation: String?
    /// The last sign of a person there: reports that only repeat are none.
    var personAt: Milliseconds
  }

  private static let horizon = 2 * minute
  /// The person's devices.
  private static let devices = 2
  private static let person = 5 * minute
  /// An urgent message waits only with a sign of a person of this last time, and for as long at most.
  private static let urgent = minute
  /// A direct chat alerts once in this time.
  private static let burst = 5 * second
  let wait: Milliseconds
  let alertWait: Milliseconds
  private var alerted: [String: (at: Milliseconds, isUrgent: Bool)] = [:]
  private var messages: [Message] = []
  private var reports: [String: Report] = [:]
  private var muted: Set<String> = []

  init(wait: Milliseconds, alertWait: Milliseconds) { (self.wait, self.alertWait) = (wait, alertWait) }

  var unread: Int { messages.count { $0.isUnread } }
  var held: Int { messages.count { $0.heldUntil != nil && !$0.isBadgeOnly } }

  mutating func message(
    _ id: String, in conversation: String, at time: Milliseconds, isUrgent: Bool
  ) -> [Decided] {
    let active = reports.values.filter {
      $0.isForeground && time - $0.at <= Self.horizon && time - $0.personAt <= Self.person
    }
    var hasRung = false
    let open = active.filter {
      $0.conversation == conversation && (!isUrgent || time - $0.personAt <= Self.urgent)
    }.max { $0.at < $1.at }
    var message = Message(id: id, conversation: conversation, at: time, isUrgent: isUrgent)
    var decided: [Decided] = []
    let isMuted = muted.contains(conversation)
    let waiting = messages.indices.filter {
      messages[$0].conversation == conversation && messages[$0].heldUntil != nil
    }
    // A conversation has at most `maxHolds` waiting messages: one more is decided at once.
    let isFull = waiting.count >= PersonConversationRow.maxHolds
    if let open, !isFull {
      message.heldUntil = min(time + (isUrgent ? min(wait, Self.urgent) : wait), open.personAt + Self.person)
      message.isBadgeOnly = isMuted
    } else {
      message.isUnread = true
      if !isMuted, !isUrgent, alertWait > 0, active.contains(where: { $0.conversation != conversation }),
        ring(conversation, at: time, isUrgent)
      {
        // It rings at once where the app is open, and waits on the person's other device.
        hasRung = true
        if !isFull, active.count < Self.devices {
          message.isAlert = true
          message.heldUntil = time + alertWait
        }
      }
    }
    if message.heldUntil == nil, !isMuted, hasRung || ring(conversation, at: time, isUrgent) {
      hasRung = true
      // An alert that does not wait ends the waits of the alerts before it.
      for index in waiting where messages[index].isAlert { decided.append(end(index)) }
    }
    message.hasRung = hasRung
    messages.append(message)
    if isMuted {
      decided.append(Decided(messageId: id, outcome: .suppress, reason: .conversationMuted))
    } else if message.heldUntil != nil {
      decided.append(
        Decided(messageId: id, outcome: .deferred, reason: message.isAlert ? .activeElsewhere : .activeConversation))
    } else {
      decided.append(Decided(messageId: id, outcome: .notify, reason: .notifyAll))
    }
    return decided
  }

  /// An urgent message sounds after one that is not.
  private mutating func ring(_ conversation: String, at time: Milliseconds, _ isUrgent: Bool) -> Bool {
    let last = alerted[conversation]
    guard last.map({ abs(time - $0.at) >= Self.burst || isUrgent && !$0.isUrgent }) ?? true else { return false }
    alerted[conversation] = (max(time, last?.at ?? time), isUrgent)
    return true
  }

  /// The final decision on a message whose time has come.
  private mutating func end(_ index: Int) -> Decided {
    messages[index].heldUntil = nil
    messages[index].isUnread = true
    let message = messages[index]
    let isMuted = muted.contains(message.conversation)
    messages[index].hasRung = message.hasRung && !isMuted
    if !isMuted {
      // A message that has sounded on a device sounds on the others, too, unless a later one has sounded since.
      let hasRung = message.hasRung && alerted[message.conversation]?.at == message.at
      messages[index].hasRung = hasRung || ring(message.conversation, at: message.at, message.isUrgent)
    }
    return Decided(
      messageId: message.id, outcome: isMuted ? .suppress : .notify,
      reason: isMuted ? .conversationMuted : .notifyAll)
  }

  /// All of the conversation up to a message, or a time, is read.
  mutating func read(
    _ conversation: String, upTo time: Milliseconds, _ reason: DecisionReason = .alreadyRead
  ) -> [Decided] {
    var decided: [Decided] = []
    for index in messages.indices where messages[index].conversation == conversation && messages[index].at <= time {
      messages[index].isUnread = false
      guard messages[index].heldUntil != nil else { continue }
      messages[index].heldUntil = nil
      guard !messages[index].isBadgeOnly else { continue }
      decided.append(Decided(messageId: messages[index].id, outcome: .suppress, reason: reason))
    }
    return decided
  }

  mutating func report(
    _ device: String, isForeground: Bool, in conversation: String?, at time: Milliseconds
  ) -> [Decided] {
    let known = reports[device]
    let isRepeat = known.map { $0.isForeground == isForeground && $0.conversation == conversation } ?? false
    let personAt = isRepeat ? known?.personAt ?? time : time
    reports[device] = Report(at: time, isForeground: isForeground, conversation: conversation, personAt: personAt)
    guard let conversation, time - personAt <= Self.person else { return [] }
    let held = messages.indices.filter {
      messages[$0].conversation == conversation && messages[$0].heldUntil != nil && messages[$0].at < time
    }
    guard !held.isEmpty else { return [] }
    // Nobody is known to have seen these since the last sign of a person.
    let urgent = held.filter {
      messages[$0].isUrgent && !messages[$0].isBadgeOnly && !messages[$0].isAlert && messages[$0].at >= personAt
    }
    let unseen =
      messages.filter {
        $0.conversation == conversation && $0.at >= personAt && $0.isUnread && $0.hasRung
      }.map(\.at) + urgent.map { messages[$0].at }
    for index in urgent { messages[index].heldUntil = min(messages[index].heldUntil ?? time, time) }
    guard let last = held.last(where: { messages[$0].at < unseen.min() ?? .max }) else { return [] }
    return read(conversation, upTo: messages[last].at, .activeConversation)
  }

  /// The person reads on a device, or writes: then where the conversation is shown.
  mutating func see(on device: String? = nil, in conversation: String, at time: Milliseconds) {
    for (name, report) in reports where device.map({ $0 == name }) ?? (report.conversation == conversation) {
      reports[name]?.personAt = max(report.personAt, time)
    }
  }

  mutating func delete(_ id: String) -> [Decided] {
    guard let index = messages.firstIndex(where: { $0.id == id }) else { return [] }
    let message = messages.remove(at: index)
    guard message.heldUntil != nil, !message.isBadgeOnly else { return [] }
    return [Decided(messageId: id, outcome: .suppress, reason: .withdrawn)]
  }

  mutating func mute(_ conversations: Set<String>) { muted = conversations }

  /// The time has come for what waits.
  mutating func passed(_ time: Milliseconds) -> [Decided] {
    var decided: [Decided] = []
    for index in messages.indices {
      guard let until = messages[index].heldUntil, until <= time else { continue }
      if messages[index].isBadgeOnly {
        messages[index].heldUntil = nil
        messages[index].isUnread = true
      } else {
        decided.append(end(index))
      }
    }
    return decided
  }

  func someMessage(_ number: Int) -> (id: String, conversation: String, at: Milliseconds)? {
    guard !messages.isEmpty else { return nil }
    // One of the last.
    let message = messages[max(0, messages.count - 1 - number % 6)]
    return (message.id, message.conversation, message.at)
  }
}
