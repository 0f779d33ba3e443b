@testable import Dispatcher
import NudgeSchema
import Testing

@testable import Analyzer
@testable import NudgeCommands

@Suite("A message on each device")
struct MessageStoryTests {
  private let noon: Milliseconds = 1_795_343_400_000

  private func record(_ json: String, topic: Topic, at time: Milliseconds) throws -> PlacedRecord {
    PlacedRecord(
      position: RecordPosition(topic: topic.rawValue, partition: 0, offset: time - noon), timestamp: time,
      record: try JSONValue(Array(json.utf8)))
  }

  private func story(_ result: String?, presentation: String = "alert") throws -> MessageStory {
    var story = MessageStory(userId: "ann", conversationId: "c", messageId: "m")
    story.decisions = [
      try record(
        #"{"outcome":"notify","reason":"relevant","pushId":"p","presentation":"\#(presentation)"}"#, topic: .decisions,
        at: noon)
    ]
    story.pushes = [
      try record(
        #"{"pushId":"p","kind":"message","presentation":"\#(presentation)","targets":[{"deviceId":"phone"}]}"#,
        topic: .pushes, at: noon)
    ]
    if let result {
      story.outcomes = [
        try record(
          #"{"pushId":"p","deviceId":"phone","result":"\#(result)","attempts":1,"finishedAt":\#(noon + 50)}"#,
          topic: .outcomes, at: noon + 50)
      ]
    }
    return story
  }

  @Test("D18: of a message that was left to the catch-up the answer says that it waits, or why nothing came")
  func leftToCatchUp() throws {
    func text(_ change: (inout PersonView.MessageStanding) -> Void) throws -> String {
      var story = MessageStory(userId: "ann", conversationId: "c", messageId: "m")
      story.decisions = [
        try record(
          #"{"outcome":"suppress","reason":"quiet_hours","checks":[{"check":"catch_up","inputs":{"dueAt":\#(noon)}}]}"#,
          topic: .decisions, at: noon)
      ]
      var standing = PersonView.MessageStanding(
        isRead: false, countsOnBadge: true, wasNotified: false, isWithdrawn: false, waitsForCatchUp: false,
        wasToldByCatchUp: false)
      change(&standing)
      story.standing = standing
      return StoryText(story).text
    }
    #expect(try text { $0.waitsForCatchUp = true }.contains("the person's catch-up, which waits for a device"))
    let due = try text { ($0.waitsForCatchUp, $0.catchUpAt) = (true, noon + 60_000) }
    #expect(due.contains("catch-up, due at \(RFC3339.text(noon + 60_000))"))
    #expect(try text { _ in }.contains("in no catch-up: its sender or conversation was muted"))
    for change: (inout PersonView.MessageStanding) -> Void in [
      { $0.isRead = true }, { $0.isWithdrawn = true }, { $0.wasNotified = true }, { $0.wasToldByCatchUp = true },
    ] {
      #expect(try !text(change).contains("in no catch-up"))
    }
  }

  private func shows(_ story: MessageStory, reads: ([PlacedRecord], [PlacedRecord]) = ([], [])) -> MessageStory
    .DeviceNow?
  {
    var story = story
    story.concludeDevices(readPushes: reads.0, readOutcomes: reads.1)
    return story.devices.first
  }

  @Test("delivered, without a later event: visible according to its presentation")
  func delivered() throws {
    #expect(shows(try story("sent"))?.shows == .notification)
    #expect(shows(try story("sent", presentation: "badge"))?.shows == .badge)
  }

