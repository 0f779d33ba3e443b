@testable import FCMEmulator
import Foundation
import HTTPTransport
import Testing
import VirtualPhone

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The emulator's stream of what devices get", .timeLimit(.minutes(2)))
struct DeliveryStreamTests {
  private struct Batch: Decodable {
    struct Delivery: Decodable {
      let number: Int
      let at: Int64
      let request: DeliveredMessage
    }
    let next: Int
    let missed: Int
    let deliveries: [Delivery]
  }

  private func get(_ desk: Desk, _ query: String) async throws -> Batch {
    let admin = try #require(desk.emulator.adminURL)
    let url = try #require(URL(string: "\(admin)deliveries\(query)"))
    let (data, _) = try await URLSession(configuration: .ephemeral).data(from: url)
    return try JSONDecoder().decode(Batch.self, from: data)
  }

  private func push(_ desk: Desk, _ id: String, to token: String) async throws -> Int {
    try await desk.send(
      #"{"message":{"token":"\#(token)","data":{"type":"badge","recipientId":"ann","pushId":"\#(id)","badge":"1"}}}"#
    ).status
  }

  @Test("What was taken comes in order, for those asked for, as soon as it is there; what was refused does not come")
  func stream() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress()))
    #expect(try await push(desk, "before", to: "mine-1") == 200)
    let start = try await get(desk, "")
    #expect(start.next == 1)
    #expect(start.deliveries.isEmpty)
    async let waiting = get(desk, "?after=1&tokens=mine-")
    #expect(try await push(desk, "p1", to: "other-1") == 200)
    #expect(try await push(desk, "p2", to: "mine-1") == 200)
    let first = try await waiting
    #expect(first.deliveries.map(\.request.pushId) == ["p2"])
    #expect(first.next == 3)
    desk.emulator.setFaults([Fault(tokenPrefix: "mine", action: .answer(EmulatorAnswer(.unavailable)))])
    #expect(try await push(desk, "p3", to: "mine-1") == 503)
    desk.emulator.setFaults([Fault(tokenPrefix: "mine", action: .lose)])
    #expect(try await push(desk, "lost", to: "mine-1") == 200)
    desk.emulator.setFaults([])
    #expect(try await push(desk, "p4", to: "mine-2") == 200)
    let all = try await get(desk, "?after=0")
    #expect(all.deliveries.map(\.request.pushId) == ["before", "p1", "p2", "p4"])
    #expect(all.deliveries.map(\.number) == [1, 2, 3, 4])
    #expect(all.missed == 0)
    desk.end()
  }

  @Test("T3: an app that was removed is UNREGISTERED from then on, and nothing is delivered to it")
  func uninstalled() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress(), countsTokens: true))
    #expect(try await push(desk, "p1", to: "gone") == 200)
    let admin = try #require(desk.emulator.adminURL)
    var request = URLRequest(url: try #require(URL(string: "\(admin)emulator/uninstalled")))
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"tokens":["gone"]}"#.utf8)
    let (_, response) = try await URLSession(configuration: .ephemeral).data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    let answer = try await desk.send(
      #"{"message":{"token":"gone","data":{"recipientId":"ann","pushId":"p2"}}}"#)
    #expect(answer.status == 404)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("UNREGISTERED"))
    #expect(try await push(desk, "p3", to: "there") == 200)
    #expect(try await get(desk, "?after=0").deliveries.map(\.request.pushId) == ["p1", "p3"])
    #expect(desk.emulator.counters.distinctTokens == 2)
    desk.end()
  }
}
