import Foundation
import Kafka
import NudgeClient
import NudgeSchema
import ServiceKit
import TestSupport
import Testing
import VirtualPhone

@testable import NudgeCommands
@testable import NudgeLab
@testable import NudgeLab

extension PipelineTests {
  @Suite("A reply from the lock screen")
  struct LockScreenReplyTests {
    private static let user = "u-7"

    /// A token of the user, valid for an hour, with the issuer and audience that ingest expects.
    private static func userToken() throws -> String {
      let now = Int64(Date().timeIntervalSince1970)
      let claims = JSONWebClaims(
        issuer: "https://accounts.example", subject: user, audience: ["nudge"], expiresAt: now + 3_600, issuedAt: now)
      return try JSONWebToken.sign(claims, key: PrivateKey(pem: TokenVectors.rsaPrivate), kid: "rsa-1")
    }

    /// A request's message, as the emulator recorded it.
    private struct RecordedRequest: Decodable {
      let body: DeliveredMessage
    }

    /// A phone whose app publishes by ingest's HTTP API with its user's JWT.
    private final class Owner {
      var phone = VirtualPhone(
        device: Device(deviceId: "phone", platform: .ios), token: "token-u7", makeId: { UUID().uuidString })
      private(set) var published: [ClientEvent] = []
      /// The number of events that the API has accepted, repeats included.
      private(set) var accepted = 0
      private let publisher: HTTPPhonePublisher

      init(url: String, jwt: String) throws { publisher = try HTTPPhonePublisher(url: url, credentials: jwt) }

      deinit { publisher.close() }

      /// Handles an input and everything that follows from it.
      func take(_ input: PhoneInput) throws {
        var inputs = [input]
        while !inputs.isEmpty {
          for output in phone.take(inputs.removeFirst(), at: Date()) {
            guard case .publish(let event) = output else { continue }
            published.append(event)
            inputs.append(.published(eventId: event.eventId, succeeded: try publish(event) == nil))
          }
        }
      }

      /// Publishes an event. Returns why it was refused; nil: it was accepted.
      func publish(_ event: ClientEvent) throws -> String? {
        publisher.publish(Array(try JSONEncoder().encode(event)), id: event.eventId, to: event.topic, key: event.key)
        var result: PublishResult?
        try waitUntil("the API's answer to \(event.body.type)") {
          result = publisher.results(waiting: .milliseconds(50)).first { $0.eventId == event.eventId }
          return result != nil
        }
        if let result, result.failure == nil { accepted += 1 }
        return result?.failure
      }
    }

    private func startIngest(_ pipeline: Pipeline) throws -> String {
      let keys = pipeline.directory.appendingPathComponent("keys.json")
      try Data(TokenVectors.keySet.utf8).write(to: keys)
      let ingest = try pipeline.start(
        [.ingest], instance: nil,
        [
          "--http-address", "127.0.0.1:0", "--jwt-keys-file", keys.path, "--jwt-issuer", "https://accounts.example",
          "--jwt-audience", "nudge",
        ])
      var port: String?
      try waitUntil("the API's port") {
        let log = try String(contentsOf: ingest[0].log, encoding: .utf8)
        let line = log.split(separator: "\n").first { $0.contains("HTTP API listens") }
        port = line?.firstMatch(of: /"port":(\d+)/).map { String($0.1) }
        return port != nil
      }
      return "http://127.0.0.1:\(port ?? "")"
    }

    /// Waits for the push of a message on a device, and returns it.
    private func push(of messageId: String, to token: String, _ pipeline: Pipeline) throws -> DeliveredMessage {
      var found: [DeliveredMessage] = []
      try waitUntil("the push of \(messageId) to \(token)") {
        try pipeline.look()
        found = pipeline.requestLines.compactMap {
          try? JSONDecoder().decode(RecordedRequest.self, from: Data($0)).body
        }.filter { $0.data["messageId"] == messageId && $0.token == token }
        return !found.isEmpty
      }
      #expect(found.count == 1)
      return try #require(found.first)
    }

