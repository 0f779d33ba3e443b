import Foundation
import NudgeSchema

/// A record that the stages get on a recorded day, and when.
struct DayRecord: Sendable, Equatable {
  /// A header of a record.
  struct Header: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// When it is taken, in milliseconds since the epoch.
  var at: Milliseconds
  /// A topic of producers, or the timeline for what `nudge replay` writes.
  var topic: Topic
  /// The partition; absent where the key says it.
  var partition: Int32?
  var key: String
  /// JSON, or what a producer takes for it.
  var value: [UInt8]
  /// Its only header, where it has one.
  var header: Header?
}

/// A recorded day as a file: a line a record, its fields separated by tabs, the value last. Ids and JSON hold neither tabs nor line ends.
enum DayFile {
  private static let tab = UInt8(ascii: "\t")
  private static let lineEnd = UInt8(ascii: "\n")
  /// Stands for a field that is absent.
  private static let absent = "-"

  static func line(_ record: DayRecord) -> [UInt8] {
    let partition = record.partition.map { "\($0)" } ?? absent
    let header = record.header.map { "\($0.name)=\($0.value)" } ?? absent
    return Array("\(record.at)\t\(record.topic.rawValue)\t\(partition)\t\(header)\t\(record.key)\t".utf8)
      + record.value + [lineEnd]
  }

  /// Passes each record of a file to `body`, in order.
  static func forEach(in path: String, _ body: (DayRecord) throws -> Void) throws {
    let url = URL(fileURLWithPath: path)
    let bytes = [UInt8](try DayError.naming(url) { try Data(contentsOf: url, options: .mappedIfSafe) })
    var start = 0
    var number = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: lineEnd) ?? bytes.count
      number += 1
      guard let record = record(bytes[start..<end]) else { throw DayError("\(path), line \(number): no record") }
      try body(record)
      start = end + 1
    }
  }

  private static func record(_ line: ArraySlice<UInt8>) -> DayRecord? {
    let fields = line.split(separator: tab, maxSplits: 5, omittingEmptySubsequences: false)
    guard fields.count == 6 else { return nil }
    let texts = fields[..<5].map { String(decoding: $0, as: UTF8.self) }
    guard let at = Milliseconds(texts[0]), let topic = Topic(rawValue: texts[1]) else { return nil }
    let header = texts[3] == absent ? [] : texts[3].split(separator: "=", maxSplits: 1).map(String.init)
    return DayRecord(
      at: at, topic: topic, partition: Int32(texts[2]), key: texts[4], value: Array(fields[5]),
      header: header.count == 2 ? DayRecord.Header(name: header[0], value: header[1]) : nil)
  }
}

/// A file that is written in large pieces.
final class DayOutput {
  private static let buffer = 1 << 20

  private let file: FileHandle
  private var unwritten: [UInt8] = []

  /// Creates the file, or empties it.
  init(_ url: URL) throws {
    file = try DayError.naming(url) {
      try Data().write(to: url)
      return try FileHandle(forWritingTo: url)
    }
  }

  func write(_ bytes: [UInt8]) throws {
    unwritten += bytes
    if unwritten.count > Self.buffer { try flush() }
  }

  /// Writes the rest. Nothing can be written after it.
  func close() throws {
    try flush()
    try file.close()
  }

  private func flush() throws {
    try file.write(contentsOf: unwritten)
    unwritten.removeAll(keepingCapacity: true)
  }
}

/// The reason why a day could not be played.
struct DayError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }

  /// Opens a file. An error names the file and says why, in plain words.
  static func naming<File>(_ url: URL, _ open: () throws -> File) throws -> File {
    do {
      return try open()
    } catch {
      throw DayError("\(url.path): \(error.localizedDescription)")
    }
  }
}
