import Foundation
import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@Suite("The codec and Codable say the same")
struct RecordCodecTests {
  @Test("what the codec writes the reference reads as the same value", arguments: CodecUnderTest.all)
  func writesAlike(kind: CodecUnderTest) throws {
    var generator = RecordGenerator(SeededGenerator(announcedFor: "writesAlike(\(kind.testDescription))"))
    for number in 0..<kind.types * 60 {
      let sample = try kind.sample(&generator, number)
      guard let direct = sample.direct else { continue }
      #expect(try sample.isReadAlike(direct), "\(String(decoding: direct, as: UTF8.self))")
    }
  }

  @Test(
    "what the reference writes, and what the codec writes, the codec reads directly and alike",
    arguments: CodecUnderTest.all)
  func readsAlike(kind: CodecUnderTest) throws {
    guard let read = kind.read else { return }
    var generator = RecordGenerator(SeededGenerator(announcedFor: "readsAlike(\(kind.testDescription))"))
    let codec = CodecUnderTest.Codec()
    for number in 0..<kind.types * 60 {
      let sample = try kind.sample(&generator, number)
      for bytes in [sample.bytes, sample.direct].compactMap({ $0 }) {
        let reading = read(codec, bytes)
        #expect(reading.isAlike, "\(String(decoding: bytes, as: UTF8.self))")
        #expect(reading.isDirect != kind.byReferenceOnly.contains(number % kind.types))
      }
    }
  }

  @Test(
    "of any bytes the codec reads only what the reference reads, and as the same value: broken JSON, hostile texts, other types, fields twice, unknown fields, deep nesting, huge numbers",
    arguments: CodecUnderTest.all)
  func hostile(kind: CodecUnderTest) throws {
    guard let read = kind.read else { return }
    let seeded = SeededGenerator(announcedFor: "hostile(\(kind.testDescription))")
    var generator = RecordGenerator(seeded)
    var mutation = JSONMutation(random: SeededGenerator(seed: seeded.seed ^ 0x5bd1e995))
    let codec = CodecUnderTest.Codec()
    var (direct, left) = (0, 0)
    for number in 0..<kind.types * 150 {
      // Members in the codec's order are found without a search, those in the reference's with one.
      let sample = try kind.sample(&generator, number)
      let bytes = mutation.apply(to: number % 2 == 0 ? sample.bytes : sample.direct ?? sample.bytes)
      let reading = read(codec, bytes)
      #expect(reading.isAlike, "\(bytes.count) bytes: \(String(decoding: bytes.prefix(4_000), as: UTF8.self))")
      if reading.isDirect { direct += 1 } else { left += 1 }
    }
    // The mutations reach both sides, or this says little.
    #expect(direct > 20 && left > 20)
  }

  @Test("a value that says something in each of its fields loses none, either way", arguments: CodecUnderTest.all)
  func everyField(kind: CodecUnderTest) throws {
    var generator = RecordGenerator(SeededGenerator(seed: 12))
    generator.isFull = true
    let codec = CodecUnderTest.Codec()
    // Fields that exclude each other are set in one of two samples of a type.
    var emptyInFirst: Set<String> = []
    for (number, isSecond) in (0..<kind.types).flatMap({ [($0, false), ($0, true)] }) {
      generator.takesSecond = isSecond
      let sample = try kind.sample(&generator, number)
      // A list is set as a whole here; changes of lists take its place on the wire.
      let empty = FieldWalk.emptyFields(of: sample.value).filter { !$0.contains("/preferences/changes/") }
      if isSecond {
        // A field that was added, and that the generator does not set, would not be looked at below.
        #expect(emptyInFirst.intersection(empty) == [], "RecordGenerator leaves these empty")
      } else {
        emptyInFirst = Set(empty)
      }
      if let direct = sample.direct {
        // The names that are written, at every depth, are those that Codable writes.
        #expect(try FieldWalk.names(in: direct) == FieldWalk.names(in: sample.bytes))
        #expect(try sample.isReadAlike(direct))
      }
      if let read = kind.read, !kind.byReferenceOnly.contains(number) {
        let reading = read(codec, sample.bytes)
        #expect(reading.isDirect && reading.isAlike)
      }
    }
  }

  @Test("numbers that JSON does not have are refused as the reference refuses them")
  func notFinite() throws {
    var generator = RecordGenerator(SeededGenerator(seed: 1))
    var decision = generator.decision()
    decision.body.score = .nan
    #expect(throws: EncodingError.self) { try RecordCodec().encode(decision) }
    decision.body.score = 0.5
    decision.body.signals = [Signal(name: "x", value: 1, weight: -.infinity)]
    #expect(throws: EncodingError.self) { try RecordCodec().encode(decision) }
  }

  @Test("a device event of user.events is no timeline event for the codec either")
  func timelineDevices() {
    var generator = RecordGenerator(SeededGenerator(seed: 1))
    for number in [8, 9] {
      let event = generator.derived(TimelineEventBody.user(generator.userEventBody(number)))
      #expect(throws: EncodingError.self) { try RecordCodec().encode(event) }
    }
  }

  @Test("a record larger than what is kept in memory is read and written alike")
  func large() throws {
    var generator = RecordGenerator(SeededGenerator(seed: 5))
    let codec = RecordCodec()
    guard case .candidate(var candidate) = generator.timelineEvent(0).body else { return }
    candidate.body = String(repeating: "\"Möwe\"\n", count: 60_000)
    let event = generator.derived(TimelineEventBody.candidate(candidate))
    let bytes = try codec.encode(event)
    #expect(bytes.count > 500_000)
    #expect(codec.read(TimelineEvent.self, from: bytes) == event)
    let small = generator.timelineEvent(2)
    #expect(try codec.read(TimelineEvent.self, from: codec.encode(small)) == small)
  }
}
