import Foundation
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Connections to brokers that die in silence")
  struct SilentConnectionsTests {
    /// No service may need longer, from the death of its connections, until a message is at FCM.
    private static let longest: Duration = .seconds(12)

    @Test("each service notices within seconds that its connections are dead, says which, and goes on over new ones")
    func eachService() throws {
      let services = DemoProgram.services
      let directory = RealKafka.directory.appendingPathComponent("silent-broker")
      let broker = try ChaosBroker(directory: directory, proxies: services.count, isCombined: true)
      defer { broker.end() }
      let pipeline = try Pipeline("silent", brokers: broker.bootstrapServers)
      let scene = OnCallScene(pipeline: pipeline)
      var processes: [DemoProcess] = []
      for (index, service) in services.enumerated() {
        let address = broker.proxies[index].map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        processes += try pipeline.start([service], instance: nil, brokers: address, waitsUntilReady: false)
      }
      try pipeline.waitUntilReady(processes)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      var sent = 0
      /// From the publication of a message to its request.
      func send() throws -> Duration {
        sent += 1
        let id = "m\(sent)"
        let start = ContinuousClock.now
        try pipeline.publisher.publish([scene.message(id, in: "lunch", from: "ann", mentions: ["bob"])])
        try pipeline.wait(for: "\(id) to be sent", atMost: 240) { checker in
          checker.requests.contains { $0.messageId == id && $0.status == 200 }
        }
        return start.duration(to: .now)
      }
      #expect(try send() < .seconds(5))
      for (index, process) in processes.enumerated() {
        for proxy in broker.proxies[index] { proxy.silence() }
        let took = try send()
        print("silent connections of \(process.program.shortName): the next message was at FCM after \(took)")
        #expect(took <= Self.longest, "\(process.program.rawValue)")
        // A message may have gone over a connection that was left before the others were given up.
        try waitUntil("\(process.program.rawValue) says which connections were given up", atMost: 30) {
          try String(contentsOf: process.log, encoding: .utf8).contains("connections were given up")
        }
        // It is as it was before.
        #expect(try send() < .seconds(5))
      }
      #expect(
        pipeline.checker.requests.compactMap(\.messageId).sorted() == (1...sent).map { "m\($0)" }.sorted(), "each once")
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}
