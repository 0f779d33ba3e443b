import Foundation
import NudgeClient
import TestSupport
import Testing

@Suite("The ids of notifications")
struct NotificationIdTests {
  private struct Vectors: Decodable {
    struct Vector: Decodable {
      let conversationId: String
      let messageId: String
      let id: String
    }
    let ids: [Vector]
  }

  @Test("an app computes the ids that the services give (Schemas/app/notification-ids.json)")
  func vectors() throws {
    let file = Repository.file("Schemas/app/notification-ids.json")
    let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file)).ids
    #expect(vectors.count > 10)
    for vector in vectors {
      #expect(NotificationId.message(vector.messageId, in: vector.conversationId) == vector.id)
      if vector.messageId.isEmpty { #expect(NotificationId.conversation(vector.conversationId) == vector.id) }
    }
  }

  @Test("a message with the id of another conversation's deleted or presented message is presented")
  func sameIds() throws {
    func push(_ type: String, _ conversation: String) throws -> PushPayload {
      try PushPayload(data: [
        "type": type, "recipientId": "ann", "pushId": "\(type)-\(conversation)", "presentation": "alert",
        "priority": "high", "badge": "1", "timestamp": "1700000000", "conversationId": conversation, "messageId": "5",
        "senderId": "bob",
      ])
    }
    var presenter = NotificationPresenter(userId: "ann", isForeground: false)
    _ = presenter.receive(try push("deleted", "c1"))
    guard case .present(let options, _) = presenter.receive(try push("smart_notification", "c2")) else {
      Issue.record("the message of c2 is not presented")
      return
    }
    #expect(options.contains(.banner))
    #expect(presenter.receive(try push("smart_notification", "c1")) == .setBadge(1))
    guard case .present = presenter.receive(try push("smart_notification", "c3")) else {
      Issue.record("the message of c3 is not presented")
      return
    }
  }
}
