import Foundation
import NudgeClient
import TestSupport
import Testing

@Suite("C2: the app's words")
struct WordsTests {
  @Test("a locale's language decides; what is not there is English")
  func languages() {
    for (locale, language) in [
      ("de-CH", "de"), ("ES_mx", "es"), ("fr", "fr"), ("ja-JP-u-ca-japanese", "ja"), ("en_GB", "en"), ("tlh", "en"),
      ("", "en"),
      ("-de", "de"),
    ] {
      #expect(Words(locale: locale).language == language, "\(locale)")
    }
    #expect(Words(locale: nil) == .english)
  }

  @Test("every language has every word, with its places, and its own", arguments: Words.all)
  func complete(words: Words) throws {
    let texts = try fields(of: words)
    let english = try fields(of: .english)
    for (name, text) in texts where name != "language" {
      #expect(!text.isEmpty && text == text.trimmingCharacters(in: .whitespacesAndNewlines), "\(name)")
      #expect(
        text.contains("{group}") == (name == "inGroup") && text.contains("{count}") == (name == "more"), "\(name)")
      // "Messages" is a French word too.
      if words.language != "en", name != "messagesChannel" {
        #expect(text != english[name] || name == "inGroup", "\(name)")
      }
    }
    #expect(words.inGroup(named: "Team {group}").contains("Team {group}"))
    #expect(words.more(count: 12).contains("12"))
    #expect(Words.all.filter { $0.language == words.language }.count == 1)
  }

  @Test("C2: buttons and results are in the language asked for")
  func german() {
    let german = Words(locale: "de-AT")
    #expect(
      NotificationAction.all(german).map(\.title) == [
        "Antworten", "Als gelesen markieren", "👍 Hilfreich", "👎 Nicht hilfreich",
      ])
    var permission = NotificationPermission(status: .denied, words: german)
    #expect(permission.signedIn() == [.forgetToken, .showBanner(.standard(german))])
    #expect(NotificationActions.Refusal.emptyReply.text(german) == "Es gibt nichts zu senden")
    #expect(NotificationActions.Refusal.noMessage.text(german) == nil)
    var router = Router(words: german)
    _ = router.ready(at: at(0))
    _ = router.receive(Route(conversationId: "c1"), at: at(0))
    _ = router.listLoaded(at: at(0))
    #expect(router.unavailable("c1").first == .tell("Diese Unterhaltung ist nicht mehr verfügbar"))
  }

  private func fields(of words: Words) throws -> [String: String] {
    try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(words)) as? [String: String])
  }
}
