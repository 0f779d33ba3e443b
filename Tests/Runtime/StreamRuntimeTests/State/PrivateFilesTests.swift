import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Files with tokens and messages are their owner's alone")
struct PrivateFilesTests {
  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("T4: a state directory, a store and its log are made for their owner alone")
  func made() throws {
    let directory = try TemporaryDirectory()
    let stage = directory.path + "/state/stage"
    let lock = try StateDirectoryLock(stage)
    defer { withExtendedLifetime(lock) {} }
    #expect(try mode(stage) == 0o700)
    #expect(try mode(stage + "/lock") == 0o600)
    let store = try SQLiteTaskStore(path: stage + "/0.sqlite", coder: RecordCoder())
    try store.apply([(key: RowKey("a"), bytes: [1])], header: nil)
    #expect(try mode(stage + "/0.sqlite") == 0o600)
    #expect(try mode(stage + "/0.sqlite-wal") == 0o600)
    store.close()
  }

  @Test("T4: what an earlier version left open to others is closed at start")
  func closed() throws {
    let directory = try TemporaryDirectory()
    let stage = directory.path + "/stage"
    try FileManager.default.createDirectory(atPath: stage, withIntermediateDirectories: true)
    for name in ["0.sqlite", "0.sqlite-wal", "lock"] {
      try #require(FileManager.default.createFile(atPath: "\(stage)/\(name)", contents: Data()))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(stage)/\(name)")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: stage)
    let lock = try StateDirectoryLock(stage)
    defer { withExtendedLifetime(lock) {} }
    #expect(try mode(stage) == 0o700)
    for name in ["0.sqlite", "0.sqlite-wal", "lock"] { #expect(try mode("\(stage)/\(name)") == 0o600, "\(name)") }
  }
}
