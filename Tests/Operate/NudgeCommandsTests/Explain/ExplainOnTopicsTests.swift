import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge explain, on topics")
struct ExplainOnTopicsTests {
  private let noon: Milliseconds = 1_795_343_400_000

  private func decision(_ user: String, _ message: String, push: String?, from partition: Int32, at time: Milliseconds)
    -> String
  {
    let notify =
      push.map { #""outcome":"notify","reason":"relevant","presentation":"alert","pushId":"\#($0)""# }
      ?? #""outcome":"suppress","reason":"muted""#
    return #"{"type":"decision","userId":"\#(user)","conversationId":"c","messageId":"\#(message)",\#(notify),"#
      + #""decidedAt":\#(time),"origin":{"topic":"nudge.timeline","partition":\#(partition),"offset":0}}"#
  }

  private func held(_ user: String, _ message: String) -> String {
    #"{"type":"decision","userId":"\#(user)","conversationId":"c","messageId":"\#(message)","outcome":"deferred","#
      + #""reason":"active_conversation","heldUntil":\#(noon + 120_000),"decidedAt":\#(noon),"#
      + #""origin":{"topic":"nudge.timeline","partition":0,"offset":0}}"#
  }

  private func outcome(_ push: String, _ device: String, _ result: String) -> String {
    #"{"type":"outcome","pushId":"\#(push)","deviceId":"\#(device)","result":"\#(result)","attempts":1,"#
      + #""occurredAt":\#(noon),"finishedAt":\#(noon + 90),"origin":{"topic":"nudge.pushes","partition":0,"offset":0}}"#
  }

  private func receipt(_ push: String, _ device: String, _ state: String, after time: Milliseconds) -> String {
    #"{"type":"receipt","pushId":"\#(push)","deviceId":"\#(device)","state":"\#(state)","platform":"ios","#
      + #""occurredAt":\#(noon + time),"sentAt":\#(noon)}"#
  }

  private func search(_ world: BrowsedBroker, _ browser: TopicBrowser, user: String, limit: Int = 100) -> ExplainSearch
  {
    ExplainSearch(
      ExplainSearch.Question(
        userId: user, since: noon - 1_000, limit: limit, showsTexts: false, readsState: false, now: noon + 60_000),
      browser: browser, cluster: world.cluster)
  }

  @Test("after a repartition the earlier pushes and the later reads of a person are found, wherever they are")
  func repartitioned() throws {
    let world = try BrowsedBroker(partitions: 2, inputs: 6)
    let user = try #require(
      (0..<100).map { "user-\($0)" }.first { Murmur2.partition(of: Array($0.utf8), count: 6) > 1 })
    let former = Murmur2.partition(of: Array(user.utf8), count: 2)
    try world.produce(
      #"{"type":"message.candidate","messageId":"m","recipients":[{"userId":"\#(user)"}]}"#, key: "c", to: .timeline,
      partition: former, at: noon)
    try world.produce(decision(user, "m", push: "p", from: former, at: noon), key: user, to: .decisions, at: noon)
    try world.produce(
      #"{"type":"push","kind":"message","pushId":"p","targets":[{"deviceId":"phone","platform":"ios"}]}"#, key: user,
      to: .pushes, partition: former, at: noon)
    try world.produce(outcome("p", "phone", "sent"), key: user, to: .outcomes, at: noon + 90)
    // As the first record of the new partition: its offset is that of the candidate in the former one.
    try world.produce(
      #"{"type":"message.read","conversationId":"c","deviceId":"phone","occurredAt":\#(noon + 500)}"#, key: user,
      to: .timeline, at: noon + 500)
    try world.flush()
    let browser = try world.browser()
    let story = try #require(try search(world, browser, user: user).answer().stories.first)
    #expect(story.candidate != nil && story.pushes.count == 1 && story.outcomes.count == 1)
    #expect(story.later.map { $0.record["type"]?.string } == ["message.read"])
    #expect(story.devices.first?.shows == .gone && story.ends.map(\.state) == [.taken])
  }

  @Test("decisions are told as they are found, the latest first, and no more than the answer has")
  func latestFirst() throws {
    let world = try BrowsedBroker()
    for number in 0..<50 {
      for user in ["ann", "bob"] {
        try world.produce(
          decision(user, "m\(number)", push: nil, from: 0, at: noon + Milliseconds(number)), key: user, to: .decisions,
          at: noon + Milliseconds(number))
      }
    }
    try world.produce(decision("ann", "old", push: nil, from: 0, at: 1), key: "ann", to: .decisions, at: 1)
    try world.flush()
    let browser = try world.browser()
    var asked = search(world, browser, user: "ann", limit: 8)
    var told: [String] = []
    asked.found = { told.append($0.record["messageId"]?.string ?? "?") }
    let answer = try asked.answer()
    #expect(told == (42..<50).reversed().map { "m\($0)" })
    #expect(answer.stories.map(\.messageId) == told.reversed() && answer.older == 42)
  }

