import Foundation
import NudgeSchema
import Testing

extension PipelineTests {
  @Suite("Events of any client's")
  struct PublishedByHandTests {
    /// The message of a request to FCM.
    struct Message: Decodable {
      struct Notification: Decodable, Equatable {
        var title: String?
        var body: String?
        var tag: String?
      }
      struct APNs: Decodable {
        struct Payload: Decodable {
          struct APS: Decodable {
            var threadId: String?
            var badge: Int?
            var sound: String?
            var category: String?
            private enum CodingKeys: String, CodingKey { case threadId = "thread-id", badge, sound, category }
          }
          var aps: APS
        }
        var headers: [String: String]
        var payload: Payload
      }
      struct Android: Decodable {
        var priority: String
        var notification: Notification?
      }
      struct Web: Decodable {
        var headers: [String: String]
        var notification: Notification?
      }
      var token: String
      var data: [String: String]
      var notification: Notification?
      var apns: APNs?
      var android: Android?
      var webpush: Web?
    }

    private struct Line: Decodable {
      struct Body: Decodable { var message: Message }
      var body: Body
    }

    private func messages(_ pipeline: Pipeline, of messageId: String) throws -> [String: [Message]] {
      let all = try pipeline.requestLines.map { try JSONDecoder().decode(Line.self, from: Data($0)).body.message }
      return Dictionary(grouping: all.filter { $0.data["messageId"] == messageId }, by: \.token)
    }

