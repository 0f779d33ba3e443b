import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("The demo's live view")
struct PipelineViewTests {
  private func view() -> PipelineView {
    var ledger = DeliveryLedger(seesAborted: false)
    ledger.candidate(
      messageId: "m", recipients: ["a", "b"], origin: Origin(topic: "t", partition: 0, offset: 1))
    for (user, reason) in [("a", DecisionReason.relevant), ("b", .quietHours)] {
      ledger.decision(
        userId: user, messageId: "m", reason: reason, pushId: nil,
        origin: Origin(topic: "t", partition: 0, offset: 2), replayId: nil)
    }
    var load = EventPublisher.Progress()
    load.acknowledged = 12_345
    load.messages = 100
    return PipelineView(
      act: .playing, brokerName: "embedded broker", elapsed: .seconds(4), duration: .seconds(8), rate: 25, load: load,
      ledger: ledger, processes: [("ingest", true), ("analyzer", false)])
  }

  @Test("shows events, decisions by reason, rates and processes; without colours no escape sequence")
  func lines() {
    let text = view().lines(Paint(isOn: false)).joined(separator: "\n")
    for part in [
      "12,345  100 messages, 25.0/s", "1 notify, 1 suppress", "relevant", "quiet_hours", "● ingest", "○ analyzer",
      "4.0s of 8s",
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
    #expect(!text.contains("\u{1B}"))
    #expect(view().lines(Paint(isOn: true)).joined().contains("\u{1B}[32m"))
  }

  @Test("is one line if the output cannot be redrawn")
  func line() {
    #expect(view().line.hasPrefix("4.0s  100 messages (25.0/s)  2 candidates  2 decisions (1 notify)"))
    #expect(!view().line.contains("\n"))
  }

  @Test("cuts a line to the terminal, escape sequences not counted")
  func cut() {
    #expect(LiveDisplay.cut("abcdef", to: 4) == "abcd")
    #expect(LiveDisplay.cut("a\u{1B}[32mbcdef\u{1B}[0m", to: 3) == "a\u{1B}[32mbc\u{1B}[0m")
  }

  @Test(
    "groups digits",
    arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-12_345, "-12,345")])
  func grouping(number: Int, text: String) {
    #expect(PipelineView.grouped(number) == text)
  }
}
