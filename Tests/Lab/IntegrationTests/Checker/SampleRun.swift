import Foundation

/// A small invented run of the pipeline in which every rule holds: two messages of ann to bob and cem, who has two devices.
/// Tests break it.
struct SampleRun {
  static let expected: [String: Set<String>] = ["m1": ["bob", "cem"], "m2": ["bob", "cem"]]
  /// When the first message was sent.
  static let start: Int64 = 1_700_000_000_000

  var records: [KafkaRecord] = []
  var requests: [SeenRequest] = []
  var committed: [CommittedPlace] = []
  var checker = PipelineChecker(expected: expected)

  init() throws {
    for (number, message) in ["m1", "m2"].enumerated() {
      let time = Self.start + Int64(number) * 1_000
      let offset = Int64(number)
      try add("chat.events", offset, key: "c", ["type": "message.created", "messageId": message])
      let chat = Self.place("chat.events", offset)
      try add(
        "nudge.timeline", offset, key: "c",
        [
          "type": "message.candidate", "origin": chat, "source": chat, "messageId": message, "conversationId": "c",
          "recipients": [["userId": "bob", "context": [:]], ["userId": "cem", "context": [:]]],
        ])
      for (index, user) in ["bob", "cem"].enumerated() {
        let place = offset * 2 + Int64(index)
        let common: [String: Any] = [
          "origin": Self.place("nudge.timeline", offset), "source": chat, "userId": user, "messageId": message,
          "conversationId": "c", "pushId": "\(message)-\(user)",
        ]
        try add(
          "nudge.decisions", place, key: user,
          common.merging([
            "type": "decision", "outcome": "notify", "reason": "relevant",
            "analysis": ["used": number + 1, "limit": 2, "windowStartedAt": Self.start],
          ]) { $1 })
        let devices = user == "bob" ? ["bob-1"] : ["cem-1", "cem-2"]
        try add(
          "nudge.pushes", place, key: user,
          common.merging([
            "type": "push", "expiresAt": time + 3_600_000,
            "targets": devices.map { ["deviceId": $0, "token": "token-\($0)"] },
          ]) { $1 })
        for device in devices {
          requests.append(
            SeenRequest(
              time: time + 10, status: 200, token: "token-\(device)", pushId: "\(message)-\(user)", recipientId: user,
              messageId: message))
          try add(
            "nudge.outcomes", Int64(requests.count - 1), key: user,
            common.merging([
              "type": "outcome", "deviceId": device, "result": "sent", "attempts": 1, "finishedAt": time + 20,
            ]) { $1 })
        }
      }
    }
    let ends: [(stage: String, next: [String: Int64])] = [
      ("ingest", ["chat.events": 2, "user.events": 0, "nudge.device-claims": 0]), ("analyzer", ["nudge.timeline": 2]),
      ("dispatcher", ["nudge.pushes": 4]),
    ]
    for (stage, next) in ends {
      for sequence in 1...3 {
        try add(
          "nudge.\(stage)-state", Int64(sequence), key: "@position",
          ["sequence": sequence, "next": sequence == 3 ? next : next.mapValues { _ in 0 }, "writer": "one"])
      }
      for (topic, offset) in next {
        committed.append(
          CommittedPlace(stage: stage, topic: topic, partition: 0, offset: offset, metadata: "nudge:3"))
      }
    }
  }

  static func place(_ topic: String, _ offset: Int64) -> [String: Any] {
    ["topic": topic, "partition": 0, "offset": offset]
  }

  mutating func add(_ topic: String, _ offset: Int64, key: String, _ value: [String: Any]) throws {
    let fields = value.merging(["schemaVersion": 1, "eventId": "e", "occurredAt": Self.start]) { old, _ in old }
    records.append(
      KafkaRecord(
        topic: topic, partition: 0, offset: offset, timestamp: Self.start, key: key,
        value: Array(try JSONSerialization.data(withJSONObject: fields))))
  }

  /// Tells the webhook of bob's first message.
  mutating func escalate(as pushId: String) throws {
    try again("nudge.pushes", 0) {
      $0["pushId"] = pushId
      $0["kind"] = "escalation"
      $0["escalation"] = ["pushedAt": Self.start]
      $0["targets"] = [[String: String]]()
    }
    try again("nudge.outcomes", 0) {
      $0["pushId"] = pushId
      $0["deviceId"] = "webhook"
    }
    requests.append(
      SeenRequest(time: Self.start + 15, status: 200, token: SeenRequest.webhook, pushId: pushId, recipientId: ""))
    try advance("dispatcher", "nudge.pushes", to: end(of: "nudge.pushes"))
  }

  /// Quiet hours hold a message of bob back: a third candidate is made of it.
  mutating func hold(_ messageId: String) throws {
    let offset = end(of: "nudge.timeline")
    let place = Self.place("nudge.timeline", offset)
    let candidate = messageId == "m1" ? 0 : 1
    try again("nudge.timeline", candidate) {
      $0["recipients"] = [["userId": "bob", "context": [String: Any]()]]
      $0["replayId"] = nil
      $0["source"] = Self.place("chat.events", 100 + offset)
    }
    try again("nudge.decisions", 2 * candidate) {
      $0["origin"] = place
      $0["outcome"] = "suppress"
      $0["reason"] = "quiet_hours"
      $0["pushId"] = nil
      $0["analysis"] = nil
    }
    try advance("analyzer", "nudge.timeline", to: offset + 1)
  }

