import CRelevance

/// The patterns of words of one language, by the evidence of urgency that they give. Sources/C/CRelevance/Lexicons has a file a language.
///
/// A file has sections. `[alarm]` and the other names of `Kind` begin a section of patterns, which commas or line ends separate.
/// `[class who]` begins a class, whose alternatives `/` or line ends separate. Lines that begin with `//` are comments.
///
/// A pattern has one or more terms, which must occur in this order with at most a few words between them. A term has alternatives
/// separated by `/`. An alternative is a word, words in a row (`locked_out`), the beginning of a word (`bleed*`), any number (`#`), a year
/// (`##`) or the alternatives of a class (`$who`). `a & b` means that both are in the sentence, in any order. `^` and `$` at its ends bind a
/// pattern to the ends of a clause. A term with `!` must not follow it. In scripts without spaces each character is a word, and words in a
/// row need no `_`.
struct UrgencyLexicon {
  /// The kinds of patterns, with their role in a text.
  enum Kind: UInt8, CaseIterable {
    /// Evidence that is enough: something cannot wait, such as a present danger or a departure in minutes.
    case alarm
    /// Evidence that is enough: the text says that it is urgent.
    case urgent
    /// A possible danger. It needs a second kind of evidence.
    case danger
    /// A call for help.
    case help
    /// A request for an action, such as to come or to call back.
    case ask
    /// The demand that it happens at once.
    case haste
    /// Phrases whose words are not evidence, such as emergency exit.
    case idiom
    /// Takes back all evidence of the text: it can wait, the alarm was false.
    case calm
    /// Somebody or something is well. It takes back the evidence before it, and that behind it in its clause.
    case relief
    /// Laughter or a joke. It takes back the evidence before it, and that of its sentence.
    case laughter
    /// Shows that the sentence is about something else: the past, a film, what somebody said.
    case unreal
    /// Shows that the sentence is about something that cannot be urgent.
    case trifle
    /// Shows that the sentence is about a later time.
    case later
    /// Makes the rest of the clause a supposition.
    case suppose
    /// Negates what follows in the clause.
    case not
    /// Negates what precedes it.
    case notBefore
    /// Frequent words by which the language of a text is recognised. A language whose script shows it has none.
    case mark

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

  /// A lexicon cannot be read.
  struct Damage: Error, CustomStringConvertible {
    let description: String
  }

  /// Every language, English first.
  static let all: [UrgencyLexicon] = (0..<relevance_lexicon_count()).map { number in
    let file = relevance_lexicon_at(number)
    do {
      return try UrgencyLexicon(String(cString: file.text))
    } catch {
      preconditionFailure("urgency: \(String(cString: file.language)): \(error)")
    }
  }

  /// Terms with many alternatives, by name.
  private(set) var classes: [String: String] = [:]
  private var patterns: [Kind: String] = [:]

  /// Reads a file. Throws `Damage` for a line outside a section, and for a section that is unknown or there twice.
  init(_ text: String) throws {
    let kinds = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ("\($0)", $0) })
    // Adds a line to the section that began last.
    var add: ((inout UrgencyLexicon, Substring) -> Void)?
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.hasPrefix("//") { continue }
      if line.hasPrefix("["), line.hasSuffix("]") {
        let name = line.dropFirst().dropLast()
        if name.hasPrefix("class ") {
          let name = String(name.dropFirst(6))
          guard classes.updateValue("", forKey: name) == nil else {
            throw Damage(description: "line \(number + 1): class \(name) is there twice")
          }
          add = { $0.classes[name, default: ""] += $1 + "/" }
        } else {
          guard let kind = kinds[String(name)], patterns.updateValue("", forKey: kind) == nil else {
            throw Damage(description: "line \(number + 1): no kind of pattern is called \(name), or it is there twice")
          }
          add = { $0.patterns[kind, default: ""] += $1 + "," }
        }
        continue
      }
      guard let add else { throw Damage(description: "line \(number + 1) belongs to no section") }
      add(&self, line)
    }
  }

  /// Patterns, separated by commas; empty if there are none.
  subscript(kind: Kind) -> String { patterns[kind] ?? "" }
}
