import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Analysis limit")
struct AnalysisLimitTests {
  @Test("D4: ten analyses an hour by default, then simple rules, and the person is told once")
  func defaultLimit() throws {
    let scene = try Scene.smart()
    for number in 1...10 {
      let written = try scene.message("m\(number)", at: noon + Int64(number))
      #expect(written.decision?.reason == .relevant)
      #expect(written.decision?.analysis == AnalysisUse(used: number, limit: 10, windowStartedAt: noon + 1))
      #expect(written.notices.isEmpty)
    }
    let eleventh = try scene.message("m11", at: noon + 11)
    #expect(eleventh.decision?.reason == .simpleRules)
    #expect(
      eleventh.decision?.analysis
        == AnalysisUse(used: 10, limit: 10, windowStartedAt: noon + 1, fallback: .simpleRules))
    #expect(eleventh.push?.reason == .simpleRules)
    #expect(
      eleventh.notices == [
        Notice(
          userId: "ann", code: .analysisLimit, limit: 10, fallback: .simpleRules,
          text: "⚠️ Smart notification limit reached (10/hour). Using simple rules.")
      ])
    #expect(try scene.message("m12", at: noon + 12).notices.isEmpty)
  }

  @Test("D4: the window restarts one hour after its first analysis, by the messages' own times")
  func window() throws {
    let scene = try Scene.smart()
    try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1))
    #expect(try scene.message("m1", at: noon).decision?.reason == .relevant)
    let last = try scene.message("m2", at: noon + hour - 1)
    #expect(last.decision?.reason == .simpleRules && last.notices.count == 1)
    let next = try scene.message("m3", at: noon + hour)
    #expect(next.decision?.reason == .relevant)
    #expect(next.decision?.analysis?.windowStartedAt == noon + hour)
    // Once a window: in the next one, again.
    #expect(try scene.message("m4", at: noon + hour + 1).notices.count == 1)
  }

  @Test("D4: notify_all and suppress_all, each with a text of its own; a limit of 0 is no notice")
  func fallbacks() throws {
    var texts: Set<String> = []
    for fallback in [AnalysisFallback.simpleRules, .notifyAll, .suppressAll] {
      let scene = try Scene.smart()
      try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1, fallback: fallback))
      #expect(try scene.message("m0", group: "Hikers").notices.isEmpty)
      let written = try scene.message("m1", group: "Hikers")
      switch fallback {
      case .simpleRules:
        #expect(written.decision?.reason == .simpleRules && written.decision?.priority == .low)
      case .notifyAll:
        #expect(written.decision?.reason == .notifyAll && written.push?.priority == .medium)
      case .suppressAll:
        #expect(written.decision?.reason == .analysisLimit && written.push == nil)
        #expect(written.decision?.badge == 1)
      }
      #expect(written.notices.map(\.fallback) == [fallback])
      let text = try #require(written.notices.first?.text)
      #expect(text.hasPrefix("⚠️ Smart notification limit reached (1/hour). "))
      texts.insert(text)
      let none = try Scene.smart()
      try none.prefer(PreferencesPatch(maxAnalysesPerHour: 0, fallback: fallback))
      let wished = try none.message("m1", group: "Hikers")
      #expect(wished.decision?.analysis?.fallback == fallback && wished.notices.isEmpty)
    }
    #expect(texts.count == 3)
  }

  @Test("D4: what an earlier check suppresses uses no analysis; what a later one does, uses one")
  func whatCounts() throws {
    let scene = Scene()
    try scene.prefer(
      PreferencesPatch(
        muted: [MutedConversation(conversationId: "c9")], defaultLevels: DefaultLevels(direct: .smart)))
    #expect(try scene.message("m1", in: "c9").decision?.analysis == nil)
    #expect(try scene.message("m2").decision?.reason == .noDevice)
    #expect(try scene.message("m3").decision?.analysis?.used == 2)
  }

  /// The oracle keeps every analysis there ever was and finds the window by looking at all of them.
  @Test("D4: agrees with a brute-force oracle on random times and limits")
  func oracle() {
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let limit = Int.random(in: 0...12, using: &random)
      var window: AnalysisWindow?
      var time = noon
      var firsts: [Milliseconds] = []
      var analyses: [(time: Milliseconds, window: Milliseconds)] = []
      for _ in 0..<400 {
        time += Int64.random(in: 0...(20 * minute), using: &random)
        // Some come late: another conversation's backlog.
        let at = Int.random(in: 0..<5, using: &random) == 0 ? time - Int64.random(in: 0...hour, using: &random) : time
        let current: Milliseconds
        if let open = firsts.last(where: { at < $0 + hour }), open == firsts.last {
          current = open
        } else {
          current = at
          firsts.append(at)
        }
        let expected = analyses.filter { $0.window == current }.count < limit
        let allowed = AnalysisWindow.take(&window, at: at, limit: limit)
        guard allowed == expected, window?.startedAt == current else {
          Issue.record("seed \(seed), time \(at): \(allowed), not \(expected)")
          return
        }
        if allowed { analyses.append((at, current)) }
      }
      // In order or not, no window has more than its limit, and no hour that begins a window either.
      for first in firsts { #expect(analyses.filter { $0.window == first }.count <= limit) }
    }
  }

  @Test("D4: whoever comes in order has at most the limit in any hour that begins with an analysis of a window")
  func inOrder() {
    for seed in UInt64(1)...100 {
      var random = SeededGenerator(seed: seed)
      let limit = Int.random(in: 1...10, using: &random)
      var window: AnalysisWindow?
      var time = noon
      var analyses: [Milliseconds] = []
      var starts: Set<Milliseconds> = []
      for _ in 0..<500 {
        time += Int64.random(in: 0...(5 * minute), using: &random)
        if AnalysisWindow.take(&window, at: time, limit: limit) { analyses.append(time) }
        if let window { starts.insert(window.startedAt) }
      }
      #expect(starts.count > 10, "seed \(seed)")
      for start in starts {
        #expect(analyses.count { start <= $0 && $0 < start + hour } <= limit, "seed \(seed)")
      }
    }
  }
}
