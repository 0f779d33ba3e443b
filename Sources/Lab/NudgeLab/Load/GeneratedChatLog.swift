import NudgeSchema
import ServiceKit

/// A generated chat log: groups and pairs of friends greet, ask, answer by name, and chat in bursts. It has no end. The
/// same seed gives the same log.
package struct GeneratedChatLog: ChatMessages {
  /// A conversation and its progress.
  private struct Conversation {
    let log: String
    let kind: ConversationKind
    let people: [String]
    var at: Milliseconds
    var written = 0
    /// The latest messages, which may be answered, oldest first.
    var recent: [(number: Int, nick: String, isQuestion: Bool)] = []
  }

  /// The time of the log's beginning, 2024-01-01T00:00:00Z. A load shifts the times.
  private static let beginning: Milliseconds = 1_704_067_200_000
  private static let keptRecent = 6

  private var random: SeededRandom
  private var conversations: [Conversation]
  private var current = 0

  /// The fewest groups of a load.
  package static let defaultGroups = ChatPhrases.groups.count

  /// The most messages of a group within an hour that keep its members' devices below FCM's 5,000 an hour. Each person is in a few groups
  /// and pairs.
  private static let messagesAnHour = 500

  /// The number of groups with which FCM's limits of an Android device delay no push. There is at least one group for each message a
  /// second: a busy person then gets about two pushes a second, half of the 240 a minute. A longer load has at least one group for each 500
  /// messages.
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

  /// The next message. It is never absent.
  package mutating func next() -> ChatMessage? {
    // A burst stays in its conversation, with seconds between its messages.
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

  /// The answered messages, in 40 % of the cases: in the annotated logs, too, most messages do not say which message they answer.
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

/// Names and sentences of the built-in log.
enum ChatPhrases {
  static let groups = [
    "Climbing Tuesday", "Flat 4b", "Release crew", "Book club", "Choir altos", "Parents of 3c", "Allotment 17",
    "Ride to the sea",
  ]
  static let directConversations = 4
  static let people = [
    "Aino", "Bilal", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kaito", "Leila", "Matteo",
    "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Samir", "Tove", "Ugo", "Vera", "Wanjiru", "Ximena", "Yusuf", "Zoë",
    "Søren", "Łucja", "Ángel", "美咲", "안나", "Ольга", "d_moll", "ted.b", "mrs-t", "K8", "|jules|", "le petit", "Noor",
    "Björk",
  ]
  static let greetings = [
    "hi all", "good morning ☀️", "hey hey", "hello from the train", "evening everyone", "hi! back online",
    "moin 👋", "hola a todos",
  ]
  static let questions = [
    "who has the keys?", "can somebody cover my shift on Friday?", "is the meeting still at ten?",
    "what time do we start?", "did the parcel arrive?", "has anyone tried the new wall yet?",
    "do we need more chairs?", "where did we leave the drill?", "how was the exam?", "which chapter are we on?",
    "does the 14:32 stop in Lund?", "shall I bring cake or salad?", "who is driving?", "have you seen my scarf?",
    "any news from the landlord?", "¿vienes mañana?", "kommst du nachher noch vorbei?",
    "did you get the build to pass?", "which branch has the fix?", "what was the address again?",
  ]
  static let answers = [
    "yes", "no, sorry", "I think so", "half past seven", "on the kitchen table", "ask at the desk",
    "same as last week", "I can do it", "not yet, tomorrow", "it should be in the shared folder",
    "yes, and bring the long rope", "chapter nine, up to the storm", "two more would be good",
    "it stopped working after the update, try turning it off and on", "the second one, the first was reverted",
    "no idea, let me look", "claro que sí", "ja, gegen acht", "salad please, we have three cakes already",
    "it arrived, it's with the neighbours on the second floor", "done ✅",
  ]
  static let chatter = [
    "lovely weather", "just missed the bus", "so tired today", "that was a great evening",
    "the cat is on the roof again",
    "I will be ten minutes late", "we are out of milk", "see https://example.org/timetable for the new times",
    "the tomatoes are finally red", "tests are green", "it rains here", "I cannot stop humming that song",
    "the lift is broken again", "nobody told me there would be goats", "left my phone at work, back now",
    "ok", "same here", "haha", "well done everyone", "this made my day", "the concert is sold out, but there is a list",
    "panic: index out of range [3] with length 3, again, in the same place as yesterday",
  ]
  static let urgent = [
    "urgent: the water is off, is it only us?", "can somebody call me asap please?",
    "emergency, the oven is smoking, who is at home?", "need help right now, the demo is in five minutes!",
  ]
  static let emoji = ["😂😂", "👍", "🎉🎉🎉", "❤️", "🤷", "👨‍👩‍👧‍👦🏕️", "🙈 oh no", "🚴‍♀️💨", "🍅🍅🍅", "🇫🇮🇯🇵"]
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, on any machine.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Another sequence for each seed and text: FNV-1a of the text's UTF-8 bytes, from the seed on.
  package init(seed: UInt64, _ text: String) {
    var hash = FNV1a(seed: seed)
    hash.combine(text.utf8)
    state = hash.value
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return FNV1a.spread(state)
  }

  /// Returns true with a probability of `percent`.
  package mutating func chance(_ percent: Int) -> Bool { next() % 100 < UInt64(clamping: percent) }

  /// Picks an element. `randomElement` could choose differently in another version of the standard library.
  package mutating func pick<Element>(_ choices: [Element]) -> Element { choices[Int(next() % UInt64(choices.count))] }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }
}

/// Plays several logs of a file at once, as if they had started together. When one ends, the next takes its place.
///
/// A file has its logs one after the other. Only the open logs are in memory: about `width` logs of at most `maxSegment` messages each. The
/// rest of the file is not read yet.
struct InterleavedChatLog: ChatMessages {
  /// The default number of open logs.
  static let defaultWidth = 12
  private static let maxSegment = 20_000

  /// Consecutive messages of one log.
  private struct Segment {
    var messages: ArraySlice<ChatMessage>
    /// Added to a message's time to get its time in the play.
    let shift: Milliseconds

    /// When the next message is due. Absent for a time so wrong that the addition would overflow.
    var nextAt: Milliseconds? {
      messages.first.map { message in
        let (at, tooFar) = message.at.addingReportingOverflow(shift)
        return tooFar ? (shift < 0 ? .min : .max) : at
      }
    }
  }

  private var source: any ChatMessages
  private let width: Int
  private var open: [Segment] = []
  /// The first message of the next segment, already read.
  private var lookahead: ChatMessage?
  private var isAtEnd = false
  /// The time of the play.
  private var now: Milliseconds = 0

  /// Plays `width` logs of a source at once.
  init(_ source: any ChatMessages, width: Int = InterleavedChatLog.defaultWidth) {
    self.source = source
    self.width = max(width, 1)
  }

  /// The next message of all open logs, by their shifted times. The message itself keeps its time.
  mutating func next() throws(ChatLogError) -> ChatMessage? {
    while open.count < width, let segment = try readSegment() { open.append(segment) }
    var first: (index: Int, at: Milliseconds)?
    for (index, segment) in open.enumerated() {
      if let at = segment.nextAt, first.map({ at < $0.at }) ?? true { first = (index, at) }
    }
    guard let first, let message = open[first.index].messages.popFirst() else { return nil }
    now = max(now, first.at)
    if open[first.index].messages.isEmpty { open.remove(at: first.index) }
    return message
  }

  private mutating func readSegment() throws(ChatLogError) -> Segment? {
    var messages: [ChatMessage] = []
    if let first = lookahead { messages.append(first) }
    lookahead = nil
    while !isAtEnd {
      guard let message = try source.next() else {
        isAtEnd = true
        break
      }
      if let first = messages.first, first.log != message.log || messages.count == Self.maxSegment {
        lookahead = message
        break
      }
      messages.append(message)
    }
    guard let first = messages.first else { return nil }
    let (shift, tooFar) = now.subtractingReportingOverflow(first.at)
    return Segment(messages: messages[...], shift: tooFar ? 0 : shift)
  }
}
