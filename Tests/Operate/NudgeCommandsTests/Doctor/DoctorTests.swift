import Foundation
import HTTPServer
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import TestSupport
import Testing
import WebPush

@testable import NudgeCommands
@testable import StreamRuntime

@Suite("nudge doctor")
struct DoctorTests {
  @Test(
    "SCRAM is an issue of old versions of librdkafka only; properties that exactly-once depends on, of all versions")
  func traps() {
    func weights(_ properties: [String: String], _ version: Int32 = 0x0200_02ff) -> [Finding.Weight] {
      KnownClientIssues.findings(properties, version: version, name: "librdkafka").map(\.weight)
    }
    #expect(weights([:]) == [.good])
    #expect(weights(["sasl.mechanism": "PLAIN", "security.protocol": "sasl_ssl"]) == [.good])
    #expect(weights(["sasl.mechanisms": "scram-sha-512"]) == [.problem])
    #expect(weights(["sasl.mechanism": "SCRAM-SHA-512"], 0x0206_01ff) == [.good])
    #expect(weights(["isolation.level": "read_uncommitted", "partitioner": "consistent"]) == [.problem, .problem])
    #expect(weights(["security.protocol": "SASL_PLAINTEXT"]) == [.notice])
  }

  @Test("without a broker, the only finding says so, with its fix")
  func noBroker() throws {
    var findings: [Finding] = []
    try DoctorChecks(
      cluster: ClusterSettings(bootstrapServers: "127.0.0.1:9"), credentials: "/no/such/file", now: 0
    ).run { findings.append($0) }
    #expect(findings.map(\.subject) == ["librdkafka", "FCM credentials", "brokers"])
    #expect(findings.map(\.weight) == [.good, .problem, .problem])
    #expect(findings.allSatisfy { $0.weight == .good || $0.mend?.isEmpty == false })
  }

  @Test("issue 57: keys for Web Push are checked, and the public half is shown")
  func vapidKey() throws {
    let folder = try TemporaryDirectory()
    let file = folder.path + "/vapid.pem"
    let pem = try VAPIDKey.makePEM()
    try Data(pem.utf8).write(to: URL(fileURLWithPath: file))
    func finding(_ files: String) throws -> Finding? {
      var findings: [Finding] = []
      try DoctorChecks(
        cluster: ClusterSettings(bootstrapServers: "127.0.0.1:9"), credentials: nil, vapidKey: files, now: 0
      ).run { findings.append($0) }
      return findings.first { $0.subject == "VAPID key" }
    }
    let good = try finding(file)
    #expect(try good?.weight == .good && good?.text.contains(VAPIDKey(pem: pem).publicKey) == true)
    for files in ["/no/such/file", "\(file),\(file)", ","] {
      let problem = try finding(files)
      #expect(problem?.weight == .problem && problem?.mend?.contains("nudge vapid make") == true, "\(files)")
    }
  }

  @Test("issue 57: the clock is compared with a push service's; one that cannot be reached is a problem")
  func pushServiceClock() throws {
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [HTTPRoute(.get, "/") { _ in HTTPServerResponse(status: 404) }])
    try server.start()
    defer { server.stop() }
    // libmicrohttpd says the date by itself.
    #expect(try finding(at: "http://127.0.0.1:\(server.port)/")?.weight == .good)
    let closed = try finding(at: "http://127.0.0.1:9/")
    #expect(closed?.weight == .problem && closed?.text.contains("cannot be reached") == true)
    for (ahead, words) in [(3_600_000, "3600 s ahead of"), (-61_000, "61 s behind")] {
      let wrong = DoctorChecks.clock(ahead: Milliseconds(ahead), of: "https://push.example.org")
      #expect(wrong.weight == .problem && wrong.text.contains(words) && wrong.mend?.contains("NTP") == true)
    }
    #expect([60_000, -60_000, 0].allSatisfy { DoctorChecks.clock(ahead: $0, of: "x").weight == .good })
  }

  private func finding(at url: String) throws -> Finding? {
    var findings: [Finding] = []
    try DoctorChecks(
      cluster: ClusterSettings(bootstrapServers: "127.0.0.1:9"), credentials: nil, pushService: url, now: 0
    ).run { findings.append($0) }
    return findings.first { $0.subject == "push service" }
  }

  @Test("transactions of an older version are noticed, with the command that upgrades the cluster")
  func transactionVersion() {
    #expect(DoctorChecks.transactions(2, servers: "k:9092").weight == .good)
    for version in [0, 1] {
      let finding = DoctorChecks.transactions(version, servers: "k:9092")
      #expect(finding.weight == .notice && finding.text.contains("transaction.version=\(version)"))
      #expect(
        finding.mend
          == "on Kafka 4.0 or later: kafka-features.sh --bootstrap-server k:9092 upgrade --feature transaction.version=2"
      )
    }
  }

  @Test("a broker whose leaders do not verify transactions is a problem; the defaults of Kafka are none")
  func verification() {
    let setting = "transaction.partition.verification.enable"
    let findings = DoctorChecks.brokerFindings([setting: "false"], broker: 1, of: 3)
    #expect(findings.map(\.weight) == [.problem] && findings[0].text.contains("\(setting)=false"))
    #expect(DoctorChecks.brokerFindings([setting: "true"], broker: 1, of: 3).map(\.weight) == [.good])
  }

  @Test("roles: on-call needs no right to write; a service's user needs rights on its own resources only")
  func roles() {
    let names = TopicNames()
    #expect(DoctorRole.oncall.rules(names).allSatisfy { !$0.operations.contains(.write) })
    #expect(DoctorRole.oncall.rules(names).count == Topic.allCases.count + 3)
    #expect(DoctorRole.replay.rules(names).contains { $0.resource == .transactionalIDs(prefix: "nudge-replay-") })
    let written = DoctorRole.replay.rules(names).filter { $0.operations.contains(.write) }.map(\.resource)
    for topic in DoctorChecks.stages.compactMap(\.levelInput) {
      #expect(written.contains(.topic(names(topic))), "nudge upgrade finalize writes to \(topic)")
    }
    #expect(DoctorRole.dispatcher.rules(names).allSatisfy { $0.resource != .topic("chat.events") })
    #expect(DoctorRole.allCases.filter(\.looks) == [.oncall, .replay])
  }
}
