import Analyzer
import Dispatcher
import Foundation
import Ingest
import NudgeSchema
import StreamRuntime

extension StageName {
  /// Decodes a row of the stage to JSON. Throws if it is not one.
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

  /// The key of the records that reach the row's task; nil if the row's key does not contain it.
  func owner(of key: RowKey) -> String? {
    let parts = key.parts
    guard parts.count > 1 else { return nil }
    switch (self, parts[0]) {
    // An event id's key has its owner between kind and id.
    case (.ingest, "e"): return parts.count > 2 ? parts[2] : nil
    // A lane's key has person and device in one part.
    case (.dispatcher, "w"): return parts[1].split(separator: "\u{1}").first.map(String.init)
    default: return parts[1]
    }
  }
}

extension RowKey {
  /// Parses a key as it is printed: parts separated by `/`; `%2F` is a slash in an id, `%25` a percent sign, `%01` the
  /// separator of person and device in a lane's key.
  init(written text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).removingPercentEncoding ?? String($0)
    }
    self.init(bytes: Array(parts.map { Array($0.utf8) }.joined(separator: [0])))
  }

  /// The key as it is printed.
  var written: String {
    parts.map { part in
      part.replacing("%", with: "%25").replacing("/", with: "%2F").replacing("\u{1}", with: "%01")
    }.joined(separator: "/")
  }
}

/// Rows of a stage's state.
struct StateRowReport: StateReporting {
  /// A row as JSON, without tokens and texts (T4).
  struct Row: Encodable {
    var task: Int32
    var key: String
    /// Size of the encoded row.
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

  /// One line a row, and the row below it.
  var text: String {
    guard !rows.isEmpty else { return "\(stage) has no such row." }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return rows.map { row in
      let json = (try? encoder.encode(row.row)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return "\(row.key)  (task \(row.task), \(row.bytes.counted("byte")))\n\(json)"
    }.joined(separator: "\n")
  }
}
