import Foundation
import NudgeClient
import NudgeSchema
import Testing

@testable import Dispatcher
@testable import VirtualPhone

/// The dispatcher's own requests reach a phone by FCM's rules for devices that are off.
@Suite("P12: phones that are off")
struct PhoneThatIsOffTests {
  /// A dispatcher, and ann's Android phone.
  private final class Scene {
    let bench: DispatcherBench
    var phone: VirtualPhone
    var notes: [PhoneNote] = []
    var aliveAt: Milliseconds? = DispatcherBench.start
    private(set) var bodies: [[UInt8]] = []
    private var number = 0

    init(awayAfter: Int = 60) {
      bench = DispatcherBench { rules in
        rules.awayAfter = awayAfter
        (rules.deviceRequestsPerMinute, rules.deviceRequestsPerHour) = (0, 0)
      }
      phone = VirtualPhone(
        device: Device(deviceId: "phone", platform: .android), token: "token-phone-1", makeId: { UUID().uuidString })
      take(.signIn(userId: "ann"))
    }

    var date: Date { Date(timeIntervalSince1970: Double(bench.now) / 1_000) }

    func take(_ input: PhoneInput) {
      for case .note(let note) in phone.take(input, at: date) { notes.append(note) }
    }

    /// A push goes to FCM, which takes it, and to the phone.
    func send(_ push: Push) throws {
      var push = push
      push.targets[0].seenAt = aliveAt
      try bench.send(push)
      while let request = bench.air.first {
        bodies.append(request.body)
        try bench.answer(.sent)
        let message = try #require(DeliveredMessage(body: request.body))
        take(.delivery(message, takenAt: bench.now))
      }
      bench.now += 1_000
    }

    func message(in conversation: String, mentioned: Bool = false, language: String? = nil) throws -> String {
      number += 1
      var push = DispatcherBench.push(
        "p\(number)", conversation: conversation, at: bench.now, platform: .android, body: "text \(number)")
      push.title = "Bob in \(conversation)"
      push.mentioned = mentioned ? true : nil
      push.language = language
      push.badge = number
      try send(push)
      return push.messageId ?? ""
    }

    func quiet(_ kind: Push.Kind, conversation: String, message: String? = nil, replaces: Bool = false) throws {
      number += 1
      var push = DispatcherBench.push(
        "p\(number)", kind: kind, presentation: kind == .message ? .silent : .badge, conversation: conversation,
        at: bench.now, platform: .android)
      push.messageId = message
      push.replaces = replaces ? true : nil
      try send(push)
    }

    /// The request of the last push: its collapse key and data.
    func last() throws -> (key: String?, data: [String: String], title: String?, tag: String?) {
      let root = try JSONSerialization.jsonObject(with: Data(bodies.last ?? [])) as? [String: Any]
      let message = root?["message"] as? [String: Any]
      let android = message?["android"] as? [String: Any]
      return (
        android?["collapse_key"] as? String, message?["data"] as? [String: String] ?? [:],
        (message?["notification"] as? [String: Any])?["title"] as? String,
        (android?["notification"] as? [String: Any])?["tag"] as? String
      )
    }

    var catchUps: [CatchUp] {
      notes.compactMap { note in
        if case .shown(_, _, by: let push) = note, case .catchUp(let catchUp) = push.content { catchUp } else { nil }
      }
    }

    var shownMessages: Set<String> {
      Set(
        notes.compactMap { note in
          if case .shown(_, _, by: let push) = note, case .message(let message) = push.content {
            message.messageId
          } else {
            nil
          }
        })
    }
  }

  /// 500 messages in 12 conversations, one of which mentions ann. Returns conversation and id of each, in order.
  private func fiveHundred(_ scene: Scene) throws -> [(conversation: String, id: String)] {
    try (0..<500).map { number in
      // Some conversations are busier than others.
      let conversation = "c\(number % 3 == 0 ? 0 : number % 12)"
      return (conversation, try scene.message(in: conversation, mentioned: number == 250))
    }
  }

