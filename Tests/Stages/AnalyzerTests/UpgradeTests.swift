import Foundation
import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Upgrade: state and records of the release before levels")
struct UpgradeTests {
  private let former: FormerRelease
  private let decisions: [DecisionBody]
  private let end: Milliseconds

  init() throws {
    former = try FormerRelease()
    decisions = try former.decisions.map { try RecordCoder().decode(Decision.self, from: $0).body }
    end = former.timeline.map(\.now).max() ?? 0
  }

  /// Today's analyzer with the former state.
  private func upgraded() -> Scene {
    let scene = Scene(now: end + second)
    scene.driver.load(former.state.map { (RowKey(bytes: $0.key), $0.row) })
    return scene
  }

  @Test("the files have what the tests rely on: notified and suppressed messages, a limit that was reached, no levels")
  func content() {
    #expect(former.timeline.count > 30 && former.state.count > 10 && former.pushes.count > 10)
    #expect(decisions.contains { $0.outcome == .notify } && decisions.contains { $0.reason == .conversationMuted })
    #expect(decisions.contains { $0.reason == .simpleRules && $0.analysis?.fallback == .simpleRules })
    #expect(decisions.allSatisfy { $0.level == nil && $0.policy == nil })
  }

  @Test("the same records once more, as on a broker without transactions, decide nothing and push nothing")
  func repeats() throws {
    let scene = upgraded()
    for record in former.timeline {
      let step = scene.driver.process(
        InputRecord(
          topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: record.offset + 1_000,
          timestamp: record.now, key: Array("any".utf8), value: record.value))
      #expect(step.rejection == nil)
      let written = try scene.written(step)
      #expect(written.decisions.isEmpty && written.pushEvents.isEmpty && written.notices.isEmpty, "\(record.offset)")
    }
  }

  @Test("a replay of all messages notifies nobody of a message that the former release notified them of")
  func replayed() throws {
    let scene = upgraded()
    let notified = Set(decisions.filter { $0.outcome == .notify }.map { "\($0.userId) \($0.messageId)" })
    var asked: Set<String> = []
    for record in former.timeline {
      guard case .candidate(var candidate) = try RecordCoder().decode(TimelineEvent.self, from: record.value).body
      else { continue }
      candidate.replayId = "replay-1"
      let written = try scene.send(.redecide(candidate), at: record.now)
      for decision in written.decisions.map(\.body) where notified.contains("\(decision.userId) \(decision.messageId)")
      {
        asked.insert("\(decision.userId) \(decision.messageId)")
        // A message that was deleted since is withdrawn, if it was not notified.
        #expect(decision.outcome == .suppress && decision.reason == .duplicate, "\(decision)")
        #expect(decision.pushId == nil)
      }
    }
    #expect(asked == notified)
  }

  @Test("new messages go on from the former state: badges count on, mutes, starred senders and the limit hold")
  func goesOn() throws {
    let scene = upgraded()
    func last(_ user: String) -> Int { decisions.last { $0.userId == user }?.badge ?? -1 }
    func message(_ id: String, in conversation: String, from sender: String, to user: String, group: String? = nil)
      throws -> DecisionBody
    {
      scene.driver.now = end + minute
      var candidate = Scene.candidate(id, in: conversation, to: [user], group: group)
      candidate.sender = Member(userId: sender, displayName: sender.capitalized)
      let origin = Origin(topic: "chat.events", partition: 0, offset: 1_000 + Int64(id.utf8.last ?? 0))
      let written = try scene.send(.candidate(candidate), at: end + minute, origin: origin)
      return try #require(written.decision)
    }
    let friend = try message("x1", in: "direct", from: "ben", to: "ann")
    #expect(friend.level == .all && friend.presentation == .alert && friend.reason == .notifyAll)
    #expect(friend.badge == last("ann"), "conversations are counted, and this one was unread")
    let muted = try message("x2", in: "noise", from: "cleo", to: "ben", group: "Noise")
    #expect(muted.reason == .conversationMuted && muted.badge == last("ben") + 1, "ben counts messages")
    let starred = try message("x3", in: "group", from: "ann", to: "ben", group: "Hikers")
    #expect(starred.level == .smart && starred.presentation == .alert && starred.badge == last("ben") + 2)
    #expect(starred.analysis == nil)
    let plain = try message("x4", in: "group", from: "cleo", to: "ben", group: "Hikers")
    let limit = try #require(plain.analysis)
    #expect(limit.limit == 2 && limit.used == 2 && limit.fallback == .simpleRules)
  }

  @Test("former records of the timeline and pushes are read alike by both codecs")
  func read() throws {
    let (codec, coder) = (RecordCodec(), RecordCoder())
    // Rare types are read by Codable alone.
    var direct = 0
    for record in former.timeline {
      let decoded = try coder.decode(TimelineEvent.self, from: record.value)
      guard let read = codec.read(TimelineEvent.self, from: record.value) else { continue }
      direct += 1
      #expect(try coder.encode(read) == coder.encode(decoded))
    }
    for push in former.pushes {
      let decoded = try coder.decode(PushEvent.self, from: push)
      guard let read = codec.read(PushEvent.self, from: push) else { continue }
      direct += 1
      #expect(try coder.encode(read) == coder.encode(decoded))
    }
    #expect(direct > 40)
  }
}
