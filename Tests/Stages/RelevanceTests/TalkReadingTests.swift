import Foundation
import TestSupport
import Testing

@testable import Relevance

@Suite("Features of the talk")
struct TalkReadingTests {
  private struct Line {
    var from: String
    var to: [String] = []
    var partner: String?
    var question = false
    var words: [UInt16] = []
    var minute: Int64 = 0
  }

  private func talk(_ lines: [Line]) -> RecentTalk {
    var talk = RecentTalk()
    for (number, line) in lines.enumerated() {
      var text = TextTraits()
      text.isQuestion = line.question
      text.words = line.words
      talk.append(
        text, from: line.from, at: line.minute * 60_000, messageId: "\(number)", addressed: line.to,
        partner: line.partner ?? line.to.first)
    }
    return talk
  }

  private func value(_ feature: PersonFeature, of person: String, _ reading: TalkReading) -> Int? {
    reading.personFeatures(of: person).map { Int($0[feature.rawValue]) }
  }

  @Test("D5: who wrote when, whom they addressed, and who waits for an answer")
  func example() {
    let reading = TalkReading(
      talk([
        Line(from: "ann", question: true, words: [7, 8]), Line(from: "ben", to: ["ann"]), Line(from: "cleo"),
        Line(from: "ben", to: ["cleo"]), Line(from: "ann", to: ["ben"], minute: 5),
      ]), sender: "ben", at: 6 * 60_000,
      text: {
        var text = TextTraits()
        text.words = [7]
        return text
      }(), addressed: [])
    #expect(reading.activeSpeakers == 3)
    #expect(value(.age, of: "ann", reading) == 0 && value(.age, of: "cleo", reading) == 2)
    #expect(value(.rank, of: "ann", reading) == 0 && value(.rank, of: "cleo", reading) == 1)
    #expect(value(.count, of: "ann", reading) == 2 && value(.firstAge, of: "ann", reading) == 4)
    #expect(value(.minutes, of: "ann", reading) == 1)
    #expect(value(.addressedSenderSince, of: "ann", reading) == 1)
    #expect(value(.othersAddressedSenderSince, of: "cleo", reading) == 1)
    #expect(value(.senderLastAddressed, of: "cleo", reading) == 1)
    #expect(value(.senderLastAddressed, of: "ann", reading) == 2)
    #expect(value(.lastAddressed, of: "ann", reading) == 1 && value(.lastAddressed, of: "cleo", reading) == 0)
    #expect(value(.senderAddressedAge, of: "ann", reading) == 3)
    #expect(value(.topic, of: "ann", reading) == 0)
    #expect((value(.topicAll, of: "ann", reading) ?? 0) > 0)
    #expect(reading.continuedPartner == "ann")
    #expect(reading.personFeatures(of: "nobody") == nil)
    #expect(reading.messageFeatures[MessageFeature.senderAge.rawValue] == 1)
  }