  @Test("P12: after 500 messages the phone shows 60, the latest of two conversations, and a catch-up of all others")
  func weekend() throws {
    let scene = Scene()
    scene.take(.network(false))
    let sent = try fiveHundred(scene)
    #expect(scene.shownMessages.isEmpty)
    scene.notes = []
    scene.take(.network(true))
    #expect(!scene.notes.contains(.messagesDeleted) && !scene.notes.contains(.synchronized))

    let first = sent.prefix(60)
    #expect(scene.shownMessages.isSuperset(of: first.map(\.id)))
    // Which conversations have a key of their own, and what is left for the catch-up.
    let rest = sent.dropFirst(60)
    var own: [String] = []
    for message in rest where own.count < 2 && !own.contains(message.conversation) { own.append(message.conversation) }
    for conversation in own {
      let latest = try #require(rest.last { $0.conversation == conversation })
      #expect(scene.shownMessages.contains(latest.id))
    }
    let others = rest.filter { !own.contains($0.conversation) }
    let catchUp = try #require(scene.catchUps.first)
    #expect(scene.catchUps.count == 1)
    #expect(catchUp.messages == others.count)
    #expect(catchUp.conversations == Set(others.map(\.conversation)).count)
    #expect(catchUp.lines.map(\.messageId) == [others.last?.id].compactMap(\.self))
    // Each conversation is shown, or counted.
    #expect(scene.shownMessages.count == 60 + 2)
    #expect(scene.notes.allSatisfy { if case .fault = $0 { false } else { true } })
    #expect(scene.phone.badge == 500)

    // Each push has one outcome, and those that replaced others say so.
    #expect(scene.bench.outcomes.count == 500 && Set(scene.bench.outcomes.map(\.pushId)).count == 500)
    #expect(scene.bench.outcomes.allSatisfy { $0.result == .sent })
    #expect(scene.bench.outcomes.prefix(60).allSatisfy { $0.collapseKey == nil })
    #expect(scene.bench.outcomes.dropFirst(60).allSatisfy { $0.collapseKey != nil })
    #expect(Set(scene.bench.outcomes.compactMap(\.collapseKey)).count == 3)
  }

  @Test("P12: without the rule FCM throws all of them away, and the app is told that it has to ask")
  func withoutTheRule() throws {
    let scene = Scene(awayAfter: 0)
    scene.take(.network(false))
    _ = try fiveHundred(scene)
    scene.notes = []
    scene.take(.network(true))
    #expect(scene.notes.contains(.messagesDeleted) && scene.notes.contains(.synchronized))
    #expect(scene.shownMessages.isEmpty && scene.catchUps.isEmpty)
    #expect(scene.bench.outcomes.allSatisfy { $0.collapseKey == nil })
  }

  @Test("P12: where FCM ignores the keys of notifications, the phone shows the last push, with the rule the catch-up")
  func keysIgnored() throws {
    let scene = Scene()
    scene.phone.kept = StoredMessages(notificationsCollapse: true)
    scene.take(.network(false))
    _ = try fiveHundred(scene)
    scene.notes = []
    scene.take(.network(true))
    #expect(scene.shownMessages.isEmpty && !scene.notes.contains(.messagesDeleted))
    #expect(scene.catchUps.count == 1 && scene.catchUps[0].messages > 200)
    #expect(scene.phone.badge == 500)
  }

  @Test("P12: a message that is said again is counted once")
  func saidAgain() throws {
    let scene = Scene()
    for _ in 0..<60 { _ = try scene.message(in: "c0") }
    for conversation in ["c1", "c2", "c3", "c4"] { _ = try scene.message(in: conversation) }
    var push = DispatcherBench.push("again", conversation: "c4", at: scene.bench.now, platform: .android)
    push.escalation = Escalation(pushedAt: scene.bench.now)
    try scene.send(push)
    #expect(try scene.last().key == "away-rest" && scene.last().data["messages"] == "2")
    _ = try scene.message(in: "c5")
    #expect(try scene.last().data["messages"] == "3" && scene.last().data["conversations"] == "3")
  }

  @Test("P12: an app that never reports is sent as before: nothing can be known of it")
  func neverReports() throws {
    let scene = Scene()
    scene.aliveAt = nil
    for _ in 0..<80 { _ = try scene.message(in: "c1") }
    #expect(scene.bench.outcomes.allSatisfy { $0.collapseKey == nil })
  }

  @Test("P12: a sign of life, or a registration, ends it")
  func back() throws {
    let scene = Scene()
    for _ in 0..<60 { _ = try scene.message(in: "c1") }
    #expect(try scene.last().key == nil)
    _ = try scene.message(in: "c1")
    #expect(try scene.last().key == "away-0")
    scene.aliveAt = scene.bench.now
    _ = try scene.message(in: "c1")
    #expect(try scene.last().key == nil)
    for _ in 0..<59 { _ = try scene.message(in: "c1") }
    #expect(try scene.last().key == nil)
    _ = try scene.message(in: "c2")
    #expect(try scene.last().key == "away-0")
    var push = DispatcherBench.push("new", conversation: "c2", at: scene.bench.now, version: 2, platform: .android)
    push.targets[0].seenAt = scene.aliveAt
    try scene.bench.send(push)
    try scene.bench.answer(.sent)
    #expect(scene.bench.outcomes.last?.collapseKey == nil)
  }