  /// A catch-up of bob, which his phone gets.
  mutating func catchUp(_ keys: [String]) throws {
    let pushId = "catch-up-\(records.count)"
    try again("nudge.pushes", 0) {
      $0["pushId"] = pushId
      $0["kind"] = "digest"
      $0["messageId"] = nil
      $0["digest"] = ["messages": keys.count, "parts": [["keys": keys]]] as [String: Any]
    }
    try again("nudge.outcomes", 0) {
      $0["pushId"] = pushId
      $0["finishedAt"] = Self.start + 3_000
    }
    requests.append(
      SeenRequest(
        time: Self.start + 2_000 + Int64(requests.count), status: 200, token: "token-bob-1", pushId: pushId,
        recipientId: "bob"))
    try advance("dispatcher", "nudge.pushes", to: end(of: "nudge.pushes"))
  }

  /// A receipt of a push on bob's first device.
  mutating func addReceipt(_ pushId: String, state: String = "arrived") throws {
    try again("nudge.outcomes", 0) {
      $0["type"] = "receipt"
      $0["pushId"] = pushId
      $0["state"] = state
    }
  }

  /// Repeats a record at the end of its partition, after `change`.
  mutating func again(_ topic: String, _ index: Int, _ change: (inout [String: Any]) -> Void = { _ in }) throws {
    let record = records.filter { $0.topic == topic }[index]
    var value = try Self.object(record)
    change(&value)
    try add(topic, end(of: topic), key: record.key ?? "", value)
  }

  /// The offset after a topic's last record.
  private func end(of topic: String) -> Int64 {
    (records.filter { $0.topic == topic }.map(\.offset).max() ?? -1) + 1
  }

  /// Changes a record of a topic.
  mutating func change(_ topic: String, _ index: Int, _ change: (inout [String: Any]) -> Void) throws {
    let place = records.indices.filter { records[$0].topic == topic }[index]
    var value = try Self.object(records[place])
    change(&value)
    records[place].value = Array(try JSONSerialization.data(withJSONObject: value))
  }

  /// Moves a stage's position in an input to an offset.
  private mutating func advance(_ stage: String, _ topic: String, to offset: Int64) throws {
    let index = records.lastIndex { $0.topic == "nudge.\(stage)-state" } ?? 0
    var value = try Self.object(records[index])
    value["next"] = (value["next"] as? [String: Int64] ?? [:]).merging([topic: offset]) { $1 }
    records[index].value = Array(try JSONSerialization.data(withJSONObject: value))
    for index in committed.indices where committed[index].topic == topic { committed[index].offset = offset }
  }

  /// Another person claims the token of a person's first device: gained at an offset of the timeline, lost at the next, and
  /// perhaps gained again at the one after.
  mutating func loseToken(of user: String, at offset: Int64, regaining: Bool = false) throws {
    let claim = Self.place("nudge.device-claims", 0)
    let device: [String: Any] = ["userId": user, "deviceId": "\(user)-1", "token": "token-\(user)-1"]
    let common = device.merging(["tokenHash": "hash", "origin": claim, "source": claim]) { $1 }
    try add(
      "nudge.device-claims", 0, key: "hash", ["type": "device.registered", "tokenHash": "hash", "device": device])
    try advance("ingest", "nudge.device-claims", to: 1)
    let gain = common.merging(["type": "device.registered"]) { $1 }
    try add("nudge.timeline", offset, key: user, gain)
    try add(
      "nudge.timeline", offset + 1, key: user,
      common.merging(["type": "device.unregistered", "cause": "claimed_elsewhere"]) { $1 })
    if regaining { try add("nudge.timeline", offset + 2, key: user, gain) }
    try advance("analyzer", "nudge.timeline", to: offset + (regaining ? 3 : 2))
  }

  /// Adds a hostile record with an expected code.
  mutating func addHostile(_ code: String) throws {
    records.append(
      KafkaRecord(
        topic: "chat.events", partition: 0, offset: 2, timestamp: Self.start, key: "c", value: [0xff],
        headers: [PipelineChecker.hostileHeader: code]))
    try advance("ingest", "chat.events", to: 3)
  }

  /// The dead letter of the record that `addHostile` added.
  mutating func addDeadLetter(_ code: String, _ offset: Int64) {
    records.append(
      KafkaRecord(
        topic: "nudge.dead-letters", partition: 0, offset: offset, timestamp: Self.start, key: "c", value: [0xff],
        headers: [
          "nudge-error-code": code, "nudge-origin-topic": "chat.events", "nudge-origin-partition": "0",
          "nudge-origin-offset": "2", PipelineChecker.hostileHeader: code,
        ]))
  }

  mutating func remove(_ topic: String, _ index: Int) {
    records.remove(at: records.indices.filter { records[$0].topic == topic }[index])
  }

  private static func object(_ record: KafkaRecord) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(record.value ?? [])) as? [String: Any] ?? [:]
  }

  /// The checker's findings.
  func violations() -> [PipelineViolation] {
    var checker = checker
    for record in records { checker.read(record) }
    for request in requests { checker.read(request) }
    return checker.violations(committed: committed)
  }
}
