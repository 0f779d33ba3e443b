import Testing

@testable import NudgeLab
@testable import nudge_research

@Suite("What feedback changes")
struct LearningMeasureTests {
  @Test("D5: 20 signals help people with a different taste, and harm no others; equal seeds, equal results")
  func taste() throws {
    var messages: [ChatMessage] = []
    let names = ["Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal"]
    for number in 0..<900 {
      let (from, to) = (names[number % 8], names[(number * 3 + number / 8 + 1) % 8])
      messages.append(
        ChatMessage(
          log: "fair", number: number, at: Int64(number) * 40_000, nick: from,
          text: from == to ? "well, well" : "\(to): so it is, number \(number)",
          replyTo: messages.last { $0.nick == to }.map { from == to ? [] : [$0.number] }))
    }
    func served(_ people: LearningMeasure.People) throws -> LearningCount {
      let measure = RelevanceMeasure()
      var trial = LearningMeasure(people, signals: 20, scoring: measure.scoring)
      try measure.judge(messages) { trial.add($0) }
      return trial.count
    }
    let different = try served(.different(seed: 7))
    #expect(different.people == 8 && different.with.pairs > 1_000)
    #expect(different.with.f1 > different.without.f1 + 0.05)
    let average = try served(.average)
    #expect(average.with.f1 >= average.without.f1 - 0.01)
    #expect(try served(.different(seed: 7)) == different)
  }
}
