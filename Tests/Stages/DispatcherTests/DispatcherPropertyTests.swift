import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

@Suite("Any order of pushes, cancellations, answers and restarts")
struct DispatcherPropertyTests {
  /// Every seed is a life of a task: whatever happened in it, when all is quiet the account holds.
  @Test(
    "P8: every push and device has exactly one outcome, in order, with one request at a time for a device",
    arguments: Array(UInt64(1)...20))
  func oneOutcome(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bench = DispatcherBench {
      $0.maxInFlight = Int.random(in: 1...8, using: &random)
      $0.maxLaneLength = Int.random(in: 3...30, using: &random)
      $0.invalidTokenWindow = 20
      $0.invalidTokenRatio = 0.8
    }
    let users = ["ann", "eve", "joe"]
    let devices = ["a", "b", "c"]
    var expected: [String] = []
    var sentRecords: [(push: Push, cause: Origin)] = []
    /// By device: pushes in the order they were taken.
    var accepted: [String: [String]] = [:]
    var firstRequests: [String: [String]] = [:]
    var seen = 0

    func watch() {
      // A device never has two requests in flight.
      let lanes = bench.air.map { $0.token + ($0.pushId?.prefix(3) ?? "") }
      #expect(Set(lanes).count == lanes.count, "seed \(seed)")
      for request in bench.air where request.attempt == 1 {
        let key = "\(request.pushId?.prefix(3) ?? "")/\(request.deviceId)"
        if let id = request.pushId, firstRequests[key]?.last != id { firstRequests[key, default: []].append(id) }
      }
      #expect(bench.rejections.isEmpty, "seed \(seed): \(bench.rejections)")
    }

    func answer() throws {
      guard let request = bench.air.randomElement(using: &random) else { return }
      var answer: PushAnswer
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50: answer = .sent
      case 50..<65: answer = .unavailable
      case 65..<75: answer = .reset
      case 75..<80: answer = .unregistered
      case 80..<83: answer = .noProject
      case 83..<86: answer = .noPlatform
      case 86..<90:
        answer = PushAnswer(.quotaExceeded(Bool.random(using: &random) ? .device : .project), httpStatus: 429)
      case 90..<94: answer = PushAnswer(.rejected, httpStatus: 400)
      default: answer = PushAnswer(.senderMismatch, httpStatus: 403)
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        answer.retryAfter = Milliseconds.random(in: 0...200_000, using: &random)
      }
      try bench.answer(answer, to: request, requests: [0, 1, 1, 1, 2].randomElement(using: &random) ?? 1)
    }

    for step in 0..<400 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<35:
        let user = users.randomElement(using: &random) ?? ""
        let targets = devices.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        let kind: Push.Kind = [.message, .message, .message, .badge, .read].randomElement(using: &random) ?? .message
        var push = DispatcherBench.push(
          "\(user)-\(step)", user: user, devices: Array(targets), kind: kind,
          presentation: kind == .message
            ? [.alert, .silent, .badge].randomElement(using: &random) ?? .alert : .badge,
          conversation: ["c1", "c2"].randomElement(using: &random),
          expiresIn: .random(in: -10...900_000, using: &random), at: bench.now,
          version: .random(in: 1...3, using: &random),
          platform: [.ios, .android, .web].randomElement(using: &random) ?? .ios,
          body: String(repeating: "x", count: Int.random(in: 0...3_000, using: &random)))
        push.targets = push.targets.map {
          PushTarget(deviceId: $0.deviceId, token: "\(user)-\($0.deviceId)", version: $0.version, platform: $0.platform)
        }
        let cause = bench.nextCause()
        for target in push.targets {
          expected.append("\(push.pushId)/\(target.deviceId)")
          accepted["\(user)/\(target.deviceId)", default: []].append(push.pushId)
        }
        sentRecords.append((push, cause))
        try bench.send(push, cause: cause)
      case 35..<40:
        // Once more, as from a torn transaction.
        if let (push, cause) = sentRecords.randomElement(using: &random) { try bench.send(push, cause: cause) }
      case 40..<46:
        let user = users.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try bench.cancel(user: user, device: devices.randomElement(using: &random))
        case 1: try bench.cancel(user: user, conversation: ["c1", "c2"].randomElement(using: &random))
        default:
          try bench.cancel(user: user, message: "m-\(sentRecords.randomElement(using: &random)?.push.pushId ?? "")")
        }
      case 46..<80: try answer()
      case 80..<96:
        bench.now += .random(in: 0...5_000, using: &random)
        if let time = bench.wakeAt, time <= bench.now || Bool.random(using: &random) { try bench.wake() }
      default: try bench.restart()
      }
      watch()
    }
    var quiet = 0
    while quiet < 20_000, !bench.air.isEmpty || bench.wakeAt != nil {
      quiet += 1
      if bench.air.isEmpty { try bench.wake() } else { try answer() }
      watch()
    }

    let ended = bench.outcomes.map { "\($0.pushId)/\($0.deviceId)" }
    #expect(ended.count == expected.count, "seed \(seed)")
    #expect(Set(ended) == Set(expected), "seed \(seed)")
    for (device, order) in firstRequests {
      let user = device.split(separator: "/")[0]
      let all = accepted.first { $0.key.hasPrefix(user) && $0.key.hasSuffix("/" + device.split(separator: "/")[1]) }
      let places = order.compactMap { all?.value.firstIndex(of: $0) }
      #expect(places.count == order.count)
      #expect(places == places.sorted(), "seed \(seed): \(device)")
    }
    for user in users {
      for device in devices { #expect(try bench.lane(device, user: user) == nil, "seed \(seed)") }
    }
    seen += ended.count
    #expect(seen > 50, "seed \(seed) did too little to mean anything")
  }
}
