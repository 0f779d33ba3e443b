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
  ///   - singular: The numbers that take the singular.
  ///   - words: The words for a code.
  init(
    separator: String, lastSeparator: String, singular: ClosedRange<Int> = 1...1, words: (ReasonCode) -> String
  ) {
    templates = ReasonCode.allCases.map { Template(words($0), singular: singular) }
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

/// A text with placeholders, parsed once. A number is followed by its words: `{limit|analysis|analyses}`.
struct Template: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case place(String)
    /// A number, and the words for one and for several.
    case count(String, one: String, many: String)
  }
  private let parts: [Part]
  private let singular: ClosedRange<Int>

  init(_ text: String, singular: ClosedRange<Int> = 1...1) {
    self.singular = singular
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      let place = rest[rest.index(after: open)..<close].split(separator: "|").map { String($0) }
      parts.append(place.count == 3 ? .count(place[0], one: place[1], many: place[2]) : .place(place.joined()))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  var places: Set<String> {
    Set(
      parts.compactMap { part in
        switch part {
        case .text: nil
        case .place(let name), .count(let name, _, _): name
        }
      })
  }

  func filled(with values: ReasonValues) -> String {
    if parts.count == 1, case .text(let text) = parts[0] { return text }
    var text = ""
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .place(let name): text += Self.value(name, of: values)
      case .count(let name, let one, let many):
        let number = Self.value(name, of: values)
        text += "\(number) \(Int(number).map(singular.contains) == true ? one : many)"
      }
    }
    return text
  }

  private static func value(_ name: String, of values: ReasonValues) -> String {
    switch name {
    case "sender": values.sender
    case "time": values.time
    case "start": values.start
    case "end": values.end
    case "zone": values.zone
    case "limit": values.limit
    case "budget": values.dailyAlerts
    case "reasons": values.reasons
    default: ""
    }
  }
}

/// Why a message did not alert, for a later list of held-back messages. Only a case is stored for each message, without
/// further values. The raw values are codes on the wire. Rows of state store a reason as its index, so add new cases at
/// the end.
public enum HeldBackReason: String, Sendable, CaseIterable {
  /// The person turned notifications off.
  case disabled = "notifications_disabled"
  /// The person muted the conversation.
  case muted = "conversation_muted"
  /// The person muted the sender.
  case mutedSender = "muted_sender"
  /// The person's level for the conversation does not show such a message.
  case level
  /// It arrived in quiet hours.
  case quietHours = "quiet_hours"
  /// The hourly smart analyses were used up, and the person's fallback suppresses every message.
  case analysisLimit = "analysis_limit"
  /// It arrived too late.
  case expired
  /// It was written long before it arrived.
  case history
  /// There was no device to send to.
  case noDevice = "no_device"
  /// It only changed the badge, because it seemed unimportant.
  case lowPriority = "low_priority"
  /// It was shown without a sound, because it did not seem urgent.
  case mediumPriority = "medium_priority"
  /// It was shown without a sound, because its conversation had alerted shortly before.
  case burst
  /// It was shown without a sound, because the alerts of the day were used up.
  case budget
}

extension Wording {
  /// The sentence for a reason in this language.
  public func text(_ reason: HeldBackReason) -> String {
    switch language {
    case "de": reason.german
    case "es": reason.spanish
    case "fr": reason.french
    case "ja": reason.japanese
    default: reason.english
    }
  }
}

extension HeldBackReason {
  fileprivate var english: String {
    switch self {
    case .disabled: "you had turned notifications off"
    case .muted: "you had muted the conversation"
    case .mutedSender: "you had muted who wrote it"
    case .level: "your level for the conversation shows no such message"
    case .quietHours: "it came in your quiet hours"
    case .analysisLimit: "the smart analyses of that hour were used up"
    case .expired: "it came too late"
    case .history: "it was written long before it arrived"
    case .noDevice: "you had no registered device"
    case .lowPriority: "it did not seem important to you"
    case .mediumPriority: "shown without a sound: it did not seem urgent"
    case .burst: "shown without a sound: the conversation had alerted you shortly before"
    case .budget: "shown without a sound: your alerts of that day were used up"
    }
  }

