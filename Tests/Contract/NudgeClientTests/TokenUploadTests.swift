import Foundation
import NudgeClient
import Testing

@Suite("C5: token upload")
struct TokenUploadTests {
  private let device = Device(deviceId: "d1", platform: .ios, appVersion: "2.1", locale: "de-DE")

  private func registration(_ id: String, _ user: String, _ token: String, _ seconds: Double) -> ClientEvent {
    ClientEvent(
      eventId: id, occurredAt: at(seconds), .deviceRegistered(.init(userId: user, device: device, token: token)))
  }

  private func upload() -> TokenUpload { TokenUpload(device: device, makeId: countingIds()) }

  @Test("C5: one try and up to three more after 1, 2 and 4 s, each the same event; then logged, without the token")
  func retries() throws {
    var upload = upload()
    #expect(upload.signedIn(as: "ann", at: at(0)) == [])
    let event = registration("id1", "ann", "secret", 0)
    #expect(upload.tokenReceived("secret", at: at(0)) == [.publish(event)])
    var now = 0.0
    for delay in [1.0, 2, 4] {
      #expect(upload.finished(eventId: "id1", succeeded: false, at: at(now)) == [.wake(at: at(now + delay))])
      #expect(upload.timeReached(at: at(now + delay - 0.1)) == [.wake(at: at(now + delay))])
      now += delay
      #expect(upload.timeReached(at: at(now)) == [.publish(event)])
    }
    let end = upload.finished(eventId: "id1", succeeded: false, at: at(now))
    guard case .log(let line) = try #require(end.first) else { throw Unexpected(end) }
    #expect(end.count == 1)
    #expect(!line.contains("secret"))
    #expect(line.contains("next launch"))
    #expect(upload.timeReached(at: at(60)) == [])
  }

  @Test("issue 57: a subscription is held, uploaded and replaced as a token is, and one replaces the other")
  func subscriptions() {
    func registered(_ id: String, _ address: Device.Address) -> ClientEvent {
      ClientEvent(
        eventId: id, occurredAt: at(0), .deviceRegistered(.init(userId: "ann", device: device, address: address)))
    }
    let webPush = Device.WebPushSubscription(endpoint: "https://push.example/x", p256dh: "key", auth: "secret")
    let sealing = Device.SealingKeys(p256dh: "key", auth: "secret")
    var upload = upload()
    #expect(upload.subscriptionReceived(webPush, at: at(0)).isEmpty && upload.isHeld)
    let first = registered("id1", .webPush(webPush))
    #expect(upload.signedIn(as: "ann", at: at(0)) == [.publish(first)])
    #expect(upload.subscriptionReceived(webPush, at: at(0)).isEmpty)
    let token = registered("id2", .token("t"))
    #expect(upload.tokenReceived("t", at: at(0)) == [.cancel(eventId: "id1"), .publish(token)])
    let sealed = registered("id3", .token("t", sealing: sealing))
    #expect(upload.tokenReceived("t", sealing: sealing, at: at(0)) == [.cancel(eventId: "id2"), .publish(sealed)])
    guard case .deviceRegistered(let fields) = first.body, case .deviceRegistered(let withKeys) = sealed.body else {
      Issue.record("no registrations")
      return
    }
    #expect(fields.token == nil && fields.webPush == webPush && fields.sealing == nil)
    #expect(withKeys.token == "t" && withKeys.webPush == nil && withKeys.sealing == sealing)
  }

  @Test("C5: after all tries have failed the next launch tries again, as a new upload does")
  func nextLaunch() {
    var upload = upload()
    _ = upload.signedIn(as: "ann", at: at(0))
    _ = upload.tokenReceived("t", at: at(0))
    for time in [0.0, 1, 3, 7] {
      _ = upload.timeReached(at: at(time))
      _ = upload.finished(eventId: "id1", succeeded: false, at: at(time))
    }
    #expect(upload.tokenReceived("t", at: at(9)) == [.publish(registration("id2", "ann", "t", 9))])
    var next = self.upload()
    _ = next.tokenReceived("t", at: at(20))
    #expect(next.signedIn(as: "ann", at: at(20)) == [.publish(registration("id1", "ann", "t", 20))])
  }

