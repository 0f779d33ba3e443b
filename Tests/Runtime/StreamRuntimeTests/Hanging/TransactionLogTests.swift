import TestSupport
import Testing

@testable import StreamRuntime

@Suite("What a coordinator's log says of an open transaction")
struct TransactionLogTests {
  private typealias Entry = TransactionLog.Entry
  private let place = TransactionLog.Place(topic: "t", partition: 3)

  private func entry(
    _ status: Entry.Status, _ epoch: Int16, producer: Int64 = 7, there: Bool = true, version: Int16 = 2,
    next: Int64? = nil
  ) -> Entry {
    Entry(
      producerID: producer, epoch: epoch, status: status, places: there ? [place] : [], version: version,
      nextProducerID: next)
  }

  private func finding(_ entries: [Entry], epoch: Int16 = 4) -> TransactionLog.Finding {
    TransactionLog(entries).finding(of: place, producerID: 7, epoch: epoch)
  }

  private func finding(
    _ log: TransactionLog, _ producer: Int64, _ epoch: Int16, on partition: Int32
  ) -> TransactionLog.Finding {
    log.finding(of: TransactionLog.Place(topic: "x0", partition: partition), producerID: producer, epoch: epoch)
  }

  @Test("what a real coordinator has noted: commits, aborts by the client, by a new holder, by the coordinator")
  func recorded() {
    let usual = RecordedTransactionLog.usual
    #expect(usual.entries.count == 21)
    #expect(finding(usual, 0, 0, on: 0) == .leftOut(isCommit: true))
    #expect(finding(usual, 0, 1, on: 1) == .leftOut(isCommit: true))
    #expect(finding(usual, 0, 2, on: 2) == .leftOut(isCommit: false))
    // Had no records, so nothing can be open.
    #expect(finding(usual, 0, 3, on: 2) == .unknown)
    #expect(finding(usual, 0, 4, on: 3) == .leftOut(isCommit: false))
    for epoch: Int16 in [5, 6, 8, 9] { #expect(finding(usual, 0, epoch, on: 1) == .unknown, "\(epoch)") }
    #expect(finding(usual, 0, 7, on: 1) == .leftOut(isCommit: true))
    // Not part of it.
    #expect(finding(usual, 0, 7, on: 0) == .unknown)
    let timedOut = RecordedTransactionLog.timedOut
    #expect(finding(timedOut, 1, 0, on: 0) == .leftOut(isCommit: false))
    #expect(finding(timedOut, 1, 1, on: 0) == .unknown)
    #expect(finding(timedOut, 1, 2, on: 0) == .leftOut(isCommit: false))
  }

  @Test("what a real coordinator has noted where a producer's epochs are used up")
  func usedUp() {
    let committed = RecordedTransactionLog.usedUpByCommit
    for epoch: Int16 in [32765, 32766] {
      #expect(finding(committed, 2, epoch, on: 1) == .leftOut(isCommit: true), "\(epoch)")
    }
    #expect(finding(committed, 2, .max, on: 1) == .unknown)
    #expect(finding(committed, 3, 0, on: 0) == .leftOut(isCommit: true))
    #expect(finding(committed, 3, 1, on: 0) == .leftOut(isCommit: true))
    #expect(finding(RecordedTransactionLog.almostUsedUp, 4, 32765, on: 0) == .leftOut(isCommit: false))
    #expect(finding(RecordedTransactionLog.almostUsedUp, 5, 0, on: 0) == .leftOut(isCommit: true))
    #expect(finding(RecordedTransactionLog.usedUpByAbort, 6, 32766, on: 0) == .leftOut(isCommit: false))
    #expect(finding(RecordedTransactionLog.usedUpByAbort, 7, 1, on: 0) == .leftOut(isCommit: true))
  }

  @Test(
    "of transactions of version 1 that may share an epoch nothing is concluded, also where an abort is noted in version 2"
  )
  func version1() {
    let log = RecordedTransactionLog.version1
    #expect(log.entries.last { $0.isDecision }?.version == 2)
    // The open transaction may be the second one, which was committed.
    #expect(finding(log, 1000, 0, on: 0) == .unknown)
    let old = [
      entry(.ongoing, 4, version: 0), entry(.prepareCommit, 4, version: 0), entry(.completeCommit, 4, version: 0),
    ]
    #expect(finding(old) == .unknown)
    let ended = [entry(.ongoing, 4), entry(.prepareAbort, 5), entry(.completeAbort, 5, there: false)]
    #expect(finding(ended) == .leftOut(isCommit: false))
    #expect(finding(old + ended) == .unknown)
    // A second transaction of the epoch.
    #expect(finding([entry(.empty, 4, there: false, version: 0)] + old + old) == .unknown)
  }

  @Test(
    "a transaction of version 1 that has its epoch alone: committed with it, aborted by the coordinator with the next")
  func alone() {
    func log(_ statuses: [(Entry.Status, Int16, Bool)]) -> [Entry] {
      statuses.map { entry($0.0, $0.1, there: $0.2, version: 0) }
    }
    let begin = log([(.empty, 4, false), (.ongoing, 4, true)])
    #expect(finding(begin) == .ongoing)
    #expect(finding(begin + log([(.prepareCommit, 4, true)])) == .ongoing)
    let committed = begin + log([(.prepareCommit, 4, true), (.completeCommit, 4, false)])
    #expect(finding(committed) == .leftOut(isCommit: true))
    let aborted = begin + log([(.prepareAbort, 5, true), (.completeAbort, 5, false)])
    #expect(finding(aborted) == .leftOut(isCommit: false))
    // The next holder, or the same one's next transaction, has another epoch.
    let next = log([(.empty, 5, false), (.ongoing, 5, true), (.prepareAbort, 6, true), (.completeAbort, 6, false)])
    #expect(finding(committed + next) == .leftOut(isCommit: true))
    #expect(finding(committed + next, epoch: 5) == .leftOut(isCommit: false))
    // Its epoch was raised twice, or it continued in version 2.
    #expect(finding(begin + log([(.prepareAbort, 6, true), (.completeAbort, 6, false)])) == .unknown)
    #expect(finding(begin + [entry(.prepareAbort, 5), entry(.completeAbort, 5, there: false)]) == .unknown)
    // Any record missing: the same, or nothing.
    for missing in committed.indices {
      var log = committed + next
      log.remove(at: missing)
      #expect([.unknown, .leftOut(isCommit: true)].contains(finding(log)), "\(missing)")
    }
  }

  /// Epochs 4 and 7 committed, 5 aborted by the coordinator with epoch 6, 8 not used.
  private var former: [Entry] {
    let statuses: [(Entry.Status, Int16)] = [
      (.empty, 4), (.ongoing, 4), (.prepareCommit, 4), (.completeCommit, 4), (.empty, 5), (.ongoing, 5),
      (.prepareAbort, 6), (.completeAbort, 6), (.empty, 7), (.ongoing, 7), (.prepareCommit, 7), (.completeCommit, 7),
      (.empty, 8),
    ]
    return statuses.map { status, epoch in
      let place = TransactionLog.Place(topic: "x0", partition: 0)
      return Entry(
        producerID: 7, epoch: epoch, status: status,
        places: [.ongoing, .prepareCommit, .prepareAbort].contains(status) ? [place] : [])
    }
  }

  @Test("a recorded log of which any records are missing leads to the same result or to none")
  func missing() {
    let cases: [(log: TransactionLog, producer: Int64, committed: Set<Int16>, aborted: Set<Int16>)] = [
      (RecordedTransactionLog.usual, 0, [0, 1, 7], [2, 4]),
      (RecordedTransactionLog.timedOut, 1, [], [0, 2]),
      (RecordedTransactionLog.usedUpByCommit, 2, [32765, 32766], []),
      // As Nudge's client writes it in version 1; other clients do not use its ids.
      (TransactionLog(former), 7, [4, 7], [5]),
    ]
    for (log, producer, committed, aborted) in cases {
      var random = SeededGenerator(seed: 26)
      for _ in 0..<2000 {
        let left = TransactionLog(log.entries.filter { _ in !random.oneIn(4) })
        for epoch in Set(log.entries.map(\.epoch)) {
          for partition: Int32 in 0..<4 {
            guard case .leftOut(let isCommit) = finding(left, producer, epoch, on: partition) else { continue }
            #expect(isCommit ? committed.contains(epoch) : aborted.contains(epoch), "\(left.entries)")
          }
        }
      }
    }
  }

  @Test("complete as it was decided, and nothing else, is a marker that does not come")
  func leftOut() {
    let begin = [entry(.empty, 4, there: false), entry(.ongoing, 4)]
    #expect(finding(begin) == .ongoing)
    #expect(finding(begin + [entry(.prepareCommit, 5)]) == .ongoing)
    #expect(
      finding(begin + [entry(.prepareCommit, 5), entry(.completeCommit, 5, there: false)]) == .leftOut(isCommit: true))
    #expect(
      finding(begin + [entry(.prepareAbort, 5), entry(.completeAbort, 5, there: false)]) == .leftOut(isCommit: false))
    // The partition came in later than the last record says; never seen, so nothing is concluded.
    #expect(
      finding([entry(.ongoing, 4, there: false), entry(.prepareCommit, 5), entry(.completeCommit, 5)]) == .unknown)
  }

  @Test("later transactions of the producer change nothing")
  func later() {
    let log = [
      entry(.ongoing, 4), entry(.prepareCommit, 5), entry(.completeCommit, 5, there: false), entry(.ongoing, 5),
      entry(.prepareAbort, 6), entry(.completeAbort, 6, there: false),
    ]
    #expect(finding(log, epoch: 4) == .leftOut(isCommit: true))
    #expect(finding(log, epoch: 5) == .leftOut(isCommit: false))
    #expect(finding(log, epoch: 6) == .unknown)
  }

  @Test("what the log does not have is not guessed")
  func unknown() {
    #expect(finding([]) == .unknown)
    // Its beginning is not in what was read.
    #expect(finding([entry(.prepareCommit, 5), entry(.completeCommit, 5)]) == .unknown)
    // Brokers with KAFKA-19367 raise the epoch twice when a new holder aborts: might be of another transaction.
    #expect(finding([entry(.ongoing, 4), entry(.prepareAbort, 6), entry(.completeAbort, 6)]) == .unknown)
    // The decision is about other partitions, or of another producer.
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5, there: false), entry(.completeCommit, 5)]) == .unknown)
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5, producer: 8), entry(.completeCommit, 5)]) == .unknown)
    // Decided in one way, complete in another; complete as another producer that was not announced.
    #expect(finding([entry(.ongoing, 4), entry(.prepareCommit, 5), entry(.completeAbort, 5)]) == .unknown)
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5), entry(.completeCommit, 0, producer: 8)]) == .unknown)
    #expect(
      finding([entry(.ongoing, 4), entry(.prepareCommit, 5, next: 8), entry(.completeCommit, 0, producer: 8)])
        == .leftOut(isCommit: true))
  }

  @Test("a record that is not understood takes away what was known; any bytes are read")
  func holes() {
    // Version 1 of the format: producer 7, epoch 4, time-out 5000, ongoing, one topic of one partition, two times, a tagged
    // field: transactions of version 2.
    var bytes: [UInt8] = [0, 1] + [0, 0, 0, 0, 0, 0, 0, 7] + [0, 4] + [0, 0, 0x13, 0x88] + [1]
    bytes += [2, 2, 0x74, 2, 0, 0, 0, 3, 0] + [UInt8](repeating: 0, count: 16) + [1, 2, 2, 0, 2]
    var log = TransactionLog()
    log.read(value: bytes)
    #expect(log.entries == [entry(.ongoing, 4)])
    for count in 0..<bytes.count {
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
