import Foundation
import HTTPTransport
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

extension EmbeddedPipelineTests {
  @Suite("Receipts of many phones")
  struct ReceiptScaleTests {
    private static let people = 1_000
    /// The first of them have a tablet as well.
    private static let tablets = 100

    /// A push and device.
    private struct Delivery: Hashable {
      var pushId: String
      var deviceId: String
    }

    @Test(
      "P10: 1,000 phones, one push in 20 lost by FCM, three in ten opened: each push has the right end state, and the funnel agrees"
    )
    func thousand() throws {
      let world = try SharedWorld.embedded.get()
      let phones = try signIn(world)
      let start = Int64(Date().timeIntervalSince1970 * 1_000)
      try post(world, "emulator/faults", #"{"seed":11,"faults":[{"ratio":0.05,"action":"lose"}]}"#)
      for person in 0..<Self.people {
        try world.write("many.m\(person)", in: "many.c\(person)", from: "many.bot", "Hello")
      }
      let wanted = Self.people + Self.tablets
      try world.wait(for: "FCM has taken all pushes", atMost: 90) { self.taken(world, since: start).count >= wanted }
      try post(world, "emulator/faults", #"{"faults":[]}"#)
      let taken = taken(world, since: start)
      #expect(taken.count == wanted)

      // Which of them reached their phones is known by the phones alone.
      let delivered = try delivered(world)
      #expect((wanted - delivered) * 100 / wanted >= 2 && (wanted - delivered) * 100 / wanted <= 9, "\(delivered)")
      var received: [Delivery: Int] = [:]
      try world.wait(for: "the phones have what was not lost", atMost: 60) {
        received = self.received(world, phones)
        return received.count >= delivered
      }
      var truth = Dictionary(uniqueKeysWithValues: taken.map { ($0, PushEndState.taken) })
      for delivery in received.keys { truth[delivery] = .arrived }
      for (delivery, phone) in received where delivery.deviceId.hasSuffix("phone") {
        guard let person = delivery.deviceId.split(separator: "/").first?.dropFirst(5), let number = Int(person),
          number % 10 < 3
        else { continue }
        try world.fleet.send(phone, .respond(.open, messageId: "many.m\(number)"))
        try world.fleet.send(phone, .close)
        truth[delivery] = .opened
        let tablet = Delivery(pushId: delivery.pushId, deviceId: "many.\(number)/tablet")
        if received[tablet] != nil { truth[tablet] = .withdrawn }
      }
      let (opened, withdrawn) = (truth.values.count { $0 == .opened }, truth.values.count { $0 == .withdrawn })
      #expect(opened > 250 && withdrawn > 15, "\(opened) \(withdrawn)")
      try world.wait(for: "all receipts", atMost: 60) {
        self.receipts(world).count >= delivered + opened + withdrawn
      }
      try world.settle()

      let receipts = receipts(world)
      let states = Dictionary(grouping: receipts) { Delivery(pushId: $0.pushId, deviceId: $0.deviceId) }
      for (delivery, its) in states {
        #expect(Set(its.map(\.state)).count == its.count, "\(delivery) has a receipt twice")
      }
      let wrong = truth.filter { delivery, state in
        PushEndState(.sent, receipts: Set((states[delivery] ?? []).map(\.state))) != state
      }
      print(
        "\(wanted) pushes and devices: \(delivered) delivered, \(opened) opened, \(withdrawn) withdrawn, "
          + "\(receipts.count) receipts, \(wrong.count) with a wrong end state")
      #expect(wrong.count * 100 <= wanted, "\(wrong.prefix(5))")
      try expectFunnel(world, since: start, truth)
    }

    /// Everybody with a phone, some with a tablet, and each with a conversation of their own. Returns the numbers of the phones.
    private func signIn(_ world: PhoneWorld) throws -> [Int] {
      var phones: [Int] = []
      let platforms: [Device.Platform] = [.ios, .android, .web]
      for person in 0..<Self.people {
        for name in person < Self.tablets ? ["phone", "tablet"] : ["phone"] {
          let phone = world.fleet.add(deviceId: "many.\(person)/\(name)", platform: platforms[person % 3])
          try world.fleet.send(phone, .signIn(userId: "many.\(person)"))
          phones.append(phone)
        }
        try world.conversation("many.c\(person)", ["many.bot", "many.\(person)"])
      }
      try world.wait(for: "all phones are registered", atMost: 60) {
        phones.allSatisfy { phone in
          (world.notes[phone] ?? []).contains { if case .registered = $0.note { true } else { false } }
        }
      }
      try world.settle()
      return phones
    }

    /// The pushes of messages that FCM took, one a device.
    private func taken(_ world: PhoneWorld, since start: Milliseconds) -> Set<Delivery> {
      Set(
        world.allOutcomes.filter {
          $0.body.deviceId.hasPrefix("many.") && $0.body.result == .sent && $0.envelope.occurredAt >= start
        }.map { Delivery(pushId: $0.body.pushId, deviceId: $0.body.deviceId) })
    }

    private func receipts(_ world: PhoneWorld) -> [ReceiptBody] {
      world.receipts.map(\.body).filter { $0.deviceId.hasPrefix("many.") }
    }

    /// How many pushes each phone received.
    private func received(_ world: PhoneWorld, _ phones: [Int]) -> [Delivery: Int] {
      var received: [Delivery: Int] = [:]
      for phone in phones {
        for case (_, .received(let push)) in world.notes[phone] ?? [] {
          received[Delivery(pushId: push.pushId, deviceId: world.phone(phone).device.deviceId)] = phone
        }
      }
      return received
    }

    private func expectFunnel(_ world: PhoneWorld, since: Milliseconds, _ truth: [Delivery: PushEndState]) throws {
      let (status, output) = try RealKafka.run(
        DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
        ["funnel", "--json", "--since", RFC3339.text(since), "--bootstrap-servers", world.bootstrapServers]
          + (world.topics.prefix.isEmpty ? [] : ["--topic-prefix", world.topics.prefix]), withErrors: false)
      #expect(status == 0, "\(output)")
      let table = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
      let all = try #require(table["all"] as? [String: Any])
      #expect(all["decided"] as? Int == Self.people)
      #expect(all["pushed"] as? Int == truth.count && all["taken"] as? Int == truth.count)
      #expect(all["arrived"] as? Int == truth.values.count { $0 != .taken })
      let ends = try #require(all["ends"] as? [String: Int])
      #expect(ends == Dictionary(grouping: truth.values, by: \.rawValue).mapValues(\.count))
      let platforms = try #require(table["byPlatform"] as? [String: [String: Any]])
      #expect(Set(platforms.keys) == ["ios", "android", "web"])
    }

    // MARK: The emulator

    private func post(_ world: PhoneWorld, _ path: String, _ body: String) throws {
      let request = HTTPRequest(
        method: .post, url: world.emulatorURL + path, headers: [("Content-Type", "application/json")],
        body: Array(body.utf8), timeout: .seconds(10))
      #expect(try answer(to: request).status == 200)
    }

    /// The number of messages that the emulator delivered to the phones of this test.
    private func delivered(_ world: PhoneWorld) throws -> Int {
      struct Batch: Decodable {
        struct Delivery: Decodable { let request: DeliveredMessage }
        let next: Int
        let deliveries: [Delivery]
      }
      let own = Set(world.fleet.phones.filter { $0.device.deviceId.hasPrefix("many.") }.map(\.token))
      var (next, count) = (0, 0)
      while true {
        let request = HTTPRequest(
          method: .get, url: world.emulatorURL + "deliveries?after=\(next)&tokens=scene-", timeout: .seconds(40))
        let batch = try JSONDecoder().decode(Batch.self, from: Data(answer(to: request).body))
        count += batch.deliveries.count { own.contains($0.request.token) }
        next = batch.next
        if batch.deliveries.count < 1_000 { return count }
      }
    }

    private func answer(to request: HTTPRequest) throws -> HTTPResponse {
      let client = try HTTPClient(HTTPClientConfiguration(maxResponseBytes: 64 << 20, plainProtocol: .http1))
      defer { client.shutdown(grace: .zero) }
      return try client.response(to: request).get()
    }
  }
}
