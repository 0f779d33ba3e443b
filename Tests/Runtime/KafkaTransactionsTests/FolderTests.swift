import Foundation
import TestSupport
import Testing

@Suite("Folders of the modules below the stages")
struct FolderTests {
  @Test(
    "no two folders use types of each other",
    arguments: [
      "Sources/Runtime/KafkaTransactions", "Sources/Runtime/Kafka", "Sources/Platform/ServiceKit",
    ])
  func pairs(_ module: String) throws { #expect(try FolderPairs.twoWay(in: Repository.file(module)) == []) }

  @Test("a pair is found, and comments count for nothing")
  func found() throws {
    let directory = try TemporaryDirectory()
    func write(_ path: String, _ text: String) throws {
      let url = URL(fileURLWithPath: directory.path + "/" + path)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    try write("A/One.swift", "struct One { var two: Two }")
    try write("B/Two.swift", "struct Two {}  // One")
    #expect(try FolderPairs.twoWay(in: URL(fileURLWithPath: directory.path)) == [])
    try write("B/Two.swift", "struct Two { var ones: [One] }")
    #expect(
      try FolderPairs.twoWay(in: URL(fileURLWithPath: directory.path)) == [
        "A uses [\"Two\"] of B, which uses [\"One\"]"
      ])
  }
}