  @Test(
    "D18: a message that a catch-up told of, alone or beside others, has that push, its outcome and what each device shows"
  )
  func caughtUp() throws {
    let world = try BrowsedBroker()
    let checks =
      #""checks":[{"check":"quiet_hours","result":"suppress"},{"check":"catch_up","inputs":{"dueAt":\#(noon + 1)}}]"#
    for user in ["ann", "bob"] {
      let waits = decision(user, "m", push: nil, from: 0, at: noon).replacing(
        "\"decidedAt\"", with: "\(checks),\"decidedAt\"")
      try world.produce(waits, key: user, to: .decisions, at: noon)
    }
    try world.produce(
      #"{"type":"push","kind":"message","pushId":"alone","userId":"ann","conversationId":"c","messageId":"m","#
        + #""presentation":"alert","priority":"medium","targets":[{"deviceId":"phone","platform":"ios"}]}"#, key: "ann",
      to: .pushes, at: noon + 1)
    try world.produce(
      #"{"type":"push","kind":"message","pushId":"of-another","userId":"ann","conversationId":"c","messageId":"n","#
        + #""presentation":"alert","targets":[{"deviceId":"phone","platform":"ios"}]}"#, key: "ann", to: .pushes,
      at: noon + 1)
    try world.produce(
      #"{"type":"push","kind":"digest","pushId":"two","userId":"bob","targets":[{"deviceId":"phone","platform":"ios"}],"#
        + #""digest":{"messages":2,"conversations":1,"parts":[{"conversationId":"c","messages":2,"keys":["#
        + #""\#(Digest.key("m"))","\#(Digest.key("n"))"]}]}}"#, key: "bob", to: .pushes, at: noon + 1)
    for (user, push) in [("ann", "alone"), ("ann", "of-another"), ("bob", "two")] {
      try world.produce(outcome(push, "phone", "sent"), key: user, to: .outcomes, at: noon + 90)
    }
    try world.produce(receipt("alone", "phone", "arrived", after: 400), key: "ann", to: .outcomes, at: noon + 400)
    try world.flush()
    let browser = try world.browser()

    let alone = try #require(
      try search(world, browser, user: "ann").answer().stories.first { $0.messageId == "m" })
    #expect(alone.pushes.map { $0.record["pushId"]?.string } == ["alone"] && alone.catchUps.isEmpty)
    #expect(alone.outcomes.count == 1 && alone.receipts.count == 1)
    #expect(alone.devices.map(\.shows) == [.notification] && alone.ends.map(\.state) == [.arrived])
    #expect(StoryText(alone).text.contains("the catch-up, in which no other message waited"))
    let beside = try #require(try search(world, browser, user: "bob").answer().stories.first)
    #expect(beside.catchUps.count == 1 && beside.catchUpOutcomes.count == 1 && beside.pushes.isEmpty)

    // An edit's push belongs to the story, and is no further delivery of the message.
    try world.produce(
      #"{"type":"push","kind":"message","pushId":"edit","userId":"bob","conversationId":"c","messageId":"m","#
        + #""replaces":true,"targets":[{"deviceId":"phone","platform":"ios"}]}"#, key: "bob", to: .pushes, at: noon + 2)
    try world.produce(outcome("edit", "phone", "sent"), key: "bob", to: .outcomes, at: noon + 91)
    try world.flush()
    let edited = try #require(try search(world, browser, user: "bob").answer().stories.first)
    #expect(edited.pushes.count == 1 && edited.outcomes.count == 1 && edited.catchUps.count == 1)

    let asked = MessageSearch.Question(
      messageId: "m", conversationId: "c", showsTexts: false, peopleShown: 2, now: noon + 60_000)
    let group = try #require(try MessageSearch(asked, browser: browser).answer().groups.first)
    #expect(group.shape == .none && group.results == [.init(result: "sent", count: 2)])
    #expect(
      group.deliveries == [
        .init(userId: "ann", deviceId: "phone", state: .arrived),
        .init(userId: "bob", deviceId: "phone", state: .taken),
      ])
  }

