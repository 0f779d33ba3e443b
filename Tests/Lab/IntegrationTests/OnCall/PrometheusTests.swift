import Foundation
import TestSupport
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Prometheus on a pipeline", .enabled(if: Prometheus.isInstalled, "apt-get install prometheus to run it"))
  struct PrometheusTests {
    @Test(
      "scrapes the three services, whose metrics promtool finds well made; the project's rules fire for what goes wrong, and are silent before"
    )
    func rules() throws {
      let pipeline = try Pipeline(
        "watched", faults: #"{"faults": [{"answer": "PERMISSION_DENIED", "times": 1}]}"#)
      let scene = OnCallScene(pipeline: pipeline)
      let services = try pipeline.start(instance: nil)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      let ports = try Dictionary(
        uniqueKeysWithValues: services.map { service -> (String, Int) in
          let log = try String(contentsOf: service.log, encoding: .utf8)
          let port = log.firstMatch(of: /admin server listens.*?"port":(\d+)/).flatMap { Int($0.1) }
          return (service.program.shortName, try #require(port))
        })
      let prometheus = try Prometheus(ports, directory: pipeline.directory)
      try waitUntil("all three are scraped") { try prometheus.values("up{job=\"nudge\"} == 1").count == 3 }
      // The series must exist before the first dead letter, or its rise is not seen.
      try waitUntil("all series are seen") {
        try prometheus.values("nudge_dead_letters_total{stage=\"ingest\",code=\"unknown_conversation\"}") == [0]
      }
      #expect(try prometheus.values("nudge_lag_seconds").count == 3)
      #expect(try prometheus.values("nudge_fcm_answers_total{verdict=\"project_refused\"}") == [0])
      #expect(try prometheus.firing() == [])

      // A producer floods with rubbish, and FCM refuses the project for a while.
      try pipeline.publisher.publish(
        (0..<150).map { scene.message("flood-\($0)", in: "unknown", from: "ann") }
          + [scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])])
      try waitUntil("their alerts fire") {
        try prometheus.firing().isSuperset(of: ["NudgeDeadLetters", "NudgeFCMRefuses"])
      }
      #expect(try prometheus.firing().isDisjoint(with: ["NudgeDown", "NudgeInternalErrors", "NudgeBehind"]))
      try pipeline.wait(for: "the push to be sent, once FCM takes it") { checker in
        checker.requests.contains { $0.messageId == "m1" && $0.status == 200 }
      }
      try waitUntil("the decision and the push are counted") {
        try prometheus.values("nudge_decisions_total{outcome=\"notify\"} > 0") == [1]
          && prometheus.values("nudge_end_to_end_seconds_count > 0") == [1]
      }

      for (stage, port) in ports {
        let page = pipeline.directory.appendingPathComponent("\(stage).metrics")
        try SocketClient(port: port).request("GET", "/metrics").body.write(to: page, atomically: true, encoding: .utf8)
        let (status, output) = try RealKafka.run(
          URL(fileURLWithPath: "/bin/sh"), ["-c", "promtool check metrics < '\(page.path)'"])
        #expect(status == 0, "promtool check metrics, \(stage): \(output)")
      }

      pipeline.stop(services.filter { $0.program == .analyzer })
      try waitUntil("a service that is gone is told") { try prometheus.firing().contains("NudgeDown") }
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
