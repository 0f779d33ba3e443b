public import Foundation
public import NudgeCodec
public import NudgeSchema

/// Rows of a stage's state as releases write them: `Tests/Golden/rows/level-N/STAGE.jsonl` at each level, a row a line, and
/// `Tests/Golden/rows/STAGE.jsonl` from before there were levels.
///
/// A release writes at the level that is in force, and reads all of them, so that a rollback is possible until an operator finalises
/// the next one (docs/operations.md, Upgrade and rollback). A row of a new version, or a new kind of row, names a level that is not
/// released yet. `NUDGE_WRITE_GOLDEN=1` writes the files of the latest level, until `Tests/Golden/rows/released` has its number.
/// A field that a later release drops is removed from the JSON in the files; the packed bytes stay.
public struct GoldenRows {
  /// A line of a file.
  private struct Line: Codable {
    var row: String
    var version: UInt8
    /// The bytes in the changelog, in Base64.
    var packed: String
    /// The same row as `nudge state show` prints it.
    var json: String
  }

  private let directory: URL
  private let stage: String
  private let latest: FormatLevel
  private let coder = RecordCoder()

  /// The rows of `ingest`, `analyzer` or `dispatcher`.
  public init(
    _ stage: String, directory: URL = Repository.file("Tests/Golden/rows"), latest: FormatLevel = .latest
  ) {
    self.stage = stage
    self.directory = directory
    self.latest = latest
  }

  /// The file of a level; nil: that from before there were levels.
  private func file(_ level: FormatLevel?) -> URL {
    let folder = level.map { directory.appendingPathComponent("level-\($0)") } ?? directory
    return folder.appendingPathComponent("\(stage).jsonl")
  }

  /// The latest level that a release has; 0: none.
  private var released: Int32 {
    (try? String(contentsOf: directory.appendingPathComponent("released"), encoding: .utf8))
      .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
  }

  private func lines(_ level: FormatLevel?) throws -> [Line] {
    try String(contentsOf: file(level), encoding: .utf8).split(separator: "\n").map {
      try coder.decode(Line.self, from: Array($0.utf8))
    }
  }

  /// Holds today's code against the files.
  /// - Parameter samples: at least one row of each kind.
  /// - Returns: what is wrong, with the fix.
  public func faults(samples: [any PackedRow]) throws -> [String] {
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_GOLDEN"] != nil { try write(samples) }
    var types: [String: any PackedRow.Type] = [:]
    for sample in samples { types["\(type(of: sample).name)"] = type(of: sample) }
    var faults: [String] = []
    if FileManager.default.fileExists(atPath: file(nil).path) {
      faults += try self.faults(lines(nil), at: nil, types)
    }
    for number in 1...latest.number {
      let level = FormatLevel(number)
      let lines = try lines(level)
      faults += try self.faults(lines, at: level, types)
      let known = Set(lines.map(\.row))
      for (name, type) in types.sorted(by: { $0.key < $1.key })
      where type.versions.version(at: level) != nil && !known.contains(name) {
        faults.append("\(name): level \(level) has no such kind of row\(fix(level))")
      }
    }
    return faults
  }

  private func fix(_ level: FormatLevel) -> String {
    level.number > released
      ? ": NUDGE_WRITE_GOLDEN=1 writes the files of a level that is not released"
      : ": let its `versions` name a later level, from which alone it is written"
  }

  private func faults(_ lines: [Line], at level: FormatLevel?, _ types: [String: any PackedRow.Type]) throws -> [String]
  {
    lines.flatMap { line -> [String] in
      guard let type = types[line.row] else {
        return ["\(line.row): a former release wrote this kind of row, and no sample is of it"]
      }
      return fault(of: line, type, at: level).map { ["\(line.row), version \(line.version): \($0)"] } ?? []
    }
  }

  private func fault(of line: Line, _ type: any PackedRow.Type, at level: FormatLevel?) -> String? {
    do {
      let bytes = Array(Data(base64Encoded: line.packed) ?? Data())
      let row = try bytes.withUnsafeBytes { try type.init(bytes: $0) }
      let now = try JSONSerialization.jsonObject(with: Data(coder.encode(row)), options: .fragmentsAllowed)
      let then = try JSONSerialization.jsonObject(with: Data(line.json.utf8), options: .fragmentsAllowed)
      guard Self.has(now, then) else { return "it is read as another row than was written: \(now), not \(then)" }
      guard let level else { return nil }
      let packed = try row.packed(at: level)
      guard packed.first == line.version else {
        return
          "at level \(level) it is written as version \(packed.first ?? 0), which other releases at that level cannot read\(fix(level))"
      }
      return packed == bytes
        ? nil : "at level \(level) it is written as other bytes under the same version\(fix(level))"
    } catch {
      return "it cannot be read: \(error)"
    }
  }

  /// Whether all that is in one value is in another. New members may have come.
  private static func has(_ now: Any, _ then: Any) -> Bool {
    switch (now, then) {
    case (let now as [String: Any], let then as [String: Any]):
      then.allSatisfy { key, value in now[key].map { has($0, value) } ?? false }
    case (let now as [Any], let then as [Any]): now.count == then.count && zip(now, then).allSatisfy { has($0, $1) }
    case (let now as NSObject, let then as NSObject): now == then
    default: false
    }
  }

  /// Writes the file of the latest level.
  public func write(_ samples: [any PackedRow]) throws {
    guard latest.number > released else { throw Released(level: latest) }
    let lines = try samples.map { row in
      let packed = try row.packed(at: latest)
      let line = Line(
        row: "\(type(of: row).name)", version: packed.first ?? 0, packed: Data(packed).base64EncodedString(),
        json: String(decoding: try coder.encode(row), as: UTF8.self))
      return String(decoding: try coder.encode(line), as: UTF8.self)
    }
    let file = file(latest)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
  }

  /// The files of a released level stay as they are.
  struct Released: Error, CustomStringConvertible {
    var level: FormatLevel
    var description: String { "level \(level) is released: what it writes does not change" }
  }
}
