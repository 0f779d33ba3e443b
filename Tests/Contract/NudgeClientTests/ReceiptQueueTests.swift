import Foundation
import NudgeClient
import Testing

@Suite("P10: receipts are published together, from the app and from its service extension")
struct ReceiptQueueTests {
  private func push(_ number: Int) throws -> PushPayload {
    try messagePush(["pushId": "p\(number)", "messageId": "m\(number)"])
  }

  /// The events that actions ask to publish.
  private func published(_ actions: [ReceiptQueue.Action]) -> [ClientEvent] {
    actions.flatMap { action -> [ClientEvent] in if case .publish(let events) = action { events } else { [] } }
  }

  @Test("P10: the app gathers reports for five seconds and publishes them in one request")
  func gathers() throws {
    var queue = ReceiptQueue(in: .app)
    let first = queue.received(try push(1), deviceId: "d1", at: at(0))
    guard case .keep(let kept)? = first.first else {
      Issue.record("\(first)")
      return
    }
    #expect(kept.body.type == "notification.received")
    #expect(try json(kept)["sentAt"] as? Int64 == 1_763_712_000_000)
    #expect(first.last == .wake(at: at(5)))
    #expect(published(queue.received(try push(2), deviceId: "d1", at: at(1))).isEmpty)
    #expect(queue.timeReached(at: at(4)) == [.wake(at: at(5))])
    let events = published(queue.timeReached(at: at(5)))
    #expect(events.map(\.eventId) == ["received.p1.d1", "received.p2.d1"])
    #expect(queue.finished(succeeded: true, at: at(6)) == [.remove(eventIds: events.map(\.eventId))])
    #expect(queue.count == 0)
  }

  private func banner(_ number: Int, pushId: String?) -> InAppBanner {
    InAppBanner(
      userId: "ann", conversationId: "c1", messageId: "m\(number)", senderId: "bob", senderName: "Bob",
      preview: "Hello",
      occurredAt: 1_763_712_000_123, pushId: pushId)
  }

  @Test("D22: a banner that is shown is answered at once, before what gathers; one without a push is not")
  func answers() throws {
    var queue = ReceiptQueue(in: .app)
    #expect(queue.shown(banner(0, pushId: nil), deviceId: "d1", at: at(0)).isEmpty)
    #expect(published(queue.received(try push(1), deviceId: "d1", at: at(0))).isEmpty)
    let actions = queue.shown(banner(2, pushId: "p2"), deviceId: "d1", at: at(1))
    let events = published(actions)
    #expect(events.map(\.eventId) == ["received.p1.d1", "shown.p2.d1"] && actions.last == .cancelWake)
    let answer = try json(events[1])
    #expect(answer["type"] as? String == "notification.received" && answer["banner"] as? Bool == true)
    #expect(answer["pushId"] as? String == "p2" && answer["deviceId"] as? String == "d1")
    #expect(answer["conversationId"] as? String == "c1" && answer["messageId"] as? String == "m2")
    #expect(try json(events[0])["banner"] == nil)
    // One that comes while a request is in flight goes with the next, without gathering.
    #expect(published(queue.shown(banner(3, pushId: "p3"), deviceId: "d1", at: at(2))).isEmpty)
    #expect(published(queue.finished(succeeded: true, at: at(2))).map(\.eventId) == ["shown.p3.d1"])
    // The push came all the same: another event.
    _ = queue.finished(succeeded: true, at: at(3))
    _ = queue.received(try push(3), deviceId: "d1", at: at(4))
    #expect(published(queue.flush()).map(\.eventId) == ["received.p3.d1"])
  }

  @Test("P10: the extension publishes at once; what comes meanwhile goes in the next request")
  func serviceExtension() throws {
    var queue = ReceiptQueue(in: .serviceExtension)
    #expect(published(queue.received(try push(1), deviceId: "d1", at: at(0))).count == 1)
    for number in 2...4 { #expect(published(queue.received(try push(number), deviceId: "d1", at: at(1))).isEmpty) }
    let next = queue.finished(succeeded: true, at: at(2))
    #expect(published(next).map(\.eventId) == (2...4).map { "received.p\($0).d1" })
  }

  @Test("P10: what one process left in the folder the other publishes; what both have is one event")
  func twoProcesses() throws {
    var ended = ReceiptQueue(in: .serviceExtension)
    var folder: [ClientEvent] = []
    for action in ended.received(try push(1), deviceId: "d1", at: at(0)) {
      if case .keep(let event) = action { folder.append(event) }
    }
    // iOS ended the extension before the answer came.
    var app = ReceiptQueue(in: .app)
    #expect(app.found(folder, at: at(10)) == [.wake(at: at(15))])
    #expect(app.found(folder, at: at(11)).isEmpty)
    #expect(app.received(try push(1), deviceId: "d1", at: at(12)).isEmpty)
    #expect(published(app.flush()).map(\.eventId) == ["received.p1.d1"])
    let decoded = try JSONDecoder().decode([ClientEvent].self, from: JSONEncoder().encode(folder))
    #expect(decoded == folder)
  }

  @Test("P10: a request that fails is made again after 5, 30 and 300 s, unchanged, and for a day")
  func failures() throws {
    var queue = ReceiptQueue(in: .serviceExtension)
    let first = published(queue.received(try push(1), deviceId: "d1", at: at(0)))
    var time = 0.0
    for delay in [5.0, 30, 300, 300] {
      #expect(queue.finished(succeeded: false, at: at(time)) == [.wake(at: at(time + delay))])
      time += delay
      #expect(published(queue.timeReached(at: at(time))) == first)
    }
    #expect(queue.finished(succeeded: false, at: at(86_401)) == [.remove(eventIds: ["received.p1.d1"])])
    #expect(queue.count == 0)
    // The next receipt starts a new queue.
    #expect(published(queue.received(try push(2), deviceId: "d1", at: at(86_402))).count == 1)
  }

  @Test("P10: pushes without a message have no receipt")
  func others() throws {
    var queue = ReceiptQueue(in: .app)
    for type in ["badge", "read", "deleted"] {
      let push = try PushPayload(data: messageData(["type": type]))
      #expect(queue.received(push, deviceId: "d1", at: at(0)).isEmpty)
    }
  }

  @Test("P10: the queue has a bound, and a request too; a sign-out leaves nothing")
  func bounds() throws {
    var queue = ReceiptQueue(in: .serviceExtension)
    let first = published(queue.received(try push(0), deviceId: "d1", at: at(0)))
    for number in 1...600 { _ = queue.received(try push(number), deviceId: "d1", at: at(Double(number) / 1_000)) }
    #expect(queue.count == ReceiptQueue.capacity)
    // Receipts that are being published are not dropped.
    let next = queue.finished(succeeded: true, at: at(1))
    #expect(next.first == .remove(eventIds: first.map(\.eventId)))
    #expect(published(next).count == ReceiptQueue.batchSize)
    #expect(published(next).first?.eventId == "received.p102.d1")
    guard case .remove(let ids)? = queue.signedOut().first else {
      Issue.record("nothing is removed")
      return
    }
    #expect(ids.count == ReceiptQueue.capacity - 1 && queue.count == 0)
    #expect(queue.finished(succeeded: true, at: at(2)).isEmpty)
  }

  @Test("P10: an event id has at most 128 characters, however long the device's id")
  func longIds() throws {
    var queue = ReceiptQueue(in: .serviceExtension)
    let device = String(repeating: "d", count: 256)
    let event = try #require(published(queue.received(try push(1), deviceId: device, at: at(0))).first)
    #expect(event.eventId.count == 128)
  }
}
