import Foundation
import TestSupport
import Testing

@testable import Analyzer

@Suite("Keywords")
struct KeywordTests {
  @Test(
    "D8: a keyword is found as a person would find it, in every script",
    arguments: [
      ("budget", "Is the BUDGET-review today?"), ("Budget Review", "the budget-review is late"),
      ("budget-review", "Budget  review!"),
      ("größe", "welche GRÖSSE denn"), ("café", "au cafe\u{301} du coin"), ("cafe\u{301}", "le CAFÉ est fermé"),
      ("cafe", "le café"),
      ("école", "ECOLE fermée demain"), ("İzmir", "izmir'e gidiyoruz"), ("会議", "明日の会議は10時です"), ("会议", "明天的会议取消了"),
      ("ประชุม", "พรุ่งนี้มีประชุมตอนเช้า"), ("회의", "내일 회의는 10시"), ("회의", "회의에서 봐요"), ("회의", "오늘 회의입니다"), ("회의", "회의, 언제?"),
      ("API", "API가 느려요"), ("東京", "東京タワー"), ("カフェ", "駅前のｶﾌｪ"), ("C++", "who knows C++?"), ("c++", "C++17 is fine"),
      ("C#", "the C# service"), (".NET", "we use .net here"), ("node.js", "Node JS 22"), ("@here", "@here lunch"),
      ("@here", "ping @HERE please"), ("#ops", "see #ops"), ("🔥", "so good🔥🔥"), ("🔥", "🔥"), ("❤️", "I ❤ it"),
      ("👍", "ok 👍🏽"),
      ("at&t", "my AT&T bill"), ("24/7", "open 24/7"), ("€", "20€ each"), ("lunch!", "Lunch?"),
      ("\"budget\"", "budget"),
      ("дедлайн", "ДЕДЛАЙН завтра"), ("ёлка", "елка уже стоит"), ("σχολείο", "ΣΧΟΛΕΙΟ κλειστό"),
      ("اجتماع", "الاجتماع غدا"), ("פגישה", "הפגישה מחר"),
      ("mühe", "Mu\u{308}he"), ("Việt Nam", "viet nam"), ("ﾃｽﾄ", "テスト"), ("ＡＢＣ", "abc"), ("हिन्दी", "हिन्दी में"),
      ("5", "gate 5"),
    ])
  func found(keyword: String, text: String) {
    #expect(MessageText(text).containsAny(of: [keyword]), "\(keyword) in \(text)")
  }

  @Test(
    "D8: and nowhere else",
    arguments: [
      ("C++", "vitamin c"), ("C++", "plan c + d"), ("@here", "come here"), ("@here", "write to me@here.com"),
      ("#ops", "devops"),
      ("budge", "the budget"), ("review budget", "budget review"), ("회의", "사회의 문제"), ("회의", "회의적이다"), ("이", "회의는"),
      ("🔥", "fire"), ("👍", "👎"), ("C#", "c major"), (".net", "net profit"), ("at&t", "look at t-shirts"),
      ("art", "party"), ("кот", "который"),
      ("", "anything"), (" ", "a b"), ("?", "really?"), ("-", "a - b"), ("!!", "wow!!"), ("か", "なに"), ("फल", "सफलता"),
      ("€", "20 $"),
      ("علم", "معلم"),
    ])
  func notFound(keyword: String, text: String) {
    #expect(!MessageText(text).containsAny(of: [keyword]), "\(keyword) in \(text)")
  }

  /// Words of many scripts, none of them in another, and none a part of what is put around them.
  private let words = [
    "budget", "Größe", "café", "naïve", "会議", "打ち合わせ", "회의", "ประชุม", "дедлайн", "İstanbul", "σχολείο", "हिन्दी", "C++",
    "@here", "#ops", "🔥", "👨‍👩‍👧", "B2B",
    "Zürich West", "node.js", "東京駅", "tiếng",
  ]

  @Test("D8: a keyword is found whatever its case, its composition and what separates it from other words")
  func forms() {
    var random = SeededGenerator(announcedFor: "keyword forms")
    let around = [" ", ", ", "! ", "\n", " – ", " (", ") ", "…", "\"", "。", " 📌 "]
    for _ in 0..<2_000 {
      let word = words[random.below(words.count)]
      func form(_ text: String) -> String {
        let cased = [text, text.uppercased(), text.lowercased()][random.below(3)]
        return [cased, cased.decomposedStringWithCanonicalMapping, cased.precomposedStringWithCanonicalMapping][
          random.below(3)]
      }
      let others = words.filter { $0 != word }
      func filling() -> String {
        (0..<random.below(3)).map { _ in others[random.below(others.count)] }.joined(separator: " ")
      }
      let (before, after) = (around[random.below(around.count)], around[random.below(around.count)])
      let text = filling() + before + form(word) + after + filling()
      #expect(MessageText(text).containsAny(of: [form(word)]), "\(word) in \(text)")
      let without = filling() + before + after + filling()
      #expect(!MessageText(without).containsAny(of: [form(word)]), "\(word) in \(without)")
    }
  }

  @Test("D8: no keyword and no text is too strange")
  func anything() {
    var random = SeededGenerator(announcedFor: "any keyword")
    let pieces: [Unicode.Scalar] = [
      "a", "É", "\u{301}", "\u{200D}", "🔥", "가", "会", "\u{1100}", " ", "+", "@", "\0", "\u{FE0F}", "ß", "İ", "ﬁ",
      "\u{64B}",
    ]
    func text(_ most: Int) -> String {
      String(String.UnicodeScalarView((0..<random.below(most)).map { _ in pieces[random.below(pieces.count)] }))
    }
    for _ in 0..<5_000 {
      let keyword = text(5)
      // A text that is the keyword has it, if anything can.
      let isKeyword = MessageText("🔥").containsAny(of: ["🔥"]) && Keyword(keyword) != nil
      #expect(MessageText(keyword).containsAny(of: [keyword]) == isKeyword, "\(keyword.unicodeScalars.map(\.value))")
      _ = MessageText(text(30)).containsAny(of: [keyword])
    }
  }
}
