import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("Names as rosters keep them")
struct MemberNameTests {
  private static let words = [
    "Anna", "Rossi", "Will", "May", "Dr.", "Jean-Pierre", "O’Neill", "Zoë", "de", "la", "민수", "김민수", "田中", "太郎", "李小龙",
    "Łukasz", "🐻", "A",
    "Öztürk", "Иван", "the", "x2",
  ]

  @Test("a text that has a name gets it: no name is passed over for its first words")
  func nothingIsMissed() {
    var random = SeededGenerator(announcedFor: "member names")
    var (found, ready) = (0, 0)
    for _ in 0..<3_000 {
      let displayName = Self.line(1...3, &random)
      let member = Roster.Entry(
        userId: "u", partition: 0, row: MemberRow(stamp: nil, takesPart: true, displayName: displayName))
      // Half of the texts have a part of the name.
      let parts = displayName.split { $0 == " " || $0 == "," }
      let part = parts.isEmpty || random.oneIn(2) ? "" : String(parts[random.below(parts.count)])
      let text = SearchedText("\(Self.line(0...3, &random)) \(part)이 \(part), \(Self.line(0...3, &random))")
      let sought = SearchedName(displayName)
      let place = sought.flatMap { text.place(of: $0) }
      let name = text.name(of: member)
      #expect(name.flatMap { text.place(of: $0) } == place, "\(displayName) in \(text)")
      if place != nil { found += 1 }
      if case .beginning = member.name, name != nil { ready += 1 }
    }
    #expect(found > 300 && ready > 300)
  }

  private static func line(_ count: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: count, using: &random)).map { _ in words[random.below(words.count)] }
      .joined(separator: random.oneIn(8) ? ", " : " ")
  }

  @Test("a name of spaced words is kept as numbers, one that may be anywhere as itself")
  func kept() throws {
    func isReady(_ displayName: String) throws -> Bool {
      guard case .anywhere = try #require(MemberName(displayName)) else { return false }
      return true
    }
    #expect(try !isReady("Anna Rossi"))
    #expect(try !isReady("Rossi, Anna"))
    #expect(try isReady("田中 太郎"))
    #expect(try isReady("김민수"))
    #expect(try isReady("🐻"))
    #expect(MemberName(" \n") == nil)
  }
}