  @Test("issue 57: who answered is the service of the device", arguments: ["fcm", "web_push", "webhook", nil])
  func receivers(destination: String?) throws {
    func words(_ result: String) throws -> String {
      let field = destination.map { #","destination":"\#($0)""# } ?? ""
      return OutcomeWords.of(
        try record(#"{"pushId":"p","deviceId":"d","result":"\#(result)"\#(field)}"#, topic: .outcomes, at: noon).record)
    }
    let all = try ["sent", "invalid_token", "rejected"].map(words)
    let (name, address) =
      switch destination {
      case "web_push": ("the push service", "subscription")
      case "webhook": ("the webhook", "token")
      default: ("FCM", "token")
      }
    #expect(all[0] == "sent: \(name) took it")
    #expect(all[1] == "invalid_token: \(name) does not know the \(address): the device is dropped")
    #expect(all[2] == "rejected: \(name) refused the request itself")
  }

  @Test("not delivered: nothing, with the reason; no outcome yet: pending, with its state")
  func notDelivered() throws {
    let invalid = try #require(shows(try story("invalid_token")))
    #expect(invalid.shows == .nothing && invalid.text.contains("FCM does not know the token"))
    var waiting = try story(nil)
    #expect(shows(waiting)?.shows == .pending)
    waiting.waiting = [
      try waitingPush(attempts: 3)
    ]
    let text = try #require(shows(waiting)).text
    #expect(text.contains("3 attempts") && text.contains("HTTP 503 UNAVAILABLE"), "\(text)")
  }

  private func waitingPush(attempts: Int) throws -> LaneView.Waiting {
    LaneView.Waiting(
      pushId: "p", deviceId: "phone", attempts: attempts, isInAir: false, firstAttemptAt: noon, notBefore: noon + 9_000,
      expiresAt: noon + 3_600_000, httpStatus: 503, errorCode: "UNAVAILABLE")
  }

  @Test("a push that fails is given up at the end of its freshness")
  func givenUp() throws {
    var item = try waitingPush(attempts: 3)
    #expect(MessageStory.words(item).hasSuffix("at the end of its freshness, \(RFC3339.text(noon + 3_600_000))"))
    item.failingSince = noon + 1_000
    item.expiresAt = noon + 300_000
    #expect(MessageStory.words(item).hasSuffix("at the end of its freshness, \(RFC3339.text(noon + 300_000))"))
  }

  @Test("opened, dismissed or read there, or read elsewhere: gone")
  func gone() throws {
    for type in ["notification.opened", "notification.dismissed"] {
      var story = try story("sent")
      story.later = [
        try record(#"{"type":"\#(type)","pushId":"p","deviceId":"phone"}"#, topic: .timeline, at: noon + 900)
      ]
      #expect(shows(story)?.shows == .gone, "\(type)")
    }
    var read = try story("sent")
    read.later = [try record(#"{"type":"message.read","deviceId":"phone"}"#, topic: .timeline, at: noon + 900)]
    #expect(shows(read)?.shows == .gone)
    let told = (
      [try record(#"{"pushId":"r","kind":"read"}"#, topic: .pushes, at: noon + 900)],
      [try record(#"{"pushId":"r","deviceId":"phone","result":"sent"}"#, topic: .outcomes, at: noon + 950)]
    )
    #expect(shows(try story("sent"), reads: told)?.shows == .gone)
    let failed = (
      told.0, [try record(#"{"pushId":"r","deviceId":"phone","result":"gave_up"}"#, topic: .outcomes, at: noon + 950)]
    )
    #expect(shows(try story("sent"), reads: failed)?.shows == .notification, "the phone was never told")
  }

  @Test("P10: receipts tell how the push stands, in any order, and what the device shows")
  func receipts() throws {
    func receipt(_ state: String, at time: Milliseconds) throws -> PlacedRecord {
      try record(
        #"{"type":"receipt","pushId":"p","deviceId":"phone","state":"\#(state)","occurredAt":\#(time)}"#,
        topic: .outcomes, at: time)
    }
    func ends(_ story: MessageStory) -> [DeliveryEnd] {
      var story = story
      story.concludeDevices(readPushes: [], readOutcomes: [])
      return story.ends
    }
    #expect(ends(try story("sent")).map(\.state) == [.taken])
    #expect(ends(try story("gave_up")).map(\.state) == [.failed])
    #expect(ends(try story(nil)).map(\.state) == [.waiting])
    var opened = try story("sent")
    opened.receipts = [try receipt("opened", at: noon + 900), try receipt("arrived", at: noon + 100)]
    let end = try #require(ends(opened).first)
    #expect(end.state == .opened && end.reached.map(\.state) == [.arrived, .opened])
    #expect(end.text.hasPrefix("opened: arrived "))
    #expect(shows(opened)?.shows == .gone)
    opened.concludeDevices(readPushes: [], readOutcomes: [])
    #expect(StoryText(opened).text.contains("opened: arrived "), "\(StoryText(opened).text)")
    var arrived = try story("sent")
    arrived.receipts = [try receipt("arrived", at: noon + 100)]
    let now = try #require(shows(arrived))
    #expect(now.shows == .notification && now.text.contains("which the app confirmed"))
    var withdrawn = try story("sent")
    withdrawn.receipts = [try receipt("withdrawn", at: noon + 900)]
    #expect(shows(withdrawn)?.shows == .gone)
  }

  @Test("D21: a message that was said again has its second push, and the webhook beside its devices")
  func saidAgain() throws {
    var story = try story("sent")
    story.decisions = [
      try record(
        #"{"outcome":"notify","reason":"relevant","pushId":"p","presentation":"alert","#
          + #""checks":[{"check":"escalation","inputs":{"dueAt":\#(noon + 300_000)}}]}"#, topic: .decisions, at: noon)
    ]
    let again = try record(
      #"{"pushId":"p2","kind":"message","presentation":"alert","conversationId":"c","messageId":"m","#
        + #""escalation":{"pushedAt":\#(noon)},"targets":[{"deviceId":"phone"}]}"#, topic: .pushes, at: noon + 300_000)
    let told = try record(
      #"{"pushId":"e","kind":"escalation","conversationId":"c","messageId":"m","targets":[],"#
        + #""escalation":{"pushedAt":\#(noon),"pushedAgainAt":\#(noon + 300_000)}}"#, topic: .pushes, at: noon + 600_000
    )
    #expect([again, told].allSatisfy { MessageStory.isPush($0.record, of: "m", in: "c") })
    #expect(![again, told].contains { MessageStory.isPush($0.record, of: "m", in: "d") })
    #expect(![again, told].contains { MessageStory.isPush($0.record, of: "n", in: "c") })
    story.pushes.append(again)
    story.escalations = [told]
    #expect(story.pushIds == ["p", "p2", "e"])
    story.outcomes += [
      try record(
        #"{"pushId":"p2","deviceId":"phone","result":"sent","attempts":1,"finishedAt":\#(noon + 300_050)}"#,
        topic: .outcomes, at: noon + 300_050),
      try record(
        #"{"pushId":"e","deviceId":"webhook","result":"sent","attempts":2,"httpStatus":200}"#, topic: .outcomes,
        at: noon + 600_050),
    ]
    story.concludeDevices(readPushes: [], readOutcomes: [])
    #expect(story.devices.map(\.deviceId) == ["phone"] && story.ends.count == 2)
    let text = StoryText(story).text
    for part in [
      "pushed once more at \(RFC3339.text(noon + 300_000)) unless it arrives or is read before",
      "said again: it had neither arrived nor been read since \(RFC3339.text(noon))",
      "escalated", "pushed again at \(RFC3339.text(noon + 300_000))", "the webhook took it, 2 attempts",
    ] {
      #expect(text.contains(part), "\(part) is not in\n\(text)")
    }
    story.outcomes.removeLast()
    #expect(StoryText(story).text.contains("the webhook  no outcome yet"))
  }

  @Test("an event of another device's notification does not change this one")
  func otherDevice() throws {
    var story = try story("sent")
    story.later = [
      try record(#"{"type":"notification.opened","pushId":"p","deviceId":"tablet"}"#, topic: .timeline, at: noon + 900)
    ]
    #expect(shows(story)?.shows == .notification)
  }

  @Test("other recipients of a candidate are counted and not named")
  func oneRecipient() throws {
    let candidate = try record(
      #"{"recipients":[{"userId":"ann"},{"userId":"bob"},{"userId":"cy"}]}"#, topic: .timeline, at: noon)
    let shown = ExplainSearch.onlyRecipient("ann", of: candidate).record
    #expect(shown["recipients"]?.elements.count == 1 && shown["recipientCount"]?.integer == 3)
    #expect(!shown.shown.contains("bob"))
  }

  @Test(
    "what a removal or a deletion took from a device has that as its reason",
    arguments: [
      ("left", "the person left the conversation"), ("conversation_deleted", "the conversation was deleted"),
      (nil, "the conversation was read elsewhere"),
    ] as [(String?, String)])
  func removed(cause: String?, reason: String) throws {
    var story = try story("sent")
    story.receipts = [
      try record(
        #"{"type":"receipt","pushId":"p","deviceId":"phone","state":"withdrawn","occurredAt":\#(noon + 900),"#
          + #""origin":{"topic":"nudge.timeline","partition":0,"offset":900}}"#, topic: .outcomes, at: noon + 900)
    ]
    if let cause {
      story.later = [
        try record(#"{"type":"message.withdrawn","cause":"\#(cause)"}"#, topic: .timeline, at: noon + 900)
      ]
      #expect(LaterWords.of(story.later[0].record) == reason)
    }
    let device = try #require(shows(story))
    #expect(device.text == "removed, because \(reason), at \(RFC3339.text(noon + 900))")
    #expect(StoryWords(story).receipts == ["removed there, because \(reason)"])
  }
}
