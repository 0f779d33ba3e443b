import Testing

@Suite("The segments of a partition")
struct PartitionLogTests {
  /// A batch as Kafka writes it; what the reader does not look at is 0.
  private func batch(_ base: Int64, count: Int32, producer: Int64, time: Int64, marker: Bool = false) -> [UInt8] {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    let rest =
      bytes(Int32(0)) + [2] + bytes(UInt32(0)) + bytes(Int16(marker ? 0x30 : 0x10)) + bytes(count - 1) + bytes(time - 5)
      + bytes(time) + bytes(producer) + bytes(Int16(0)) + bytes(Int32(0)) + bytes(count)
      + [UInt8](repeating: 7, count: 20)
    return bytes(base) + bytes(Int32(rest.count)) + rest
  }

  @Test("a record was committed when the next marker of its own producer was written")
  func commitTime() {
    let segment =
      batch(0, count: 3, producer: 1, time: 100) + batch(3, count: 2, producer: 2, time: 110)
      + batch(5, count: 1, producer: 2, time: 120, marker: true)
      + batch(6, count: 1, producer: 1, time: 900, marker: true)
      + batch(7, count: 1, producer: 1, time: 910) + batch(8, count: 1, producer: -1, time: 920)
    let log = PartitionLog(segment: segment)
    #expect([0, 1, 2].map { log.commitTime(ofRecordAt: $0) } == [900, 900, 900])
    #expect([3, 4].map { log.commitTime(ofRecordAt: $0) } == [120, 120])
    #expect(log.commitTime(ofRecordAt: 7) == nil, "its transaction is open")
    #expect(log.commitTime(ofRecordAt: 8) == nil, "no transaction wrote it")
    #expect(log.commitTime(ofRecordAt: 9) == nil, "it is not there")
    // The end was not written whole.
    #expect(PartitionLog(segment: Array(segment.prefix(300))).commitTime(ofRecordAt: 0) == nil)
  }
}
