import Testing
import TestSupport

@testable import KafkaTransactions

@Suite("Answers of brokers, good and bad")
struct DecoderTests {
  @Test("each answer is read as it was written", arguments: AnswerSample.all)
  func samples(_ sample: AnswerSample) throws { _ = try sample.decode(sample.bytes) }

  @Test("fields of answers are decoded correctly")
  func values() throws {
    func sample(_ name: String) throws -> [UInt8] {
      try #require(AnswerSample.all.first { $0.name == name }).bytes
    }
    let versions = try WireFrame.decode(APIVersionsRequest.self, sample("ApiVersions"), correlation: 1).content
    #expect(versions.features == ["metadata.version": 2, "transaction.version": 2])
    #expect(versions.versions == [0: 0...13, 3: 0...13, 26: 0...5])
    let metadata = try WireFrame.decode(MetadataRequest.self, sample("Metadata"), correlation: 1).content
    #expect(metadata.brokers[2] == BrokerAddress(host: "b.example", port: 9092))
    #expect(metadata.topics[1].partitions[1] == .init(error: .none, index: 1, leader: 2))
    // As kafka-topics.sh prints the id.
    #expect(metadata.topics[1].id == "AAAAAAAAAAUAAAAAAAAABg")
    #expect(metadata.topics[1].operations == .min && ResourceAccess(bits: .min) == .unknown)
    let groups = try WireFrame.decode(DescribeGroupsRequest.self, sample("DescribeGroups"), correlation: 1).content
      .groups
    let members = ["a", "b"].map {
      GroupMember(memberID: $0, instanceID: $0 == "a" ? "slot1" : nil, clientID: "client", host: "/10.0.0.7")
    }
    #expect(groups == [.init(error: .none, id: "nudge-analyzer", members: members, operations: 0x108)])
    #expect(ResourceAccess(bits: 0x108) == .operations([.read, .describe]))
    let produce = try WireFrame.decode(ProduceRequest.self, sample("Produce"), correlation: 1).content
    #expect(produce.partitions.map(\.error.code) == [0, 87, 6, 0, 87, 6])
    #expect(produce.partitions[1].reason == "refused")
    let end = try WireFrame.decode(EndTxnRequest.self, sample("EndTxn"), correlation: 1).content
    #expect(end == .init(error: .none, producer: .init(id: 4001, epoch: 8)))
    let added = try WireFrame.decode(AddPartitionsToTxnRequest.self, sample("AddPartitionsToTxn"), correlation: 1)
    #expect(added.content.partitions.map(\.error.code) == [55, 3, 55, 3])
    #expect(added.content.partitions[3].topic == "nudge.analyzer-state" && added.content.partitions[3].index == 1)
    let offsets = try WireFrame.decode(AddOffsetsToTxnRequest.self, sample("AddOffsetsToTxn"), correlation: 1)
    #expect(offsets.content.error.description == "CONCURRENT_TRANSACTIONS")
  }

  @Test("an answer to another request is refused")
  func correlation() {
    for sample in AnswerSample.all {
      var bytes = sample.bytes
      bytes[3] = 2
      #expect(throws: WireError.badNumber) { _ = try sample.decode(bytes) }
    }
  }

  @Test("every beginning of an answer is refused")
  func truncated() {
    for sample in AnswerSample.all {
      // The last byte says that there are no tagged fields, which most answers' readers do not care about.
      for count in 0..<sample.bytes.count - 1 {
        #expect(throws: WireError.self, "\(sample.name), \(count) bytes") {
          _ = try sample.decode(Array(sample.bytes[..<count]))
        }
      }
    }
  }

  @Test("whatever is changed in an answer, it is read or refused: nothing traps, nothing grows")
  func mutations() {
    var random = SeededGenerator(announcedFor: "mutated answers")
    var refused = 0
    let rounds = 4000
    for sample in AnswerSample.all {
      for _ in 0..<rounds {
        let bytes = mutate(sample.bytes, &random)
        do throws(WireError) {
          _ = try sample.decode(bytes)
        } catch {
          refused += 1
        }
      }
    }
    // The mutations reach what matters: a good part is refused, and not all.
    #expect((rounds / 4..<AnswerSample.all.count * rounds).contains(refused), "\(refused)")
  }

  @Test("random bytes are no answer, and harm nothing")
  func noise() {
    var random = SeededGenerator(announcedFor: "random answers")
    for sample in AnswerSample.all {
      for _ in 0..<1000 {
        let noise = (0..<random.below(200)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        _ = try? sample.decode([0, 0, 0, 1, 0] + noise)
      }
    }
  }
}

/// Changes one to four things: bytes, lengths, pieces left out, doubled or swapped.
func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
  var bytes = bytes
  for _ in 0...random.below(4) where bytes.count > 5 {
    let place = 4 + random.below(bytes.count - 4)
    switch random.below(6) {
    case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
    case 1: bytes[place] ^= 1 << UInt8(random.below(8))
    case 2: bytes[place] = [0, 0x7f, 0x80, 0xff][random.below(4)]
    case 3: bytes.remove(at: place)
    case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + random.below(8))], at: place)
    default: bytes.removeLast(random.below(bytes.count - 4))
    }
  }
  return bytes
}
