import NudgeSchema
import ServiceKit

/// A generated chat log: groups and pairs of friends greet, ask, answer by name, and chat in bursts. It has no end. The
/// same seed gives the same log.
struct GeneratedChatLog: ChatMessages {
  /// A conversation, and its progress.
  private struct Conversation {
    let log: String
    let kind: ConversationKind
    let people: [String]
    var at: Milliseconds
    var written = 0
    /// The latest messages, which may be answered; the last one last.
    var recent: [(number: Int, nick: String, isQuestion: Bool)] = []
  }

  /// 2024-01-01T00:00:00Z; a load shifts the times.
  private static let beginning: Milliseconds = 1_704_067_200_000
  private static let keptRecent = 6

  private var random: SeededRandom
  private var conversations: [Conversation]
  private var current = 0

  /// The fewest groups of a load.
  static let defaultGroups = ChatPhrases.groups.count

  /// Messages of one group within an hour that keep its members' devices below FCM's 5,000 an hour: people are in a few groups
  /// and pairs each.
  private static let messagesAnHour = 500

  /// The groups of a load, so many that FCM's limits of an Android device hold nothing back: at least one for each message a
  /// second, since a busy person then gets some two pushes a second, half of the 240 a minute; and for a longer load one for
  /// each 500 messages.
  static func groups(rate: Double, duration: Duration) -> Int {
    let ofMinute = rate
    let ofHour = rate * duration.seconds / Double(messagesAnHour)
    return min(max(defaultGroups, Int(max(ofMinute, ofHour).rounded(.up))), 100_000)
  }

  /// With more groups than there are names, people, friends and groups repeat with a number after their names.
  init(seed: UInt64, groups: Int = GeneratedChatLog.defaultGroups) {
    random = SeededRandom(seed: seed)
    conversations = []
    for first in stride(from: 0, to: max(1, groups), by: ChatPhrases.groups.count) {
      let suffix = first == 0 ? "" : " \(first / ChatPhrases.groups.count + 1)"
      for name in ChatPhrases.groups.prefix(max(1, groups) - first) {
        conversations.append(conversation(name + suffix, .group, people: random.number(5...11), suffix))
      }
      for number in 1...ChatPhrases.directConversations {
        conversations.append(conversation("direct-\(number)\(suffix)", .direct, people: 2, suffix))
      }
    }
  }

  private mutating func conversation(
    _ log: String, _ kind: ConversationKind, people count: Int, _ suffix: String
  ) -> Conversation {
    var people: [String] = []
    while people.count < count {
      let nick = random.pick(ChatPhrases.people) + suffix
      if !people.contains(nick) { people.append(nick) }
    }
    return Conversation(
      log: log, kind: kind, people: people, at: Self.beginning + Milliseconds(random.number(0...60_000)))
  }

  /// The next message; never nil.
  mutating func next() -> ChatMessage? {
    // A burst stays in its conversation, seconds apart.
    let isBurst = random.chance(60) && conversations[current].written > 0
    if !isBurst { current = random.number(0...(conversations.count - 1)) }
    var conversation = conversations[current]
    conversation.at += Milliseconds(isBurst ? random.number(300...4_000) : random.number(2_000...90_000))
    let message = write(in: &conversation)
    conversations[current] = conversation
    return message
  }

  private mutating func write(in conversation: inout Conversation) -> ChatMessage {
    let last = conversation.recent.last?.nick
    var nick = random.pick(conversation.people)
    // People seldom answer themselves.
    if nick == last, !random.chance(20) { nick = conversation.people.first { $0 != last } ?? nick }
    let answered = conversation.recent.last { $0.nick != nick && ($0.isQuestion || random.chance(35)) }
    var isQuestion = false
    let text: String
    if conversation.written == 0 {
      text = random.pick(ChatPhrases.greetings)
    } else if let answered, random.chance(70) {
      let reply = random.pick(answered.isQuestion ? ChatPhrases.answers : ChatPhrases.chatter)
      let isNamed = conversation.kind == .group && random.chance(55)
      text = isNamed ? "\(answered.nick): \(reply)" : reply
    } else {
      (text, isQuestion) = somethingNew(conversation, nick: nick)
    }
    conversation.written += 1
    conversation.recent.append((conversation.written, nick, isQuestion))
    if conversation.recent.count > Self.keptRecent { conversation.recent.removeFirst() }
    return ChatMessage(
      log: conversation.log, number: conversation.written, at: conversation.at, nick: nick, text: text,
      replyTo: replies(answered?.number, text: text), kind: conversation.kind)
  }

  /// Most messages do not say which message they answer, as in the annotated logs.
  private mutating func replies(_ answered: Int?, text: String) -> [Int]? {
    guard random.chance(40) else { return nil }
    return answered.map { [$0] } ?? []
  }

  private mutating func somethingNew(_ conversation: Conversation, nick: String) -> (text: String, isQuestion: Bool) {
    switch random.number(0...99) {
    case ..<8: return (random.pick(ChatPhrases.greetings), false)
    case ..<45: return (random.pick(ChatPhrases.questions), true)
    case ..<55:
      let friend = random.pick(conversation.people)
      guard friend != nick, conversation.kind == .group else { return (random.pick(ChatPhrases.questions), true) }
      return ("@\(friend) \(random.pick(ChatPhrases.questions))", true)
    case ..<60: return (random.pick(ChatPhrases.urgent), true)
    case ..<72: return (random.pick(ChatPhrases.emoji), false)
    case ..<75: return ("", false)  // a picture
    case ..<79:
      return (
        (0..<random.number(8...30)).map { _ in random.pick(ChatPhrases.chatter + ChatPhrases.answers) }
          .joined(separator: " "), false
      )
    default: return (random.pick(ChatPhrases.chatter), false)
    }
  }
}