    @Test("C2, M10: a reply goes to the HTTP API with the user's JWT, reaches the other person, and is stored once")
    func reply() throws {
      let pipeline = try Pipeline("reply")
      let url = try startIngest(pipeline)
      try pipeline.start([.analyzer, .dispatcher], instance: nil)
      let owner = try Owner(url: url, jwt: try Self.userToken())
      try owner.take(.signIn(userId: Self.user))
      #expect(owner.published.map(\.body.type) == ["device.registered"])
      try #require(owner.accepted == 1)

      let now = ChatLoad.now()
      try pipeline.publisher.publish([
        PublishedEvent(
          topic: .userEvents, key: "ann",
          value: #"{"schemaVersion":1,"type":"device.registered","eventId":"r-ann","occurredAt":\#(now),"#
            + #""userId":"ann","deviceId":"ann-phone","token":"token-ann","platform":"android"}"#),
        PublishedEvent(
          topic: .chatEvents, key: "direct",
          value: #"{"schemaVersion":1,"type":"conversation.updated","eventId":"c","occurredAt":\#(now),"#
            + #""conversationId":"direct","kind":"direct","members":["#
            + #"{"userId":"ann","displayName":"Ann"},{"userId":"u-7","displayName":"Uma"}]}"#),
      ])
      pipeline.sentByOthers = owner.accepted
      try pipeline.settle(nil)
      try pipeline.publisher.publish([
        PublishedEvent(
          topic: .chatEvents, key: "direct",
          value: #"{"schemaVersion":1,"type":"message.created","eventId":"e1","occurredAt":\#(ChatLoad.now()),"#
            + #""conversationId":"direct","messageId":"m1","senderId":"ann","text":"Are you coming?"}"#)
      ])

      try owner.take(.delivery(try push(of: "m1", to: "token-u7", pipeline), takenAt: now))
      #expect(owner.phone.lockScreen.entries.map(\.body) == ["Are you coming?"])
      try owner.take(.respond(.reply("On my way"), messageId: "m1"))
      #expect(owner.phone.lastWord == "Message sent")
      let event = try #require(owner.published.last)
      guard case .messageCreated(let reply) = event.body else {
        Issue.record("\(event)")
        return
      }
      #expect((reply.senderId, reply.replyTo) == (Self.user, "m1"))

      let answer = try push(of: reply.messageId, to: "token-ann", pipeline)
      guard case .visible(let visible) = answer.content else {
        Issue.record("the reply is not visible: \(answer.data)")
        return
      }
      #expect((visible.title, visible.body) == ("Uma", "On my way"))

      // An app that missed the answer publishes the same event again: the services and a backend know it by its id.
      #expect(try owner.publish(event) == nil)
      let forged = ClientEvent(
        eventId: "forged", occurredAt: Date(),
        .messageCreated(.init(conversationId: "direct", messageId: "mf", senderId: "ann", text: "I am not Ann")))
      #expect(try owner.publish(forged) != nil)
      pipeline.sentByOthers = owner.accepted
      try pipeline.settle(["m1": [Self.user], reply.messageId: ["ann"]])
      _ = try push(of: reply.messageId, to: "token-ann", pipeline)

      let browser = try TopicBrowser(ClusterSettings(bootstrapServers: pipeline.brokers, topics: pipeline.names))
      var records = 0
      var stored: [String: String] = [:]
      try browser.read(try browser.ranges(of: .chatEvents), "reading") { record in
        let event = try browser.coder.decode(ChatEvent.self, from: record.valueBytes() ?? [])
        guard case .messageCreated(let message) = event.body, message.senderId == Self.user else { return true }
        records += 1
        stored[event.envelope.eventId] = message.text
        return true
      }
      #expect((records, stored) == (2, [event.eventId: "On my way"]))
      try pipeline.judge(["m1": [Self.user], reply.messageId: ["ann"]])
    }
  }
}
