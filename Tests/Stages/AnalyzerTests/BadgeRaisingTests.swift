import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Badge: what is not shown reaches the phones' number")
struct BadgeRaisingTests {
  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  @Test("D6: a muted message raises the badge at once, the next ones a minute later, all with one push")
  func everyMinute() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")], badgeMode: .messages))
    let first = try scene.message("m1")
    #expect(first.pushes.map(\.kind) == [.badge] && first.push?.badge == 1 && first.push?.body == nil)
    for number in 2...9 {
      #expect(try scene.message("m\(number)", at: noon + Int64(number) * second).pushEvents.isEmpty)
    }
    #expect(try fire(scene, at: noon + minute - 1).isEmpty)
    let later = try fire(scene, at: noon + minute)
    #expect(later.flatMap(\.pushes).map(\.badge) == [9])
    #expect(try fire(scene, at: noon + hour).isEmpty)
  }

  /// From 11:30 to 14:00 UTC.
  private let quiet = QuietHours(start: "12:30", end: "15:00", timeZone: "Europe/Berlin")

  /// Writes three messages in quiet hours. Returns the pushes that follow these, each with its time.
  private func pushesAfterQuietHours(_ scene: Scene) throws -> [(at: Milliseconds, push: Push)] {
    for number in 1...3 {
      let written = try scene.message("m\(number)", at: noon + Int64(number) * 10 * minute)
      #expect(written.decision?.reason == .quietHours && written.pushEvents.isEmpty)
    }
    var pushes: [(at: Milliseconds, push: Push)] = []
    let end = noon + 2 * hour
    for seconds in -1...360 {
      let time = end + Milliseconds(seconds) * second
      for written in try fire(scene, at: time) {
        for push in written.pushes { pushes.append((at: time, push: push)) }
      }
    }
    return pushes
  }

  @Test("D2, D6: what quiet hours suppressed is on the badge with the catch-up after them, and no other push")
  func quietHours() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(quiet), badgeMode: .messages))
    let pushes = try pushesAfterQuietHours(scene)
    #expect(pushes.map(\.push.kind) == [.digest] && pushes.first?.push.badge == 3)
  }

  @Test("D6, D18: who catches up later has the badge after quiet hours, at the person's moment in the spread")
  func spread() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(quiet), badgeMode: .messages, digestTimes: .set(["18:00"])))
    let pushes = try pushesAfterQuietHours(scene)
    #expect(pushes.map(\.push.kind) == [.badge] && pushes.first?.push.badge == 3)
    let moment = noon + 2 * hour + AnalyzerRules(hash: standInHash).catchUpOffset(of: "ann")
    #expect(moment > noon + 2 * hour + 10 * second)
    #expect(try (moment...moment + second).contains(#require(pushes.first?.at)))
  }

  /// Quiet hours with one message in each of three chats, none of them pushed, after `before` was told by day.
  private func quietNight(after before: [String] = []) throws -> Scene {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(quietHours: .set(quiet)))
    for id in before { try scene.message(id, in: id, at: noon - hour) }
    for number in 1...3 {
      let written = try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number) * second)
      #expect(written.decision?.reason == .quietHours && written.pushEvents.isEmpty)
    }
    return scene
  }

  @Test("D6: in quiet hours a deletion or a read of what they suppressed tells no number with the others of it")
  func lowered() throws {
    let ends: [(Scene) throws -> Written] = [
      { try $0.withdraw("m1", in: "c1", at: noon + minute) }, { try $0.read("c1", at: noon + minute) },
      { try $0.withdraw(nil, in: "c1", cause: .left, at: noon + minute) },
      { try $0.wrote("mine", in: "c1", at: noon + minute) },
    ]
    for end in ends {
      for before in [[], ["d1"], ["d1", "d2"]] {
        let scene = try quietNight(after: before)
        let written = try end(scene)
        #expect(written.pushes.allSatisfy { $0.badge <= before.count }, "\(written.pushes)")
        #expect(written.pushes.allSatisfy { $0.kind != .badge })
        #expect(written.cancelled.allSatisfy { $0.badge ?? 0 <= before.count })
        // After them the number is right.
        let pushes = try (0...360).flatMap { try fire(scene, at: noon + 2 * hour + Int64($0) * second) }.flatMap(
          \.pushes)
        #expect(pushes.map(\.badge) == [before.count + 2])
      }
    }
  }

  @Test("D6: in quiet hours the number falls as what was told before them is read, and an edit raises it no more")
  func loweredByDay() throws {
    let scene = try quietNight(after: ["d1", "d2", "d3", "d4"])
    #expect(try scene.edit("d1", in: "d1", body: "at six", at: noon + minute).push?.badge == 4)
    for (number, badge) in [(1, 4), (2, 4), (3, 4), (4, 3)] {
      let written = try scene.read("d\(number)", at: noon + 2 * minute + Int64(number))
      #expect(written.push?.kind == .read && written.push?.badge == badge)
    }
    let gone = try scene.withdraw("m1", in: "c1", at: noon + 3 * minute)
    #expect(gone.pushes.map(\.badge) == [2] && gone.pushes.first?.kind == .badge)
    #expect(try scene.read("c2", at: noon + 4 * minute).push?.badge == 1)
    #expect(try scene.read("c3", at: noon + 4 * minute).push?.badge == 0)
  }

  @Test("D6: an expired message and one that a level keeps from being shown raise it too")
  func others() throws {
    let expired = try Scene.withPhone()
    #expect(try expired.message("m1", decidedAt: noon + 2 * hour).push?.kind == .badge)
    let level = try Scene.withPhone()
    try level.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: NotificationLevel.none)))
    #expect(try level.message("m1").push?.badge == 1)
  }

  @Test("D6: nothing is pushed at the end where the person has read it, or turned notifications off")
  func nothingLeft() throws {
    for isRead in [true, false] {
      let scene = try Scene.withPhone()
      try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "13:00"))))
      try scene.message("m1")
      if isRead {
        try scene.read(at: noon + 1)
      } else {
        try scene.prefer(PreferencesPatch(enabled: false), at: noon + 1)
      }
      #expect(try fire(scene, at: noon + hour).allSatisfy { $0.pushes.isEmpty })
    }
  }

  @Test("D7: the read push says up to which message, by its id and the time it was written")
  func readUpTo() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.message("m1")
    try scene.message("m2", at: noon + second)
    try scene.message("m3", at: noon + 2 * second)
    let read = try #require(try scene.read(upTo: "m2", at: noon + minute, on: "phone").push)
    #expect(read.kind == .read && read.messageId == "m2" && read.sentAt == noon + second && read.badge == 1)
    let wrote = try #require(try scene.wrote("mine", at: noon + 2 * minute).push)
    #expect(wrote.kind == .read && wrote.messageId == "mine" && wrote.sentAt == noon + 2 * minute)
  }

  @Test("D13: an edit shows nothing in a muted conversation, or at level none")
  func edits() throws {
    let patches = [
      PreferencesPatch(muted: [MutedConversation(conversationId: "c1", until: noon + hour)]),
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c1", level: NotificationLevel.none)]),
    ]
    for patch in patches {
      let scene = try Scene.withPhone()
      try scene.message("m1")
      try scene.prefer(patch, at: noon + 1)
      #expect(try scene.edit("m1", body: "at six", at: noon + minute).pushes.isEmpty)
    }
    let scene = try Scene.withPhone()
    try scene.message("m1")
    #expect(try scene.edit("m1", body: "at six", at: noon + minute).push?.replaces == true)
  }

  @Test("D13: an edit and a deletion reach a shown message that is older than the last ones, and no other")
  func olderMessages() throws {
    let scene = try Scene.withPhone()
    try scene.message("old")
    try scene.message("older badge", in: "c2", at: noon, group: "Town")
    for number in 0..<PersonConversationRow.maxRecent + 5 {
      try scene.message("m\(number)", at: noon + Int64(number + 1) * 10 * second)
      try scene.message("g\(number)", in: "c2", at: noon + Int64(number + 1) * 10 * second, group: "Town")
    }
    #expect(try scene.edit("old", body: "at six", at: noon + 10 * minute).push?.replaces == true)
    #expect(try scene.edit("older badge", in: "c2", body: "at six", at: noon + 10 * minute).pushes.isEmpty)
    let deleted = try scene.withdraw("old", at: noon + 11 * minute)
    #expect(deleted.pushes.map(\.kind) == [.deleted])
    #expect(try scene.edit("old", body: "at seven", at: noon + 12 * minute).pushes.isEmpty)
    try scene.read(at: noon + hour)
    #expect(try scene.edit("m0", body: "at seven", at: noon + hour).pushes.isEmpty)
  }
}
