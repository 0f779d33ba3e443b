import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Wait and see: an alert waits while another device is active")
struct WaitTests {
  private func fire(_ scene: Scene, at time: Milliseconds) throws -> [Written] {
    scene.driver.now = time
    return try scene.driver.fireTimers().map { try scene.written($0) }
  }

  /// ann has a phone and a laptop; the app is open on the laptop, in the list of conversations.
  private func atTheLaptop(_ change: (inout NotificationPolicy) -> Void = { _ in }) throws -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    change(&rules.policy)
    let scene = try Scene.withPhone(rules)
    try scene.gain("laptop")
    try scene.activity("laptop", in: nil, at: noon)
    return scene
  }

  /// In a direct chat at level `smart` an alert needs more than the message: both write in turns.
  private let talking = RecipientContext(exchange: 4)

  /// A person's devices, a message, and how long its alert waits; nil: it does not wait.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let wait: Milliseconds?
    let act: @Sendable (Scene) throws -> Written

    init(_ name: String, waits: Milliseconds?, _ act: @escaping @Sendable (Scene) throws -> Written) {
      (testDescription, wait, self.act) = (name, waits, act)
    }
  }

  static let cases: [Case] = [
    Case("medium", waits: 4 * second) { try $0.message("m1", at: noon + second) },
    Case("high", waits: 2 * second) {
      try $0.message("m1", at: noon + second, RecipientContext(mentioned: true))
    },
    Case("urgent", waits: nil) { try $0.message("m1", at: noon + second, body: "this is urgent") },
    Case("active in another conversation", waits: 4 * second) {
      try $0.activity("laptop", in: "c2", at: noon + 1)
      return try $0.message("m1", at: noon + second)
    },
    Case("in the background", waits: nil) {
      try $0.activity("laptop", .background, at: noon + 1)
      return try $0.message("m1", at: noon + second)
    },
    Case("not heard of for two minutes", waits: nil) { try $0.message("m1", at: noon + 2 * minute + 1) },
    Case("heard of two minutes ago", waits: 4 * second) { try $0.message("m1", at: noon + 2 * minute) },
    Case("decided when nobody is active any more", waits: nil) {
      try $0.message("m1", at: noon + second, decidedAt: noon + 10 * minute)
    },
    Case("silent", waits: nil) {
      try $0.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: .smart)))
      return try $0.message("m1", at: noon + second, body: "the weather is fine")
    },
  ]

  @Test("D17: an edit in the seconds of the wait goes where the message is; the others get its last text with a sound")
  func edited() throws {
    let scene = try atTheLaptop()
    try scene.message("m1", at: noon + second, body: "see you at tree")
    scene.driver.now = noon + 2 * second
    let edit = try scene.edit("m1", body: "see you at three", at: noon + 2 * second)
    #expect(edit.push?.targets.map(\.deviceId) == ["laptop"] && edit.push?.replaces == true)
    let push = try #require(try fire(scene, at: noon + 6 * second).flatMap(\.pushes).first)
    #expect(push.targets.map(\.deviceId) == ["phone"] && push.presentation == .alert)
    #expect(push.body == "see you at three" && push.replaces != true)
    scene.driver.now = noon + 7 * second
    let again = try scene.edit("m1", body: "see you at four", at: noon + 7 * second)
    #expect(Set(again.push?.targets.map(\.deviceId) ?? []) == ["laptop", "phone"])
  }

  @Test("D17: how long an alert waits", arguments: cases)
  func waits(_ example: Case) throws {
    let scene = try atTheLaptop()
    let written = try example.act(scene)
    let decision = try #require(written.decision)
    guard let wait = example.wait else {
      #expect(decision.outcome == .notify && written.pushes.count == 1)
      return
    }
    #expect(decision.outcome == .deferred && decision.reason == .activeElsewhere)
    #expect(decision.heldUntil == scene.driver.now + wait && decision.badge == 1)
    // The device whose app is open has it at once.
    #expect(decision.priority != nil && decision.presentation == .alert)
    #expect(written.pushes.map(\.pushId) == [decision.pushId])
    #expect(written.push?.targets.map(\.deviceId) == ["laptop"] && written.push?.presentation == .alert)
    // A banner appears inside the app at once.
    #expect(written.banners.count == 1)
  }

  @Test("D17: nothing waits for a person with one device, or with nothing active")
  func nothingActive() throws {
    let one = try Scene.withPhone()
    try one.activity("phone", in: nil, at: noon)
    #expect(try one.message("m1", at: noon + second).decision?.outcome == .notify)
    let idle = try Scene.withPhone()
    try idle.gain("laptop")
    #expect(try idle.message("m1").decision?.outcome == .notify)
    #expect(try idle.driver.allRows().allSatisfy { $0.0.parts[0] != "h" })
  }

  @Test("D17: read meanwhile, on any device, it is never sent to the others; not read, it alerts on each device, once")
  func readOrNot() throws {
    for device in ["laptop", "phone"] {
      let scene = try atTheLaptop()
      try scene.message("m1", at: noon + second)
      let read = try scene.read(upTo: "m1", at: noon + 2 * second, on: device)
      #expect(read.decisions.map(\.body.reason) == [.alreadyRead] && read.decision?.badge == 0)
      #expect(read.pushes.allSatisfy { $0.kind != .message })
      #expect(try fire(scene, at: noon + hour).allSatisfy { $0.isEmpty })
    }
    let opened = try atTheLaptop()
    try opened.message("m1", at: noon + second)
    let report = try opened.activity("laptop", in: "c1", at: noon + 2 * second)
    #expect(report.decisions.map(\.body.reason) == [.activeConversation])
    let scene = try atTheLaptop()
    try scene.message("m1", at: noon + second)
    #expect(try fire(scene, at: noon + 5 * second - 1).isEmpty)
    let fired = try fire(scene, at: noon + 5 * second)
    let push = try #require(fired.first?.push)
    #expect(fired.flatMap(\.decisions).map(\.body.outcome) == [.notify])
    #expect(push.presentation == .alert && push.targets.map(\.deviceId) == ["phone"] && push.badge == 1)
    // Its banner was shown when it came.
    #expect(fired.flatMap(\.banners).isEmpty)
    #expect(try fire(scene, at: noon + hour).isEmpty)
  }

  @Test("D17: what rings anyway, rings for what waits before it in the conversation, in order")
  func together() throws {
    let scene = try atTheLaptop()
    try scene.message("m1", at: noon + second)
    try scene.message("elsewhere", in: "c2", at: noon + second)
    let urgent = try scene.message("m2", at: noon + 2 * second, body: "this is urgent")
    #expect(urgent.decisions.map(\.body.messageId) == ["m1", "m2"])
    #expect(urgent.decisions.map(\.body.outcome) == [.notify, .notify])
    #expect(urgent.pushes.map(\.messageId) == ["m1", "m2"])
    #expect(urgent.pushes.map(\.targets.count) == [1, 2] && urgent.pushes.last?.presentation == .alert)
    let later = try fire(scene, at: noon + minute)
    #expect(later.flatMap(\.decisions).map(\.body.messageId) == ["elsewhere"])
  }

  @Test("D17: a message that was read while its alert waited everywhere does not take the sound of the next")
  func soundOfTheNext() throws {
    // The laptop gets no pushes.
    let scene = try Scene.withPhone()
    try scene.activity("laptop", in: nil, at: noon)
    try scene.message("m1", at: noon + second)
    try scene.read(at: noon + 2 * second)
    try scene.activity("laptop", .background, at: noon + 3 * second)
    #expect(try scene.message("m2", at: noon + 4 * second).push?.presentation == .alert)
  }

  @Test("D4, D17: an analysis is used once, and what it said stands when the wait is over")
  func oneAnalysis() throws {
    let scene = try atTheLaptop { $0.directLevel = .smart }
    try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1, fallback: .simpleRules))
    let first = try scene.message("m1", at: noon + second, talking, body: "are you there?")
    #expect(first.decision?.analysis?.used == 1 && first.decision?.analysis?.fallback == nil)
    // The limit is reached meanwhile: a notice, once, and simple rules for this one alone.
    let other = try scene.message("m2", in: "c2", at: noon + 2 * second, talking, body: "are you there?")
    #expect(other.notices.count == 1 && other.decision?.analysis?.fallback == .simpleRules)
    let fired = try fire(scene, at: noon + minute)
    #expect(fired.flatMap(\.decisions).map(\.body.reason) == [.relevant])
    #expect(fired.flatMap(\.decisions).map(\.body.analysis) == [first.decision?.analysis])
    #expect(fired.flatMap(\.notices).isEmpty)
    guard case .user(let user)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { throw CancellationError() }
    #expect(user.window?.used == 1)
  }

  @Test("D15: the policy says for how long, and 0 turns it off")
  func policy() throws {
    let off = try atTheLaptop { ($0.otherWaitSeconds, $0.highWaitSeconds) = (0, 0) }
    #expect(try off.message("m1", at: noon + second).decision?.outcome == .notify)
    let longer = try atTheLaptop { $0.otherWaitSeconds = 20 }
    #expect(try longer.message("m1", at: noon + second).decision?.heldUntil == noon + 21 * second)
  }

  @Test("D17: with the app open on each of a person's devices, nothing waits")
  func openEverywhere() throws {
    let scene = try atTheLaptop()
    try scene.activity("phone", in: "c2", at: noon)
    let written = try scene.message("m1", at: noon + second)
    #expect(written.decision?.outcome == .notify && written.push?.targets.count == 2)
  }

  @Test("D17, D20: what sounds where the app is open is one alert of the day, and no second one when the wait is over")
  func oneAlert() throws {
    let scene = try atTheLaptop { $0.dailyAlerts = 5 }
    try scene.message("m1", at: noon + second)
    let fired = try fire(scene, at: noon + minute)
    #expect(fired.flatMap(\.pushes).map(\.presentation) == [.alert])
    guard case .user(let user)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { throw CancellationError() }
    #expect(user.spentAlerts?.used == [1])
  }

  @Test("D13, P10, D17: what the open app has is taken back and reported before the wait is over")
  func reachedBeforeTheEnd() throws {
    let scene = try atTheLaptop()
    let push = try #require(try scene.message("m1", at: noon + second).push)
    let report = NotificationReport(
      userId: "ann", deviceId: "laptop", pushId: push.pushId, conversationId: "c1", messageId: "m1")
    #expect(try scene.send(.user(.notificationReceived(report)), at: noon + 2 * second).receipts.count == 1)
    let deleted = try scene.withdraw("m1", at: noon + 3 * second)
    #expect(deleted.pushes.map(\.kind) == [.deleted] && deleted.decisions.map(\.body.reason) == [.withdrawn])
    #expect(try fire(scene, at: noon + hour).allSatisfy { $0.pushes.isEmpty })
  }

  @Test("D17: a replay waits for nobody")
  func replay() throws {
    let scene = try atTheLaptop()
    var candidate = Scene.candidate("m1", replayId: "replay-2")
    candidate.rederived = true
    scene.driver.now = noon + second
    #expect(try scene.send(.redecide(candidate), at: noon + second).decision?.outcome == .notify)
  }
}
