import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime
import Testing

@Suite struct DeviceTests {
  private func registered(
    _ userId: String, _ deviceId: String, _ token: String
  ) -> UserEventBody {
    .deviceRegistered(
      DeviceRegistered(
        userId: userId, deviceId: deviceId, token: token, platform: .ios, appVersion: "1.2", locale: "de-CH",
        projectId: "project"))
  }

  private func unregistered(_ userId: String, _ deviceId: String) -> UserEventBody {
    .deviceUnregistered(DeviceUnregistered(userId: userId, deviceId: deviceId))
  }

  /// Processes a user event and all that comes of it; what reached timelines.
  private func timeline(
    _ pipeline: IngestPipeline, _ body: UserEventBody, after: Milliseconds, eventId: String? = nil
  ) throws -> [TimelineEventBody] {
    let result = try pipeline.user(body, pipeline.envelope(eventId, after: after))
    return try pipeline.timeline([result] + pipeline.driver.sendBack(result)).map(\.body)
  }

  private func owner(_ pipeline: IngestPipeline, _ token: String) throws -> OwnerRow? {
    for partition in 0..<pipeline.driver.partitions {
      if case .owner(let row)? = try pipeline.driver.row(RowKey("o", "hash-of-\(token)"), partition: partition) {
        return row
      }
    }
    return nil
  }