    @Test("M1, P2: a message published by hand is one request per device of the others, with all an app needs")
    func message() throws {
      let pipeline = try Pipeline("hand")
      try pipeline.start(instance: "one")
      let now = ChatLoad.now()
      let devices = [("ios", "bob-phone"), ("android", "bob-tablet"), ("web", "bob-laptop")]
      try pipeline.publisher.publish(
        devices.map { platform, device in
          PublishedEvent(
            topic: .userEvents, key: "bob",
            value: #"{"schemaVersion":1,"type":"device.registered","eventId":"r-\#(device)","occurredAt":\#(now),"#
              + #""userId":"bob","deviceId":"\#(device)","token":"token-\#(device)","platform":"\#(platform)"}"#)
        } + [
          // The sender's own device gets nothing.
          PublishedEvent(
            topic: .userEvents, key: "ann",
            value: #"{"schemaVersion":1,"type":"device.registered","eventId":"r-ann","occurredAt":\#(now),"#
              + #""userId":"ann","deviceId":"ann-phone","token":"token-ann-phone","platform":"ios"}"#),
          PublishedEvent(
            topic: .chatEvents, key: "lunch",
            value: #"{"schemaVersion":1,"type":"conversation.updated","eventId":"c1","occurredAt":\#(now),"#
              + #""conversationId":"lunch","kind":"group","name":"Lunch","members":["#
              + #"{"userId":"ann","displayName":"Ann"},{"userId":"bob","displayName":"Bob"}]}"#),
        ])
      try pipeline.settle(nil)
      func created(_ id: String, _ text: String) -> PublishedEvent {
        PublishedEvent(
          topic: .chatEvents, key: "lunch",
          value: #"{"schemaVersion":1,"type":"message.created","eventId":"e-\#(id)","occurredAt":\#(ChatLoad.now()),"#
            + #""conversationId":"lunch","messageId":"\#(id)","senderId":"ann","text":"\#(text)","mentions":["bob"]}"#)
      }
      try pipeline.publisher.publish([created("m1", "Noon at the lake? 🍝")])
      try pipeline.settle(["m1": ["bob"]])

      let sent = try messages(pipeline, of: "m1")
      #expect(sent.mapValues(\.count) == Dictionary(uniqueKeysWithValues: devices.map { ("token-\($0.1)", 1) }))
      for message in sent.values.joined() {
        #expect(message.notification?.title == "Ann in Lunch")
        #expect(message.notification?.body == "Noon at the lake? 🍝")
        #expect(message.data["conversationId"] == "lunch")
        #expect(message.data["senderId"] == "ann")
        #expect(message.data["recipientId"] == "bob")
        #expect(message.data["type"] == "smart_notification")
        #expect(message.data["priority"] == "high" && message.data["presentation"] == "alert")
        #expect(message.data["badge"] == "1")
        #expect(message.data["timestamp"].flatMap { Int64($0) }.map { abs($0 - now / 1000) < 60 } == true)
      }
      let ios = try #require(sent["token-bob-phone"]?.first?.apns)
      // printf 5:lunchm1 | sha256sum
      let id = "a7abc5ed4f947ec9626227d8b094336a"
      #expect(ios.headers["apns-collapse-id"] == id)
      #expect(ios.headers["apns-push-type"] == "alert")
      #expect(ios.headers["apns-priority"] == "10")
      #expect(ios.payload.aps.threadId == "lunch")
      #expect(ios.payload.aps.badge == 1)
      #expect(ios.payload.aps.sound != nil)
      #expect(ios.payload.aps.category == "SMART_NOTIFICATION_CATEGORY")
      let android = try #require(sent["token-bob-tablet"]?.first?.android)
      #expect(android.notification?.tag == id)
      #expect(android.priority == "HIGH")
      let web = try #require(sent["token-bob-laptop"]?.first?.webpush)
      #expect(web.notification?.tag == id)
      #expect(web.headers["Urgency"] == "high")
      try pipeline.judge(["m1": ["bob"]])
    }

    @Test("M5: broken JSON ends on the dead letters with its bytes and its reason, and the partition goes on")
    func brokenJSON() throws {
      let pipeline = try Pipeline("broken")
      try pipeline.start(instance: "one")
      let now = ChatLoad.now()
      let broken = #"{"schemaVersion":1,"type":"message.created","eventId":"b1","text":"cut of"#
      try pipeline.publisher.publish([
        PublishedEvent(
          topic: .userEvents, key: "bob",
          value: #"{"schemaVersion":1,"type":"device.registered","eventId":"r","occurredAt":\#(now),"userId":"bob","#
            + #""deviceId":"phone","token":"token-bob","platform":"ios"}"#),
        PublishedEvent(
          topic: .chatEvents, key: "direct",
          value: #"{"schemaVersion":1,"type":"conversation.updated","eventId":"c","occurredAt":\#(now),"#
            + #""conversationId":"direct","kind":"direct","members":["#
            + #"{"userId":"ann","displayName":"Ann"},{"userId":"bob","displayName":"Bob"}]}"#),
      ])
      try pipeline.settle(nil)
      try pipeline.publisher.publish([
        PublishedEvent(topic: .chatEvents, key: "direct", value: broken),
        PublishedEvent(
          topic: .chatEvents, key: "direct",
          value: #"{"schemaVersion":1,"type":"message.created","eventId":"e","occurredAt":\#(now),"#
            + #""conversationId":"direct","messageId":"after","senderId":"ann","text":"Still there?"}"#),
      ])
      try pipeline.settle(["after": ["bob"]])
      #expect(try messages(pipeline, of: "after").mapValues(\.count) == ["token-bob": 1])

      let judge = try pipeline.judge(["after": ["bob"]], allowing: ["invalid_json"])
      let letter = try #require(judge.deadLetters.first)
      #expect(judge.deadLetters.count == 1)
      #expect(letter.value == Array(broken.utf8))
      #expect(letter.key == "direct")
      #expect(letter.headers["nudge-error-code"] == "invalid_json")
      #expect(letter.headers["nudge-error-stage"] == "ingest")
      #expect(letter.headers["nudge-error-message"]?.isEmpty == false)
      #expect(letter.headers["nudge-origin-topic"] == pipeline.names(.chatEvents))
      // The record before it is the first of the conversation.
      #expect(letter.headers["nudge-origin-offset"] == "1")
      #expect(letter.headers["nudge-origin-partition"].flatMap { Int32($0) } != nil)
      #expect(letter.headers["nudge-origin-timestamp"].flatMap { Int64($0) }.map { $0 >= now } == true)
    }
  }
}