  fileprivate var german: String {
    switch self {
    case .disabled: "du hattest Mitteilungen ausgeschaltet"
    case .muted: "du hattest die Unterhaltung stummgeschaltet"
    case .mutedSender: "du hattest den Absender stummgeschaltet"
    case .level: "deine Stufe für die Unterhaltung zeigt solche Nachrichten nicht"
    case .quietHours: "sie kam in deiner Ruhezeit"
    case .analysisLimit: "die smarten Analysen der Stunde waren aufgebraucht"
    case .expired: "sie kam zu spät"
    case .history: "sie wurde lange vor ihrer Ankunft geschrieben"
    case .noDevice: "du hattest kein angemeldetes Gerät"
    case .lowPriority: "sie schien nicht wichtig für dich"
    case .mediumPriority: "ohne Ton gezeigt: sie schien nicht eilig"
    case .burst: "ohne Ton gezeigt: die Unterhaltung hatte sich kurz zuvor gemeldet"
    case .budget: "ohne Ton gezeigt: deine Töne des Tages waren aufgebraucht"
    }
  }

  fileprivate var spanish: String {
    switch self {
    case .disabled: "habías desactivado las notificaciones"
    case .muted: "habías silenciado la conversación"
    case .mutedSender: "habías silenciado a quien lo escribió"
    case .level: "tu nivel para la conversación no muestra estos mensajes"
    case .quietHours: "llegó en tus horas de silencio"
    case .analysisLimit: "los análisis inteligentes de esa hora se habían agotado"
    case .expired: "llegó demasiado tarde"
    case .history: "se escribió mucho antes de llegar"
    case .noDevice: "no tenías ningún dispositivo registrado"
    case .lowPriority: "no parecía importante para ti"
    case .mediumPriority: "mostrado sin sonido: no parecía urgente"
    case .burst: "mostrado sin sonido: la conversación te había avisado poco antes"
    case .budget: "mostrado sin sonido: tus avisos de ese día se habían agotado"
    }
  }

  fileprivate var french: String {
    switch self {
    case .disabled: "vous aviez désactivé les notifications"
    case .muted: "vous aviez mis la conversation en sourdine"
    case .mutedSender: "vous aviez mis son auteur en sourdine"
    case .level: "votre niveau pour la conversation ne montre pas ces messages"
    case .quietHours: "il est arrivé pendant vos heures calmes"
    case .analysisLimit: "les analyses intelligentes de cette heure étaient épuisées"
    case .expired: "il est arrivé trop tard"
    case .history: "il a été écrit bien avant son arrivée"
    case .noDevice: "vous n’aviez aucun appareil enregistré"
    case .lowPriority: "il ne semblait pas important pour vous"
    case .mediumPriority: "montré sans son : il ne semblait pas urgent"
    case .burst: "montré sans son : la conversation vous avait alerté peu avant"
    case .budget: "montré sans son : vos alertes de ce jour étaient épuisées"
    }
  }

  fileprivate var japanese: String {
    switch self {
    case .disabled: "通知がオフでした"
    case .muted: "会話がミュートされていました"
    case .mutedSender: "送信者がミュートされていました"
    case .level: "この会話のレベルでは表示されません"
    case .quietHours: "おやすみ時間に届きました"
    case .analysisLimit: "その時間のスマート分析を使い切っていました"
    case .expired: "届くのが遅すぎました"
    case .history: "届くよりずっと前に書かれたものでした"
    case .noDevice: "登録された端末がありませんでした"
    case .lowPriority: "あなたにとって重要ではないと判断されました"
    case .mediumPriority: "急ぎではないと判断され、音なしで表示されました"
    case .burst: "直前に同じ会話の通知があったため、音なしで表示されました"
    case .budget: "その日の通知回数を使い切ったため、音なしで表示されました"
    }
  }
}
