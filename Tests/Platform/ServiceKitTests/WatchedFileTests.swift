import Foundation
import ServiceKit
import TestSupport
import Testing

@Suite("A watched file")
struct WatchedFileTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/file"
    try write("old")
  }

  /// Writes in place, as `cp` and many editors do: the file keeps its inode.
  private func write(_ text: String) throws {
    let url = URL(fileURLWithPath: path)
    if !FileManager.default.fileExists(atPath: path) { try Data().write(to: url) }
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  private func watched() throws -> WatchedFile {
    var file = WatchedFile(path: path)
    #expect(try file.changed(force: true) == Array("old".utf8))
    return file
  }

  @Test("a change is taken once the file has looked the same twice, and only once")
  func change() throws {
    var file = try watched()
    #expect(try file.changed(force: false) == nil)
    try write("newer")
    #expect(try file.changed(force: false) == nil)
    #expect(try file.changed(force: false) == Array("newer".utf8))
    #expect(try file.changed(force: false) == nil)
    #expect(try file.changed(force: true) == Array("newer".utf8))
  }

  @Test("a file that is being written is never taken half")
  func half() throws {
    var file = try watched()
    for text in ["", "n", "ne", "new"] {
      try write(text)
      #expect(try file.changed(force: false) == nil, "\(text)")
    }
    try write("new and whole")
    #expect(try file.changed(force: false) == nil)
    #expect(try file.changed(force: false) == Array("new and whole".utf8))
  }

  @Test("an empty or missing file is reported once for each change, and taken when it is whole again")
  func unusable() throws {
    var file = try watched()
    try write("")
    #expect(try file.changed(force: false) == nil)
    let empty = #expect(throws: FileFailure.self) { try file.changed(force: false) }
    #expect(empty?.description == "\(path) is empty")
    #expect(try file.changed(force: false) == nil)
    try FileManager.default.removeItem(atPath: path)
    #expect(try file.changed(force: false) == nil)
    let missing = #expect(throws: FileFailure.self) { try file.changed(force: false) }
    #expect(missing?.description.hasPrefix("\(path) cannot be read") == true)
    #expect(try file.changed(force: false) == nil)
    try write("whole")
    #expect(try file.changed(force: false) == nil)
    #expect(try file.changed(force: false) == Array("whole".utf8))
  }

  @Test("why a file cannot be read is said in the system's words, of a folder too")
  func reasons() {
    let absent = directory.path + "/absent"
    let missing = #expect(throws: FileFailure.self) { try FileContent.read(absent) }
    #expect(missing?.description == "\(absent) cannot be read: No such file or directory")
    let folder = #expect(throws: FileFailure.self) { try FileContent.read(directory.path) }
    #expect(folder?.description == "\(directory.path) cannot be read: it is a folder, not a file")
  }

  @Test("a file that another one is renamed to is read")
  func replaced() throws {
    var file = try watched()
    let other = directory.path + "/other"
    try Data("other".utf8).write(to: URL(fileURLWithPath: other))
    #expect(rename(other, path) == 0)
    #expect(try file.changed(force: false) == nil)
    #expect(try file.changed(force: false) == Array("other".utf8))
  }
}
