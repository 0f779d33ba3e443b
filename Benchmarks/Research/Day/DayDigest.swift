import Foundation
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Counts what the stages write, by topic and kind, and keeps one SHA-256 a topic: each record's is of the one before and of all of the
/// record's bytes. So two days with equal digests have equal bytes, in the same order a topic.
///
/// With a folder it also keeps the records, a file a topic, to find the first that differs.
final class DayDigest {
  private struct Chain {
    var count = 0
    var bytes = 0
    var hash: [UInt8] = []
    var kinds: [String: Int] = [:]
    var file: DayOutput?
  }

  /// The fields whose values are a record's kind, by topic.
  private static let fields =
    ([
      .decisions: ["outcome", "reason"], .pushes: ["type", "kind"], .outcomes: ["type", "result"],
    ] as [Topic: [String]]).mapValues { $0.map { DayDigest.opening($0) } }
  private static let typeAlone = [DayDigest.opening("type")]

  private var chains: [String: Chain] = [:]
  private let folder: URL?

  init(folder: URL? = nil) { self.folder = folder }

  /// The decisions that are final.
  var decisions: Int {
    chains["analyzer nudge.decisions"]?.kinds.filter { !$0.key.hasPrefix("deferred") }.values.reduce(0, +) ?? 0
  }

  /// A line a topic with its count, bytes and digest, and a line a kind below it.
  var lines: [String] {
    chains.sorted { $0.key < $1.key }.flatMap { name, chain in
      ["\(name)  \(chain.count) records  \(chain.bytes) bytes  sha256 \(Hexadecimal.encode(chain.hash))"]
        + chain.kinds.sorted { $0.key < $1.key }.map { "  \($0.key)  \($0.value)" }
    }
  }

  /// How often a kind of a stage's topic occurred.
  func count(of kind: String, in name: String) -> Int { chains[name]?.kinds[kind] ?? 0 }

  // MARK: Counting

  func count(_ output: OutputRecord, of stage: String) throws {
    var bytes = Array("\(output.partition)\t".utf8)
    for header in output.headers { bytes += Array("\(header.name)=".utf8) + header.value + Array(" ".utf8) }
    bytes += Array("\t".utf8) + (output.key ?? []) + Array("\t".utf8) + (output.value ?? [])
    let kind = (Self.fields[output.topic] ?? Self.typeAlone).compactMap { Self.text($0, in: output.value ?? []) }
    try add(bytes, kind: kind.joined(separator: " "), to: "\(stage) \(output.topic.rawValue)")
  }

  /// A record that was refused.
  func count(_ rejection: Rejection, of stage: String) throws {
    try add(Array(rejection.description.utf8), kind: rejection.code.rawValue, to: "\(stage) refused")
  }

  /// A changed row; without bytes it was removed. Its kind is the first byte of its key.
  func count(row key: RowKey, _ bytes: [UInt8]?, of stage: String) throws {
    let text = "\(Hexadecimal.encode(key.bytes))\t\(bytes.map { Hexadecimal.encode($0) } ?? "removed")"
    let kind = String(decoding: key.bytes.prefix(1), as: UTF8.self)
    try add(Array(text.utf8), kind: bytes == nil ? "\(kind) removed" : kind, to: "\(stage) rows")
  }

  /// A request to a push service or the webhook.
  func count(request body: [UInt8], to address: String, of stage: String, kind: String) throws {
    try add(Array("\(address)\t".utf8) + body, kind: kind, to: "\(stage) requests")
  }

  private func add(_ bytes: [UInt8], kind: String, to name: String) throws {
    var chain = chains.removeValue(forKey: name) ?? Chain()
    chain.count += 1
    chain.bytes += bytes.count
    chain.hash = SHA256Digest.of(chain.hash + bytes)
    chain.kinds[kind, default: 0] += 1
    if let folder, chain.file == nil {
      chain.file = try DayOutput(folder.appendingPathComponent(name.replacingOccurrences(of: " ", with: "-")))
    }
    try chain.file?.write(bytes + [UInt8(ascii: "\n")])
    chains[name] = chain
  }

  /// Writes what the folder's files lack.
  func finish() throws {
    for chain in chains.values { try chain.file?.close() }
  }

  // MARK: Kinds

  private static func opening(_ field: String) -> [UInt8] { Array("\"\(field)\":\"".utf8) }

  /// The first text of a field in JSON.
  private static func text(_ opening: [UInt8], in bytes: [UInt8]) -> String? {
    bytes.withUnsafeBufferPointer { bytes -> String? in
      var start = 0
      while start + opening.count < bytes.count {
        let end = start + opening.count
        if bytes[start] == opening[0], bytes[start..<end].elementsEqual(opening) {
          return String(decoding: bytes[end...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        }
        start += 1
      }
      return nil
    }
  }
}