  @Test("C5: a success ends it; the same token again is not uploaded again")
  func success() {
    var upload = upload()
    _ = upload.signedIn(as: "ann", at: at(0))
    _ = upload.tokenReceived("t", at: at(0))
    _ = upload.finished(eventId: "id1", succeeded: false, at: at(0))
    #expect(upload.tokenReceived("t", at: at(0.5)) == [])
    _ = upload.timeReached(at: at(1))
    #expect(upload.finished(eventId: "id1", succeeded: true, at: at(1)) == [])
    #expect(upload.tokenReceived("t", at: at(5)) == [])
    #expect(upload.timeReached(at: at(9)) == [])
  }

  @Test("C5: a token that arrives before sign-in is held, and the newest counts")
  func held() {
    var upload = upload()
    #expect(upload.tokenReceived("t1", at: at(0)) == [])
    #expect(upload.tokenReceived("t2", at: at(1)) == [])
    #expect(upload.isHeld)
    #expect(upload.signedIn(as: "ann", at: at(2)) == [.publish(registration("id1", "ann", "t2", 2))])
    #expect(!upload.isHeld)
  }

  @Test("C5: a newer token cancels the upload of the older one, under way or waiting, and its answer is ignored")
  func newerToken() {
    var upload = upload()
    _ = upload.signedIn(as: "ann", at: at(0))
    _ = upload.tokenReceived("t1", at: at(0))
    #expect(
      upload.tokenReceived("t2", at: at(1)) == [
        .cancel(eventId: "id1"), .publish(registration("id2", "ann", "t2", 1)),
      ])
    #expect(upload.finished(eventId: "id1", succeeded: true, at: at(2)) == [])
    #expect(upload.finished(eventId: "id2", succeeded: false, at: at(2)) == [.wake(at: at(3))])
    #expect(
      upload.tokenReceived("t3", at: at(2.5)) == [.cancelWake, .publish(registration("id3", "ann", "t3", 2.5))])
    #expect(upload.timeReached(at: at(3)) == [])
  }

  @Test("C5: sign-out cancels; the next who signs in on the device gets the token, with tries of their own")
  func signOut() {
    var upload = upload()
    _ = upload.signedIn(as: "ann", at: at(0))
    _ = upload.tokenReceived("t", at: at(0))
    #expect(upload.signedOut() == [.cancel(eventId: "id1")])
    #expect(upload.finished(eventId: "id1", succeeded: false, at: at(1)) == [])
    #expect(upload.timeReached(at: at(1)) == [])
    #expect(upload.signedIn(as: "bob", at: at(2)) == [.publish(registration("id2", "bob", "t", 2))])
    #expect(upload.finished(eventId: "id2", succeeded: false, at: at(2)) == [.wake(at: at(3))])
    #expect(upload.signedOut() == [.cancelWake])
  }

  @Test("C8: where notifications are denied no token is kept, and one that may be known is taken back")
  func denied() {
    var upload = upload()
    _ = upload.signedIn(as: "ann", at: at(0))
    #expect(upload.permissionDenied(at: at(0)) == [])
    _ = upload.tokenReceived("t", at: at(1))
    _ = upload.finished(eventId: "id1", succeeded: true, at: at(1))
    let end = ClientEvent(
      eventId: "id2", occurredAt: at(2), .deviceUnregistered(.init(userId: "ann", deviceId: "d1")))
    #expect(upload.permissionDenied(at: at(2)) == [.publish(end)])
    _ = upload.signedOut()
    #expect(upload.signedIn(as: "bob", at: at(3)) == [])
  }

  @Test("C5: the event is the catalogue's device.registered; what the device does not say is left out")
  func event() throws {
    let fields = try json(registration("id1", "ann", "t", 0))
    #expect(
      fields == [
        "schemaVersion": 1, "type": "device.registered", "eventId": "id1", "occurredAt": 1_000_000, "userId": "ann",
        "deviceId": "d1", "token": "t", "platform": "ios", "appVersion": "2.1", "locale": "de-DE",
      ])
  }
}

/// Something else came than a test can go on with.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ value: some Any) { description = "unexpected: \(value)" }
}
