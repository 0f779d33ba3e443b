import Testing

@testable import StreamRuntime

@Suite("What a coordinator's log says of an open transaction")
struct TransactionLogTests {
  private typealias Entry = TransactionLog.Entry
  private let place = TransactionLog.Place(topic: "t", partition: 3)

  private func entry(_ status: Entry.Status, _ epoch: Int16, producer: Int64 = 7, there: Bool = true) -> Entry {
    Entry(producerID: producer, epoch: epoch, status: status, places: there ? [place] : [])
  }

  private func finding(_ entries: [Entry], epoch: Int16 = 4) -> TransactionLog.Finding {
    TransactionLog(entries).finding(of: place, producerID: 7, epoch: epoch)
  }

  @Test("complete as it was decided, and nothing else, is a marker that does not come")
  func leftOut() {
    let begin = [entry(.empty, 4, there: false), entry(.ongoing, 4)]
    #expect(finding(begin) == .underWay)
    #expect(finding(begin + [entry(.prepareCommit, 5)]) == .underWay)
    #expect(
      finding(begin + [entry(.prepareCommit, 5), entry(.completeCommit, 5, there: false)]) == .leftOut(isCommit: true))
    #expect(
      finding(begin + [entry(.prepareAbort, 5), entry(.completeAbort, 5, there: false)]) == .leftOut(isCommit: false))
    // A coordinator's own abort raises the epoch more than once.
    #expect(
      finding(begin + [entry(.prepareAbort, 6), entry(.completeAbort, 6, there: false)]) == .leftOut(isCommit: false))
  }

  @Test("later transactions of the producer change nothing")
  func later() {
    let log = [
      entry(.ongoing, 4), entry(.prepareCommit, 5), entry(.completeCommit, 5, there: false), entry(.ongoing, 5),
      entry(.prepareAbort, 6), entry(.completeAbort, 6, there: false),
    ]
    #expect(finding(log, epoch: 4) == .leftOut(isCommit: true))
    #expect(finding(log, epoch: 5) == .leftOut(isCommit: false))
    #expect(finding(log, epoch: 6) == .underWay)
  }

  @Test("what the log does not have is not guessed")
  func unknown() {
    #expect(finding([]) == .unknown)
    // Its beginning is not in what was read.
    #expect(finding([entry(.prepareCommit, 6), entry(.completeCommit, 6)]) == .unknown)
    // The decision is about other partitions, or of another producer.
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5, there: false), entry(.completeCommit, 5)]) == .unknown)
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5, producer: 8), entry(.completeCommit, 5)]) == .unknown)
    // Version 1: the epoch is the same, and of many transactions.
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 4), entry(.completeCommit, 4)]) != .leftOut(isCommit: true))
    // Decided in one way, complete in another.
    #expect(finding([entry(.ongoing, 4), entry(.prepareCommit, 5), entry(.completeAbort, 5)]) == .unknown)
  }

  @Test("a record that is not understood takes away what was known; any bytes are read")
  func holes() {
    // Version 1: producer 7, epoch 4, time-out 5000, ongoing, one topic of one partition, two times, a tagged field.
    var bytes: [UInt8] = [0, 1] + [0, 0, 0, 0, 0, 0, 0, 7] + [0, 4] + [0, 0, 0x13, 0x88] + [1]
    bytes += [2, 2, 0x74, 2, 0, 0, 0, 3, 0] + [UInt8](repeating: 0, count: 16) + [1, 2, 2, 0, 2]
    var log = TransactionLog()
    log.read(value: bytes)
    #expect(log.entries == [entry(.ongoing, 4)])
    for count in 0..<25 {
      log.read(value: Array(bytes.prefix(count)))
      #expect(log.entries.isEmpty, "\(count)")
      log.read(value: bytes)
    }
    log.read(value: nil)
    #expect(log.entries.isEmpty)
    #expect(TransactionLog.transactionalID(key: [0, 0, 0, 2, 0x69, 0x64]) == "id")
    #expect(TransactionLog.transactionalID(key: [0, 1, 0, 2, 0x69, 0x64]) == nil)
  }
}
