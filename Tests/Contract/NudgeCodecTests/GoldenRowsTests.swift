import Foundation
import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@Suite("Golden rows")
struct GoldenRowsTests {
  /// A row as the release of level 1 has it.
  private struct First: PackedRow {
    static let name: StaticString = "person"
    var id: String
    init(id: String) { self.id = id }
    init(packed row: inout RowReader) throws(RowFormatError) { id = try row.text() }
    func pack(into row: inout RowWriter) { row.text(id) }
  }

  /// The same row in the release of level 2, which reads version 1, and writes version 2 from that level on.
  private struct Second: PackedRow {
    static let name: StaticString = "person"
    static var versions: RowVersions { RowVersions(1).and(2, from: FormatLevel(2)) }
    var id: String
    var color: String?
    init(id: String, color: String?) { (self.id, self.color) = (id, color) }
    init(packed row: inout RowReader) throws(RowFormatError) {
      id = try row.text()
      color = row.version < 2 || row.isAtEnd ? nil : try row.text()
    }
    func pack(into row: inout RowWriter) {
      row.text(id)
      if row.version >= 2, let color { row.text(color) }
    }
  }

  /// As `Second`, and it names no level.
  private struct Hasty: PackedRow {
    static let name: StaticString = "person"
    static var versions: RowVersions { RowVersions(2) }
    var id: String
    init(id: String) { self.id = id }
    init(packed row: inout RowReader) throws(RowFormatError) { id = try row.text() }
    func pack(into row: inout RowWriter) { row.text(id) }
  }

  /// As `First` by its version, with a field more.
  private struct Quiet: PackedRow {
    static let name: StaticString = "person"
    var id: String
    init(packed row: inout RowReader) throws(RowFormatError) {
      id = try row.text()
      if !row.isAtEnd { _ = try row.byte() }
    }
    func pack(into row: inout RowWriter) {
      row.text(id)
      row.byte(1)
    }
  }

  /// The same row by a mistake: it reads version 1 as something else.
  private struct Wrong: PackedRow {
    static let name: StaticString = "person"
    var id: String
    init(packed row: inout RowReader) throws(RowFormatError) { id = String(try row.text().reversed()) }
    func pack(into row: inout RowWriter) { row.text(id) }
  }

  private struct New: PackedRow {
    static let name: StaticString = "pet"
    init() {}
    init(packed row: inout RowReader) throws(RowFormatError) {}
    func pack(into row: inout RowWriter) {}
  }

  private struct NewFromTwo: PackedRow {
    static let name: StaticString = "pet"
    static var versions: RowVersions { RowVersions(1, from: FormatLevel(2)) }
    init() {}
    init(packed row: inout RowReader) throws(RowFormatError) {}
    func pack(into row: inout RowWriter) {}
  }

  private func read<Row: PackedRow>(_: Row.Type, _ bytes: [UInt8]) throws -> Row {
    try bytes.withUnsafeBytes { try Row(bytes: $0) }
  }

  @Test(
    "a new version, a new kind or other bytes that name no later level are found, and so is a row that is read wrongly")
  func faults() throws {
    let directory = try TemporaryDirectory()
    let url = URL(fileURLWithPath: directory.path)
    let (one, two) = (FormatLevel(1), FormatLevel(2))
    let golden = GoldenRows("stage", directory: url, latest: one)
    let first = First(id: "ann")
    try golden.write([first])
    let bytes = first.packed()
    #expect(try golden.faults(samples: [first]) == [])
    #expect(try golden.faults(samples: [try read(Wrong.self, bytes)]).count == 1)
    #expect(try golden.faults(samples: [Hasty(id: "ann")]).contains { $0.contains("written as version 2") })
    #expect(try golden.faults(samples: [try read(Quiet.self, bytes)]).contains { $0.contains("other bytes") })
    #expect(try golden.faults(samples: [first, New()]).contains { $0.hasPrefix("pet: level 1 has no such kind") })

    // The next release adds a level, and both stay held.
    try Data("1".utf8).write(to: url.appendingPathComponent("released"))
    #expect(throws: (any Error).self) { try golden.write([first]) }
    let next = GoldenRows("stage", directory: url, latest: two)
    let rows: [any PackedRow] = [Second(id: "ann", color: "red"), NewFromTwo()]
    try next.write(rows)
    #expect(try next.faults(samples: rows) == [])
  }

  @Test(
    "a row is written as the level in force has it: the release before reads it, and a kind that it does not have is refused"
  )
  func levels() throws {
    let row = Second(id: "ann", color: "red")
    #expect(try read(First.self, row.packed(at: FormatLevel(1))).id == "ann")
    #expect(throws: RowFormatError.self) { try read(First.self, row.packed(at: FormatLevel(2))) }
    #expect(try read(Second.self, row.packed(at: FormatLevel(2))).color == "red")
    #expect(try read(Second.self, row.packed(at: FormatLevel(3))).color == "red")
    #expect(throws: RowFormatError.self) { try NewFromTwo().packed(at: FormatLevel(1)) }
    #expect(try NewFromTwo().packed(at: FormatLevel(2)) == [1])
  }

  @Test("levels count from 1 without gaps, and each names the release that raised it")
  func history() {
    #expect(FormatLevel.history.map(\.level.number) == Array(1...FormatLevel.latest.number))
    #expect(FormatLevel.history.allSatisfy { !$0.release.isEmpty && !$0.adds.isEmpty })
  }
}
