import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge replay, without Kafka")
struct ReplayPartsTests {
  @Test("a selection survives the audit record that a resume reads")
  func selection() throws {
    var selection = ReplaySelection(since: 1_795_343_400_000, until: 1_795_347_000_123)
    #expect(ReplaySelection(flags: selection.flags) == selection)
    selection.topic = .chatEvents
    selection.partition = 3
    selection.fromOffset = 17
    selection.toOffset = 900
    selection.user = "ann"
    selection.conversation = "c"
    selection.message = "m"
    selection.reason = .quietHours
    selection.results = [.gaveUp, .replayStopped]
    selection.maxAge = 10_800_000
    #expect(ReplaySelection(flags: selection.flags) == selection)
    #expect(ReplaySelection(flags: ["since": "tomorrow"]) == nil)
    var flags = selection.flags
    flags["result"] = "gave_up,vanished"
    #expect(ReplaySelection(flags: flags) == nil, "a later version's result")
  }

  @Test("offsets belong to the topic that --topic names")
  func offsets() {
    let candidate = MessageCandidate(
      conversationId: "c", messageId: "m", sender: Member(userId: "bob", displayName: "Bob"),
      conversation: CandidateConversation(kind: .direct, memberCount: 2, activeSpeakers: 1), title: "", body: "",
      recipients: [])
    let position = RecordPosition(topic: "nudge.timeline", partition: 1, offset: 50)
    let source = RecordPosition(topic: "chat.events", partition: 2, offset: 7)
    var selection = ReplaySelection(since: 0, until: 1)
    selection.partition = 1
    selection.fromOffset = 50
    selection.toOffset = 51
    #expect(selection.contains(candidateAt: position, source: source, fields: candidate))
    selection.topic = .chatEvents
    #expect(!selection.contains(candidateAt: position, source: source, fields: candidate))
    selection.partition = 2
    selection.fromOffset = 7
    selection.toOffset = 8
    #expect(selection.contains(candidateAt: position, source: source, fields: candidate))
    selection.conversation = "other"
    #expect(!selection.contains(candidateAt: position, source: source, fields: candidate))
  }

