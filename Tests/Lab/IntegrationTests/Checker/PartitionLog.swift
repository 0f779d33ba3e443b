import Foundation

/// What a partition's segments say of their batches, read from the broker's own files: a consumer is shown neither the
/// markers of transactions nor their times.
struct PartitionLog {
  /// A batch's header, as Kafka's format of version 2 has it.
  private struct Batch {
    var last: Int64
    var producer: Int64
    var isMarker: Bool
    var timestamp: Int64
  }

  /// The bytes of a batch's header, up to its records.
  private static let headerLength = 61

  private var batches: [Batch] = []

  /// Reads the segments in a partition's folder. A batch that is only there in part, at the end, is left out.
  init(in folder: URL) throws {
    let segments = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".log") }
    for name in segments.sorted() { read(Array(try Data(contentsOf: folder.appendingPathComponent(name)))) }
  }

  init(segment: [UInt8]) { read(segment) }

  private mutating func read(_ bytes: [UInt8]) {
    func number(_ offset: Int, _ length: Int) -> Int64 {
      let value = bytes[offset..<offset + length].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      let unused = Int64(64 - 8 * length)
      return (value << unused) >> unused
    }
    var start = 0
    while start + Self.headerLength <= bytes.count {
      let length = Int(number(start + 8, 4))
      guard length > 0, start + 12 + length <= bytes.count else { return }
      batches.append(
        Batch(
          last: number(start, 8) + number(start + 23, 4), producer: number(start + 43, 8),
          isMarker: number(start + 21, 2) & 0x20 != 0, timestamp: number(start + 35, 8)))
      start += 12 + length
    }
  }

  /// When the transaction of a record that a reader of committed records was shown was ended here: the time of its marker,
  /// in milliseconds since the epoch. Nil where no transaction wrote it, or no marker follows it.
  func commitTime(ofRecordAt offset: Int64) -> Int64? {
    guard let index = batches.firstIndex(where: { $0.last >= offset }), batches[index].producer >= 0 else { return nil }
    return batches[index...].first { $0.isMarker && $0.producer == batches[index].producer }?.timestamp
  }
}
