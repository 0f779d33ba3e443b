import Foundation
import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@Suite("Golden rows")
struct GoldenRowsTests {
  /// A row as release 1 has it.
  private struct First: PackedRow {
    static let name: StaticString = "person"
    var id: String
    init(id: String) { self.id = id }
    init(packed row: inout RowReader) throws(RowFormatError) { id = try row.text() }
    func pack(into row: inout RowWriter) { row.text(id) }
  }

  /// The same row in release 2, which reads version 1 and writes version 2.
  private struct Second: PackedRow {
    static let name: StaticString = "person"
    static var version: UInt8 { 2 }
    var id: String
    var color: String?
    init(packed row: inout RowReader) throws(RowFormatError) {
      id = try row.text()
      color = row.isAtEnd ? nil : try row.text()
    }
    func pack(into row: inout RowWriter) {
      row.text(id)
      if let color { row.text(color) }
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

  private func read<Row: PackedRow>(_: Row.Type, _ row: some PackedRow) throws -> Row {
    try row.packed().withUnsafeBytes { try Row(bytes: $0, coder: RecordCoder()) }
  }

  @Test("rows read wrongly are found; a later version and a new kind are found once there is a release")
  func faults() throws {
    let directory = try TemporaryDirectory()
    let golden = GoldenRows("stage", directory: URL(fileURLWithPath: directory.path))
    let first = First(id: "ann")
    try golden.write([first])
    let (second, wrong) = (try read(Second.self, first), try read(Wrong.self, first))
    #expect(try golden.faults(samples: [first]) == [])
    #expect(try golden.faults(samples: [second, New()]) == [])
    #expect(try golden.faults(samples: [wrong]).count == 1)
    #expect(try golden.faults(samples: [New()]).count == 1)
    try Data("1".utf8).write(to: URL(fileURLWithPath: directory.path + "/release"))
    #expect(try golden.faults(samples: [first]) == [])
    let faults = try golden.faults(samples: [second, New()])
    #expect(faults.contains { $0.contains("written as version 2") })
    #expect(faults.contains { $0.hasPrefix("pet: ") } && faults.count == 2)
  }
}
