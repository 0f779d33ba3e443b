import Kafka
import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("The lag of tasks")
struct LagTableTests {
  private let first = TopicPartition(topic: "a", partition: 0)
  private let second = TopicPartition(topic: "b", partition: 0)

  @Test("the age is that of the oldest unprocessed record, and rises while nothing is processed")
  func stands() {
    var table = LagTable()
    #expect(table.update(first, next: 10, end: 10) == nil)
    #expect(table.age(at: 1_000) == 0 && table.records(of: "a") == 0)
    #expect(table.update(first, next: 10, end: 30) == 10)
    table.found(first, offset: 10, timestamp: 500)
    #expect(table.update(second, next: 0, end: 5) == 0)
    table.found(second, offset: 0, timestamp: 700)
    #expect(table.age(at: 1_000) == 500)
    #expect(table.records(of: "a") == 20 && table.records(of: "b") == 5)
    // It stands still: the record is known, and need not be read again.
    #expect(table.update(first, next: 10, end: 90) == nil)
    #expect(table.age(at: 61_000) == 60_500 && table.records(of: "a") == 80)
    // It continues to look for the next record.
    #expect(table.update(first, next: 50, end: 90) == 50)
    #expect(table.age(at: 61_000) == 60_300, "the other partition's")
    table.found(first, offset: 51, timestamp: 60_900)
    #expect(table.records(of: "a") == 39)
  }

  @Test("transaction markers after the last record are no lag, and are looked up once")
  func markers() {
    var table = LagTable()
    #expect(table.update(first, next: 10, end: 12) == 10)
    table.foundNone(first)
    #expect(table.update(first, next: 10, end: 12) == nil)
    #expect(table.age(at: 1_000) == 0 && table.records(of: "a") == 0)
    #expect(table.update(first, next: 10, end: 15) == 12, "only what is new")
    table.found(first, offset: 13, timestamp: 900)
    #expect(table.records(of: "a") == 2 && table.age(at: 1_000) == 100)
  }

  @Test("partitions given up and topics created again are dropped")
  func forgets() {
    var table = LagTable()
    _ = table.update(first, next: 0, end: 9)
    table.found(first, offset: 0, timestamp: 1)
    table.keep(only: [second])
    #expect(table.age(at: 1_000) == 0 && table.records(of: "a") == 0)
    _ = table.update(second, next: 0, end: 100)
    table.foundNone(second)
    #expect(table.update(second, next: 0, end: 3) == 0, "an end before the one known")
  }

  @Test("a record of a producer whose clock is ahead has no negative age")
  func future() {
    var table = LagTable()
    _ = table.update(first, next: 0, end: 1)
    table.found(first, offset: 0, timestamp: 5_000)
    #expect(table.age(at: 1_000) == 0)
  }
}
