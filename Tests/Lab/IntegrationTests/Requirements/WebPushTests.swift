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

    @Test(
      "P13: events of a chat become messages that a browser opens, once each over a kill; a subscription that has ended is pruned; nothing shows an endpoint"
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
      try pipeline.start([.ingest], instance: "one", ["--web-push-allow-private"])
      try pipeline.start([.analyzer], instance: "one")
      let settings = [
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
      let members = ["ann", "ben", "eve"].map { #"{"userId":"\#($0)","displayName":"\#($0)"}"# }.joined(separator: ",")
      events.append(
        PublishedEvent(
          topic: .chatEvents, key: "c",
          value: ChatLoad.event(
            "conversation.updated", "c", ChatLoad.now(),
            #""conversationId":"c","kind":"group","name":"Group","members":[\#(members)]"#)))
      try pipeline.introduce(events)
      func write(_ number: Int) throws {
        let fields =
          #""conversationId":"c","messageId":"m\#(number)","senderId":"ann","text":"Canary text \#(number)","mentions":["ben","eve"]"#
        try pipeline.publisher.publish([
          PublishedEvent(
            topic: .chatEvents, key: "c",
            value: ChatLoad.event("message.created", "e\(number)", ChatLoad.now(), fields))
        ])
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
      for file in try FileManager.default.subpathsOfDirectory(atPath: pipeline.directory.path)
      where file.hasSuffix(".log") {
        let log = try String(contentsOf: pipeline.directory.appendingPathComponent(file), encoding: .utf8)
        for secret in tokens + [Self.p256dh, Self.auth, "Canary text"] {
          #expect(!log.contains(secret), "\(file) has \(secret)")
        }
      }
      pipeline.hasPassed = true
    }
  }
}
