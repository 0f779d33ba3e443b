import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("What a person teaches")
struct LearnedPreferencesTests {
  private static let day: Milliseconds = 86_400_000

  @Test("D5: whatever is taught, shifts and their number stay within their bounds")
  func bounded() throws {
    var random = SeededGenerator(announcedFor: "LearnedPreferences")
    let seed = random.seed
    let signals: [FeedbackSignal] = [.helpful, .notHelpful, .replied, .opened, .read, .dismissed, .ignored]
    var learned = LearnedPreferences()
    var time: Milliseconds = noon
    for _ in 0..<3_000 {
      time += .random(in: -1_000...10_000_000, using: &random)
      learned.learn(
        signals.randomElement(using: &random) ?? .read, score: .random(in: 0...1_000, using: &random),
        sender: .random(in: 1...90, using: &random), conversation: .random(in: 1...40, using: &random), at: time)
      #expect(learned.entries.count <= LearnedPreferences.maxEntries, "seed \(seed)")
      for entry in learned.entries {
        #expect(abs(entry.shift) <= entry.subject.bound, "seed \(seed)")
      }
      let shifts = learned.shifts(
        sender: .random(in: 1...90, using: &random), conversation: .random(in: 1...40, using: &random), at: time)
      #expect(shifts.reduce(0) { $0 + abs($1.shift) } <= LearnedPreferences.bound, "seed \(seed)")
    }
  }

  @Test("D5: what was expected teaches little, what was not teaches much; in 30 days half of it is gone")
  func newsAndDecay() throws {
    var expected = LearnedPreferences()
    expected.learn(.helpful, score: 950, sender: 7, conversation: 8, at: noon)
    var news = LearnedPreferences()
    news.learn(.notHelpful, score: 950, sender: 7, conversation: 8, at: noon)
    func shift(_ learned: LearnedPreferences, after days: Int64) -> Int {
      learned.shifts(sender: 7, conversation: 0, at: noon + days * Self.day).first { $0.name == "learned_sender" }?
        .shift
        ?? 0
    }
    #expect(shift(expected, after: 0) == 60)
    #expect(shift(news, after: 0) == -1_140)
    #expect(abs(shift(news, after: 30) + 570) < 20)
    #expect(shift(news, after: 400) == 0)
    #expect(shift(news, after: -10) == -1_140)
    #expect(LearnedPreferences().shifts(sender: 7, conversation: 8, at: noon).isEmpty)
  }