  @Test("O6: a message that was refused has nobody, and its answer says who refused it and why")
  func refused() throws {
    let world = try BrowsedBroker()
    try world.produce(
      #"{"type":"message.created","messageId":"m","conversationId":"c","senderId":"dan","occurredAt":\#(noon)}"#,
      key: "c",
      to: .chatEvents, at: noon)
    try world.flush()
    let browser = try world.browser()
    let events = EventSearch(browser: browser, redaction: Redaction(showsTexts: false), now: noon + 60_000)
    let event = try #require(try events.find("m")?.event)
    try world.produce(
      "{}", key: "c", to: .deadLetters, at: noon + 10,
      headers: [
        (RecordHeader.errorCode, "sender_not_member"), (RecordHeader.errorMessage, "dan is no member"),
        (RecordHeader.errorStage, "ingest"), (RecordHeader.originTopic, event.position.topic),
        (RecordHeader.originPartition, "\(event.position.partition)"),
        (RecordHeader.originOffset, "\(event.position.offset)"),
      ])
    try world.flush()
    let asked = MessageSearch.Question(
      messageId: "m", conversationId: nil, showsTexts: false, peopleShown: 2, now: noon + 60_000)
    let answer = try MessageSearch(asked, browser: try world.browser()).answer()
    #expect(answer.people == 0)
    #expect(answer.text.contains("ingest refused the event: sender_not_member: dan is no member"))
  }

  @Test("a message id that several conversations have: the answer names them, and says nothing of another's message")
  func severalConversations() throws {
    let world = try BrowsedBroker()
    for (number, conversation) in ["c", "d"].enumerated() {
      // A producer's retry is no other message.
      for _ in 0..<2 {
        try world.produce(
          #"{"type":"message.created","messageId":"m","conversationId":"\#(conversation)","senderId":"dan"}"#,
          key: conversation, to: .chatEvents, at: noon + Milliseconds(number))
      }
    }
    try world.produce(decision("ann", "m", push: nil, from: 0, at: noon), key: "ann", to: .decisions, at: noon)
    try world.flush()
    let browser = try world.browser()
    func missing(_ conversation: String?) throws -> MissingDecision? {
      let question = ExplainSearch.Question(
        userId: "bob", messageId: "m", conversationId: conversation, since: nil, limit: 9, showsTexts: false,
        readsState: false, now: noon + 60_000)
      return try ExplainSearch(question, browser: browser, cluster: world.cluster).answer().missing
    }
    #expect(try missing(nil)?.cause == .severalConversations)
    let named = "2 conversations have a message with this id, the newest first: d, c"
    #expect(try missing(nil)?.text.contains(named) == true)
    #expect(try missing("c")?.cause != .severalConversations)
    func note(_ conversation: String?) throws -> String? {
      let asked = MessageSearch.Question(
        messageId: "m", conversationId: conversation, showsTexts: false, peopleShown: 2, now: noon + 60_000)
      return try MessageSearch(asked, browser: browser).answer().note
    }
    #expect(try note(nil)?.contains("d, c. --conversation says which is meant") == true)
    #expect(try note("c") == nil)
  }

