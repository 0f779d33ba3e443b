import Foundation
import NudgeClient
import NudgeSchema
import Testing

@testable import Wording

@Suite("Fixed words and displayed texts")
struct WordingTests {
  @Test("a locale's language decides; what is not there is English")
  func languages() {
    #expect(Wording(locale: "de-CH").language == "de")
    #expect(Wording(locale: "ES_mx").language == "es")
    #expect(Wording(locale: "fr").language == "fr")
    #expect(Wording(locale: "ja-JP-u-ca-japanese").language == "ja")
    for other in [nil, "", "x", "tlh", "deu", "-de"] { #expect(Wording(locale: other) == .english) }
  }

  @Test(
    "every language has every word, with its placeholders, and no two languages are the same", arguments: Wording.all)
  func complete(words: Wording) {
    #expect(words.newMessage(from: "Ann").contains("Ann"))
    let title = words.title(of: "Ann {group}", in: "Launch {sender}")
    #expect(title.contains("Ann {group}") && title.contains("Launch {sender}") && title != "Ann {group}Launch {sender}")
    for fallback in AnalysisFallback.allCases {
      let notice = words.limitNotice(fallback, limit: 17)
      #expect(notice.contains("17") && !notice.contains("{"))
    }
    for (messages, conversations) in [(1, 1), (14, 1), (14, 3)] {
      let text = words.catchUp(messages: messages, conversations: conversations)
      #expect(text.contains("\(messages)") && text.contains("\(conversations)") && !text.contains("{"), "\(text)")
    }
    let unnamed = words.title(of: "Ann {others}", with: ["Ben", "{sender}"], further: 2)
    #expect(
      unnamed.contains("Ann {others}") && unnamed.contains("Ben") && unnamed.contains("{sender} +2"), "\(unnamed)")
    #expect(!words.title(of: "Ann", with: ["Ben"], further: 0).contains("+"))
    #expect(words.title(of: "Ann", with: [], further: 0) == "Ann")
    let kinds = Attachment.Kind.allCases.map { words.word(for: $0) }
    #expect(Set(kinds).count == kinds.count)
    #expect(Wording.all.filter { $0.language == words.language }.count == 1)
    let all =
      kinds + [
        words.newMessage, words.groupTitle, words.limitReached, words.usingSimpleRules, words.notifyingAll,
        words.suppressingAll, words.oneMessage, words.messages, words.inOneConversation, words.inConversations,
        words.catchUp,
      ]
    #expect(all.allSatisfy { !$0.isEmpty && $0.displayed == $0 })
  }

  @Test(
    "a text that stands for a message of somebody is known, also where the name is composed in another way; no other text is",
    arguments: Wording.all)
  func newMessage(words: Wording) {
    for name in ["Ann", "José", "{sender}", "New message from Ann", "", "さん"] {
      let text = words.newMessage(from: name)
      #expect(words.isNewMessage(text, from: name), "\(text)")
      #expect(words.isNewMessage(text.decomposedStringWithCanonicalMapping, from: name), "\(text)")
      #expect(!words.isNewMessage(text + "!", from: name) && !words.isNewMessage(text, from: name + "a"), "\(text)")
      #expect(!words.isNewMessage(String(text.dropLast()), from: name) && !words.isNewMessage("", from: name))
    }
  }

  @Test(
    "a text is visible where a screen shows something of it",
    arguments: [
      ("", false), (" \n\t", false), ("\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}", false),
      ("\u{3164}\u{115F}\u{FFA0}", false),
      ("\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}", false), ("\u{2800}", false), ("\u{AD}\u{34F}", false),
      ("\u{E0020}\u{FE0F}", false), ("\u{0}\u{85}\u{2028}", false), ("\u{A0}\u{3000}", false), ("a", true), (".", true),
      ("\u{200B}ж", true), ("字", true), ("👍🏽", true), ("שלום", true), ("\u{200F}!", true),
    ])
  func visible(text: String, isVisible: Bool) {
    #expect(text.isVisible == isVisible)
  }

