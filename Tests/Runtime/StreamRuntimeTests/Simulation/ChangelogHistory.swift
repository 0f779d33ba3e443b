@testable import StreamRuntime

/// The rows of a task after each of its transactions, from its changelog alone: what a store must hold that says how far it
/// has come. Nothing is forgotten when the log is compacted.
struct ChangelogHistory {
  private struct Value {
    /// The offset of the position record after the row.
    var offset: Int64
    /// nil: the key has no row.
    var bytes: [UInt8]?
  }

  private var next = 0
  /// Rows whose position record is not read yet: another producer's open transaction may stand between them.
  private var open: [(key: RowKey, bytes: [UInt8]?)] = []
  private var values: [RowKey: [Value]] = [:]

  /// Reads on, up to where all transactions have ended.
  mutating func read(_ log: ModelBroker.Log) {
    while next < Int(log.stable) {
      let entry = log.entries[next]
      next += 1
      guard entry.status == .committed || entry.status == .compacted, let key = entry.key else { continue }
      guard key == PositionRecord.key.bytes else {
        open.append((RowKey(bytes: key), entry.value))
        continue
      }
      for row in open { values[row.key, default: []].append(Value(offset: Int64(next - 1), bytes: row.bytes)) }
      open.removeAll()
    }
  }

  /// The fault in rows that a store claims for an offset; nil: there is none, or the offset was not read yet. A row may have a later
  /// value of its key, whose position record an unfinished restore has not read; the log itself may not be stable up to that record.
  func fault(in rows: [RowKey: [UInt8]], at offset: Int64) -> String? {
    guard offset <= next else { return nil }
    for (key, values) in values {
      let before = values.last { $0.offset < offset }?.bytes
      let held = rows[key]
      guard held != before, !values.contains(where: { $0.offset >= offset && $0.bytes == held }),
        !open.contains(where: { $0.key == key && $0.bytes == held })
      else { continue }
      return "\(key) is \(Self.shown(held)), not \(Self.shown(before))"
    }
    for key in rows.keys where values[key] == nil && !open.contains(where: { $0.key == key }) {
      return "\(key) is in no transaction that ended"
    }
    return nil
  }

  private static func shown(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "none" }
}
