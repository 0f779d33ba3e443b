import Foundation
import Testing

@testable import VirtualPhone

@Suite("FCM's store for a device that is off")
struct StoredMessagesTests {
  private func message(_ id: String, key: String? = nil, tag: String? = nil) throws -> DeliveredMessage {
    var android: [String: Any] = ["notification": ["tag": tag ?? id]]
    android["collapse_key"] = key
    let body: [String: Any] = [
      "message": [
        "token": "t", "data": ["recipientId": "ann", "pushId": id], "notification": ["title": id], "android": android,
      ]
    ]
    return try #require(DeliveredMessage(body: Array(JSONSerialization.data(withJSONObject: body))))
  }

  @Test("P12: 100 that do not collapse are kept; one more, and all are gone, and the app is told once")
  func hundred() throws {
    var store = StoredMessages()
    for number in 0..<100 { #expect(store.add(try message("p\(number)"), until: 1).isEmpty) }
    #expect(store.add(try message("k", key: "a"), until: 1).isEmpty, "a message that collapses does not count")
    #expect(store.add(try message("p100"), until: 1).count == 102)
    #expect(store.add(try message("p101"), until: 1).map(\.pushId) == ["p101"])
    let (messages, wereDeleted) = store.take()
    #expect(messages.isEmpty && wereDeleted)
    #expect(store.take().wereDeleted == false && store.messages.isEmpty)
  }

  @Test("P12: of a key the last is kept, for four keys at most; a tag is none")
  func keys() throws {
    var store = StoredMessages()
    for number in 0..<12 { _ = store.add(try message("p\(number)", key: "k\(number % 4)"), until: 1) }
    #expect(store.messages.map(\.message.pushId) == ["p8", "p9", "p10", "p11"])
    #expect(store.add(try message("q", key: "k4"), until: 1).map(\.pushId) == ["p8"])
    _ = store.add(try message("r1", tag: "same"), until: 1)
    _ = store.add(try message("r2", tag: "same"), until: 1)
    #expect(store.messages.suffix(2).map(\.message.pushId) == ["r1", "r2"])
    #expect(!store.wereDeleted)
  }

  @Test("P12: where the keys of notifications do not count, the last notification is kept, beside messages without one")
  func notifications() throws {
    var store = StoredMessages(notificationsCollapse: true)
    for number in 0..<200 { _ = store.add(try message("p\(number)", key: number % 2 == 0 ? nil : "k"), until: 1) }
    _ = store.add(try silent("s1"), until: 1)
    _ = store.add(try silent("s2"), until: 1)
    #expect(store.messages.map(\.message.pushId) == ["p199", "s1", "s2"] && !store.wereDeleted)
    for number in 0..<98 { _ = store.add(try silent("q\(number)"), until: 1) }
    #expect(store.messages.count == 101)
    #expect(store.add(try silent("last"), until: 1).count == 102, "the limit is one of messages without notifications")
    #expect(store.take().wereDeleted && store.notificationsCollapse)
  }

  private func silent(_ id: String) throws -> DeliveredMessage {
    let body: [String: Any] = [
      "message": ["token": "t", "data": ["recipientId": "ann", "pushId": id, "type": "read"], "android": [:]]
    ]
    return try #require(DeliveredMessage(body: Array(JSONSerialization.data(withJSONObject: body))))
  }
}
