/// One language's patterns of words, by the evidence of urgency that they give.
///
/// Patterns are separated by commas. A pattern has one or more terms, which stand in this order with at most a few words
/// between them. A term has alternatives between `/`; an alternative is a word, words in a row (`locked_out`), the beginning
/// of a word (`bleed*`), any number (`#`), a year (`##`) or the alternatives of a class (`$who`). `a & b`: both are in the sentence, in
/// any order. `^` and `$` at its ends bind a pattern to the ends of a clause; a term with `!` must not follow it.
/// In scripts without spaces a character is a word, and words in a row need no `_`.
struct UrgencyLexicon {
  /// Frequent words by which a text of the language is known; none where its script does that.
  var marks = ""
  /// Terms with many alternatives, by name.
  var classes: [String: String] = [:]
  /// Says by itself that something cannot wait: a present danger, a departure in minutes.
  var alarm = ""
  /// Says by itself that something is urgent: the word.
  var urgent = ""
  /// A danger that may be there. It takes a second kind of evidence.
  var danger = ""
  /// A call for help.
  var help = ""
  /// A call for an action: to come, to call back.
  var ask = ""
  /// That it must be at once.
  var haste = ""
  /// Words that are no evidence where they stand like this: an emergency exit.
  var idiom = ""
  /// Takes back everything that the text says.
  var calm = ""
  /// Makes the sentence one about something else: the past, a film, what somebody said.
  var unreal = ""
  /// Makes the sentence one about nothing that could be urgent.
  var trifle = ""
  /// Makes the sentence one about a later time.
  var later = ""
  /// Makes the rest of the clause a supposition.
  var suppose = ""
  /// Denies what follows in the clause.
  var not = ""
  /// Denies what stands before it.
  var notBefore = ""

  static let all: [UrgencyLexicon] = [
    .english, .german, .french, .spanish, .italian, .portuguese, .dutch, .turkish, .russian, .japanese, .chinese,
    .korean, .polish,
  ]

  /// Patterns that are no evidence by themselves, and their role in a text.
  enum Kind: UInt8, CaseIterable {
    case alarm, urgent, danger, help, ask, haste
    case idiom, calm, unreal, trifle, later, suppose, not, notBefore, mark

    /// The kinds that say that a text cannot wait, unless something takes them back.
    static let evidence: [Kind] = [.alarm, .urgent, .danger, .help, .ask, .haste]
    static let bitsOfEvidence = evidence.reduce(0) { $0 | $1.bit }

    /// The kind in a set of kinds.
    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// Words that may stand between two terms of a pattern.
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
