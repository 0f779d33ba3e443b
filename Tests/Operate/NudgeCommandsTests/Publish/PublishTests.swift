import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge publish")
struct PublishTests {
  private let broker: EmbeddedBroker

  init() throws {
    broker = try EmbeddedBroker()
    for topic in [Topic.chatEvents, .userEvents] { try broker.createTopic(topic.rawValue, partitions: 4) }
  }

  private func run(_ arguments: String...) -> (exitCode: Int32, errors: String) {
    var errors = ""
    let exitCode = NudgeCLI().run(
      ["publish"] + arguments + ["--bootstrap-servers", broker.bootstrapServers], environment: [:], output: { _ in },
      errors: { errors += $0 })
    return (exitCode, errors)
  }

  private func values(_ topic: Topic) throws -> [[UInt8]] {
    let browser = try TopicBrowser(ClusterSettings(bootstrapServers: broker.bootstrapServers))
    var values: [[UInt8]] = []
    try browser.read(try browser.ranges(of: topic), "reading") { record in
      values.append(record.valueBytes() ?? [])
      return true
    }
    return values
  }

  @Test("a message publishes its conversation: direct with one recipient, a group with more")
  func messages() throws {
    #expect(run("message", "--from", "ann", "--to", "bob", "--text", "Hi", "--name", "bob=Bob B.").exitCode == 0)
    #expect(
      run(
        "message", "--from", "ann", "--to", "bob,cleo", "--group", "Hikers", "--attachment", "image", "--mention",
        "bob",
        "--conversation", "g", "--message-id", "m-2", "--event-id", "e-2"
      ).exitCode == 0)
    #expect(run("message", "--from", "ann", "--conversation", "g", "--text", "known").exitCode == 0)
    let coder = RecordCoder()
    let events = try values(.chatEvents).map { try coder.decode(ChatEvent.self, from: $0) }
    func message(in conversation: String, _ isMeant: (MessageCreated) -> Bool = { _ in true }) -> MessageCreated? {
      events.compactMap { if case .messageCreated(let message) = $0.body { message } else { nil } }
        .first { $0.conversationId == conversation && isMeant($0) }
    }
    let direct = try #require(message(in: "ann-bob"))
    #expect(direct.conversation?.kind == .direct)
    #expect(direct.conversation?.members.map(\.displayName) == ["ann", "Bob B."])
    let group = try #require(message(in: "g") { $0.messageId == "m-2" })
    #expect(group.conversation?.kind == .group && group.conversation?.name == "Hikers")
    #expect(group.mentions == ["bob"] && group.attachments == [Attachment(kind: .image)])
    #expect(events.contains { $0.envelope.eventId == "e-2" })
    #expect(message(in: "g") { $0.text == "known" }?.conversation == nil)
  }

  @Test("flags become a device and preferences")
  func people() throws {
    #expect(run("device", "--user", "bob", "--token", "t", "--platform", "web", "--locale", "de-CH").exitCode == 0)
    #expect(run("device", "--user", "bob", "--unregister").exitCode == 0)
    // As a browser's PushSubscription.toJSON() has it, and as events have it.
    let (key, secret) = (
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      "BTBZMqHH6r4Tts7J_aSIgg"
    )
    let keys = #""p256dh":"\#(key)","auth":"\#(secret)""#
    let endpoint = "https://push.example.org/wpush/x"
    for json in [
      #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{\#(keys)}}"#, #"{"endpoint":"\#(endpoint)",\#(keys)}"#,
    ] {
      let answer = run("device", "--user", "eve", "--platform", "desktop", "--web-push", json)
      #expect(answer.exitCode == 0)
    }
    #expect(run("device", "--user", "fay", "--token", "t", "--sealing", "{\(keys)}").exitCode == 0)
    #expect(
      run(
        "preferences", "--user", "bob", "--no-previews", "--quiet-hours", "22:00-07:00", "--time-zone", "Europe/Berlin",
        "--muted", "c1,c2", "--fallback", "notify_all"
      ).exitCode == 0)
    #expect(run("preferences", "--user", "bob", "--quiet-hours", "none").exitCode == 0)
    let subscribed = UserEventBody.deviceRegistered(
      DeviceRegistered(
        userId: "eve", deviceId: "phone",
        webPush: WebPushSubscription(endpoint: endpoint, p256dh: key, auth: secret), platform: .desktop))
    let coder = RecordCoder()
    let all = try values(.userEvents).map { try coder.decode(UserEvent.self, from: $0).body }
    // The order is that of one person's.
    let bodies = ["bob", "eve", "fay"].flatMap { user in all.filter { $0.userId == user } }
    #expect(
      bodies == [
        .deviceRegistered(
          DeviceRegistered(userId: "bob", deviceId: "phone", token: "t", platform: .web, locale: "de-CH")),
        .deviceUnregistered(DeviceUnregistered(userId: "bob", deviceId: "phone")),
        .preferences(
          PreferencesUpdated(
            userId: "bob",
            preferences: PreferencesPatch(
              quietHours: .set(QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin")),
              fallback: .notifyAll,
              muted: [MutedConversation(conversationId: "c1"), MutedConversation(conversationId: "c2")],
              showPreviews: false))),
        .preferences(PreferencesUpdated(userId: "bob", preferences: PreferencesPatch(quietHours: .set(nil)))),
        subscribed, subscribed,
        .deviceRegistered(
          DeviceRegistered(
            userId: "fay", deviceId: "phone", token: "t", sealing: SealingKeys(p256dh: key, auth: secret),
            platform: .ios)),
      ])
  }

  @Test("missing and invalid values fail before anything is published")
  func refusals() throws {
    for arguments in [
      ["message", "--from", "ann", "--text", "x"], ["message", "--from", "ann", "--to", "bob"],
      ["message", "--to", "bob"],
      ["device", "--user", "bob"], ["device", "--user", "bob", "--web-push", "{}"],
      ["device", "--user", "bob", "--web-push", "no"], ["device", "--user", "bob", "--token", "t", "--sealing", "{}"],
      ["preferences", "--user", "bob"],
      ["preferences", "--user", "bob", "--quiet-hours", "25:00-07:00"],
      ["preferences", "--user", "bob", "--time-zone", "UTC"],
      ["preferences", "--user", "bob", "--quiet-hours", "22:00-07:00", "--time-zone", "Mars/Olympus"],
    ] {
      var errors = ""
      let exitCode = NudgeCLI().run(
        ["publish"] + arguments + ["--bootstrap-servers", broker.bootstrapServers], environment: [:], output: { _ in },
        errors: { errors += $0 })
      #expect(exitCode == ExitCode.usage, "\(arguments)")
      #expect(!errors.isEmpty)
    }
    #expect(try values(.chatEvents).isEmpty && values(.userEvents).isEmpty)
  }
}
