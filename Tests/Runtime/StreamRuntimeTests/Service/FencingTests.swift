import Foundation
@testable import KafkaTransactions
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Fencing")
struct FencingTests {
  @Test("a process fenced twice within the window waits; otherwise it exits at once, also after a clock jump")
  func decision() {
    func action(_ last: Milliseconds?, _ now: Milliseconds) -> FencedAction {
      FencedAction.after(last: last, now: now, window: 60_000)
    }
    #expect(action(nil, 1_000_000) == .exit)
    #expect(action(1_000_000, 1_000_001) == .wait(60_000))
    #expect(action(1_000_000, 1_059_999) == .wait(60_000))
    #expect(action(1_000_000, 1_060_000) == .exit)
    // The clock was set back, by a little and by a lot.
    #expect(action(1_000_000, 999_000) == .wait(60_000))
    #expect(action(1_000_000, 900_000) == .exit)
  }

  @Test("the note survives the process, and all fenced threads of a process decide alike")
  func note() throws {
    let directory = try TemporaryDirectory()
    func process() -> LastFencing { LastFencing(directory: directory.path, window: 60_000) }
    let first = process()
    #expect(try first.fenced(now: 1_000_000) == .exit)
    #expect(try first.fenced(now: 1_000_005) == .exit)
    let second = process()
    #expect(try second.fenced(now: 1_030_000) == .wait(60_000))
    #expect(try second.fenced(now: 1_030_001) == .wait(60_000))
    // Its wait counts from its end: the next that is fenced soon after waits as well.
    try second.waited(now: 1_090_000)
    #expect(try process().fenced(now: 1_110_000) == .wait(60_000))
    #expect(try process().fenced(now: 1_200_000) == .exit)
  }

  @Test("an unreadable note is ignored, and an unwritable one is an error")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    try Data("soon".utf8).write(to: URL(fileURLWithPath: directory.path + "/fenced"))
    #expect(try LastFencing(directory: directory.path, window: 60_000).fenced(now: 1_000_000) == .exit)
    #expect(throws: (any Error).self) {
      try LastFencing(directory: directory.path + "/nowhere", window: 60_000).fenced(now: 1_000_000)
    }
  }

  @Test("holders of a name: static members by instance id, dynamic ones by client id")
  func holders() {
    func member(_ instance: String?, _ client: String, _ host: String) -> GroupMember {
      GroupMember(memberID: "m-\(client)-\(host)", instanceID: instance, clientID: client, host: host)
    }
    let members = [
      member("nudge-x-a-0", "operator's own", "/10.0.0.1"), member("nudge-x-b-0", "nudge-x-b-0-consumer", "/10.0.0.2"),
      member(nil, "nudge-x-a-0-consumer-0.2.0", "/10.0.0.3"), member(nil, "nudge-x-a-01-consumer-0.2.0", "/10.0.0.4"),
    ]
    #expect(
      GroupMembers(members).description(under: "nudge-x-a-0")
        == "nudge-x-a-0-consumer-0.2.0 at /10.0.0.3, operator's own at /10.0.0.1")
    #expect(GroupMembers(members).description(under: "nudge-x-c-0") == "nobody at this moment")
    #expect(GroupMembers(members).former(of: "nudge-x-")?.host == "/10.0.0.2")
    #expect(GroupMembers(members.filter { $0.host != "/10.0.0.2" }).former(of: "nudge-x-") == nil)
    #expect(GroupMembers([member(nil, "our-consumer", "/10.0.0.5")]).former(of: "nudge-x-") == nil)
  }
}