  @Test("P10: of a message, how far each group's pushes got, and those of each person")
  func ends() throws {
    let world = try BrowsedBroker()
    func decide(_ user: String, push: String?) throws {
      try world.produce(decision(user, "m", push: push, from: 0, at: noon), key: user, to: .decisions, at: noon)
    }
    // Held at first; bob's was told afterwards.
    for user in ["bob", "eve"] {
      try world.produce(held(user, "m"), key: user, to: .decisions, at: noon - 1)
    }
    for user in ["ann", "bob", "cy"] { try decide(user, push: "p-\(user)") }
    try decide("dan", push: nil)
    func report(_ user: String, _ record: String) throws {
      try world.produce(record, key: user, to: .outcomes, at: noon + 100)
    }
    try report("ann", receipt("p-ann", "phone", "opened", after: 900))
    try report("ann", receipt("p-ann", "phone", "arrived", after: 400))
    try report("ann", outcome("p-ann", "phone", "sent"))
    try report("ann", outcome("p-ann", "tablet", "rejected"))
    try report("bob", outcome("p-bob", "phone", "sent"))
    try report("bob", outcome("another", "phone", "sent"))
    try world.flush()
    let browser = try world.browser()
    let asked = MessageSearch.Question(
      messageId: "m", conversationId: "c", showsTexts: false, peopleShown: 2, now: noon + 60_000)
    let answer = try MessageSearch(asked, browser: browser).answer()
    #expect(answer.groups.map(\.shape) == [.alert, .held, .none] && answer.people == 5)
    let group = try #require(answer.groups.first)
    #expect(group.people == ["ann", "bob"] && group.more == 1)
    #expect(group.results == [.init(result: "sent", count: 2), .init(result: "rejected", count: 1)])
    #expect(
      group.ends == [
        .init(state: .waiting, count: 1), .init(state: .taken, count: 1), .init(state: .opened, count: 1),
        .init(state: .failed, count: 1),
      ])
    #expect(
      group.deliveries == [
        .init(userId: "ann", deviceId: "phone", state: .opened),
        .init(userId: "ann", deviceId: "tablet", state: .failed),
        .init(userId: "bob", deviceId: "phone", state: .taken),
      ])
    #expect(group.latencyMs?.max == 90 && group.arrivalMs?.p50 == 400 && group.arrivalMs?.max == 400)
    #expect(answer.groups[1].people == ["eve"] && answer.text.contains("HELD, active_conversation"))
    #expect(answer.groups[1].ends.isEmpty && answer.groups[1].deliveries.isEmpty && answer.groups[1].arrivalMs == nil)
    #expect(
      answer.text.contains("how far they got: 1 waiting, 1 left, 1 opened, 1 failed; half arrived within 400 ms"))
  }

  @Test("what the dispatcher leaves alone is cancelled in no story: another sender's, another kind's, an excepted one")
  func sparedPushes() throws {
    let world = try BrowsedBroker(partitions: 1, inputs: 1)
    func from(_ offset: Int) -> String {
      #""origin":{"topic":"nudge.timeline","partition":0,"offset":\#(offset)}"#
    }
    let cancellations = [
      #""senderId":"eve""#, #""conversationKind":"direct""#,
      #""conversationKind":"group","exceptConversations":["\#(Digest.key("c"))"]"#,
      #""conversationId":"c","exceptMentions":true"#, #""conversationKind":"group","exceptAddressed":true"#,
      #""deviceId":"phone","target":{"deviceId":"phone"}"#,
      // These are meant.
      #""senderId":"bob""#, #""conversationId":"c""#,
    ]
    try world.produce(decision("ann", "m", push: "p", from: 0, at: noon), key: "ann", to: .decisions, at: noon)
    try world.produce(
      #"{"type":"push","kind":"message","pushId":"p","senderId":"bob","answered":true,"priority":"high","#
        + #""conversation":{"kind":"group"},"targets":[{"deviceId":"phone","platform":"ios"}],\#(from(1))}"#,
      key: "ann", to: .pushes, at: noon)
    for (number, fields) in cancellations.enumerated() {
      try world.produce(
        #"{"type":"push.cancelled","userId":"ann",\#(fields),\#(from(2 + number))}"#, key: "ann", to: .pushes,
        at: noon + Milliseconds(number))
    }
    try world.flush()
    let story = try #require(try search(world, try world.browser(), user: "ann").answer().stories.first)
    #expect(story.cancellations.map(\.timestamp) == [noon + 6, noon + 7])
    #expect(StoryText(story).text.contains("what waited of the sender, who was muted"))
  }

  @Test("a cancellation from before the message is not part of its story; a removal from the group is no read")
  func leftTheGroup() throws {
    let world = try BrowsedBroker(partitions: 1, inputs: 1)
    func from(_ offset: Int) -> String {
      #""origin":{"topic":"nudge.timeline","partition":0,"offset":\#(offset)}"#
    }
    let left = #"{"type":"message.withdrawn","cause":"left","conversationId":"c","userIds":["ann"]}"#
    let cancelled = #"{"type":"push.cancelled","userId":"ann","conversationId":"c""#
    try world.produce(left, key: "c", to: .timeline, at: noon - 2_000)
    try world.produce(#"{"type":"message.candidate","messageId":"m"}"#, key: "c", to: .timeline, at: noon)
    try world.produce(left, key: "c", to: .timeline, at: noon + 60_000)
    try world.produce(
      decision("ann", "m", push: "p", from: 0, at: noon).replacing(#""offset":0"#, with: #""offset":1"#), key: "ann",
      to: .decisions, at: noon)
    for record in [
      "\(cancelled),\(from(0))}",
      #"{"type":"push","kind":"message","pushId":"p","targets":[{"deviceId":"phone","platform":"ios"}],\#(from(1))}"#,
      // Changes what waits, and cancels nothing.
      #"{"type":"push.cancelled","userId":"ann","showPreviews":false,\#(from(3))}"#,
    ] { try world.produce(record, key: "ann", to: .pushes, at: noon) }
    for record in [
      "\(cancelled),\(from(2))}", #"{"type":"push","kind":"read","pushId":"r","conversationId":"c",\#(from(2))}"#,
    ] { try world.produce(record, key: "ann", to: .pushes, at: noon + 60_000) }
    for push in ["p", "r"] {
      try world.produce(
        outcome(push, "phone", "sent"), key: "ann", to: .outcomes, at: noon + (push == "p" ? 90 : 60_090))
    }
    try world.flush()
    let story = try #require(try search(world, try world.browser(), user: "ann").answer().stories.first)
    #expect(story.cancellations.map(\.timestamp) == [noon + 60_000])
    let device = try #require(story.devices.first)
    #expect(device.shows == .gone)
    #expect(
      device.text
        == "the person left the conversation; the device was told at \(RFC3339.text(noon + 60_090))")
  }
}
