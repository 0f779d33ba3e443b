import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Dead letters")
struct DeadLetterTests {
  private let rejection = Rejection(.invalidJSON, "not JSON")

  private func letter(of record: InputRecord, maxBytes: Int = 100_000) -> OutputRecord {
    .deadLetter(of: record, rejection, stage: "ingest", partitionCount: 12, maxBytes: maxBytes)
  }

  private func record(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeaderField] = []) -> InputRecord {
    InputRecord(
      topic: .chatEvents, topicName: "p.chat.events", partition: 7, offset: 4711, timestamp: 99, key: key, value: value,
      headers: headers)
  }

  private func text(_ name: String, _ output: OutputRecord) -> String? {
    output.headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
  }

  @Test("M5: a record that fits is kept whole, with reason and origin")
  func whole() {
    let output = letter(of: record(key: [1], value: [2, 3], headers: [RecordHeaderField("h", "v")]))
    #expect(output.key == [1])
    #expect(output.value == [2, 3])
    #expect(output.headers.first == RecordHeaderField("h", "v"))
    #expect(text(RecordHeader.errorCode, output) == "invalid_json")
    #expect(text(RecordHeader.originOffset, output) == "4711")
    #expect(!output.headers.contains { $0.name.hasPrefix("nudge-truncated") })
    #expect(output.headers.dropFirst().allSatisfy { RecordHeader.ofDeadLetters.contains($0.name) })
    #expect(letter(of: record(key: nil, value: nil)).value == nil)
    #expect(letter(of: record(key: nil, value: nil)).partition == 7)
  }

  @Test("a tool that reads Kafka Streams' dead letters (KIP-1034) reads these")
  func streams() {
    let output = letter(of: record(key: [1], value: [2]))
    #expect(text("__streams.errors.exception", output) == "invalid_json")
    #expect(text("__streams.errors.message", output) == "not JSON")
    #expect(text("__streams.errors.topic", output) == "p.chat.events")
    #expect(text("__streams.errors.partition", output) == "7")
    #expect(text("__streams.errors.offset", output) == "4711")
  }

  @Test("M5: a larger record is cut to fit, and headers say what was cut and where the whole record is")
  func anySize() {
    var random = SeededGenerator(announcedFor: "dead letters of any size")
    func bytes(_ largest: Int) -> [UInt8] { [UInt8](repeating: 7, count: random.below(largest)) }
    for round in 0..<400 {
      let limit = 16_384 + random.below(200_000)
      let shapes = [30, 3_000, 300_000, 600_000]
      let key = random.oneIn(5) ? nil : bytes(shapes[random.below(4)])
      let value = random.oneIn(5) ? nil : bytes(shapes[random.below(4)])
      let largest = shapes[random.below(4)]
      let headers = (0..<random.below(20)).map {
        RecordHeaderField("h\($0)", bytes(largest / (random.oneIn(2) ? 20 : 1)))
      }
      let record = record(key: key, value: value, headers: headers)
      let output = letter(of: record, maxBytes: limit)
      let about = "seed \(random.seed), round \(round)"
      #expect(output.size <= limit, "\(about)")
      #expect((output.key == nil) == (key == nil) && (output.value == nil) == (value == nil), "\(about)")
      #expect(key?.starts(with: output.key ?? []) ?? true, "\(about)")
      #expect(value?.starts(with: output.value ?? []) ?? true, "\(about)")
      #expect(output.partition == (key.map { OutputRecord.partition(of: $0, count: 12) } ?? 7), "\(about)")
      let kept = output.headers.filter { $0.name.hasPrefix("h") }
      func note(_ kept: Int, _ whole: Int) -> String? { kept < whole ? "\(kept)/\(whole)" : nil }
      #expect(text(RecordHeader.truncatedKey, output) == note(output.key?.count ?? 0, key?.count ?? 0), "\(about)")
      #expect(
        text(RecordHeader.truncatedValue, output) == note(output.value?.count ?? 0, value?.count ?? 0), "\(about)")
      #expect(text(RecordHeader.truncatedHeaders, output) == note(kept.count, headers.count), "\(about)")
      #expect(text(RecordHeader.originTopic, output) == "p.chat.events", "\(about)")
      #expect(text(RecordHeader.originPartition, output) == "7", "\(about)")
      #expect(text(RecordHeader.originTimestamp, output) == "99", "\(about)")
      // Where something was cut, most of the room is used.
      if output.value?.count ?? 0 < value?.count ?? 0 { #expect(output.size > limit - 1_000, "\(about)") }
    }
  }

  @Test("M5: a reason, however long, is cut before the record is")
  func longReason() {
    let rejection = Rejection(.schemaViolation, String(repeating: "e\u{301}", count: 50_000))
    let output = OutputRecord.deadLetter(
      of: record(key: [1], value: [2]), rejection, stage: "ingest", partitionCount: 12, maxBytes: 100_000)
    #expect(output.value == [2])
    #expect(text(RecordHeader.errorMessage, output)?.utf8.count ?? .max <= 4_000)
  }

  @Test("message.max.bytes bounds outputs and dead letters")
  func limitsFollow() {
    var limits = StreamLimits()
    let usual = limits
    limits.follow(kafkaProperties: ["message.max.bytes": "10000000"])
    #expect(limits == usual)
    limits.follow(kafkaProperties: ["message.max.bytes": "1000000"])
    #expect(limits.maxOutputBytes < 1_000_000 && limits.maxOutputBytes > 900_000)
    #expect(limits.maxDeadLetterBytes < 1_000_000 && limits.maxDeadLetterBytes > 900_000)
  }
}