  @Test("P12: at most four keys: the badge, two conversations, the rest; reads, deletions and edits are among them")
  func keys() throws {
    let scene = Scene()
    for _ in 0..<60 { _ = try scene.message(in: "c0") }
    for conversation in ["c1", "c2", "c3", "c4", "c1"] { _ = try scene.message(in: conversation) }
    #expect(try scene.last().key == "away-0" && scene.last().tag?.count == 32)
    // The edit of a message that the phone may not show yet must not replace the latest of its conversation.
    try scene.quiet(.message, conversation: "c1", message: "m-p61", replaces: true)
    #expect(try scene.last().key == "badge")
    try scene.quiet(.deleted, conversation: "c3", message: "m-p63")
    #expect(try scene.last().key == "badge")
    try scene.quiet(.badge, conversation: "c3")
    #expect(try scene.last().key == "badge")
    // What is read takes the place of what would have been shown of it.
    try scene.quiet(.read, conversation: "c1")
    #expect(try scene.last().key == "away-0" && scene.last().data["type"] == "read")
    try scene.quiet(.read, conversation: "c3")
    #expect(try scene.last().key == "badge")
    _ = try scene.message(in: "c4")
    let last = try scene.last()
    #expect(last.key == "away-rest" && last.tag == "away-rest" && last.data["type"] == "digest")
    #expect(last.data["messages"] == "2" && last.data["conversations"] == "1", "c3 was read")
    #expect(Set(scene.bench.outcomes.compactMap(\.collapseKey)) == ["badge", "away-0", "away-1", "away-rest"])
  }

  @Test("P12: the first message of the rest is shown as it is; the catch-up is in the person's language")
  func words() throws {
    let scene = Scene()
    for _ in 0..<60 { _ = try scene.message(in: "c0", language: "de") }
    for conversation in ["c1", "c2", "c3"] { _ = try scene.message(in: conversation, language: "de") }
    #expect(try scene.last().data["type"] == "smart_notification" && scene.last().key == "away-rest")
    _ = try scene.message(in: "c4", language: "de")
    #expect(try scene.last().title == "2 Nachrichten in 2 Unterhaltungen")
  }

  @Test("P12: a repeat of a request is the same request, and its message is counted once")
  func repeated() throws {
    let scene = Scene()
    for _ in 0..<60 { _ = try scene.message(in: "c0") }
    for conversation in ["c1", "c2", "c3"] { _ = try scene.message(in: conversation) }
    var push = DispatcherBench.push("again", conversation: "c4", at: scene.bench.now, platform: .android)
    push.targets[0].seenAt = scene.aliveAt
    try scene.bench.send(push)
    let first = try #require(scene.bench.air.first)
    try scene.bench.answer(.unavailable)
    try scene.bench.wakeUntilSent()
    #expect(scene.bench.air.first?.body == first.body)
    try scene.bench.restart()
    try scene.bench.wakeUntilSent()
    #expect(scene.bench.air.first?.body == first.body)
    try scene.bench.answer(.sent)
    _ = try scene.message(in: "c4")
    #expect(try scene.last().data["messages"] == "3")
  }

  @Test("P12: pushes that waited for FCM, and its refusals, are no sign that the device is off")
  func outage() throws {
    let scene = Scene()
    var pushes = (0..<70).map {
      DispatcherBench.push("w\($0)", conversation: "c\($0)", at: scene.bench.now, platform: .android)
    }
    for index in pushes.indices {
      pushes[index].targets[0].seenAt = scene.aliveAt
      try scene.bench.send(pushes[index])
    }
    // The front is refused again and again; the others wait behind it.
    for _ in 0..<6 {
      try scene.bench.answer(.unavailable, requests: 0)
      try scene.bench.wakeUntilSent()
    }
    while !scene.bench.air.isEmpty {
      try scene.bench.answer(.sent)
      try scene.bench.wakeUntilSent()
    }
    let keys = scene.bench.outcomes.filter { $0.result == .sent }.map(\.collapseKey)
    #expect(keys.count > 60 && keys.prefix(60).allSatisfy { $0 == nil } && keys.dropFirst(60).allSatisfy { $0 != nil })
  }

  @Test("P12: only Android has such a limit", arguments: [Platform.ios, .web])
  func otherPlatforms(platform: Platform) throws {
    let bench = DispatcherBench()
    for number in 0..<70 {
      var push = DispatcherBench.push("p\(number)", platform: platform)
      push.targets[0].seenAt = DispatcherBench.start
      try bench.send(push)
      try bench.answer(.sent)
    }
    #expect(bench.outcomes.count == 70 && bench.outcomes.allSatisfy { $0.collapseKey == nil })
  }
}
