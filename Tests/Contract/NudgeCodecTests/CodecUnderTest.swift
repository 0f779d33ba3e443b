import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

/// A kind of record, with how the codec and the reference read and write it.
struct CodecUnderTest: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// How many types of it there are.
  var types: Int
  /// Types, by their numbers, that only the reference reads and writes.
  var byReferenceOnly: Set<Int> = []
  /// A random value of a type, as the reference writes it.
  var sample: @Sendable (inout RecordGenerator, Int) throws -> Sample
  /// Reads bytes with both; the codec's is nil where it leaves it to the reference.
  var read: (@Sendable (Codec, [UInt8]) -> Reading)?

  /// One thread's coders.
  final class Codec {
    let reference = RecordCoder()
    let codec = RecordCodec()
  }

  struct Sample {
    var value: any Sendable
    /// As the reference writes it.
    var bytes: [UInt8]
    /// As the codec writes it; nil where it only reads it.
    var direct: [UInt8]?
    /// The reference reads bytes as this value.
    var isReadAlike: ([UInt8]) throws -> Bool
  }

  struct Reading {
    /// The codec read it.
    var isDirect: Bool
    /// The codec read the same value as the reference.
    var isAlike: Bool
  }

  static let all: [CodecUnderTest] = [
    readOnly("chat event", RecordGenerator.chatEvents, { $0.chatEvent($1) }) { $0.read(ChatEvent.self, from: $1) },
    readOnly("user event", RecordGenerator.userEvents, byReferenceOnly: [6], { $0.userEvent($1) }) {
      $0.read(UserEvent.self, from: $1)
    },
    both(
      "device claim", RecordGenerator.deviceClaims, { $0.deviceClaim($1) }, write: { $0.encode($1) },
      read: { $0.read(DeviceClaim.self, from: $1) }),
    both(
      "timeline event", RecordGenerator.timelineEvents, byReferenceOnly: [17], { $0.timelineEvent($1) },
      write: { try $0.encode($1) }, read: { $0.read(TimelineEvent.self, from: $1) }),
    both(
      "push", RecordGenerator.pushEvents, { $0.pushEvent($1) }, write: { $0.encode($1) },
      read: { $0.read(PushEvent.self, from: $1) }),
    both("decision", 1, { generator, _ in generator.decision() }, write: { try $0.encode($1) }, read: nil),
    both("banner", RecordGenerator.bannerEvents, { $0.bannerEvent($1) }, write: { $0.encode($1) }, read: nil),
    both("outcome", 1, { generator, _ in generator.outcome() }, write: { $0.encode($1) }, read: nil),
    both("receipt", 1, { generator, _ in generator.receipt() }, write: { $0.encode($1) }, read: nil),
  ]

  private static func readOnly<Record: Codable & Equatable & Sendable>(
    _ name: String, _ types: Int, byReferenceOnly: Set<Int> = [],
    _ make: @escaping @Sendable (inout RecordGenerator, Int) -> Record,
    read: @escaping @Sendable (RecordCodec, [UInt8]) -> Record?
  ) -> CodecUnderTest {
    both(name, types, byReferenceOnly: byReferenceOnly, make, write: nil, read: read)
  }

  private static func both<Record: Codable & Equatable & Sendable>(
    _ name: String, _ types: Int, byReferenceOnly: Set<Int> = [],
    _ make: @escaping @Sendable (inout RecordGenerator, Int) -> Record,
    write: (@Sendable (RecordCodec, Record) throws -> [UInt8])?, read: (@Sendable (RecordCodec, [UInt8]) -> Record?)?
  ) -> CodecUnderTest {
    CodecUnderTest(testDescription: name, types: types, byReferenceOnly: byReferenceOnly) { generator, number in
      let value = make(&generator, number)
      let coder = RecordCoder()
      return Sample(
        value: value, bytes: try coder.encode(value), direct: try write.map { try $0(RecordCodec(), value) },
        isReadAlike: { try coder.decode(Record.self, from: $0) == value })
    } read: {
      guard let read else { return nil }
      return { codec, bytes in
        guard let direct = read(codec.codec, bytes) else { return Reading(isDirect: false, isAlike: true) }
        let reference = try? codec.reference.decode(Record.self, from: bytes)
        return Reading(isDirect: true, isAlike: reference == direct)
      }
    }
  }

  private init(
    testDescription: String, types: Int, byReferenceOnly: Set<Int>,
    sample: @escaping @Sendable (inout RecordGenerator, Int) throws -> Sample,
    read: () -> (@Sendable (Codec, [UInt8]) -> Reading)?
  ) {
    self.testDescription = testDescription
    self.types = types
    self.byReferenceOnly = byReferenceOnly
    self.sample = sample
    self.read = read()
  }
}
