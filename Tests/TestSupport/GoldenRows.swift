public import Foundation
public import NudgeCodec
import NudgeSchema

/// Rows of a stage's state as the last release wrote them: `Tests/Golden/rows/STAGE.jsonl`, a row a line.
///
/// Each release reads the rows of the one before it and writes no version that the one before cannot read, so that one step back is
/// possible (docs/operations.md, Upgrade and rollback). When a release is cut, `NUDGE_WRITE_GOLDEN=1` writes the files again, and its
/// name goes into `Tests/Golden/rows/release`. Without that file nothing is released, and rows may be written in any version.
/// A field that a later release drops is removed from the JSON in the file; the packed bytes stay.
public struct GoldenRows {
  /// A line of the file.
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
  private let coder = RecordCoder()

  /// The rows of `ingest`, `analyzer` or `dispatcher`.
  public init(_ stage: String, directory: URL = Repository.file("Tests/Golden/rows")) {
    self.stage = stage
    self.directory = directory
  }

  private var file: URL { directory.appendingPathComponent("\(stage).jsonl") }
  private var isReleased: Bool {
    FileManager.default.fileExists(atPath: directory.appendingPathComponent("release").path)
  }

  /// Holds today's code against the file.
  /// - Parameter samples: at least one row of each kind.
  /// - Returns: what is wrong, with the fix.
  public func faults(samples: [any PackedRow]) throws -> [String] {
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_GOLDEN"] != nil { try write(samples) }
    var types: [String: any PackedRow.Type] = [:]
    for sample in samples { types["\(type(of: sample).name)"] = type(of: sample) }
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      try coder.decode(Line.self, from: Array($0.utf8))
    }
    var faults: [String] = []
    for line in lines {
      guard let type = types[line.row] else {
        faults.append("\(line.row): the last release wrote this kind of row, and no sample is of it")
        continue
      }
      faults += fault(of: line, type).map { ["\(line.row), version \(line.version): \($0)"] } ?? []
    }
    let known = Set(lines.map(\.row))
    for name in types.keys.sorted() where isReleased && !known.contains(name) {
      faults.append(
        "\(name): the last release cannot read this kind of row: learn to read it now, write it one release later")
    }
    return faults
  }

  private func fault(of line: Line, _ type: any PackedRow.Type) -> String? {
    do {
      let bytes = Array(Data(base64Encoded: line.packed) ?? Data())
      let row = try bytes.withUnsafeBytes { try type.init(bytes: $0, coder: coder) }
      let now = try JSONSerialization.jsonObject(with: Data(coder.encode(row)), options: .fragmentsAllowed)
      let then = try JSONSerialization.jsonObject(with: Data(line.json.utf8), options: .fragmentsAllowed)
      guard Self.has(now, then) else { return "it is read as another row than was written: \(now), not \(then)" }
      if isReleased, row.packed().first.map({ $0 > line.version }) ?? true {
        return
          "it is written as version \(type.version), which the last release cannot read: write it one release later"
      }
      return nil
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

  /// Writes the file, as at a release.
  public func write(_ samples: [any PackedRow]) throws {
    let lines = try samples.map { row in
      let line = Line(
        row: "\(type(of: row).name)", version: type(of: row).version, packed: Data(row.packed()).base64EncodedString(),
        json: String(decoding: try coder.encode(row), as: UTF8.self))
      return String(decoding: try coder.encode(line), as: UTF8.self)
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
  }
}
