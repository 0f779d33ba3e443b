import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

@Suite("State: the format of the dispatcher's rows")
struct RowFormatTests {
  @Test(
    "every row survives packing; JSON, truncated rows and trailing bytes are errors")
  func rows() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "rows"))
    for number in 0..<40 {
      fields.isFull = number == 0
      let rows = fields.rows()
      if fields.isFull {
        // A push waits without its targets: they wait one by one.
        let empty = Set(FieldWalk.emptyFields(of: rows))
        // A target has a subscription in place of the token.
        // Nor does a catch-up wait with the list of its messages, or a target with a sign of life, which is in the device's row, or with a wait, which
        // is the push's own.
        #expect(
          empty == [
            "//items//_push/targets", "//items//_push/digest/parts", "//items//target/seenAt",
            "//items//target/notBefore",
            "//items//target/token",
          ])
      }
      for row in rows { #expect(try comesBack(row)) }
    }
  }

  /// A push, which a lane's rows keep in a box.
  private struct PushRow: PackedRow, PackedFields {
    static let name: StaticString = "push"
    static var versions: RowVersions { WaitingPush.rowVersions }
    static var blank: Self { Self(push: .blank) }
    var push: Push
    mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) { try row.field(&push) }
  }

  @Test("each field of a row is in the row's list, but for what only the push's record has")
  func listedFields() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1), isFull: true)
    var listed = ListedFields()
    for _ in 0..<20 {
      for row in fields.rows() { try listed.take(row) }
      try listed.take(PushRow(push: fields.waitingPush().push))
    }
    // A push waits with one target, which has a subscription in place of the token.
    let recorded = ["PushRow.push.targets", "PushRow.push.digest.parts"]
    let ofTarget = ["seenAt", "notBefore", "token"].flatMap {
      ["LaneRow.items.target.\($0)", "OverflowRow.items.target.\($0)"]
    }
    #expect(Set(listed.missing.map { String($0.prefix { $0 != " " }) }) == Set(recorded + ofTarget))
  }

  @Test("rows of the last release are read, and no row is written in a version that it cannot read")
  func goldenRows() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1))
    var samples: [any PackedRow] = []
    for number in 0..<2 {
      fields.isFull = number == 0
      samples.append(
        RecipientDeviceRow(
          lastCause: fields.maybe { $0.origin() },
          quarantined: fields.maybe { RecipientDeviceRow.Quarantine(tokenHash: $0.text(), version: $0.integer()) },
          revoked: fields.maybe { RecipientDeviceRow.Quarantine(tokenHash: $0.text(), version: $0.integer()) },
          unconfirmed: fields.maybe { $0.unconfirmed() }))
      samples.append(
        LaneRow(
          items: fields.list { $0.waitingPush() }, count: fields.int(), firstOverflow: fields.int(),
          endOverflow: fields.int()))
      samples.append(OverflowRow(items: fields.list { $0.waitingPush() }))
    }
    #expect(try GoldenRows("dispatcher").faults(samples: samples) == [])
  }

  @Test("rows of the release before phones that are off are read: lanes of version 4, devices of version 2")
  func beforeAwayPhones() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "beforeAwayPhones"))
    for number in 0..<20 {
      fields.isFull = number == 0
      var item = fields.waitingPush()
      (item.push.language, item.collapse, item.isCounted, item.devices) = (nil, nil, false, nil)
      (item.push.unread, item.target.renders, item.target.foreground) = (nil, nil, nil)
      let lane = LaneRow(items: [item, item], count: 2)
      let device = RecipientDeviceRow(
        lastCause: fields.origin(), revoked: .init(tokenHash: "hash", version: 3))
      #expect(try ([4] + lane.packed().dropFirst()).withUnsafeBytes { try LaneRow(bytes: $0) } == lane)
      #expect(
        try ([2] + device.packed().dropFirst()).withUnsafeBytes { try RecipientDeviceRow(bytes: $0) }
          == device)
    }
  }

  @Test("rows of version 1, from before edits, quiet hours and revoked tokens, are read")
  func version1() throws {
    func read<Row: PackedRow>(_ bytes: [UInt8]) throws -> Row {
      try bytes.withUnsafeBytes { try Row(bytes: $0) }
    }
    var fields = FieldGenerator(SeededGenerator(announcedFor: "version1"))
    for number in 0..<20 {
      fields.isFull = number == 0
      var item = fields.waitingPush()
      item.push.avatarUrl = nil
      item.push.replaces = nil
      item.push.mentioned = nil
      item.push.answered = nil
      item.push.conversation = nil
      (item.push.language, item.push.unread) = (nil, nil)
      (item.target.renders, item.target.foreground) = (nil, nil)
      (item.collapse, item.isCounted, item.devices) = (nil, false, nil)
      item.push.quietHours = nil
      item.push.sentAt = nil
      item.push.digest = nil
      item.push.escalation = nil
      item.failingSince = nil
      // Without the new fields nothing but the version tells the two formats apart.
      let lane = LaneRow(items: [item, item], count: 2)
      let device = RecipientDeviceRow(lastCause: fields.origin(), quarantined: .init(tokenHash: "hash", version: 3))
      #expect(try read([1] + lane.packed().dropFirst()) == lane)
      #expect(try read([1] + OverflowRow(items: [item]).packed().dropFirst()) == OverflowRow(items: [item]))
      #expect(try read([1] + device.packed().dropFirst()) == device)
    }
  }
}

