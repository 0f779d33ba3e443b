import Foundation
import NudgeClient
import Testing

@Suite("D7: how far a conversation was read")
struct ReadMarkTests {
  /// Pushes of the conversation c1 in the order they arrived, as ids and the second they were sent.
  private func pushes(_ messages: [(id: String, second: Int)]) throws -> [PushPayload] {
    try messages.map { try messagePush(["messageId": $0.id, "timestamp": "\($0.second)"]) }
  }

  private func covered(_ mark: ReadMark, _ messages: [(id: String, second: Int)]) throws -> [String] {
    mark.covered(in: try pushes(messages)).compactMap(\.messageId)
  }

  private func mark(_ messageId: String?, _ second: Int? = nil) -> ReadMark {
    ReadMark(
      conversationId: "c1", messageId: messageId, time: second.map { Date(timeIntervalSince1970: TimeInterval($0)) })
  }

  @Test("The message read and older ones are covered, newer ones never")
  func upTo() throws {
    let delivered = [("m1", 10), ("m2", 20), ("m3", 30)]
    #expect(try covered(mark("m2"), delivered) == ["m1", "m2"])
    #expect(try covered(mark("m1"), delivered) == ["m1"])
    #expect(try covered(mark("m3"), delivered) == ["m1", "m2", "m3"])
  }

  @Test("The time sent decides before the order of arrival: FCM keeps no order")
  func order() throws {
    let delivered = [("m3", 30), ("m1", 10), ("m2", 20)]
    #expect(try covered(mark("m2"), delivered) == ["m1", "m2"])
  }

  @Test("Within a second the order of arrival decides")
  func sameSecond() throws {
    let delivered = [("m1", 10), ("m2", 10), ("m3", 10)]
    #expect(try covered(mark("m2"), delivered) == ["m1", "m2"])
  }

  @Test("A message read that is not on the device is placed by its time; one of the same second counts as newer")
  func unknownMessage() throws {
    let delivered = [("m1", 10), ("m2", 20), ("m3", 30)]
    #expect(try covered(mark("x", 20), delivered) == ["m1"])
    #expect(try covered(mark("x", 25), delivered) == ["m1", "m2"])
    #expect(try covered(mark("x"), delivered) == [])
  }

  @Test("Without a message the time of reading decides; without both the whole conversation is covered")
  func noMessage() throws {
    let delivered = [("m1", 10), ("m2", 20), ("m3", 30)]
    #expect(try covered(mark(nil, 20), delivered) == ["m1", "m2"])
    #expect(try covered(mark(nil), delivered) == ["m1", "m2", "m3"])
  }

  @Test("Other conversations and pushes without a message are not covered")
  func others() throws {
    let badge = try PushPayload(data: ["type": "badge", "badge": "1", "pushId": "p", "recipientId": "ada"])
    let other = try messagePush(["conversationId": "c2", "messageId": "m2"])
    #expect(mark(nil).covered(in: [badge, other, try messagePush()]).map(\.messageId) == ["m1"])
  }
}
