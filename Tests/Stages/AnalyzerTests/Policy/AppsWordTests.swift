import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// What an app says with its user's own token, and how far the policy believes it.
@Suite("D15: the word of users' own apps")
struct AppsWordTests {
  private func push(
    _ scene: Scene, _ id: String, picture url: String? = nil, byUser: Bool, mentions: [String] = [],
    group: String? = nil, members: Int = 40
  ) throws -> Push? {
    var candidate = Scene.candidate(id, in: id, group: group, members: members)
    candidate.attachment = url.map { Attachment(kind: .image, url: $0) }
    candidate.byUser = byUser ? true : nil
    candidate.mentions = mentions
    return try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push
  }

  private func scene(_ change: (inout NotificationPolicy) -> Void = { _ in }) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    change(&rules.policy)
    return try Scene.withPhone(rules)
  }

  @Test("no phone fetches a picture from an address that a user's token chose, unless the policy names its host")
  func pictures() throws {
    let evil = "https://evil.example/track.gif"
    let standard = try scene()
    #expect(try push(standard, "m1", picture: evil, byUser: true)?.imageUrl == nil)
    #expect(try push(standard, "m2", picture: evil, byUser: false)?.imageUrl == evil)
    let chosen = try scene { $0.pictureHosts = ["cdn.example", "*.media.example"] }
    for (number, (url, isShown)) in [
      (evil, false), ("https://cdn.example/a.png", true), ("https://a.media.example/a.png", true),
      ("https://media.example/a.png", false), ("https://cdn.example@evil.example/a.png", false),
      ("https://cdn.example.evil.example/a.png", false), ("http://cdn.example/a.png", false),
      ("https://evil.example\\@cdn.example/a.png", false),
    ].enumerated() {
      #expect(try push(chosen, "p\(number)", picture: url, byUser: true)?.imageUrl == (isShown ? url : nil), "\(url)")
    }
  }

  @Test("a message that waits, and one that is decided again, has no such picture either")
  func later() throws {
    let scene = try scene()
    try scene.gain("laptop")
    try scene.activity("laptop", at: noon)
    let first = try push(scene, "m1", picture: "https://evil.example/a.gif", byUser: true)
    #expect(first?.targets.map(\.deviceId) == ["laptop"] && first?.imageUrl == nil)
    scene.driver.now = noon + minute
    let timers = try scene.driver.fireTimers().map { try scene.written($0) }
    #expect(timers.compactMap(\.push).map(\.imageUrl) == [nil])
  }

  @Test("a mention of everybody is one of each member, where the policy lets it count")
  func everybody() throws {
    func mentions(_ scene: Scene, _ id: String, byUser: Bool = true, members: Int = 40) throws -> Bool {
      let push = try push(scene, id, byUser: byUser, mentions: ["*"], group: "Hikers", members: members)
      return push?.mentioned == true && push?.presentation == .alert
    }
    let standard = try scene()
    #expect(try mentions(standard, "m1") && mentions(standard, "m2", members: 100))
    #expect(try !mentions(standard, "m3", members: 101))
    let backends = try scene { $0.everybody.who = .backends }
    #expect(try !mentions(backends, "m1") && mentions(backends, "m2", byUser: false))
    let nobody = try scene { $0.everybody.who = .nobody }
    #expect(try !mentions(nobody, "m1", byUser: false))
    let large = try scene { $0.everybody.upToMembers = 1_000 }
    #expect(try mentions(large, "m1", members: 1_000))
  }

  @Test("M3: the words for several attachments are in the person's language")
  func words() throws {
    let scene = try scene()
    try scene.prefer(PreferencesPatch(locale: "de"))
    var candidate = Scene.candidate("m1", body: "📷 Image +2")
    candidate.attachment = Attachment(kind: .image)
    #expect(try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push?.body == "📷 Bild +2")
    candidate = Scene.candidate("m2", in: "c2", body: "📷 Image +two")
    candidate.attachment = Attachment(kind: .image)
    #expect(try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push?.body == "📷 Image +two")
  }
}
