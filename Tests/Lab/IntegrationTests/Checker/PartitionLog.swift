import Foundation

/// The batches of a partition, read from the broker's segment files: a consumer sees neither transaction markers nor their
/// times.
struct PartitionLog {
  /// The header of a batch in Kafka's format version 2.
  private struct Batch {
    var last: Int64
    var producer: Int64
    var isMarker: Bool
    var timestamp: Int64
  }

  /// The size of a batch's header in bytes.
  private static let headerLength = 61

  private var batches: [Batch] = []

  /// Reads the segments in a partition's folder, without an incomplete batch at the end.
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

  /// When the transaction of a committed record ended in this partition: the time of its marker, in milliseconds since the
  /// epoch. Nil if no transaction wrote the record, or no marker follows it.
  func commitTime(ofRecordAt offset: Int64) -> Int64? {
    guard let index = batches.firstIndex(where: { $0.last >= offset }), batches[index].producer >= 0 else { return nil }
    return batches[index...].first { $0.isMarker && $0.producer == batches[index].producer }?.timestamp
  }
}
