import ServiceKit
import TestSupport
import Testing

@testable import WebPush

@Suite("Web Push: the device's side")
struct ReceiverTests {
  @Test("issue 57: the example of RFC 8291 is opened with the receiver's keys of its appendix")
  func example() throws {
    let receiver = try WebPushReceiver(
      privateKey: try #require(Base64URL.decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")),
      secret: try #require(Base64URL.decode("BTBZMqHH6r4Tts7J_aSIgg")))
    #expect(
      receiver.p256dh == "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    let body = try #require(
      Base64URL.decode(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
          + "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
    #expect(try receiver.open(body) == Array("When I grow up, I want to be a watermelon".utf8))
  }

  @Test("issue 57: what was sealed is opened; other keys, a changed byte and a part of it are not")
  func roundTrips() throws {
    var random = SeededGenerator(announcedFor: "opened messages")
    for number in 0..<200 {
      let receiver = try WebPushReceiver.random()
      let length = number == 0 ? 0 : random.below(WebPushSealing.longestMessage + 1)
      let message = (0..<length).map { _ in UInt8(random.below(256)) }
      var sealed = try WebPushSealing.seal(message, for: WebPushKeys(p256dh: receiver.p256dh, auth: receiver.auth))
      #expect(try receiver.open(sealed) == message)
      #expect(throws: WebPushReceiver.Failure.self) { try WebPushReceiver.random().open(sealed) }
      #expect(throws: WebPushReceiver.Failure.self) { try receiver.open(Array(sealed.dropLast())) }
      // The record size says how long records may be, not what is in this one.
      var place = random.below(sealed.count)
      if (16..<20).contains(place) { place = 0 }
      sealed[place] ^= UInt8(1 + random.below(255))
      #expect(throws: WebPushReceiver.Failure.self) { try receiver.open(sealed) }
    }
    #expect(throws: WebPushReceiver.Failure.format) { try WebPushReceiver.random().open([]) }
  }
}
