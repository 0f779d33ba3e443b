import Foundation
import Testing

@testable import NudgeLab

@Suite("Measure of relevance")
struct RelevanceMeasureTests {
  /// A generated log: people answer each other by name, among other talk.
  private static func log() -> [ChatMessage] {
    var messages: [ChatMessage] = []
    func say(_ nick: String, _ text: String, to answered: [Int]?) {
      messages.append(
        ChatMessage(
          log: "picnic", number: messages.count, at: Int64(messages.count) * 30_000, nick: nick, text: text,
          replyTo: answered))
    }
    say("Ann", "who brings the blankets to the picnic?", to: nil)
    say("Ben", "has anybody seen my umbrella", to: nil)
    for round in 0..<12 {
      let question = messages.count
      say("Ann", "Cleo: can you take the salad, number \(round)?", to: [])
      say("Ben", "still no umbrella", to: [])
      say("Cleo", "Ann: yes, the salad is mine", to: [question])
      say("Ann", "Cleo: thank you", to: [question + 2])
      say("Dan", "Ben: look under the stairs", to: [question + 1])
      say("Ben", "Dan: not there either", to: [question + 4])
    }
    return messages
  }

  @Test(
    "D5: a pair is an annotated message and one of the last 20 other speakers before it; true if it answers them")
  func pairs() throws {
    var count = RelevanceCount()
    var seen: [String: Int] = [:]
    try RelevanceMeasure().judge(Self.log()) { pair in
      count.add(isTrue: pair.isTrue, isFound: pair.score >= 0.4)
      seen["\(pair.message)", default: 0] += 1
      #expect(pair.score >= 0 && pair.score <= 1)
      #expect(pair.features.count == 49)
    }
    // Messages 0 and 1 are not annotated; before message 2 only Ben is another speaker.
    #expect(seen["0"] == nil && seen["2"] == 1 && seen["3"] == 1 && seen["4"] == 2 && seen["10"] == 3)
    #expect(count.positive == 12 * 4)
    #expect(count.f1 > 0.8)
  }

  @Test(
    "D5: names can be taken out of the judged messages, or out of all; it still tells who is answered better than chance"
  )
  func withoutNames() throws {
    for names in [RelevanceMeasure.Names.removedFromMessage, .removedFromLog] {
      var right = 0.0
      var wrong = 0.0
      var counts = (right: 0.0, wrong: 0.0)
      try RelevanceMeasure(names: names, explains: true).judge(Self.log()) { pair in
        if pair.isTrue {
          right += pair.score
          counts.right += 1
        } else {
          wrong += pair.score
          counts.wrong += 1
        }
        #expect(pair.text.contains("priority"))
        #expect(!pair.signals.isEmpty)
      }
      #expect(right / counts.right > wrong / counts.wrong)
    }
  }

  @Test("D5: precision, recall and F1 follow their definitions; without findings they are 0")
  func counts() throws {
    var count = RelevanceCount()
    #expect(count.f1 == 0)
    for (isTrue, isFound) in [(true, true), (true, false), (false, true), (false, false), (true, true)] {
      count.add(isTrue: isTrue, isFound: isFound)
    }
    #expect(count.precision == 2.0 / 3 && count.recall == 2.0 / 3 && abs(count.f1 - 2.0 / 3) < 1e-12)
    let json = String(decoding: try JSONEncoder().encode(count), as: UTF8.self)
    for key in ["pairs", "positive", "precision", "recall", "f1"] { #expect(json.contains("\"\(key)\"")) }
  }

  @Test("the split is the training script's: by the log's name, about a fifth is held out")
  func split() {
    // By zlib.crc32 in Python.
    #expect(SplitChoice.heldOut.contains("2018-02-27.train-c"))
    #expect(SplitChoice.validation.contains("2005-02-06.train-c"))
    #expect(SplitChoice.training.contains("2004-12-25.train-c"))
    let names = (0..<2_000).map { "log-\($0)" }
    for name in names {
      let parts = [SplitChoice.heldOut, .validation, .training].filter { $0.contains(name) }
      #expect(parts.count == 1 && SplitChoice.all.contains(name))
    }
    let heldOut = names.count { SplitChoice.heldOut.contains($0) }
    #expect((300...500).contains(heldOut))
  }

  @Test(
    "D5: F1 at least 0.80 on logs held out of training",
    .enabled(
      if: ProcessInfo.processInfo.environment["NUDGE_CHAT_LOGS"] != nil,
      "NUDGE_CHAT_LOGS is not set: the measure on real chat logs is skipped (NUDGE_CHAT_LOGS=/path/to/chat.jsonl.gz)"))
  func heldOut() throws {
    let path = try #require(ProcessInfo.processInfo.environment["NUDGE_CHAT_LOGS"])
    let file = try ChatLogFile(path: path)
    let measure = RelevanceMeasure()
    var count = RelevanceCount()
    var log: [ChatMessage] = []
    func judge() throws {
      guard let first = log.first, SplitChoice.heldOut.contains(first.log) else { return }
      try measure.judge(log) { count.add(isTrue: $0.isTrue, isFound: $0.score >= measure.threshold) }
    }
    while let message = try file.next() {
      if let first = log.first, first.log != message.log {
        try judge()
        log.removeAll()
      }
      log.append(message)
    }
    try judge()
    #expect(count.f1 >= 0.8)
  }
}