extension FieldGenerator {
  /// A row of each kind.
  fileprivate mutating func rows() -> [any PackedRow & PackedFields & Equatable & Sendable] {
    let device = RecipientDeviceRow(
      lastCause: maybe { $0.origin() },
      quarantined: maybe { RecipientDeviceRow.Quarantine(tokenHash: $0.text(), version: $0.integer()) },
      revoked: maybe { RecipientDeviceRow.Quarantine(tokenHash: $0.text(), version: $0.integer()) },
      unconfirmed: maybe { $0.unconfirmed() })
    let lane = LaneRow(
      items: list { $0.waitingPush() }, count: int(), firstOverflow: int(), endOverflow: int())
    return [device, lane, OverflowRow(items: list { $0.waitingPush() })]
  }

  fileprivate mutating func origin() -> Origin {
    Origin(
      topic: text(), partition: int32(), offset: integer(), index: maybe { $0.int32() },
      generation: maybe { max(1, $0.int32() & .max) })
  }

  fileprivate mutating func unconfirmed() -> Unconfirmed {
    Unconfirmed(
      seenAt: integer(), version: integer(), pushes: int(), conversations: list { UInt64(bitPattern: $0.integer()) },
      rest: list { Unconfirmed.Part(conversation: UInt64(bitPattern: $0.integer()), messages: $0.int()) },
      furtherMessages: int(), furtherConversations: int())
  }

  fileprivate mutating func digest() -> Digest {
    Digest(
      messages: int(), conversations: int(),
      lines: list {
        Digest.Line(conversationId: $0.text(), messageId: $0.text(), title: $0.text(), text: $0.text())
      })
  }

  fileprivate mutating func waitingPush() -> WaitingPush {
    WaitingPush(
      push: Push(
        pushId: text(), kind: choice(), userId: text(), targets: [], title: maybe { $0.text() },
        body: maybe { $0.text() }, imageUrl: maybe { $0.text() }, avatarUrl: maybe { $0.text() }, priority: choice(),
        presentation: choice(), replaces: maybe { $0.flag() }, mentioned: maybe { $0.flag() },
        answered: maybe { $0.flag() }, urgent: maybe { $0.flag() },
        quietHours: maybe { QuietHours(start: $0.text(), end: $0.text(), timeZone: $0.maybe { $0.text() }) },
        sentAt: maybe { $0.integer() }, reason: maybe { $0.choice() }, badge: int(),
        conversationId: maybe { $0.text() },
        messageId: maybe { $0.text() }, senderId: maybe { $0.text() },
        conversation: maybe {
          PushConversation(senderName: $0.text(), kind: $0.choice(), name: $0.maybe { $0.text() })
        },
        unread: maybe { $0.int() }, language: maybe { $0.text() },
        digest: maybe { $0.digest() },
        escalation: maybe { fields in
          Escalation(
            pushedAt: fields.integer(), pushedAgainAt: fields.maybe { $0.integer() },
            senderName: fields.maybe { $0.text() }, groupName: fields.maybe { $0.text() })
        },
        ttlSeconds: int(), expiresAt: integer(),
        decidedAt: integer()),
      target: PushTarget(
        deviceId: text(), token: text(), version: integer(), platform: choice(), projectId: maybe { $0.text() },
        renders: maybe { $0.flag() }, foreground: maybe { $0.flag() }
      ).with(
        maybe { WebPushSubscription(endpoint: $0.text(), p256dh: $0.text(), auth: $0.text()) },
        maybe { SealingKeys(p256dh: $0.text(), auth: $0.text()) }),
      cause: origin(), origin: origin(),
      source: RecordPosition(topic: text(), partition: int32(), offset: integer()), occurredAt: integer(),
      traceparent: maybe { $0.text() }, replayId: maybe { $0.text() }, attempts: int(),
      firstAttemptAt: maybe { $0.integer() }, failingSince: maybe { $0.integer() }, notBefore: integer(), inAir: flag(),
      httpStatus: maybe { $0.int() },
      errorCode: maybe { $0.text() }, withdrawn: maybe { $0.choice() },
      collapse: maybe {
        Collapse(kind: $0.choice(), key: $0.text(), messages: $0.int(), conversations: $0.int())
      }, isCounted: flag(), devices: maybe { $0.int() })
  }
}

extension PushTarget {
  /// With a subscription in place of the token, and keys for sealing.
  fileprivate func with(_ webPush: WebPushSubscription?, _ sealing: SealingKeys?) -> PushTarget {
    var target = self
    if webPush != nil { target.token = nil }
    (target.webPush, target.sealing) = (webPush, sealing)
    return target
  }
}
