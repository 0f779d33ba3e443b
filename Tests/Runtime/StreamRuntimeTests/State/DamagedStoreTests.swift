import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("A store with damaged pages")
struct DamagedStoreTests {
  private let coder = RecordCoder()

  private func key(_ number: Int) -> RowKey { RowKey("k", String(format: "%06d", number)) }

  /// A closed store with many pages of rows, written at a position.
  private func fill(_ path: String) throws {
    let store = try SQLiteTaskStore(path: path, coder: coder)
    let header = StoreHeader(
      position: PositionRecord(sequence: 3, next: ["nudge.timeline": 9], writer: "w"), changelogOffset: 7, storedAt: 0)
    try store.apply((0..<5000).map { (key($0), [UInt8](repeating: 7, count: 100)) }, header: header)
    store.close()
  }

  /// Overwrites the last quarter of the file: pages of later keys. Opening reads the first pages and the row of the least key.
  private func damage(_ path: String, with byte: UInt8) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let size = try file.seekToEnd()
    #expect(size > 100 * 4096)
    for page in size / 4096 * 3 / 4..<size / 4096 {
      try file.seek(toOffset: page * 4096)
      try file.write(contentsOf: Data(repeating: byte, count: 4096))
    }
  }

  private enum Use: CaseIterable { case read, scan, write, writeLater }

  private func use(_ store: SQLiteTaskStore, _ use: Use) throws {
    switch use {
    case .read: for number in 0..<5000 { _ = try store.withRow(key(number)) { $0.count } }
    case .scan: try store.scan(below: RowKey("k")) { _, _ in }
    case .write: try store.apply((0..<5000).map { (key($0), [1]) }, header: nil)
    case .writeLater:
      try store.applyLater((0..<5000).map { (key($0), [1]) }, header: nil)
      _ = try store.withRow(key(0)) { $0.count }
    }
  }

  @Test(
    "damage that is found while a page is read or written is marked, and the next opening begins an empty store",
    arguments: [0x00, 0xFF] as [UInt8])
  func damagedPages(_ byte: UInt8) throws {
    for kind in Use.allCases {
      let directory = try TemporaryDirectory()
      let path = "\(directory.path)/0.sqlite"
      try fill(path)
      try damage(path, with: byte)
      let store = try SQLiteTaskStore(path: path, coder: coder)
      #expect(store.header?.position.sequence == 3, "opening finds nothing")
      let failure = #expect(throws: StoreFailure.self, "\(kind)") { try use(store, kind) }
      #expect(failure?.description.contains("The next start restores this store") == true, "\(kind): \(failure as Any)")
      store.close()
      let next = try SQLiteTaskStore(path: path, coder: coder)
      #expect(next.header == nil)
      try use(next, .scan)
      #expect(try next.withRow(key(1)) { $0.count } == nil)
      // And it is used from then on.
      let header = StoreHeader(
        position: PositionRecord(sequence: 4, next: [:], writer: "w"), changelogOffset: 1, storedAt: 0)
      try next.apply([(key(1), [1])], header: header)
      next.close()
      let third = try SQLiteTaskStore(path: path, coder: coder)
      #expect(third.header == header)
      third.close()
    }
  }

  private struct Row: StateRow {
    struct FormatError: Error {}
    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws { throw FormatError() }
    func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { [] }
  }

  @Test("a row that cannot be decoded makes the next start restore the store, but not once the store was restored")
  func undecodableRow() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/0.sqlite"
    try fill(path)
    func read() throws -> Bool {
      let store = try SQLiteTaskStore(path: path, coder: coder)
      defer { store.close() }
      let isEmpty = store.header == nil
      if isEmpty { try store.apply([(key(1), [1])], header: nil) }
      var table = RowCache(of: Row.self, store: store, coder: coder, cacheBytes: 1 << 20)
      #expect(throws: StoreFailure.self) { try table.row(key(1)) }
      return isEmpty
    }
    #expect(try !read())
    #expect(try read())
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
  }
}
