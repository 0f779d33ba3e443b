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

  @Test(
    "T4: a directory that is open to others, with links in it, leads no write elsewhere, whatever the umask",
    arguments: ["lock", "0.sqlite", "unclean-starts.next", "anything"])
  func hostile(_ name: String) throws {
    let directory = try TemporaryDirectory()
    let stage = directory.path + "/stage"
    let victim = directory.path + "/victim"
    try FileManager.default.createDirectory(atPath: stage, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: stage)
    try #require(FileManager.default.createFile(atPath: victim, contents: Data("theirs".utf8)))
    try FileManager.default.createSymbolicLink(atPath: "\(stage)/\(name)", withDestinationPath: victim)
    do {
      _ = try StateDirectoryLock(stage)
      Issue.record("it starts on a link")
    } catch {
      #expect(error.description.contains("\(stage)/\(name) is a symbolic link"), "\(error.description)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("theirs".utf8))
    #expect(try mode(stage) == 0o700)
    // Laid after the start, they are not followed either.
    try? PrivateFiles.replace("\(stage)/other", with: "own")
    try FileManager.default.createSymbolicLink(atPath: "\(stage)/late.next", withDestinationPath: victim)
    try PrivateFiles.replace("\(stage)/late", with: "own")
    PrivateFiles.make("\(stage)/\(name)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("theirs".utf8))
    #expect(try mode("\(stage)/late") == 0o600)
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