  @Test("a replay's id contains its start time, and is safe in headers and transactional ids")
  func ids() {
    var random = SeededGenerator(seed: 7)
    let ids = (0..<1_000).map { _ in ReplayID.make(now: 1_795_343_400_000, using: &random) }
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0.hasPrefix("20261122-103000-") && ReplayID.isValid($0) })
    for bad in ["", "a b", "A", "../x", String(repeating: "a", count: 65)] { #expect(!ReplayID.isValid(bad)) }
  }

  private func outcome(_ push: String, _ device: String, _ result: String, _ code: String? = nil) throws
    -> OutcomeGlance
  {
    let code = code.map { #","errorCode":"\#($0)""# } ?? ""
    let json =
      #"{"pushId":"\#(push)","deviceId":"\#(device)","result":"\#(result)"\#(code),"origin":{"topic":"t","partition":0,"#
      + #""offset":1},"occurredAt":1,"finishedAt":2,"attempts":1}"#
    return try JSONDecoder().decode(OutcomeGlance.self, from: Data(json.utf8))
  }

  private func push(_ id: String, _ devices: [String]) throws -> PushGlance {
    let targets = devices.map { #"{"deviceId":"\#($0)"}"# }.joined(separator: ",")
    return try JSONDecoder().decode(
      PushGlance.self, from: Data(#"{"pushId":"\#(id)","userId":"ann","kind":"message","targets":[\#(targets)]}"#.utf8))
  }

  @Test("a failed push is made again on the devices that lack it: not where one has it, waits or ended otherwise")
  func fates() throws {
    func standing(
      _ outcomes: [(String, String, String)], pushes: [String: [String]] = ["p": ["a", "b"]],
      receipts: [(String, String)] = [], results: Set<FailedResult> = FailedResult.usual
    ) throws -> PushFates.Standing {
      var fates = PushFates(results: results)
      for (push, device, result) in outcomes {
        fates.add(
          result == "replay_stopped"
            ? try outcome(push, device, "cancelled", result) : try outcome(push, device, result))
      }
      for (id, devices) in pushes { fates.add(try push(id, devices)) }
      for (push, device) in receipts {
        fates.add(ReceiptGlance(type: "notification.received", deviceId: device, pushId: push))
      }
      return fates.standing(of: pushes.keys.sorted())
    }
    for result in ["gave_up", "expired", "rejected"] {
      #expect(try standing([("p", "a", result), ("p", "b", result)]) == .failed(devices: nil))
      #expect(try standing([("p", "a", "sent"), ("p", "b", result)]) == .failed(devices: ["b"]))
    }
    #expect(try standing([("p", "a", "sent"), ("p", "b", "sent")]) == .delivered)
    #expect(try standing([("p", "a", "gave_up")]) == .failed(devices: ["a"]), "b waits")
    #expect(try standing([("p", "a", "invalid_token"), ("p", "b", "gave_up")]) == .failed(devices: nil))
    #expect(try standing([("p", "a", "invalid_token"), ("p", "b", "cancelled")]) == .other)
    #expect(try standing([("p", "a", "quarantined")]) == .other)
    #expect(try standing([]) == .other)
    // FCM's answer was lost, and the device has it.
    #expect(
      try standing([("p", "a", "gave_up"), ("p", "b", "gave_up")], receipts: [("p", "a")]) == .failed(devices: ["b"]))
    #expect(
      try standing([("p", "a", "gave_up"), ("p", "b", "gave_up")], receipts: [("p", "a"), ("p", "b")]) == .delivered)
    // A later push of the same message reached it, or waits.
    let two = ["p": ["a"], "q": ["a"]]
    #expect(try standing([("p", "a", "gave_up"), ("q", "a", "sent")], pushes: two) == .delivered)
    #expect(try standing([("p", "a", "gave_up")], pushes: two) == .other)
    #expect(try standing([("p", "a", "gave_up"), ("q", "a", "gave_up")], pushes: two) == .failed(devices: nil))
    // Nothing is known of a push whose record is gone.
    var gone = PushFates(results: FailedResult.usual)
    gone.add(try outcome("p", "a", "gave_up"))
    gone.add(try push("p", ["a"]))
    #expect(gone.standing(of: ["p", "q"]) == .other && gone.standing(of: ["p"]) == .failed(devices: nil))
    // Only what is selected.
    #expect(try standing([("p", "a", "expired"), ("p", "b", "expired")], results: [.gaveUp]) == .other)
    #expect(try standing([("p", "a", "replay_stopped"), ("p", "b", "replay_stopped")]) == .other)
    #expect(
      try standing([("p", "a", "replay_stopped"), ("p", "b", "replay_stopped")], results: [.replayStopped])
        == .failed(devices: nil))
  }

  @Test("a replay stops if its records are rejected or many of its pushes fail")
  func alarm() {
    var tally = ReplayWatch.Tally()
    tally.outcomes = [.sent: 100, .invalidToken: 12, .expired: 50, .cancelled: 50]
    #expect(tally.alarm == nil, "less than a fifth failed")
    tally.outcomes = [.sent: 30, .invalidToken: 4, .rejected: 4, .gaveUp: 3]
    #expect(tally.alarm?.contains("11 of its 41 pushes failed") == true)
    tally.outcomes = [.rejected: 9]
    #expect(tally.alarm == nil)
    tally.deadLetters = 5
    #expect(tally.alarm?.contains("5 of its records became dead letters") == true)
  }

  private func entry(_ body: AuditEventBody, at time: Milliseconds) -> AuditTrail.Entry {
    AuditTrail.Entry(
      event: AuditEvent(Envelope(eventId: "e\(time)", occurredAt: time), body),
      position: RecordPosition(topic: "nudge.audit", partition: 0, offset: time))
  }

  @Test("the history has each replay's state; a stopped replay stays stopped")
  func history() throws {
    func started(_ id: String) -> AuditEventBody {
      .started(
        ReplayStarted(replayId: id, mode: .resendMissing, who: "dana", why: "w", selection: [:], counts: [:]))
    }
    func ended(_ id: String, _ result: ReplayEnded.Result) -> AuditEventBody {
      .ended(ReplayEnded(replayId: id, result: result, reason: "errors", candidates: 1, recipients: 1))
    }
    let history = ReplayHistory(
      AuditTrail(entries: [
        entry(started("done"), at: 1), entry(started("open"), at: 2), entry(started("broke"), at: 3),
        entry(started("killed"), at: 4), entry(ended("done", .completed), at: 5),
        entry(.progressed(ReplayProgressed(replayId: "open", candidates: 3, recipients: 5, next: ["0": 9])), at: 6),
        entry(ended("broke", .stopped), at: 7),
        entry(.stopped(ReplayStopRequest(replayId: "killed", who: "dana", why: "wrong")), at: 8),
        entry(ended("killed", .completed), at: 9),
      ]))
    #expect(history.replays.map(\.replayId) == ["done", "open", "broke", "killed"])
    #expect(history.replays.map(\.condition) == [.completed, .open, .interrupted, .stopped])
    #expect(history.replays[1].progress?.next == ["0": 9])
    #expect(history.text.contains("killed  resend-missing  stopped (dana: wrong)"))
  }

  @Test("a replay's records keep the message's time and name the replay; only forced ones say so")
  func record() throws {
    let item = ReplayPlan.Item(
      position: RecordPosition(topic: "nudge.timeline", partition: 2, offset: 17),
      source: RecordPosition(topic: "chat.events", partition: 1, offset: 4), occurredAt: 99,
      fields: MessageCandidate(
        conversationId: "c", messageId: "m", sender: Member(userId: "bob", displayName: "Bob"),
        conversation: CandidateConversation(kind: .direct, memberCount: 2, activeSpeakers: 1), title: "t", body: "b",
        recipients: [Recipient(userId: "ann", context: RecipientContext())]))
    for mode in ReplayMode.allCases {
      let record = try ReplayRecord.record(item, replayId: "r-1", mode: mode, coder: RecordCoder())
      #expect(record.topic == .timeline && record.partition == 2)
      #expect(record.headers.map(\.name) == [RecordHeader.replayId])
      let event = try RecordCoder().decode(TimelineEvent.self, from: record.value ?? [])
      guard case .redecide(let fields) = event.body else {
        Issue.record("no candidate.redecide")
        continue
      }
      #expect(event.envelope.occurredAt == 99 && event.source == item.source && event.origin.position == item.position)
      #expect(fields.replayId == "r-1" && fields.forced == (mode == .force ? true : nil))
    }
  }
}
