/// The patterns of words of one language, by the evidence of urgency that they give.
///
/// Patterns are separated by commas. A pattern has one or more terms, which must occur in this order with at most a few words between them.
/// A term has alternatives separated by `/`. An alternative is a word, words in a row (`locked_out`), the beginning of a word (`bleed*`),
/// any number (`#`), a year (`##`) or the alternatives of a class (`$who`). `a & b` means that both are in the sentence, in any order. `^`
/// and `$` at its ends bind a pattern to the ends of a clause. A term with `!` must not follow it. In scripts without spaces each character
/// is a word, and words in a row need no `_`.
struct UrgencyLexicon {
  /// Frequent words by which the language of a text is recognised; empty if its script shows the language.
  var marks = ""
  /// Terms with many alternatives, by name.
  var classes: [String: String] = [:]
  /// Evidence that is enough: something cannot wait, such as a present danger or a departure in minutes.
  var alarm = ""
  /// Evidence that is enough: the text says that it is urgent.
  var urgent = ""
  /// A possible danger. It needs a second kind of evidence.
  var danger = ""
  /// A call for help.
  var help = ""
  /// A request for an action, such as to come or to call back.
  var ask = ""
  /// The demand that it happens at once.
  var haste = ""
  /// Phrases whose words are not evidence, such as emergency exit.
  var idiom = ""
  /// Takes back all evidence of the text.
  var calm = ""
  /// Shows that the sentence is about something else: the past, a film, what somebody said.
  var unreal = ""
  /// Shows that the sentence is about something that cannot be urgent.
  var trifle = ""
  /// Shows that the sentence is about a later time.
  var later = ""
  /// Makes the rest of the clause a supposition.
  var suppose = ""
  /// Negates what follows in the clause.
  var not = ""
  /// Negates what precedes it.
  var notBefore = ""

  static let all: [UrgencyLexicon] = [
    .english, .german, .french, .spanish, .italian, .portuguese, .dutch, .turkish, .russian, .japanese, .chinese,
    .korean, .polish,
  ]

  /// The kinds of patterns, with their role in a text.
  enum Kind: UInt8, CaseIterable {
    case alarm, urgent, danger, help, ask, haste
    case idiom, calm, unreal, trifle, later, suppose, not, notBefore, mark

    /// The kinds that show that a text is urgent, unless something takes them back.
    static let evidence: [Kind] = [.alarm, .urgent, .danger, .help, .ask, .haste]
    static let bitsOfEvidence = evidence.reduce(0) { $0 | $1.bit }

    /// The kind as a bit in a set of kinds.
    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// The most words between two terms of a pattern.
    var gap: Int {
      switch self {
      case .alarm, .danger: 4
      case .urgent, .help, .ask, .haste: 2
      default: 0
      }
    }
  }

  subscript(kind: Kind) -> String {
    switch kind {
    case .alarm: alarm
    case .urgent: urgent
    case .danger: danger
    case .help: help
    case .ask: ask
    case .haste: haste
    case .idiom: idiom
    case .calm: calm
    case .unreal: unreal
    case .trifle: trifle
    case .later: later
    case .suppose: suppose
    case .not: not
    case .notBefore: notBefore
    case .mark: marks.replacing("/", with: ",")
    }
  }
}
