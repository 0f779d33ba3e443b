import Foundation
import Kafka
import NudgeSchema

/// Writes pushes as the analyzer does, and takes the time until their outcomes.
final class PushProbe {
  /// Pushes a second to the devices that are measured, round robin.
  private static let rate = 200
  /// Pushes a second to each device beside them.
  private static let rateBeside = 10

  private let topics: BacklogTopics
  private let consumer: Consumer
  private let coder = RecordCoder()
  private var pushes = 0
  /// When a push that is measured was written, by its id.
  private var writtenAt: [String: Double] = [:]
  /// Milliseconds from a push to its outcome.
  private var latencies: [Double] = []
  private var unsent = 0
  /// Outcomes of pushes that are not measured.
  private(set) var otherOutcomes = 0

  init(_ topics: BacklogTopics) throws {
    self.topics = topics
    consumer = try topics.follow(.outcomes)
  }

  func close() { consumer.close() }

  /// A phone whose token follows from its name.
  static func phone(_ name: String) -> PushTarget {
    PushTarget(deviceId: name, token: "\(name)-token", version: 1, platform: .ios)
  }

  /// Sends for some seconds to `devices`, and to those beside them, and waits for the outcomes of the first. Returns their latencies in
  /// milliseconds.
  func measure(_ devices: [PushTarget], seconds: Int, beside others: [PushTarget] = []) throws -> [Double] {
    latencies = []
    let began = Clocks.steady
    var (sent, sentBeside) = (0, 0)
    while Clocks.steady < began + Double(seconds) {
      let passed = Clocks.steady - began
      while Double(sent) < passed * Double(Self.rate) {
        sent += 1
        writtenAt[try push(to: devices[sent % devices.count])] = Clocks.steady
      }
      while !others.isEmpty, Double(sentBeside) < passed * Double(Self.rateBeside) {
        sentBeside += 1
        for device in others { _ = try push(to: device) }
      }
      try read()
    }
    try waitForOutcomes()
    return latencies
  }

  /// Sends several pushes to each device at once, and waits for their outcomes.
  func burst(_ devices: [PushTarget], each count: Int) throws {
    latencies = []
    for _ in 0..<count {
      for device in devices { writtenAt[try push(to: device)] = Clocks.steady }
    }
    try waitForOutcomes()
  }

  private func waitForOutcomes() throws {
    let deadline = Clocks.steady + 120
    while !writtenAt.isEmpty {
      guard Clocks.steady < deadline else {
        throw BenchmarkFailure("\(writtenAt.count) pushes still have no outcome after 120 s")
      }
      try read()
    }
    guard unsent == 0 else { throw BenchmarkFailure("\(unsent) pushes were not sent") }
  }

  private func push(to device: PushTarget) throws -> String {
    pushes += 1
    let id = "push-\(pushes)"
    let now = Milliseconds(Date().timeIntervalSince1970 * 1_000)
    let push = Push(
      pushId: id, kind: .message, userId: "user-\(device.deviceId)", targets: [device], title: "Ada", body: "On my way",
      priority: .high, presentation: .alert, reason: .relevant, badge: 1,
      conversationId: "conversation-\(device.deviceId)", messageId: "message-\(pushes)", senderId: "ada",
      ttlSeconds: 3_600, expiresAt: now + 3_600_000, decidedAt: now)
    let cause = RecordPosition(topic: Topic.timeline.rawValue, partition: 0, offset: Int64(pushes))
    let event = PushEvent(
      Envelope(eventId: "event-\(pushes)", occurredAt: now), origin: Origin(cause), source: cause, .push(push))
    try topics.write(coder.encode(event), to: .pushes, key: push.userId)
    return id
  }

  private func read() throws {
    let event = consumer.poll(maxRecords: 1_000, maxBytes: 8 << 20, timeout: .milliseconds(2)) { record in
      guard let value = record.valueBytes(), let id = JSONText.value(of: "pushId", in: value) else { return }
      if let at = writtenAt.removeValue(forKey: id) {
        latencies.append((Clocks.steady - at) * 1e3)
        if JSONText.value(of: "result", in: value) != "sent" { unsent += 1 }
      } else {
        otherOutcomes += 1
      }
    }
    if case .error(let error)? = event { throw error }
  }
}

extension Report {
  /// Prints the latencies of pushes alone and beside others, in milliseconds.
  /// - Parameter factor: The target of the second p99, as a multiple of the first.
  func latencies(
    _ alone: [Double], _ subject: String, beside: [Double], _ other: String, atMost factor: Double
  ) {
    let limit = Int((Samples(alone).quantile(0.99) * factor).rounded())
    table(
      [(subject, Samples(alone), nil), (other, Samples(beside), "≤ \(limit)")].map {
        (subject: String, samples: Samples, target: String?) in
        (
          subject,
          [
            .init(name: "pushes", value: Double(samples.values.count), unit: ""),
            .init(name: "p50", value: samples.median, unit: "ms"),
            .init(name: "p99", value: samples.quantile(0.99), unit: "ms", target: target),
            .init(name: "max", value: samples.max, unit: "ms"),
          ]
        )
      })
  }
}
