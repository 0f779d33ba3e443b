import Foundation
import TestSupport
import Testing

@testable import Relevance

@Suite("Urgency")
struct UrgencyTests {
  struct Phrase: Decodable {
    var language: String
    var urgent: Bool
    var text: String
  }

  private func phrases(_ name: String) throws -> [Phrase] {
    try String(contentsOf: Repository.file("Tests/Corpus/urgency/\(name).jsonl"), encoding: .utf8).split(
      separator: "\n"
    )
    .map { try JSONDecoder().decode(Phrase.self, from: Data($0.utf8)) }
  }

  private func measure(_ phrases: [Phrase]) -> (precision: Double, recall: Double) {
    let found = phrases.filter { Urgency.standard.isUrgent($0.text) }
    let right = Double(found.count { $0.urgent })
    return (right / Double(found.count), right / Double(phrases.count { $0.urgent }))
  }

  @Test("issue 62: on phrases that were kept from tuning, precision is 0.97 or more and recall 0.9 or more")
  func heldOut() throws {
    let phrases = try phrases("held-out")
    #expect(phrases.count >= 300 && Set(phrases.map(\.language)).count >= 7)
    let (precision, recall) = measure(phrases)
    #expect(precision >= 0.97 && recall >= 0.9, "precision \(precision), recall \(recall)")
  }

  @Test("issue 62: on what an outside tester wrote, precision is 0.97 or more and recall 0.95 or more")
  func outside() throws {
    let phrases = try phrases("outside")
    let (precision, recall) = measure(phrases)
    #expect(phrases.count >= 390 && Set(phrases.map(\.language)).count >= 13)
    #expect(precision >= 0.97 && recall >= 0.95, "precision \(precision), recall \(recall)")
  }

  @Test("issue 62: the phrases it was made with come out right")
  func tuning() throws {
    for phrase in try phrases("tuning") {
      #expect(Urgency.standard.isUrgent(phrase.text) == phrase.urgent, "\(phrase.language): \(phrase.text)")
    }
  }

  @Test("a lexicon's sections hold patterns by kind, and classes; comments and line ends separate")
  func lexicon() throws {
    let lexicon = try UrgencyLexicon(
      "// about it\n[class who]\nann/bob\ncarl\n\n[danger]\n$who screams, fire\n// why\nflood & $who\n\n[notBefore]\nnot\n"
    )
    #expect(lexicon.classes == ["who": "ann/bob/carl/"])
    #expect(lexicon[.danger] == "$who screams, fire,flood & $who," && lexicon[.notBefore] == "not,")
    #expect(lexicon[.alarm].isEmpty)
  }

  @Test(
    "a lexicon with a mistake is refused",
    arguments: ["fire\n[danger]\n", "[dangr]\nfire", "[danger]\nfire\n[danger]\nflood", "[class a]\nb\n[class a]\nc"])
  func damaged(_ text: String) { #expect(throws: UrgencyLexicon.Damage.self) { try UrgencyLexicon(text) } }

  @Test(
    "issue 62: what takes evidence back",
    arguments: [
      ("the kitchen is on fire", true), ("the kitchen is not on fire", false),
      ("if the kitchen is on fire, use the stairs", false),
      ("last year the kitchen was on fire", false), ("that film where the kitchen is on fire", false),
      ("haha the kitchen is on fire", false),
      ("\"the kitchen is on fire\", he sang", false), ("the kitchen is on fire 😂", false),
      ("is the kitchen on fire?", false),
      ("help", true), ("Hilfe!", true), ("help?", false), ("help, which dress?", false),
      ("your flight leaves in 10 minutes and it is not here", true), ("the kitchen is on fire. is anybody home?", true),
      ("THE KITCHEN IS ON FIRE", true),
      ("The kitchen is on fire, but no rush", false), ("No rush: the kitchen is on fire", false),
      ("I'm fine but the kitchen is on fire", true), ("The kitchen is on fire, but I'm fine", false),
      ("All good? The kitchen is on fire", true), ("All good, the kitchen is on fire", true),
      ("The kitchen is on fire. All good with you?", true), ("The kitchen is on fire. All good now", false),
      ("all good at the kitchen on fire", false),
      ("no joke, the kitchen is on fire", true), ("this is not a false alarm, the kitchen is on fire", true),
      ("false alarm, the kitchen is not on fire", false), ("this is not a drill, the kitchen is on fire", true),
      ("haha see you. the kitchen is on fire", true), ("the kitchen is on fire. haha", false),
      ("`the kitchen is on fire` is the test's name", false), ("don`t panic, the kitchen is on fire", true),
    ])
  func scopes(text: String, isUrgent: Bool) {
    #expect(Urgency.standard.isUrgent(text) == isUrgent, "\(text)")
  }

  @Test("issue 62: capitals and exclamation marks say nothing alone")
  func loudness() {
    #expect(!Urgency.standard.isUrgent("WE WON THE CUP!!!") && Urgency.standard.isUrgent("HELP!!"))
  }

  @Test("issue 62: a text composed in another way says the same; no text is too strange or too long")
  func forms() throws {
    for phrase in try phrases("tuning") {
      let isUrgent = Urgency.standard.isUrgent(phrase.text)
      #expect(Urgency.standard.isUrgent(phrase.text.decomposedStringWithCanonicalMapping) == isUrgent, "\(phrase.text)")
    }
    var random = SeededGenerator(announcedFor: "any text")
    let pieces = [
      "help", "fire", " ", "!", "?", "\"", "“", "’", "#", "5", "\u{301}", "🔥", "가", "火", ".", "\n", "aaaa", "\0", "'s",
    ]
    for _ in 0..<3_000 {
      _ = Urgency.standard.isUrgent((0..<random.below(40)).map { _ in pieces[random.below(pieces.count)] }.joined())
    }
    #expect(!Urgency.standard.isUrgent(String(repeating: "é", count: 100_000)))
    let long = String(repeating: "so today we went to the lake. ", count: 1_000)
    for text in ["the kitchen is on fire. \(long)", "\(long)the kitchen is on fire"] {
      #expect(Urgency.standard.isUrgent(text))
    }
  }
}