  @Test("D5: not helpful lowers the score of that sender's next messages, says so, and counts once")
  func feedback() throws {
    let scene = try Scene.smart()
    let before = try #require(try scene.message("m1").decision)
    for _ in 0..<3 { try scene.judge("m1", .notHelpful, at: noon + 1) }
    let after = try #require(try scene.message("m2", at: noon + 2).decision)
    #expect(after.score ?? 1 < before.score ?? 0)
    let signal = try #require(after.signals.first { $0.name == "learned_sender" })
    #expect(signal.weight == -0.36)
    #expect(before.signals.allSatisfy { !$0.name.hasPrefix("learned") })
    // The person who taught it, and nobody else.
    let other = try #require(
      try scene.send(.candidate(Scene.candidate("m3", to: ["eve"])), at: noon, origin: scene.nextOrigin()).decision)
    #expect(other.score == before.score)
  }

  @Test("issue 62: 👎 in a direct chat, with nothing set, makes its next messages silent; 👍 or an own message end that")
  func foundUnhelpful() throws {
    let scene = try Scene.withPhone()
    func next(_ id: String, at time: Milliseconds, body: String = "hello there") throws -> Written {
      try scene.message(id, at: time, body: body)
    }
    let before = try next("m1", at: noon)
    #expect(before.push?.presentation == .alert && before.decision?.priority == .medium)
    try scene.judge("m1", .notHelpful, at: noon + 1)
    try scene.driver.restart()
    let after = try next("m2", at: noon + minute)
    #expect(after.push?.presentation == .silent && after.decision?.reason == .notifyAll)
    #expect(try #require(after.decision?.score) < before.decision?.score ?? 0)
    #expect(after.decision?.text == "messages of Bob rarely matter to you")
    #expect(after.decision?.signals.contains { $0.name == "learned_sender" && $0.weight < 0 } == true)
    // What cannot wait alerts all the same.
    #expect(try next("m3", at: noon + 2 * minute, body: "emergency, call me now").push?.presentation == .alert)
    // It is said of this conversation alone.
    #expect(try scene.message("n1", in: "c2", at: noon + 2 * minute).push?.presentation == .alert)
    for number in 0..<40 {
      #expect(try next("m4-\(number)", at: noon + (3 + Int64(number)) * minute).push?.presentation == .silent)
    }
    try scene.judge("m4-39", .helpful, at: noon + 50 * minute)
    #expect(try next("m5", at: noon + 51 * minute).push?.presentation == .alert)
    try scene.judge("m5", .notHelpful, at: noon + 52 * minute)
    #expect(try next("m6", at: noon + 53 * minute).push?.presentation == .silent)
    try scene.wrote("own", at: noon + 54 * minute)
    #expect(try next("m7", at: noon + 55 * minute).push?.presentation == .alert)
    // A verdict that comes back is the last word again; an older one that comes late is not.
    try scene.judge("m7", .notHelpful, at: noon + 56 * minute)
    try scene.judge("m7", .helpful, at: noon + 57 * minute)
    #expect(try next("m8", at: noon + 58 * minute).push?.presentation == .alert)
    try scene.judge("m7", .notHelpful, at: noon + 59 * minute)
    #expect(try next("m9", at: noon + 60 * minute).push?.presentation == .silent)
    try scene.judge("m7", .helpful, at: noon + 62 * minute)
    try scene.judge("m7", .notHelpful, at: noon + 61 * minute)
    #expect(try next("m10", at: noon + 63 * minute).push?.presentation == .alert)
    // A person who chose that each message alerts means it.
    try scene.judge("m10", .notHelpful, at: noon + 64 * minute)
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: .all)), at: noon + 65 * minute)
    #expect(try next("m11", at: noon + 66 * minute).push?.presentation == .alert)
  }

  @Test("D5: answering, opening and reading soon raise the score; dismissing lowers it; each message counts once")
  func behaviour() throws {
    func score(_ act: (Scene) throws -> Void) throws -> Double {
      let scene = try Scene.smart()
      try scene.message("m1")
      try act(scene)
      return try #require(try scene.message("m2", at: noon + hour).decision?.score)
    }
    let none = try score { _ in }
    #expect(try score { try $0.wrote("w", at: noon + minute) } > none)
    #expect(try score { try $0.wrote("w", at: noon + 6 * minute) } == none)
    #expect(try score { try $0.report(.opened, "m1", at: noon + minute) } > none)
    #expect(try score { try $0.report(.dismissed, "m1", at: noon + minute) } < none)
    #expect(try score { try $0.read(at: noon + minute) } > none)
    let opened = try score { try $0.report(.opened, "m1", at: noon + minute) }
    #expect(
      try score {
        try $0.report(.opened, "m1", at: noon + minute)
        try $0.report(.opened, "m1", at: noon + 2 * minute)
        try $0.report(.dismissed, "m1", at: noon + 2 * minute)
      } == opened)
  }

  @Test("D5, D8: learnSince forgets what was learned up to a time; ahead, nothing is learned until then")
  func reset() throws {
    let scene = try Scene.smart()
    let before = try #require(try scene.message("m1").decision?.score)
    try scene.judge("m1", .notHelpful, at: noon + 1)
    #expect(try scene.message("m2", at: noon + 2).decision?.score ?? 1 < before)
    try scene.prefer(PreferencesPatch(learnSince: noon + 3), at: noon + 3)
    #expect(try scene.message("m3", at: noon + 4).decision?.score == before)
    try scene.prefer(PreferencesPatch(learnSince: noon + hour), at: noon + 5)
    try scene.judge("m3", .notHelpful, at: noon + 6)
    #expect(try scene.message("m4", at: noon + 7).decision?.score == before)
  }

  @Test("D11: the same events teach the same, with or without restarts between them")
  func replayed() throws {
    var random = SeededGenerator(announcedFor: "LearnedPreferences")
    let seed = random.seed
    func decisions(restarting: Bool, _ random: inout SeededGenerator) throws -> [Decision] {
      let scene = try Scene.smart()
      try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1_000))
      var decisions: [Decision] = []
      for number in 0..<150 {
        let time = noon + Int64(number) * 20_000
        let act = Int.random(in: 0..<6, using: &random)
        let earlier = "m\(max(0, number - Int.random(in: 1...40, using: &random)))"
        switch act {
        case 0: try scene.judge(earlier, .helpful, at: time)
        case 1: try scene.judge(earlier, .notHelpful, at: time)
        case 2: try scene.report(.opened, earlier, at: time)
        case 3: try scene.report(.dismissed, earlier, at: time)
        case 4: try scene.wrote("w\(number)", at: time)
        default: try scene.read(at: time)
        }
        decisions += try scene.message("m\(number)", in: "c\(number % 3)", at: time + 1).decisions
        if restarting, number % 7 == 0 { try scene.driver.restart() }
      }
      return decisions
    }
    var again = random
    #expect(
      try decisions(restarting: false, &random) == decisions(restarting: true, &again), "seed \(seed)")
  }

  @Test("D5: after 20 signals a person whose taste differs from the average is served better")
  func served() throws {
    // The person cares for one sender's messages, which the model finds as unlikely as another's.
    func wrong(_ taught: Int) -> Double {
      var learned = LearnedPreferences()
      var wrong = 0.0
      let base = 0.25
      for number in 0..<(taught + 40) {
        let sender = Int64(number % 2) + 1
        let matters = sender == 1
        let shift = learned.shifts(sender: sender, conversation: 9, at: noon).reduce(0) { $0 + $1.shift }
        let rules = AnalyzerRules(hash: standInHash)
        var assessment = Assessment(score: base, priority: .medium, signals: [])
        rules.shift(&assessment, by: [("learned_sender", shift)])
        if number < taught {
          learned.learn(
            matters ? .helpful : .notHelpful, score: Int(assessment.score * 1_000), sender: sender, conversation: 9,
            at: noon)
        } else {
          wrong += (assessment.score >= rules.policy.highFrom) == matters ? 0 : 1
        }
      }
      return wrong / 40
    }
    #expect(wrong(0) == 0.5)
    #expect(wrong(20) == 0)
  }
}

extension Scene {
  fileprivate func judge(_ messageId: String, _ verdict: FeedbackSubmitted.Verdict, at time: Milliseconds) throws {
    try send(
      .user(
        .feedback(
          FeedbackSubmitted(userId: "ann", conversationId: "c1", messageId: messageId, feedback: verdict))), at: time)
  }

  fileprivate enum Report { case opened, dismissed }

  fileprivate func report(_ report: Report, _ messageId: String, at time: Milliseconds) throws {
    let fields = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: "p", conversationId: "c1", messageId: messageId)
    try send(.user(report == .opened ? .notificationOpened(fields) : .notificationDismissed(fields)), at: time)
  }
}