  @Test("T1: a registration reaches the person's timeline by way of the token's owner row")
  func gained() throws {
    let pipeline = IngestPipeline(partitions: 4)
    let envelope = pipeline.envelope("e1")
    let result = try pipeline.user(registered("ann", "phone", "t1"), envelope)
    let claim = try #require(try pipeline.claims(result).first)
    #expect(result.outputs.count == 1)
    #expect(result.outputs.first?.key == Array("hash-of-t1".utf8))
    #expect(claim.envelope == envelope)
    let granted = pipeline.driver.sendBack(result)
    let event = try #require(try pipeline.timeline(granted).first)
    let version = try #require(try owner(pipeline, "t1")).version
    #expect(
      event.body
        == .deviceGained(
          DeviceGained(
            userId: "ann", deviceId: "phone", token: "t1", version: version, platform: .ios, appVersion: "1.2",
            locale: "de-CH", projectId: "project")))
    #expect(event.source == claim.source)
    #expect(event.origin.topic == "nudge.device-claims")
    #expect(event.envelope == envelope)
  }

  @Test("T1: a sign-out takes the device off the timeline")
  func signOut() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t1"), after: 0)
    let version = try #require(try owner(pipeline, "t1")).version
    #expect(
      try timeline(pipeline, unregistered("ann", "phone"), after: 1)
        == [
          .deviceLost(
            DeviceLost(
              userId: "ann", deviceId: "phone", tokenHash: "hash-of-t1", version: version, cause: .signedOut))
        ])
    #expect(try owner(pipeline, "t1")?.owner == nil)
    #expect(try timeline(pipeline, unregistered("ann", "phone"), after: 2).isEmpty)
    #expect(try timeline(pipeline, unregistered("ann", "unknown"), after: 2).isEmpty)
  }

  @Test("T1: a device with a new token loses the old one and has the new one")
  func tokenReplaced() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t1"), after: 0)
    let bodies = try timeline(pipeline, registered("ann", "phone", "t2"), after: 1)
    guard case .deviceLost(let lost) = bodies.first, case .deviceGained(let gained) = bodies.last else {
      Issue.record("\(bodies.map(\.type))")
      return
    }
    #expect(bodies.count == 2)
    #expect(lost.tokenHash == "hash-of-t1" && lost.cause == .tokenReplaced)
    #expect(gained.token == "t2")
  }

  @Test("T3: each registration of a token raises its version, the same person's too")
  func versionRises() throws {
    let pipeline = IngestPipeline()
    var versions: [Int64] = []
    for (index, userId) in ["ann", "ann", "ben", "ann"].enumerated() {
      for body in try timeline(pipeline, registered(userId, "phone", "t"), after: Int64(index / 2)) {
        if case .deviceGained(let gained) = body { versions.append(gained.version) }
      }
    }
    #expect(versions.count == 4)
    #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("T2: a token that somebody else registers is lost to the former owner and gained by the new one in one step")
  func accountSwitch() throws {
    let pipeline = IngestPipeline(partitions: 4)
    _ = try timeline(pipeline, registered("ann", "a-phone", "t"), after: 0)
    let result = try pipeline.user(registered("ben", "b-phone", "t"), pipeline.envelope(after: 1))
    let steps = pipeline.driver.sendBack(result)
    #expect(steps.count == 1)
    let bodies = try pipeline.timeline(steps).map(\.body)
    guard case .deviceLost(let lost) = bodies.first, case .deviceGained(let gained) = bodies.last else {
      Issue.record("\(bodies.map(\.type))")
      return
    }
    #expect(bodies.count == 2)
    #expect(lost.userId == "ann" && lost.deviceId == "a-phone" && lost.cause == .claimedElsewhere)
    #expect(gained.userId == "ben" && gained.deviceId == "b-phone")
  }

  @Test("T2: a late sign-out of the former owner does not take the token from the new one")
  func lateSignOut() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    _ = try timeline(pipeline, registered("ben", "phone", "t"), after: 1)
    #expect(try timeline(pipeline, unregistered("ann", "phone"), after: 2).isEmpty)
    let owner = try owner(pipeline, "t")?.owner
    #expect(owner?.userId == "ben")
  }

  @Test("T2: an older registration that comes late does not take the token from its owner")
  func lateRegistration() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ben", "phone", "t"), after: 10)
    #expect(try timeline(pipeline, registered("ann", "phone", "t"), after: 5).isEmpty)
    let owner = try owner(pipeline, "t")?.owner
    #expect(owner?.userId == "ben")
  }

  @Test("T2: of two registrations at one time the greater event id wins, in either order", arguments: [true, false])
  func simultaneous(annFirst: Bool) throws {
    let pipeline = IngestPipeline()
    let events = [("ann", "e-a"), ("ben", "e-b")]
    for (userId, eventId) in annFirst ? events : events.reversed() {
      _ = try timeline(pipeline, registered(userId, "phone", "t"), after: 0, eventId: eventId)
    }
    let owner = try owner(pipeline, "t")?.owner
    #expect(owner?.userId == "ben")
  }

  @Test("T2: a token that moves to another device of the same person leaves the former device")
  func moves() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "old", "t"), after: 0)
    let bodies = try timeline(pipeline, registered("ann", "new", "t"), after: 1)
    guard case .deviceLost(let lost) = bodies.first, case .deviceGained(let gained) = bodies.last else {
      Issue.record("\(bodies.map(\.type))")
      return
    }
    #expect(lost.deviceId == "old" && lost.cause == .claimedElsewhere)
    #expect(gained.deviceId == "new")
    // The former device's next token takes nothing from the new one.
    let next = try timeline(pipeline, registered("ann", "old", "t2"), after: 2)
    #expect(next.map(\.type) == [.deviceRegistered])
  }

  @Test("D12: a sign-out older than the registration leaves the device as it is: its next token replaces this one")
  func lateSignOutOfTheSamePerson() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t1"), after: 10)
    #expect(try timeline(pipeline, unregistered("ann", "phone"), after: 5).isEmpty)
    #expect(try owner(pipeline, "t1")?.owner?.userId == "ann")
    // Older than the registration, newer than the sign-out.
    #expect(try timeline(pipeline, registered("ann", "phone", "t0"), after: 7).isEmpty)
    let bodies = try timeline(pipeline, registered("ann", "phone", "t2"), after: 20)
    #expect(bodies.map(\.type) == [.deviceUnregistered, .deviceRegistered])
    guard case .deviceLost(let lost)? = bodies.first else { return }
    #expect(lost.tokenHash == "hash-of-t1" && lost.cause == .tokenReplaced)
  }

  @Test("D12: a registration older than the sign-out does not bring the device back")
  func lateRegistrationAfterSignOut() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    _ = try timeline(pipeline, unregistered("ann", "phone"), after: 10)
    #expect(try timeline(pipeline, registered("ann", "phone", "t"), after: 5).isEmpty)
    #expect(try timeline(pipeline, registered("ann", "phone", "t"), after: 11).map(\.type) == [.deviceRegistered])
  }

  @Test("T2: after a sign-out the next person to register the phone's token has it, and nobody loses it twice")
  func handOver() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    _ = try timeline(pipeline, unregistered("ann", "phone"), after: 1)
    #expect(try timeline(pipeline, registered("ben", "phone", "t"), after: 2).map(\.type) == [.deviceRegistered])
  }

  @Test("T2: a claim that comes twice has no second effect")
  func repeatedClaim() throws {
    let pipeline = IngestPipeline()
    var claims: [OutputRecord] = []
    for (index, body) in [
      registered("ann", "phone", "t"), registered("ben", "phone", "t"), unregistered("ben", "phone"),
    ].enumerated() {
      let result = try pipeline.user(body, pipeline.envelope(after: Int64(index)))
      claims += result.outputs
      _ = pipeline.driver.sendBack(result)
    }
    for claim in claims {
      let again = pipeline.driver.send(bytes: claim.value, to: .deviceClaims, key: claim.key)
      #expect(again.outputs.isEmpty && again.rejection == nil)
    }
  }

  @Test("T1: a person's sign-outs are remembered up to the bound")
  func boundedSignOuts() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.signedOutDevices = 4 })
    for number in 0..<50 {
      try pipeline.user(registered("ann", "d\(number)", "t\(number)"), pipeline.envelope(after: Int64(2 * number)))
      try pipeline.user(unregistered("ann", "d\(number)"), pipeline.envelope(after: Int64(2 * number + 1)))
    }
    var rows: [Int] = []
    for number in 0..<50 where try pipeline.driver.row(RowKey("d", "ann", "d\(number)")) != nil { rows.append(number) }
    #expect(rows == [46, 47, 48, 49])
  }

  @Test("T1: one device more than the bound signs out the one that registered longest ago, with all that follows")
  func boundedDevices() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.devicesPerUser = 3 })
    for number in 0..<3 {
      pipeline.driver.now += 1_000
      _ = try timeline(pipeline, registered("ann", "d\(number)", "t\(number)"), after: 0)
    }
    // Registered again, d0 is no longer the oldest.
    pipeline.driver.now += 1_000
    _ = try timeline(pipeline, registered("ann", "d0", "t0"), after: 0)
    pipeline.driver.now += 1_000
    let bodies = try timeline(pipeline, registered("ann", "d3", "t3"), after: 0)
    #expect(Set(bodies.map(\.type)) == [.deviceRegistered, .deviceUnregistered] && bodies.count == 2)
    for case .deviceLost(let lost) in bodies {
      #expect(lost.userId == "ann" && lost.deviceId == "d1" && lost.cause == .signedOut)
    }
    #expect(try owner(pipeline, "t1")?.owner == nil)
    for token in ["t0", "t2", "t3"] { #expect(try owner(pipeline, token)?.owner?.userId == "ann") }
  }

  @Test("T1: a person who registers thousands of devices keeps 100, and each record costs the same")
  func hoardedDevices() throws {
    let pipeline = IngestPipeline()
    var most = 0
    for number in 0..<3_000 {
      pipeline.driver.now += 100
      let result = try pipeline.user(registered("ann", "d\(number)", "t\(number)"), pipeline.envelope())
      most = max(most, result.outputs.count)
      _ = pipeline.driver.sendBack(result)
    }
    #expect(most == 2)
    let rows = try pipeline.driver.rows(below: RowKey("d", "ann"))
    let registered = rows.count { if case .device(let row) = $0.1 { row.tokenHash != nil } else { false } }
    #expect(registered == 100 && rows.count <= 116)
    let owners = try pipeline.driver.rows(below: RowKey("o")).count {
      if case .owner(let row) = $0.1 { row.owner != nil } else { false }
    }
    #expect(owners == 100)
  }

  @Test("T5: the owner row of a token goes when the token was not registered for 270 days, and its device loses it")
  func expiredToken() throws {
    let day: Milliseconds = 86_400_000
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    pipeline.driver.now += 200 * day
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    pipeline.driver.now += 71 * day
    // The first timer is due, and finds that the token was registered since.
    #expect(try pipeline.timeline(pipeline.driver.fireTimers()).isEmpty)
    #expect(try owner(pipeline, "t")?.owner?.userId == "ann")
    try pipeline.driver.restart()
    pipeline.driver.now += 200 * day
    let bodies = try pipeline.timeline(pipeline.driver.fireTimers()).map(\.body)
    guard case .deviceLost(let lost)? = bodies.first else {
      Issue.record("\(bodies.map(\.type))")
      return
    }
    #expect(bodies.count == 1 && lost.userId == "ann" && lost.deviceId == "phone" && lost.cause == .expired)
    #expect(try owner(pipeline, "t") == nil)
    #expect(try pipeline.driver.fireTimers().isEmpty)
  }

  @Test("T5: the owner row of a token that was given up goes silently")
  func expiredFreeToken() throws {
    let pipeline = IngestPipeline()
    _ = try timeline(pipeline, registered("ann", "phone", "t"), after: 0)
    pipeline.driver.now += 1_000
    _ = try timeline(pipeline, unregistered("ann", "phone"), after: 0)
    pipeline.driver.now += 271 * 86_400_000
    #expect(try pipeline.timeline(pipeline.driver.fireTimers()).isEmpty)
    #expect(try owner(pipeline, "t") == nil)
  }

  @Test("T4: a token's name is the first 32 hexadecimal digits of its SHA-256")
  func tokenHash() {
    #expect(TokenHash.of("abc") == "ba7816bf8f01cfea414140de5dae2223")
    #expect(IngestRules().hash("abc") == TokenHash.of("abc"))
  }

  @Test("T4: neither state nor a claim's key holds the token in the clear")
  func noTokenInState() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.hash = { _ in "0123" } })
    let result = try pipeline.user(registered("ann", "phone", "s3cr3t"))
    _ = pipeline.driver.sendBack(result)
    for key in [RowKey("d", "ann", "phone"), RowKey("o", "0123")] {
      let row = try #require(try pipeline.driver.row(key))
      #expect(!String(decoding: try row.encoded(coder: RecordCoder(), at: .latest), as: UTF8.self).contains("s3cr3t"))
    }
    #expect(result.outputs.allSatisfy { $0.key == Array("0123".utf8) })
  }
}
