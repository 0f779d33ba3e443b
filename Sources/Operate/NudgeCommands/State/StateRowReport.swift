import Analyzer
import Dispatcher
import Foundation
import Ingest
import NudgeSchema
import StreamRuntime

extension StageName {
  /// A row of the stage as JSON. Throws where the bytes are none of its rows.
  func json(of row: StateLookup.Found, coder: RecordCoder) throws -> [UInt8] {
    try row.bytes.withUnsafeBytes { bytes in
      switch self {
      case .ingest: try IngestRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      case .analyzer: try AnalyzerRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      case .dispatcher:
        try DispatcherRow(key: row.key, bytes: bytes, coder: coder).json(coder: coder)
      }
    }
  }

  /// The id by which records reach the task that has a row; nil where the key does not say.
  func owner(of key: RowKey) -> String? {
    let parts = key.parts
    guard parts.count > 1 else { return nil }
    switch (self, parts[0]) {
    // Event ids: between the kind and the id stands whose they are.
    case (.ingest, "e"): return parts.count > 2 ? parts[2] : nil
    // A lane's key has person and device in one part.
    case (.dispatcher, "w"): return parts[1].split(separator: "\u{1}").first.map(String.init)
    default: return parts[1]
    }
  }
}

extension RowKey {
  /// A key as people write it: its parts with `/` between them; `%2F` is a slash in an id, `%25` a percent sign, `%01` what
  /// stands between person and device in the key of a lane.
  init(written text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).removingPercentEncoding ?? String($0)
    }
    self.init(bytes: Array(parts.map { Array($0.utf8) }.joined(separator: [0])))
  }

  /// The key as people write it.
  var written: String {
    parts.map { part in
      part.replacing("%", with: "%25").replacing("/", with: "%2F").replacing("\u{1}", with: "%01")
    }.joined(separator: "/")
  }
}

/// Rows of a stage's state, for people.
struct StateRowReport: StateReporting {
  /// A row: as JSON, without tokens and texts (T4).
  struct Row: Encodable {
    var task: Int32
    var key: String
    /// Bytes of the row as the stage keeps it.
    var bytes: Int
    var row: JSONValue
  }
  var stage: String
  var rows: [Row]

  init(stage: StageName, _ found: [StateLookup.Found], redaction: Redaction) throws {
    self.stage = stage.rawValue
    let coder = RecordCoder()
    rows = try found.map { row in
      let json = try JSONValue(stage.json(of: row, coder: coder))
      return Row(
        task: row.task, key: row.key.written, bytes: row.bytes.count,
        row: redaction.apply(to: json, of: stage.definition.changelog))
    }
  }

  /// A line a row, and the row below it.
  var text: String {
    guard !rows.isEmpty else { return "\(stage) has no such row." }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return rows.map { row in
      let json = (try? encoder.encode(row.row)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return "\(row.key)  (task \(row.task), \(row.bytes) bytes)\n\(json)"
    }.joined(separator: "\n")
  }
}
