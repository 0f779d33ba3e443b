import Testing

@testable import KafkaTransactions

@Suite("Records on their way, outside transactions")
struct PublishQueueTests {
  private typealias Place = PublishQueue.Place

  private func record(_ partition: Int32, _ bytes: Int = 10) -> PublishedRecord {
    PublishedRecord(topic: 0, partition: partition, key: [1], value: [UInt8](repeating: 7, count: bytes))
  }

  @Test("a batch a partition, with the offsets of its records")
  func offsets() {
    var queue = PublishQueue([record(2), record(0), record(2)], timestamp: 1)
    #expect(queue.places == [Place(topic: 0, partition: 0), Place(topic: 0, partition: 2)])
    #expect(queue.batch(Place(topic: 0, partition: 2))?.count == 2)
    #expect(queue.answered(Place(topic: 0, partition: 2), .none, baseOffset: 40, reason: nil) == .none)
    #expect(queue.answered(Place(topic: 0, partition: 0), .duplicateSequence, baseOffset: -1, reason: nil) == .none)
    #expect(queue.places.isEmpty)
    #expect(queue.results == [.written(offset: 40), .written(offset: nil), .written(offset: 41)])
  }

  @Test("records that do not fit into a batch wait for the next one of their partition")
  func order() {
    var queue = PublishQueue([record(0, 600), record(0, 600), record(0, 600)], timestamp: 1, maxBatchBytes: 1_500)
    let place = Place(topic: 0, partition: 0)
    #expect(queue.batch(place)?.count == 2)
    _ = queue.answered(place, .none, baseOffset: 0, reason: nil)
    #expect(queue.batch(place)?.count == 1)
    _ = queue.answered(place, .none, baseOffset: 2, reason: nil)
    #expect(queue.results == [.written(offset: 0), .written(offset: 1), .written(offset: 2)])
  }

  @Test("of a batch that is too large only the record that is too large is refused")
  func tooLarge() {
    var queue = PublishQueue([record(0), record(0), record(0)], timestamp: 1)
    let place = Place(topic: 0, partition: 0)
    _ = queue.answered(place, BrokerError(10), baseOffset: -1, reason: nil)
    #expect(queue.results == [nil, nil, nil])
    _ = queue.answered(place, .none, baseOffset: 5, reason: nil)
    _ = queue.answered(place, BrokerError(10), baseOffset: -1, reason: "2 MiB")
    _ = queue.answered(place, .none, baseOffset: 6, reason: nil)
    #expect(
      queue.results == [
        .written(offset: 5), .refused(.tooLarge, "MESSAGE_TOO_LARGE: 2 MiB"), .written(offset: 6),
      ])
  }

  @Test("a leader that moved is looked for, a passing error waits, and neither is a result")
  func passing() {
    var queue = PublishQueue([record(0)], timestamp: 1)
    let place = Place(topic: 0, partition: 0)
    #expect(queue.answered(place, BrokerError(6), baseOffset: -1, reason: nil) == .findLeader)
    #expect(queue.answered(place, BrokerError(19), baseOffset: -1, reason: nil) == .none)
    #expect(queue.places == [place])
    #expect(!queue.hasDoubts)
  }

  @Test("another producer id writes nothing again that may be written")
  func doubts() {
    var queue = PublishQueue([record(0), record(1)], timestamp: 1)
    let (first, second) = (Place(topic: 0, partition: 0), Place(topic: 0, partition: 1))
    queue.unanswered([first], "the broker closed the connection")
    #expect(queue.hasDoubts)
    #expect(queue.answered(first, BrokerError(45), baseOffset: -1, reason: nil) == .newProducer)
    #expect(queue.answered(second, BrokerError(45), baseOffset: -1, reason: nil) == .newProducer)
    queue.giveUpDoubts()
    #expect(queue.places == [second])
    guard case .unknown = queue.results[0] else {
      Issue.record("\(String(describing: queue.results[0]))")
      return
    }
    queue.expire()
    guard case .unknown = queue.results[1] else {
      Issue.record("\(String(describing: queue.results[1]))")
      return
    }
  }

  @Test("sequences start over at 0, as the brokers' do")
  func sequences() {
    #expect(RecordPublisher.sequence(after: 5, 3) == 8)
    #expect(RecordPublisher.sequence(after: .max, 1) == 0)
    #expect(RecordPublisher.sequence(after: .max - 1, 4) == 2)
  }
}
