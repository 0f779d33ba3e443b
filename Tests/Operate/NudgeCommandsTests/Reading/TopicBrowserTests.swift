import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("Reading topics")
struct TopicBrowserTests {
  @Test("a person's records are found on their partition, in order, and no others")
  func byKey() throws {
    let world = try BrowsedBroker()
    for number in 0..<300 {
      try world.produce(#"{"n":\#(number)}"#, key: "user-\(number % 30)", to: .decisions, at: 1_000 + Int64(number))
    }
    try world.flush()
    let browser = try world.browser()
    var numbers: [Int64] = []
    try browser.records(of: .decisions, key: "user-7") { record in
      numbers.append(try JSONValue(record.valueBytes() ?? [])["n"]?.integer ?? -1)
      return true
    }
    let expected: [Int64] = Array(stride(from: 7, to: 300, by: 30))
    #expect(numbers == expected)
    let first = try #require(try browser.ranges(of: .decisions).first { $0.count > 0 })
    let offset = try browser.withRecord(
      at: RecordPosition(topic: "nudge.decisions", partition: first.place.partition, offset: first.from + 1)
    ) { $0.offset }
    #expect(offset == first.from + 1)
    let gone = try browser.withRecord(
      at: RecordPosition(topic: "nudge.decisions", partition: first.place.partition, offset: first.to + 5)
    ) { $0.offset }
    #expect(gone == nil)
  }

  @Test("a broker that does not find offsets by time is read from the beginning")
  func times() throws {
    let world = try BrowsedBroker()
    for number in 0..<30 {
      try world.produce("{}", key: "user-\(number)", to: .decisions, at: 1_000 + Int64(number))
    }
    try world.flush()
    let browser = try world.browser()
    let ranges = try browser.ranges(of: .decisions, from: 1_010)
    #expect(ranges.reduce(0) { $0 + $1.count } == 30)
    var seen = 0
    try browser.read(ranges, "reading") { _ in
      seen += 1
      return true
    }
    #expect(seen == 30)
  }

  @Test("an unknown partition is an error that names the number of partitions")
  func strangePartition() throws {
    let world = try BrowsedBroker()
    let browser = try world.browser()
    #expect(throws: CommandError.self) { try browser.ranges(of: .decisions, partitions: [7]) }
  }

  @Test("a search for the latest reads a range from its end, in pieces that grow, each offset once")
  func backwards() {
    let place = TopicPartition(topic: "t", partition: 1)
    for (from, to) in [(0, 0), (7, 8), (5, 105), (0, 1_000), (123, 98_765)] as [(Int64, Int64)] {
      let pieces = PartitionRange(place: place, from: from, to: to).backwards(first: 100, most: 1_600)
      #expect(pieces.map(\.count).reduce(0, +) == to - from)
      #expect(pieces.first.map { $0.to == to && $0.count <= 100 } ?? (from == to))
      #expect(
        zip(pieces, pieces.dropFirst()).allSatisfy { $0.from == $1.to } && pieces.allSatisfy { $0.count <= 1_600 })
      #expect(pieces.last.map { $0.from == from } ?? true)
    }
  }

  @Test("after a repartition a key's earlier records are found in each partition that was its own")
  func formerPartitions() throws {
    #expect(TopicBrowser.counts(of: 12, first: 12) == [12])
    #expect(TopicBrowser.counts(of: 24, first: 4) == [24, 12, 8, 4])
    #expect(TopicBrowser.counts(of: 4, first: 12) == [4] && TopicBrowser.counts(of: 14, first: 4) == [14])
    let world = try BrowsedBroker(partitions: 2, inputs: 6)
    let user = try #require(
      (0..<100).map { "user-\($0)" }.first {
        Murmur2.partition(of: Array($0.utf8), count: 6) > 1
      })
    let former = Murmur2.partition(of: Array(user.utf8), count: 2)
    try world.produce(#"{"n":2}"#, key: user, to: .pushes, at: 2_000)
    try world.produce(#"{"n":1}"#, key: user, to: .pushes, partition: former, at: 1_000)
    try world.produce(#"{"n":0}"#, key: "other", to: .pushes, partition: former, at: 1_000)
    try world.flush()
    let browser = try world.browser()
    #expect(try browser.partitions(of: user, on: .pushes).last == former)
    #expect(try browser.partitions(of: user, on: .outcomes) == [former])
    var numbers: [Int64] = []
    try browser.records(of: .pushes, key: user) { record in
      numbers.append(try JSONValue(record.valueBytes() ?? [])["n"]?.integer ?? -1)
      return true
    }
    #expect(numbers == [1, 2])
  }
}