  @Test("D5: features are those a plain walk over the messages finds, whatever the talk")
  func againstWalk() {
    var random = SeededGenerator(announcedFor: "Relevance")
    let seed = random.seed
    let people = ["a", "b", "c", "d", "e"]
    for _ in 0..<200 {
      let lines = (0..<Int.random(in: 0...70, using: &random)).map { number in
        Line(
          from: people.randomElement(using: &random) ?? "a",
          to: Bool.random(using: &random) ? [people.randomElement(using: &random) ?? "b"] : [],
          question: .random(using: &random), minute: Int64(number))
      }
      let kept = Array(lines.suffix(RecentTalk.capacity))
      let reading = TalkReading(talk(lines), sender: "a", at: 100 * 60_000, text: TextTraits(), addressed: [])
      let senderLast = kept.lastIndex { $0.from == "a" } ?? -1
      for person in ["b", "c", "d", "e"] {
        guard let features = reading.personFeatures(of: person) else {
          #expect(!kept.contains { $0.from == person || $0.to.contains(person) }, "seed \(seed)")
          continue
        }
        func check(_ feature: PersonFeature, _ expected: Int) {
          #expect(Int(features[feature.rawValue]) == expected, "\(feature), seed \(seed)")
        }
        let last = kept.lastIndex { $0.from == person }
        check(.age, last.map { kept.count - 1 - $0 } ?? 64)
        check(.count, kept.count { $0.from == person })
        check(.sinceSender, kept[(senderLast + 1)...].count { $0.from == person })
        check(.addressedSenderCount, kept.count { $0.from == person && $0.to == ["a"] })
        check(.addressedSenderSince, kept[(senderLast + 1)...].count { $0.from == person && $0.to == ["a"] })
        check(
          .othersAddressedSenderSince,
          kept[(senderLast + 1)...].count { $0.from != person && $0.from != "a" && $0.to == ["a"] })
        check(.senderAddressedCount, kept.count { $0.from == "a" && $0.to == [person] })
        check(.othersAddressedCount, kept.count { $0.from != "a" && $0.to == [person] })
        check(
          .othersAddressedSince, kept[((last ?? -1) + 1)...].count { $0.from != "a" && $0.to == [person] })
        check(.addressedOthersCount, kept.count { $0.from == person && !$0.to.isEmpty && $0.to != ["a"] })
        check(
          .addressers, Set(kept.filter { $0.from != "a" && $0.to == [person] }.map(\.from)).count)
        check(.rank, last == nil ? 64 : Set(kept[((last ?? 0) + 1)...].map(\.from)).subtracting(["a", person]).count)
        check(
          .turns,
          zip(kept, kept.dropFirst()).count {
            $0.from == "a" && $1.from == person || $0.from == person && $1.from == "a"
          })
      }
    }
  }

  @Test("D5: the same features give the same score, as the table says; damaged tables are refused")
  func model() throws {
    let model = RelevanceModel.current
    #expect(model.version != "none" && model.treeCount > 0)
    #expect(model.layout == FeatureLayout.version && model.featureCount == FeatureLayout.names.count)
    var random = SeededGenerator(announcedFor: "Relevance")
    let seed = random.seed
    for _ in 0..<500 {
      let features = (0..<model.featureCount).map { _ in UInt8.random(in: 0...70, using: &random) }
      var contributions: [Int32] = []
      let explained = model.explain(features, contributions: &contributions)
      #expect(explained == model.logOdds(features), "seed \(seed)")
      #expect(contributions.reduce(model.start, &+) == explained, "seed \(seed)")
      #expect(model.explainBySignal(features).contributions.reduce(model.start, &+) == explained)
    }
    #expect(model.logOdds([1, 2, 3]) == model.bias)
    let table = RelevanceModel.compiledTable
    let weights = Repository.file("Sources/C/CRelevance/Weights")
    #expect(try table == [UInt8](Data(contentsOf: weights.appendingPathComponent("trees.bin"))))
    let about = try String(contentsOf: weights.appendingPathComponent("about.txt"), encoding: .utf8)
    #expect(about.hasPrefix(RelevanceModel.current.version + "\n"))
    for length in stride(from: 0, to: table.count, by: 997) {
      #expect(throws: RelevanceModel.Damage.self) {
        try RelevanceModel(version: "cut", table: Array(table.prefix(length)))
      }
    }
    for _ in 0..<300 {
      var damaged = table
      damaged[.random(in: 0..<64, using: &random)] = .random(in: 0...255, using: &random)
      guard let model = try? RelevanceModel(version: "damaged", table: damaged) else { continue }
      _ = model.logOdds([UInt8](repeating: 3, count: model.featureCount))
    }
  }

  @Test("Log-odds and probabilities are each other's inverse, and rise together")
  func logistic() {
    var last = -1.0
    for units in stride(from: -10 * RelevanceModel.unit, through: 10 * RelevanceModel.unit, by: 4_099) {
      let p = probability(ofLogOdds: units)
      #expect(p > last && p > 0 && p < 1)
      last = p
      #expect(abs(logOdds(p) - Double(units) / Double(RelevanceModel.unit)) < 1e-9)
    }
    #expect(probability(ofLogOdds: 0) == 0.5)
    #expect(probability(ofLogOdds: .min) > 0 && probability(ofLogOdds: .max) < 1)
  }
}
