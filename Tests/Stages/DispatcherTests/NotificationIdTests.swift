import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

@Suite("P2: the ids by which a device replaces and removes notifications")
struct NotificationIdTests {
  private struct Vectors: Decodable {
    struct Vector: Decodable {
      let conversationId: String
      let messageId: String
      let id: String
    }
    let ids: [Vector]
  }

  private func ids(_ push: Push, _ platform: Platform) throws -> [String] {
    var target = push.targets[0]
    target.platform = platform
    let bytes = try #require(
      FCMMessage(push: push, target: target, occurredAt: 1, hash: DispatcherRules.sha256).encoded())
    let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let message = try #require(root["message"] as? [String: Any])
    func text(_ path: String...) -> String? {
      path.reduce(message as Any?) { ($0 as? [String: Any])?[$1] } as? String
    }
    let data = try #require(message["data"] as? [String: String])
    #expect(data["messageId"] == push.messageId && data["conversationId"] == push.conversationId)
    return [
      text("apns", "headers", "apns-collapse-id"), text("android", "notification", "tag"),
      text("webpush", "notification", "tag"),
    ].compactMap { $0 }
  }

  @Test("tag and collapse id are what apps compute of conversation and message (Schemas/app/notification-ids.json)")
  func vectors() throws {
    let file = Repository.file("Schemas/app/notification-ids.json")
    let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file)).ids
    #expect(vectors.count > 10 && Set(vectors.map(\.id)).count == vectors.count)
    for vector in vectors {
      #expect(
        NotificationIds.message(vector.messageId, in: vector.conversationId, hash: DispatcherRules.sha256) == vector.id)
      guard !vector.messageId.isEmpty, !vector.conversationId.isEmpty else { continue }
      for platform in [Platform.ios, .android, .web] {
        var push = DispatcherBench.push("p1")
        (push.conversationId, push.messageId) = (vector.conversationId, vector.messageId)
        #expect(try ids(push, platform) == [vector.id])
      }
    }
  }

  @Test("a message's deletion and its edits have its id; that of another conversation's message of the same id differs")
  func sameMessage() throws {
    for platform in [Platform.ios, .web] {
      let push = DispatcherBench.push("p1")
      var edit = push
      (edit.pushId, edit.replaces, edit.presentation) = ("e1", true, .silent)
      #expect(try ids(push, platform) == ids(edit, platform))
      var other = push
      other.conversationId = "c2"
      #expect(try ids(push, platform) != ids(other, platform))
      // The ids in a row are the same text.
      (other.conversationId, other.messageId) = ("c1m", "-p1")
      #expect(try ids(push, platform) != ids(other, platform))
    }
    var deletion = DispatcherBench.push("d1", kind: .deleted, presentation: .badge)
    deletion.messageId = "m-p1"
    #expect(try ids(deletion, .ios) == ids(DispatcherBench.push("p1"), .ios))
  }

  @Test("ids of any characters make legal headers", arguments: [Push.Kind.message, .read, .deleted, .digest, .badge])
  func legal(kind: Push.Kind) throws {
    for id in ["чат 1", "a b", "x\"y", "会話", String(repeating: "l", count: 256)] {
      var push = DispatcherBench.push("p1", kind: kind, presentation: kind == .digest ? .silent : .badge)
      (push.conversationId, push.messageId, push.pushId) = (id, id, id)
      if kind == .message { push.presentation = .alert }
      for platform in [Platform.ios, .android, .web] {
        for header in try ids(push, platform) {
          #expect((1...64).contains(header.utf8.count) && header.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
      }
    }
  }
}
