import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Badge and reads")
struct BadgeTests {
  @Test("D6: the badge counts conversations by default, messages if preferred, and what was suppressed, too")
  func modes() throws {
    for mode in [BadgeMode.conversations, .messages] {
      let scene = try Scene.withPhone()
      try scene.prefer(
        PreferencesPatch(muted: [MutedConversation(conversationId: "c2")], badgeMode: mode))
      #expect(try scene.message("m1", in: "c1").push?.badge == 1)
      #expect(try scene.message("m2", in: "c1").push?.badge == (mode == .messages ? 2 : 1))
      #expect(try scene.message("m3", in: "c2").decision?.badge == (mode == .messages ? 3 : 2))
      #expect(try scene.message("m4", in: "c3").push?.badge == (mode == .messages ? 4 : 3))
      #expect(try scene.read("c1", at: noon + 1).push?.badge == 2)
      #expect(try scene.read("c2", at: noon + 1).push?.badge == 1)
      #expect(try scene.read("c3", at: noon + 1).push?.badge == 0)
    }
  }

  @Test("D7: read means up to and including that message, and the other devices learn the badge by a silent push")
  func upTo() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    for number in 1...4 { try scene.message("m\(number)", at: noon + Int64(number)) }
    let written = try scene.read(upTo: "m3", at: noon + 10, on: "phone")
    let push = try #require(written.push)
    #expect(push.kind == .read && push.presentation == .badge && push.priority == .low)
    #expect(push.title == nil && push.body == nil)
    #expect(push.badge == 1 && push.conversationId == "c1")
    #expect(push.targets.map(\.deviceId) == ["tablet"])
    #expect(try scene.read(upTo: "m4", at: noon + 11, on: "phone").push?.badge == 0)
  }

  @Test("D7: reading never moves backwards, and reading again writes nothing")
  func neverBackwards() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    for number in 1...3 { try scene.message("m\(number)", at: noon + Int64(number)) }
    #expect(try scene.read(upTo: "m2", at: noon + 5).push?.badge == 1)
    #expect(try scene.read(upTo: "m1", at: noon + 6).isEmpty)
    #expect(try scene.read(upTo: "m2", at: noon + 7).isEmpty)
    #expect(try scene.read(at: noon + 2).isEmpty)
    #expect(try scene.message("m4", at: noon + 8).decision?.badge == 2)
  }

  @Test("D7: a message of the same millisecond that came later is not read with the one before")
  func sameMillisecond() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    try scene.message("m1")
    try scene.message("m2")
    #expect(try scene.read(upTo: "m1", at: noon + 1).push?.badge == 1)
    #expect(try scene.message("m3").decision?.outcome == .notify)
  }

  @Test("D7: a read that overtakes its message is not forgotten")
  func overtaken() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    // What had arrived by then is read at once.
    let read = try scene.read(upTo: "m2", at: noon + 2)
    #expect(read.pushes.map(\.kind) == [.read] && read.push?.badge == 0)
    let written = try scene.message("m2", at: noon + 1)
    #expect(written.decision?.reason == .alreadyRead)
    #expect(written.decision?.badge == 0 && written.pushes.isEmpty)
    #expect(try scene.message("m3", at: noon + 3).decision?.outcome == .notify)
  }

  @Test("D7, D11: a message dated more than 2 s before all was read is read; a later one is in doubt, and notified of")
  func readAll() throws {
    let scene = try Scene.withPhone()
    try scene.read(at: noon + 5 * second)
    #expect(try scene.message("m1", at: noon + 3 * second - 1).decision?.reason == .alreadyRead)
    #expect(try scene.message("m2", at: noon + 3 * second).decision?.outcome == .notify)
    #expect(try scene.message("m3", at: noon + 6 * second).decision?.outcome == .notify)
  }

  @Test("D6: more unread messages than are known one by one are still counted, and all read makes 0")
  func manyUnread() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    for number in 1...100 {
      #expect(try scene.message("m\(number)", at: noon + Int64(number)).decision?.badge == number)
    }
    #expect(try scene.read(upTo: "m90", at: noon + 200).push?.badge == 10)
    #expect(try scene.read(at: noon + 200).push?.badge == 0)
  }

  @Test("D13: a deleted message leaves the badge and the screen, and its push is cancelled if there was one")
  func deleted() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    try scene.message("m1")
    try scene.message("m2")
    let written = try scene.withdraw("m2", at: noon + 1)
    #expect(written.cancelled == [PushCancelled(userId: "ann", messageId: "m2", conversationId: "c1")])
    #expect(written.pushes.map(\.kind) == [.deleted])
    #expect(written.push?.badge == 1)
    #expect(written.push?.messageId == "m2" && written.push?.conversationId == "c1")
    #expect(written.push?.presentation == .badge && written.push?.body == nil)
    // The dispatcher tells records of one cause apart by their index.
    #expect(written.pushEvents.map(\.origin.order.index) == [0, 1])
    #expect(Set(written.pushEvents.map(\.envelope.eventId)).count == 2)
    #expect(try scene.withdraw("m2", at: noon + 2).pushes.isEmpty)
    #expect(try scene.redecide("m2", at: noon).decision?.reason == .duplicate)
  }

  @Test("D13: a deleted message that nobody was notified of cancels nothing and is never notified of")
  func deletedQuietly() throws {
    let scene = Scene()
    try scene.message("m1")
    #expect(try scene.withdraw("m1", at: noon + 1).isEmpty)
    try scene.gain("phone")
    let again = try scene.redecide("m1", at: noon)
    #expect(again.decision?.reason == .withdrawn)
    #expect(again.push == nil)
  }

  @Test("D13: who leaves a conversation has nothing of it on the badge or waiting")
  func left() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", in: "c1")
    try scene.message("m2", in: "c2")
    let written = try scene.withdraw(nil, in: "c1", cause: .left, at: noon + 1)
    #expect(written.cancelled == [PushCancelled(userId: "ann", conversationId: "c1")])
    #expect(written.push?.kind == .read && written.push?.badge == 1)
    // Back again: new messages count.
    #expect(try scene.message("m3", in: "c1", at: noon + 2).push?.badge == 2)
  }

  @Test("D13: an edited message stays on the badge; a push replaces what is shown, without a sound")
  func edited() throws {
    let scene = try Scene.withPhone()
    let first = try #require(try scene.message("m1", RecipientContext(mentioned: true)).push)
    #expect(first.presentation == .alert)
    let written = try scene.edit("m1", body: "hello again", at: noon + minute)
    let push = try #require(written.push)
    #expect(push.kind == .message && push.replaces == true && push.presentation == .silent)
    #expect(push.messageId == "m1" && push.title == "Bob" && push.body == "hello again" && push.senderId == "bob")
    #expect(push.badge == 1 && push.sentAt == noon && push.expiresAt == noon + minute + hour)
    #expect(push.pushId != first.pushId)
    #expect(written.cancelled.isEmpty)
    #expect(try scene.message("m2", in: "c2").push?.badge == 2)
  }

  @Test("D13: an edit of what is not on a screen shows nothing: read, deleted, badge only, never pushed, unknown, old")
  func editedUnseen() throws {
    let scene = try Scene.withPhone()
    for id in ["read", "deleted"] { try scene.message(id, in: id) }
    try scene.read("read", at: noon + 1)
    try scene.withdraw("deleted", in: "deleted", at: noon + 1)
    #expect(try scene.message("low", in: "low", group: "Hikers").decision?.priority == .low)
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "muted")]))
    try scene.message("muted", in: "muted")
    for id in ["read", "deleted", "low", "muted", "unknown"] {
      #expect(try scene.edit(id, in: id, body: "new", at: noon + minute).isEmpty, "\(id)")
    }
    try scene.message("old", in: "old")
    scene.driver.now = noon + minute + hour + 1
    #expect(try scene.edit("old", in: "old", body: "new", at: noon + minute).isEmpty)
    // A notification without a title would replace one that has it: a group without a name.
    scene.driver.now = noon + minute
    #expect(try scene.edit("old", in: "old", body: "new", title: nil, at: noon + minute).isEmpty)
    // Where no text is shown, the edit changes nothing of what is shown.
    try scene.prefer(PreferencesPatch(showPreviews: false))
    #expect(try scene.edit("old", in: "old", body: "new", at: noon + minute).isEmpty)
  }

  @Test("D13: the edit of a group's old message, whose sender nobody knows any more, has the group's name as title")
  func editedOld() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", RecipientContext(mentioned: true), group: "Hikers")
    for number in 0..<40 { try scene.message("later\(number)", at: noon + 1 + Int64(number), group: "Hikers") }
    let written = try scene.edit("m1", body: "hello again", title: "Hikers", from: nil, at: noon + minute)
    let push = try #require(written.push)
    #expect(push.title == "Hikers" && push.body == "hello again" && push.replaces == true)
    #expect(push.senderId == nil && push.avatarUrl == nil && push.badge == 1)
    try scene.prefer(PreferencesPatch(mutedSenders: ["bob"]))
    #expect(try scene.edit("m1", body: "again", from: "Bob", at: noon + 2 * minute).isEmpty)
  }

  @Test("D6: no badge push where the number is what the devices were told; a device that is new is told")
  func unchangedBadge() throws {
    let scene = try Scene.withPhone()
    let first = try scene.message("m1", group: "Hikers")
    #expect(first.decision?.priority == .low)
    #expect(first.push?.kind == .badge && first.push?.badge == 1)
    let second = try scene.message("m2", at: noon + 1, group: "Hikers")
    #expect(second.pushes.isEmpty)
    #expect(second.decision?.outcome == .notify && second.decision?.presentation == .badge)
    #expect(second.decision?.pushId == nil && second.decision?.badge == 1)
    #expect(second.decision?.checks.last?.check == "badge")
    #expect(try scene.message("m3", in: "c2", at: noon + 2, group: "Riders").push?.badge == 2)
    // The suppressed message counts, and the devices are told; then they know the number.
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c3")]))
    #expect(try scene.message("m4", in: "c3", at: noon + 3, group: "Riders").push?.badge == 3)
    #expect(try scene.message("m5", in: "c2", at: noon + 4, group: "Riders").pushes.isEmpty)
    #expect(try scene.message("m6", in: "c2", at: noon + 5, group: "Riders").pushes.isEmpty)
    try scene.gain("tablet", at: noon + 6)
    #expect(try scene.message("m7", in: "c2", at: noon + 7, group: "Riders").push?.badge == 3)
    // Deleted, and the number stays: c2 has other unread messages.
    #expect(try scene.withdraw("m7", in: "c2", at: noon + 8).pushes.isEmpty)
  }

  @Test("D7: the badge of a read is fresh when it is decided, however old the read")
  func freshBadge() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    scene.driver.now = noon + 5 * hour
    #expect(try scene.read(at: noon + 1).push?.expiresAt == noon + 6 * hour)
  }
}
