import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing
import WebPush

@testable import NudgeLab

extension PipelineTests {
  @Suite("Web Push")
  struct WebPushTests {
    /// The receiver of RFC 8291, section 5.
    private static let (privateKey, p256dh, auth) = (
      "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      "BTBZMqHH6r4Tts7J_aSIgg"
    )

    private static let displayName = "Canary name"
    /// Records and commands that say why a person was notified.
    private static let saysWho = ["nudge.decisions", "nudge explain"]

    @Test(
      "P13: events of a chat become messages that a browser opens, once each over a kill; a subscription that has ended is pruned; no text, name, endpoint or key is in outcomes, logs, metrics, spans and the support bundle"
    )
    func pipeline() throws {
      if let missing = PushServiceRig.missing { return print("SKIPPED Web Push: \(missing)") }
      let pipeline = try Pipeline("webpush")
      let key = pipeline.directory.appendingPathComponent("vapid.pem")
      let pem = try VAPIDKey.makePEM()
      try Data(pem.utf8).write(to: key)
      let publicKey = try VAPIDKey(pem: pem).publicKey
      let tokens = ["canary-live", "canary-gone"]
      let rig = try PushServiceRig([.init(tokens[0], key: publicKey), .init(tokens[1], key: publicKey, isGone: true)])
      defer { _ = try? rig.stop() }
      wait(for: "the rig has its certificates") { FileManager.default.fileExists(atPath: rig.caFile) }
      let collector = try SpanCollector()
      defer { collector.stop() }
      let watched = ["--otlp-endpoint", collector.endpoint, "--log-level", "debug"]
      let ingest = try pipeline.start([.ingest], instance: "one", watched + ["--web-push-allow-private"])
      let analyzer = try pipeline.start([.analyzer], instance: "one", watched)
      let settings =
        watched + [
          "--vapid-key", key.path, "--vapid-subject", "mailto:push@example.org", "--web-push-allow-private",
          "--web-push-ca-file", rig.caFile,
        ]
      let dispatcher = try pipeline.start([.dispatcher], instance: "one", settings)[0]
      var events: [PublishedEvent] = []
      for (user, token) in zip(["ben", "eve"], tokens) {
        let fields =
          #""userId":"\#(user)","deviceId":"\#(user)-browser","platform":"web","webPush":{"endpoint":"\#(rig.origin)/wpush/\#(token)","#
          + #""p256dh":"\#(Self.p256dh)","auth":"\#(Self.auth)"}"#
        events.append(
          PublishedEvent(
            topic: .userEvents, key: user,
            value: ChatLoad.event("device.registered", "d-\(user)", ChatLoad.now(), fields)))
      }
      let members = ["ann", "ben", "eve"].map { #"{"userId":"\#($0)","displayName":"\#(Self.displayName) of \#($0)"}"# }
        .joined(
          separator: ",")
      events.append(
        PublishedEvent(
          topic: .chatEvents, key: "c",
          value: ChatLoad.event(
            "conversation.updated", "c", ChatLoad.now(),
            #""conversationId":"c","kind":"group","name":"\#(Self.displayName) of the group","members":[\#(members)]"#))
      )
      try pipeline.introduce(events)
      func write(_ number: Int) throws {
        let fields =
          #""conversationId":"c","messageId":"m\#(number)","senderId":"ann","text":"Canary text \#(number)","mentions":["ben","eve"]"#
        var event = PublishedEvent(
          topic: .chatEvents, key: "c",
          value: ChatLoad.event("message.created", "e\(number)", ChatLoad.now(), fields))
        event.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try pipeline.publisher.publish([event])
      }
      for number in 0..<10 { try write(number) }
      try pipeline.wait(for: "the first messages to be sent") { checker in
        checker.outcomes.count { $0.userId == "ben" && $0.result == "sent" } >= 10
      }
      try pipeline.kill(dispatcher)
      try dispatcher.start()
      for number in 10..<20 { try write(number) }
      try pipeline.wait(for: "all messages to be sent") { checker in
        checker.outcomes.count { $0.userId == "ben" && $0.result == "sent" } == 20
      }
      try pipeline.wait(for: "the subscription that has ended to be pruned") { checker in
        checker.outcomes.contains { $0.userId == "eve" && $0.result == "invalid_token" }
      }
      try expectNoSecret(
        tokens + [Self.p256dh, Self.auth, "Canary text", Self.displayName]
          + pem.split(separator: "\n").map(String.init),
        in: pipeline, ingest + analyzer + [dispatcher], collector)
      pipeline.stop()
      let messages = try rig.stop().first { $0.token == tokens[0] }?.messages ?? []
      let script = """
        import sys, base64, json, http_ece
        from cryptography.hazmat.primitives.asymmetric import ec
        unb64 = lambda t: base64.urlsafe_b64decode(t + '=' * (-len(t) % 4))
        key = ec.derive_private_key(int.from_bytes(unb64('\(Self.privateKey)'), 'big'), ec.SECP256R1())
        for line in open(sys.argv[1]):
            text = http_ece.decrypt(unb64(line.strip()), private_key=key, auth_secret=unb64('\(Self.auth)'), version='aes128gcm')
            data = json.loads(text)
            print(data['messageId'], data['body'], sep='|')
        """
      let (status, lines) = try PythonJudge.run(
        script, messages.map { Base64URL.encode($0.bytes) }.joined(separator: "\n"))
      #expect(status == 0)
      // The topic of a message keeps a repeat from standing beside the first.
      #expect(lines.filter { !$0.isEmpty }.sorted() == (0..<20).map { "m\($0)|Canary text \($0)" }.sorted())
      pipeline.hasPassed = true
    }

    /// Looks for secrets in all that leaves a deployment to people, and in the records of what became of pushes.
    private func expectNoSecret(
      _ secrets: [String], in pipeline: Pipeline, _ services: [DemoProcess], _ collector: SpanCollector
    ) throws {
      try waitUntil("spans of requests to the push service arrive") {
        try collector.spans().contains { $0.span.kind == 3 && $0.service == "nudge-dispatcher" }
      }
      var surfaces: [(name: String, text: String)] = collector.bodies.map { ("a span", $0) }
      var admin: [String] = []
      for service in services {
        let log = try String(contentsOf: service.log, encoding: .utf8)
        surfaces.append(("the log of \(service.program.shortName)", log))
        // A service that was started again has another port.
        let ports = log.matches(of: /admin server listens.*?"port":(\d+)/)
        let port = try #require(ports.last.flatMap { Int($0.1) })
        admin.append("127.0.0.1:\(port)")
        for page in ["/metrics", "/readyz"] {
          surfaces.append((page, try SocketClient(port: port).request("GET", page).body))
        }
      }
      let bundle = pipeline.directory.appendingPathComponent("support.tar")
      let logs = services.map(\.log.path).joined(separator: ",")
      let (status, output) = try pipeline.nudge([
        "support-bundle", "--output", bundle.path, "--admin", admin.joined(separator: ","), "--log", logs,
      ])
      #expect(status == 0 && output.contains("0 of them could not be collected"), "\(output)")
      surfaces.append(("the support bundle", String(decoding: try Data(contentsOf: bundle), as: UTF8.self)))
      for arguments in [["--message", "m3"], ["--message", "m3", "--json"], []] {
        surfaces.append(("nudge explain", try pipeline.nudge(["explain", "--user", "ben"] + arguments).output))
      }
      try TopicReader(
        brokers: pipeline.brokers, names: pipeline.names, partitions: Pipeline.partitions, readsToTheEnd: true
      )
      .readAll { record in
        guard ["nudge.outcomes", "nudge.decisions"].contains(record.topic) else { return }
        let parts = [record.key ?? "", String(decoding: record.value ?? [], as: UTF8.self), "\(record.headers)"]
        surfaces.append((record.topic, parts.joined(separator: " ")))
      }
      #expect(Set(surfaces.map(\.name)).isSuperset(of: ["nudge.outcomes", "nudge.decisions", "a span", "/metrics"]))
      for (name, text) in surfaces {
        #expect(!text.isEmpty, "\(name)")
        for secret in secrets where text.contains(secret) {
          // A decision's reason is a sentence for the person, with the sender's name in it.
          if secret == Self.displayName, Self.saysWho.contains(name) { continue }
          Issue.record("\(name) has \(secret)")
        }
      }
      // The names by which services are told apart.
      #expect(
        surfaces.contains { $0.name == "/metrics" && $0.text.contains(#"nudge_web_push_requests_total{host="other"}"#) }
      )
    }
  }
}
