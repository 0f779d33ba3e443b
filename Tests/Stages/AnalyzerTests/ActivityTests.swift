import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Activity")
struct ActivityTests {
  @Test("D1: a conversation open in the foreground suppresses its pushes while the report is no older than 2 minutes")
  func horizon() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    #expect(try scene.message("m1", at: noon + 2 * minute).decision?.reason == .activeConversation)
    #expect(try scene.message("m2", at: noon + 2 * minute + 1).decision?.outcome == .notify)
  }

  @Test("D1, D11: the report's age is judged by the message's time, not by the clock")
  func eventTime() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    let decision = try scene.message("m1", at: noon + minute, decidedAt: noon + 50 * minute).decision
    #expect(decision?.reason == .activeConversation)
  }

  @Test("D1: a report replaces only that device's own")
  func devices() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    try scene.activity("tablet", in: "c1", at: noon + 1)
    try scene.activity("tablet", in: nil, at: noon + 2)
    #expect(try scene.message("m1", at: noon + 3).decision?.reason == .activeConversation)
    try scene.activity("phone", in: "c2", at: noon + 4)
    #expect(try scene.message("m2", at: noon + 5).decision?.outcome == .notify)
    #expect(try scene.message("m3", in: "c2", at: noon + 6).decision?.reason == .activeConversation)
  }

  @Test("D1: the background ends a device's activity")
  func background() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    try scene.activity("phone", .background, in: "c1", at: noon + 1)
    #expect(try scene.message("m1", at: noon + 2).decision?.outcome == .notify)
  }

  @Test("D1: a report from the background opens nothing, whichever conversation it names: what is unread stays so")
  func backgroundReadsNothing() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    #expect(try scene.message("m1").decision?.badge == 1)
    #expect(try scene.activity("phone", .background, in: "c1", at: noon + minute).pushEvents.isEmpty)
    #expect(try scene.message("m2", in: "c2", at: noon + minute + 1).decision?.badge == 2)
  }

  @Test("D12: a late report does not bring an older state back, whichever way they arrive")
  func lateReport() throws {
    for reports in [[0, 1], [1, 0]] {
      let scene = try Scene.withPhone()
      for report in reports {
        if report == 0 { try scene.activity("phone", in: "c1", at: noon) }
        if report == 1 { try scene.activity("phone", .background, at: noon + 1) }
      }
      #expect(try scene.message("m1", at: noon + 2).decision?.outcome == .notify)
    }
  }

  @Test(
    "D1: what came into an open conversation is read with the next report, with all before it, and never raised the badge"
  )
  func countsAsRead() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    #expect(try scene.message("m1").decision?.badge == 1)
    try scene.activity("phone", in: "c1", at: noon + 1)
    let written = try scene.message("m2", at: noon + 2)
    #expect(written.decision?.reason == .activeConversation && written.decision?.badge == 1)
    #expect(written.pushes.isEmpty)
    let report = try scene.activity("phone", in: "c1", at: noon + minute)
    // The other device learns that what it shows of m1 was read.
    #expect(report.pushes.map(\.kind) == [.read])
    #expect(report.push?.targets.map(\.deviceId) == ["tablet"])
    #expect(report.push?.badge == 0)
    #expect(try scene.message("m3", at: noon + minute + 1).pushEvents.isEmpty)
  }

  @Test("D1, D8: a muted conversation that is open does not raise the badge either")
  func mutedAndOpen() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]))
    try scene.activity("phone", in: "c1", at: noon)
    let decision = try scene.message("m1", at: noon + 1).decision
    #expect(decision?.reason == .conversationMuted)
    #expect(decision?.badge == 0)
  }

  @Test("D1: a person who writes has read the conversation up to their own message")
  func writing() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    let sent = try scene.wrote("mine", at: noon + 1)
    #expect(sent.pushes.map(\.kind) == [.read])
    #expect(sent.push?.badge == 0)
    #expect(sent.decisions.isEmpty)
  }

  @Test("D1: the answer to what a person has just written is shown, and counts on the badge")
  func answerAfterWriting() throws {
    let scene = try Scene.withPhone()
    try scene.wrote("mine", at: noon)
    let answer = try scene.message("m1", at: noon + 3 * second, body: "yes, in ten minutes")
    #expect(answer.decision?.outcome == .notify)
    #expect(answer.decision?.badge == 1)
    #expect(answer.push?.kind == .message)
  }

  @Test("D1: only a device's own report that the conversation is open keeps the answer from being shown")
  func answerWhileOpen() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: "c1", at: noon)
    try scene.wrote("mine", at: noon + 1)
    #expect(try scene.message("m1", at: noon + 3 * second).decision?.reason == .activeConversation)
    try scene.activity("phone", .background, at: noon + 4 * second)
    #expect(try scene.message("m2", at: noon + 5 * second).decision?.outcome == .notify)
  }

  @Test("D9: writing does not mean that the app is open: a reply from the lock screen brings no in-app banner")
  func noBannerAfterWriting() throws {
    let scene = try Scene.withPhone()
    try scene.wrote("mine", at: noon)
    #expect(try scene.message("m1", in: "c2", at: noon + 3 * second).banners.isEmpty)
  }

  @Test("D9: nobody gets a banner of their own message, whoever else names them as its recipient")
  func ownMessage() throws {
    let scene = Scene()
    for user in ["ann", "bob"] {
      try scene.gain("\(user)-phone", user: user)
      try scene.send(
        .user(.activity(Activity(userId: user, deviceId: "\(user)-phone", state: .foreground))), at: noon)
    }
    let written = try scene.send(
      .candidate(Scene.candidate("m1", to: ["ann", "bob"])), at: noon + 1, origin: scene.nextOrigin())
    #expect(written.decisions.map(\.body.userId) == ["ann", "bob"])
    #expect(written.banners.map(\.userId) == ["ann"])
  }

  @Test("D9: a banner is shown in another conversation and in the list, never in the open one or outside the app")
  func banner() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("m1", in: "c1").banners.isEmpty)
    try scene.activity("phone", in: nil, at: noon)
    let text = String(repeating: "ab👨‍👩‍👧 ", count: 20)
    let written = try scene.message("m2", in: "c1", at: noon + 1, group: "Hikers", body: text)
    let banner = try #require(written.banners.first)
    #expect(banner.senderName == "Bob" && banner.senderId == "bob" && banner.groupName == "Hikers")
    #expect(banner.avatarUrl == "https://example.com/bob.png")
    #expect(banner.conversationId == "c1" && banner.messageId == "m2" && banner.userId == "ann")
    #expect(banner.preview == String(text.prefix(49)) + "…")
    try scene.activity("phone", in: "c2", at: noon + 2)
    #expect(try scene.message("m3", in: "c1", at: noon + 3, body: "short").banners.map(\.preview) == ["short"])
    #expect(try scene.message("m4", in: "c2", at: noon + 3).banners.isEmpty)
    try scene.activity("phone", .background, at: noon + 4)
    #expect(try scene.message("m5", in: "c1", at: noon + 5).banners.isEmpty)
  }

  @Test("D9: no banner for the person's own message, a muted conversation or a stale message")
  func noBanner() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: nil, at: noon)
    #expect(try scene.wrote("mine", at: noon).banners.isEmpty)
    let own = try scene.send(
      .candidate(Scene.candidate("m0", to: ["bob"])), at: noon, origin: scene.nextOrigin())
    #expect(own.banners.isEmpty)
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c2")]))
    #expect(try scene.message("m1", in: "c2", at: noon + 1).banners.isEmpty)
    #expect(try scene.message("m2", in: "c3", at: noon + 1, decidedAt: noon + 2 * hour).banners.isEmpty)
    #expect(try scene.message("m3", in: "c3", at: noon + 2).banners.count == 1)
  }

  @Test("D1: only the last six devices to report are remembered")
  func bounded() throws {
    var user = UserRow()
    for number in 0..<50 {
      user.report(
        DeviceActivity(
          deviceId: "d\(number)", state: .foreground, conversationId: "c\(number)",
          stamp: EventStamp(occurredAt: Int64(number), eventId: "e")))
    }
    #expect(user.activities.map(\.deviceId) == ["d49", "d48", "d47", "d46", "d45", "d44"])
  }
}
