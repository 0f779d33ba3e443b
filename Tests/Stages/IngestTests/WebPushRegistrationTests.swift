import Ingest
import NudgeSchema
import StreamRuntime
import Testing
import WebPush

@Suite("Issue 57: a device registers a subscription of Web Push in place of a token")
struct WebPushRegistrationTests {
  // The keys of RFC 8291, section 5.
  private static let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
  private static let endpoint = "https://push.example.org/wpush/v2/canary"

  private func subscription(
    _ endpoint: String = endpoint, _ p256dh: String = key, _ auth: String = secret
  ) -> WebPushSubscription {
    WebPushSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth)
  }

  private func registered(
    _ subscription: WebPushSubscription, _ userId: String = "ann", _ deviceId: String = "tab"
  ) -> UserEventBody {
    .deviceRegistered(
      DeviceRegistered(userId: userId, deviceId: deviceId, webPush: subscription, platform: .web))
  }

  /// Processes a user event and all that comes of it; what reached timelines.
  private func timeline(_ pipeline: IngestPipeline, _ body: UserEventBody, after: Milliseconds) throws
    -> [TimelineEventBody]
  {
    let result = try pipeline.user(body, pipeline.envelope(after: after))
    #expect(result.rejection == nil)
    return try pipeline.timeline([result] + pipeline.driver.sendBack(result)).map(\.body)
  }

  @Test("T1, T2: it reaches the timeline by way of the endpoint's owner row, and leaves whoever had it")
  func owners() throws {
    let pipeline = IngestPipeline(partitions: 4)
    let first = try timeline(pipeline, registered(subscription()), after: 0)
    guard case .deviceGained(let gained)? = first.first else {
      Issue.record("not granted: \(first.map(\.type))")
      return
    }
    #expect(first.count == 1 && gained.webPush == subscription() && gained.token == nil && gained.platform == .web)
    // The browser signs in as somebody else, under another device id.
    let second = try timeline(pipeline, registered(subscription(), "ben", "ben-tab"), after: 1)
    guard case .deviceLost(let lost)? = second.first, case .deviceGained(let mine)? = second.last else {
      Issue.record("not taken over: \(second.map(\.type))")
      return
    }
    #expect(
      (lost.userId, lost.deviceId, lost.cause, lost.tokenHash)
        == ("ann", "tab", .claimedElsewhere, "hash-of-\(Self.endpoint)"))
    #expect(mine.userId == "ben" && mine.version > gained.version && lost.version == mine.version)
    // Ann's sign-out, which comes late, takes nothing from Ben.
    let late = try timeline(
      pipeline, .deviceUnregistered(DeviceUnregistered(userId: "ann", deviceId: "tab")), after: 2)
    #expect(late.isEmpty)
  }

  @Test("T1: a new subscription of a device replaces the former, and a token replaces both")
  func replaced() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered(subscription()), after: 0)
    let renewed = subscription("https://push.example.org/wpush/v2/second")
    let events = try timeline(pipeline, registered(renewed), after: 1)
    guard case .deviceLost(let lost)? = events.first, case .deviceGained(let gained)? = events.last else {
      Issue.record("not replaced: \(events.map(\.type))")
      return
    }
    #expect(lost.cause == .tokenReplaced && lost.tokenHash == "hash-of-\(Self.endpoint)" && gained.webPush == renewed)
    let token = UserEventBody.deviceRegistered(
      DeviceRegistered(userId: "ann", deviceId: "tab", token: "t", platform: .web))
    let last = try timeline(pipeline, token, after: 2)
    #expect(last.map(\.type) == [.deviceUnregistered, .deviceRegistered])
  }

  @Test("T1: the same subscription with other keys is granted with them")
  func renewedKeys() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered(subscription()), after: 0)
    let renewed = subscription(Self.endpoint, Self.key, "AAAAAAAAAAAAAAAAAAAAAA")
    guard case .deviceGained(let gained)? = try timeline(pipeline, registered(renewed), after: 1).last else {
      Issue.record("not granted")
      return
    }
    #expect(gained.webPush == renewed)
  }

  @Test(
    "where texts would go is judged: https at public addresses alone, with keys that seal; the dead letter has no URL",
    arguments: [
      ("http://push.example.org/canary", key, secret, "webPush.endpoint must be an https URL"),
      ("https://127.0.0.1/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://10.1.2.3/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://[::1]/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://[::ffff:169.254.169.254]/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://localhost/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://kafka:9092/canary", key, secret, "webPush.endpoint must lead to a public address"),
      ("https://0x7f.1/canary", key, secret, "webPush.endpoint must have a host"),
      ("https://me:canary@push.example.org/x", key, secret, "webPush.endpoint must have no user name"),
      ("https://push.example.org/x#canary", key, secret, "webPush.endpoint must have no user name"),
      ("https://push.example.org:99999/canary", key, secret, "webPush.endpoint must have a port"),
      (
        "https://push.example.org/canary",
        "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        secret, "webPush.p256dh must be a point of P-256"
      ),
      ("https://push.example.org/canary", key, "canary", "webPush.auth must be 16 bytes"),
    ])
  func refused(endpoint: String, key: String, secret: String, reason: String) throws {
    let pipeline = IngestPipeline()
    let result = try pipeline.user(registered(subscription(endpoint, key, secret)))
    let rejection = try #require(result.rejection)
    #expect(rejection.code == .schemaViolation && rejection.message.hasPrefix(reason), "\(rejection.message)")
    #expect(!rejection.message.contains("canary") && result.outputs.allSatisfy { $0.topic != .deviceClaims })
  }

  @Test("the HTTP API refuses what the stage would refuse, with the same reason and without the URL")
  func overHTTP() throws {
    let api = try APIUnderTest()
    func event(_ address: String) -> String {
      #"{"schemaVersion":1,"type":"device.registered","eventId":"e","occurredAt":\#(APIUnderTest.now()),"#
        + #""userId":"ann","deviceId":"tab","platform":"web",\#(address)}"#
    }
    func subscribed(_ endpoint: String) -> String {
      event(#""webPush":{"endpoint":"\#(endpoint)","p256dh":"\#(Self.key)","auth":"\#(Self.secret)"}"#)
    }
    for (body, reason) in [
      (subscribed("https://10.0.0.1/canary"), "webPush.endpoint must lead to a public address"),
      (subscribed("http://push.example.org/canary"), "webPush.endpoint must be an https URL"),
      (event(#""locale":"de""#), "token is missing"), (event(#""webPush":null"#), "token is missing"),
      (event(#""token":"t","webPush":{"endpoint":"https://push.example.org/canary"}"#), "webPush.p256dh is missing"),
    ] {
      let answer = try api.post(body)
      #expect(answer.status == 400 && answer.text.contains(reason) && !answer.text.contains("canary"), "\(answer.text)")
    }
    #expect(try api.post(subscribed(Self.endpoint), token: APIUnderTest.token()).status == 202)
  }

  @Test("a registration has one of the two; keys beside a token lie on the curve")
  func exclusive() throws {
    let pipeline = IngestPipeline()
    let cases: [(DeviceRegistered, String)] = [
      (DeviceRegistered(userId: "ann", deviceId: "tab", platform: .web), "token is missing"),
      (
        DeviceRegistered(userId: "ann", deviceId: "tab", token: "t", webPush: subscription(), platform: .web),
        "webPush must be absent"
      ),
      (
        DeviceRegistered(
          userId: "ann", deviceId: "tab", token: "t",
          sealing: SealingKeys(
            p256dh: "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            auth: Self.secret),
          platform: .android), "sealing.p256dh must be a point"
      ),
    ]
    for (device, reason) in cases {
      let rejection = try #require(try pipeline.user(.deviceRegistered(device)).rejection)
      #expect(rejection.message.hasPrefix(reason), "\(rejection.message)")
    }
  }

  @Test("an operator's list of hosts is all there is, and private addresses and http need the flag")
  func rules() throws {
    func rejection(_ endpoint: String, _ rules: EndpointRules) throws -> String? {
      let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.endpoints = rules })
      return try pipeline.user(registered(subscription(endpoint))).rejection?.message
    }
    let listed = EndpointRules(hosts: ["*.push.example.org", "ntfy.local"])
    #expect(try rejection("https://eu.push.example.org/x", listed) == nil)
    #expect(try rejection("https://ntfy.local/x", listed) == nil)
    let other = try rejection("https://push.example.com/x", listed)
    #expect(other == "webPush.endpoint must have one of the hosts that --web-push-hosts allows")
    #expect(try rejection("http://ntfy.local/x", listed)?.hasPrefix("webPush.endpoint must be an https URL") == true)
    let closed = EndpointRules(allowsPrivateAddresses: true)
    for url in ["http://localhost:8030/wpush/x", "https://10.1.2.3/x", "https://push.example.org/x"] {
      #expect(try rejection(url, closed) == nil, "\(url)")
    }
  }
}
