/// A reason in the sentence of a decision (D10). Each language has words for every reason.
///
/// Most signals of the model come in pairs: one says that the message is meant for the person, the other that it is not.
public enum ReasonCode: Int, Sendable, CaseIterable {
  // Sentences about how much a message matters; `{reasons}` stands for the signals that decided.
  case highPriority, mediumPriority, lowPriority
  /// The reason if no signal has words: `nothingForYou` for low priority, `allInAll` for the others.
  case nothingForYou, allInAll

  // Signals.
  case direct, mentioned, answered, named, notNamed, namedNewcomer
  case wroteLately, notWroteLately
  case askedSomething, askedNothing
  case senderWritesToYou, senderWritesToOthers
  case talking, notTalking
  case noOtherAnswered, talkingWithOthers
  case yourTopic, notYourTopic
  case readsLikeAnswer, notLikeAnswer
  case senderInTalk, senderNotInTalk
  case starredSender, keyword, urgentWords, question
  case senderMatters, senderRarelyMatters
  case conversationMatters, conversationRarelyMatters
  case likesToBeTold, likesQuiet

  // Why the person was not notified.
  case duplicate, notifiedBefore, notifiedUnknown, withdrawn, disabled, muted
  /// `{time}`
  case mutedUntil
  case alreadyRead
  /// `{time}`
  case expired
  case possibleRepeat, activeConversation, activeElsewhere
  /// `{start}`, `{end}`, `{zone}`, `{time}`
  case quietHours
  case noDevice

  // The person has used up the hourly `{limit}` of smart analyses. `{reasons}` stands for the sentence of the fallback.
  case limitReached
  case limitNotifiesAll, limitSuppressesAll

  /// An alert was held back because the same conversation had alerted shortly before. `{reasons}` stands for why it was
  /// an alert.
  case heldBack
  /// An alert exceeded the person's `{budget}` alerts per day. `{reasons}` stands for why it would have been an alert.
  case overBudget

  // The person's level for the conversation (D14): the default for its kind, or its own.
  case allDirect, allInGroups, allHere
  case mentionsDirect, mentionsInGroups, mentionsHere
  case noneDirect, noneInGroups, noneHere
  /// `{sender}`
  case mutedSender
  /// `{time}` is when the message was written
  case history
  /// The message alerts because the person starred `{sender}`. `{reasons}` stands for why it would be shown without
  /// that.
  case alertOfStarred
  /// The message is shown because the group is small. `{reasons}` stands for why it would not be shown otherwise.
  case shownInSmallGroup

  // A replay was stopped, or has reached its limit.
  case replayStopped, replayLimit, replayForcedLimit
}

/// The values for the placeholders `{…}` of a sentence.
public struct ReasonValues: Sendable, Equatable {
  /// The sender's displayed name.
  public var sender = ""
  /// A time, or a time of day.
  public var time = ""
  /// When quiet hours begin, `HH:MM`.
  public var start = ""
  /// When they end, `HH:MM`.
  public var end = ""
  /// The time zone of quiet hours.
  public var zone = ""
  /// Smart analyses per hour.
  public var limit = ""
  /// The most alerts per day.
  public var dailyAlerts = ""
  /// Other reasons, as a sentence.
  public var reasons = ""

  public init() {}
}

/// One language's words for the reasons of decisions. A language that lacks a code does not compile.
public struct Reasons: Sendable, Equatable {
  private let templates: [Template]
  /// The separators between reasons, and before the last one.
  private let separator: String
  private let lastSeparator: String

  /// - Parameters:
  ///   - separator: Text between reasons.
  ///   - lastSeparator: Text before the last of two or more reasons.
  ///   - words: The words for a code.
  init(separator: String, lastSeparator: String, words: (ReasonCode) -> String) {
    templates = ReasonCode.allCases.map { Template(words($0)) }
    self.separator = separator
    self.lastSeparator = lastSeparator
  }

  /// Whether both have the same words.
  public static func == (a: Reasons, b: Reasons) -> Bool {
    a.templates == b.templates && a.separator == b.separator && a.lastSeparator == b.lastSeparator
  }

  /// The words for a code.
  public func text(_ code: ReasonCode, _ values: ReasonValues = ReasonValues()) -> String {
    templates[code.rawValue].filled(with: values)
  }

  /// The words for several codes, as a list: `a, b and c`.
  public func list(_ codes: [ReasonCode], _ values: ReasonValues) -> String {
    var text = ""
    for (place, code) in codes.enumerated() {
      if place > 0 { text += place == codes.count - 1 ? lastSeparator : separator }
      text += self.text(code, values)
    }
    return text
  }

  /// The names of the placeholders in a code's sentence.
  func places(of code: ReasonCode) -> Set<String> { templates[code.rawValue].places }
}

/// A text with placeholders, parsed once.
struct Template: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case place(String)
  }
  private let parts: [Part]

  init(_ text: String) {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      parts.append(.place(String(rest[rest.index(after: open)..<close])))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  var places: Set<String> {
    Set(parts.compactMap { if case .place(let name) = $0 { name } else { nil } })
  }

  func filled(with values: ReasonValues) -> String {
    if parts.count == 1, case .text(let text) = parts[0] { return text }
    var text = ""
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .place("sender"): text += values.sender
      case .place("time"): text += values.time
      case .place("start"): text += values.start
      case .place("end"): text += values.end
      case .place("zone"): text += values.zone
      case .place("limit"): text += values.limit
      case .place("budget"): text += values.dailyAlerts
      case .place("reasons"): text += values.reasons
      case .place: break
      }
    }
    return text
  }
}