  @Test("D10: every language has its own words for every reason, with the places English has", arguments: Wording.all)
  func reasons(words: Wording) {
    var values = ReasonValues()
    values.sender = "Zoë"
    values.reasons = "R"
    (values.time, values.start, values.end, values.zone, values.limit) = ("T", "S", "E", "Z", "7")
    values.dailyAlerts = "3"
    let texts = ReasonCode.allCases.map { words.reasons.text($0, values) }
    #expect(texts.allSatisfy { !$0.isEmpty && $0.displayed == $0 && !$0.contains("{") && !$0.contains("  ") })
    #expect(Set(texts).count == texts.count)
    for code in ReasonCode.allCases {
      #expect(words.reasons.places(of: code) == Wording.english.reasons.places(of: code), "\(words.language) \(code)")
      if words.language != "en" {
        #expect(words.reasons.text(code, values) != Wording.english.reasons.text(code, values))
      }
    }
    #expect(words.reasons.list([.mentioned], values).contains("Zoë"))
    #expect(words.reasons.list([], values).isEmpty)
  }

  @Test("reasons are listed as one does: commas, and a word before the last")
  func lists() {
    var values = ReasonValues()
    values.sender = "Ann"
    let three: [ReasonCode] = [.mentioned, .answered, .talking]
    #expect(
      Wording.english.reasons.list(three, values)
        == "Ann mentions you, it answers your message and you and Ann are talking")
    #expect(
      Wording.german.reasons.list([.direct, .question], values) == "es ist eine Direktnachricht und sie fragt etwas")
  }

  @Test("C2: the app speaks the languages of the services, and names a group as they do", arguments: Wording.all)
  func appLanguages(words: Wording) {
    #expect(Words.all.map(\.language) == Wording.all.map(\.language))
    let app = Words(locale: words.language)
    #expect(words.title(of: "Ann", in: "Team").hasSuffix(app.inGroup(named: "Team")))
    #expect(app.language == words.language)
  }

  @Test("D18: how much was missed, in words")
  func catchUp() {
    #expect(Wording.english.catchUp(messages: 14, conversations: 3) == "14 messages in 3 conversations")
    #expect(Wording.english.catchUp(messages: 1, conversations: 1) == "1 message in 1 conversation")
    #expect(Wording.german.catchUp(messages: 2, conversations: 1) == "2 Nachrichten in 1 Unterhaltung")
    #expect(Wording.french.catchUp(messages: 2, conversations: 2) == "2 messages dans 2 conversations")
    #expect(Wording.japanese.catchUp(messages: 5, conversations: 2) == "2件の会話に5件のメッセージ")
  }

  @Test("control characters and overrides of direction do not pass; all else stays")
  func displayed() {
    #expect("a\u{202E}gnp.exe\u{202C}".displayed == "agnp.exe")
    #expect("\u{2066}a\u{2069}\u{2067}b\u{2068}c".displayed == "abc")
    #expect("a\u{0}b\u{7}c\u{1B}[31md\u{7F}\u{9F}".displayed == "abc[31md")
    #expect("one\r\ntwo\tthree\u{2028}four".displayed == "one\ntwo three\nfour")
    #expect("one\r\ntwo".displayedOnOneLine == "one two")
    for text in ["", "plain", "שלום עולם", "مرحبا", "👨‍👩‍👧 \u{200F}x\u{200E}", "naïve – “quotes” …", "日本語\n二行"] {
      #expect(text.displayed == text)
    }
  }

  @Test("a limit of one has the singular, one of several the plural", arguments: Wording.all)
  func counts(words: Wording) {
    func texts(_ number: String) -> [String] {
      var values = ReasonValues()
      (values.limit, values.dailyAlerts) = (number, number)
      return [.limitReached, .limitNotifiesAll, .limitSuppressesAll, .overBudget].map { words.reasons.text($0, values) }
    }
    let (one, several): (String, String) =
      switch words.language {
      case "de": ("1 smarten Analyse pro, 1 Signal am", "3 smarten Analysen pro, 3 Signale am")
      case "es": ("1 análisis inteligente por, 1 aviso al", "3 análisis inteligentes por, 3 avisos al")
      case "fr": ("1 analyse intelligente par, 1 alerte par", "3 analyses intelligentes par, 3 alertes par")
      case "ja": ("1時間1件, 1日1回", "1時間3件, 1日3回")
      default: ("1 smart analysis an, 1 alert a", "3 smart analyses an, 3 alerts a")
      }
    for (number, expected) in [("1", one), ("3", several)] {
      let parts = expected.components(separatedBy: ", ")
      for (text, part) in zip(texts(number), [parts[0], parts[0], parts[0], parts[1]]) {
        #expect(text.contains(part), "\(part) is not in \(text)")
      }
    }
    if words.language == "fr" { #expect(texts("0")[3].contains("0 alerte par")) }
  }
}
