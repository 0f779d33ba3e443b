@testable import FCMEmulator
import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebPages

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The emulator's page with the phones", .timeLimit(.minutes(2)))
struct PhonesTests {
  /// The data of the page.
  private struct Changes: Decodable {
    struct Phone: Decodable {
      struct Entry: Decodable, Equatable {
        let tag: String
        let thread: String
        let title: String
        let body: String
        let presentation: String
        let hasPicture: Bool
        let replaced: Int
        let pushId: String
      }
      let number: Int
      let platform: String
      let owner: String
      let badge: Int
      let pushes: Int
      let sounds: Int
      let silentPushes: Int
      let badgePushes: Int
      let removals: Int
      let dropped: Int
      let entries: [Entry]
    }
    let version: Int
    let pushes: Int
    let phoneCount: Int
    let phones: [Phone]
  }

  private final class Page: Sendable {
    let desk: Desk
    let url: String

    init(decisions: String? = nil) throws {
      desk = try Desk(FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress(), decisionFile: decisions))
      url = try #require(desk.emulator.adminURL)
    }

    func get(_ path: String) async throws -> (status: Int, body: Data, headers: [AnyHashable: Any]) {
      let session = URLSession(configuration: .ephemeral)
      let (data, response) = try await session.data(from: try #require(URL(string: url + path)))
      let answer = try #require(response as? HTTPURLResponse)
      return (answer.statusCode, data, answer.allHeaderFields)
    }

    func phones(after version: Int = 0) async throws -> Changes {
      try JSONDecoder().decode(Changes.self, from: try await get("phones?after=\(version)").body)
    }

    /// A message as the dispatcher writes it for iOS.
    func push(
      _ id: String, message: String, in conversation: String, to owner: String = "ann", token: String = "t1",
      title: String? = "Bob", body: String = "hi", sound: Bool = true, badge: Int, type: String = "smart_notification"
    ) async throws {
      let shown = title.map { ##""notification":{"title":"\##($0)","body":"\##(body)"},"## } ?? ""
      let seen = title == nil ? "" : #","thread-id":"\#(conversation)","mutable-content":1"#
      let heard = title != nil && sound ? #","sound":"default""# : ""
      let text = #"""
        {"message":{"token":"\#(token)",\#(shown)"data":{"type":"\#(type)","conversationId":"\#(conversation)",
        "messageId":"\#(message)","recipientId":"\#(owner)","pushId":"\#(id)","priority":"high","badge":"\#(badge)"},
        "apns":{"headers":{"apns-push-type":"alert","apns-priority":"5","apns-collapse-id":"\#(message)"},
        "payload":{"aps":{"badge":\#(badge),"content-available":1\#(seen)\#(heard)}}}}}
        """#
      let response = try await desk.send(text)
      #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    }
  }

  @Test("A push is on its phone's lock screen: title, text, sound, badge; the next of its message replaces it")
  func lockScreen() async throws {
    let page = try Page()
    try await page.push("p1", message: "m1", in: "c1", badge: 1)
    try await page.push("p2", message: "m2", in: "c2", body: "silent", sound: false, badge: 2)
    try await page.push("p1b", message: "m1", in: "c1", body: "edited", sound: false, badge: 2)
    let changes = try await page.phones()
    #expect(changes.pushes == 3)
    #expect(changes.phoneCount == 1)
    let phone = try #require(changes.phones.first)
    #expect(phone.owner == "ann")
    #expect(phone.platform == "ios")
    #expect((phone.badge, phone.pushes, phone.sounds) == (2, 3, 1))
    #expect(phone.entries.map(\.body) == ["edited", "silent"])
    #expect(phone.entries.map(\.replaced) == [1, 0])
    #expect(phone.entries.map(\.presentation) == ["silent", "silent"])
    #expect((phone.silentPushes, phone.badgePushes) == (2, 0))
    #expect(phone.entries.map(\.pushId) == ["p1b", "p2"])
    page.desk.end()
  }

  @Test(
    "D7, D13: read elsewhere takes the conversation's entries away, a deletion its message's; a badge push shows nothing"
  )
  func removed() async throws {
    let page = try Page()
    try await page.push("p1", message: "m1", in: "c1", badge: 1)
    try await page.push("p2", message: "m2", in: "c1", badge: 1)
    try await page.push("p3", message: "m3", in: "c2", badge: 2)
    try await page.push("p4", message: "m4", in: "c2", badge: 2)
    try await page.push("r", message: "m2", in: "c1", title: nil, badge: 1, type: "read")
    #expect(try await page.phones().phones.first?.entries.map(\.tag) == ["m4", "m3"])
    try await page.push("d", message: "m4", in: "c2", title: nil, badge: 1, type: "deleted")
    try await page.push("b", message: "m5", in: "c2", title: nil, badge: 5, type: "badge")
    let phone = try #require(try await page.phones().phones.first)
    #expect(phone.entries.map(\.tag) == ["m3"])
    #expect(phone.badge == 5)
    // Every push is counted once, by what it did.
    #expect(phone.pushes == 7 && phone.removals == 2 && phone.badgePushes == 1)
    #expect(phone.sounds + phone.silentPushes + phone.badgePushes + phone.removals + phone.dropped == phone.pushes)
    page.desk.end()
  }

  @Test(
    "Android shows 50 notifications of an app, and drops the next, an alert too; one that replaces another is shown")
  func fifty() async throws {
    let page = try Page()
    func push(_ number: Int, _ body: String) async throws {
      let text = #"""
        {"message":{"token":"a1","notification":{"title":"Bob","body":"\#(body)"},"data":{"type":"smart_notification",
        "conversationId":"c\#(number)","messageId":"m","recipientId":"ann","pushId":"p\#(number)","priority":"high","badge":"1"},
        "android":{"notification":{"tag":"t\#(number)","sound":"default"}}}}
        """#
      #expect(try await page.desk.send(text).status == 200)
    }
    for number in 1...52 { try await push(number, "text \(number)") }
    try await push(7, "again")
    let phone = try #require(try await page.phones().phones.first)
    #expect(phone.platform == "android" && phone.entries.count == 50 && phone.dropped == 2)
    #expect(phone.entries.first?.body == "again")
    #expect(!phone.entries.contains { $0.body == "text 51" || $0.body == "text 52" })
    page.desk.end()
  }

  @Test("A deletion takes away the message of its conversation, not another's with the same id")
  func sameId() async throws {
    let page = try Page()
    try await page.push("p1", message: "5", in: "c1", badge: 1)
    let other = #"""
      {"message":{"token":"t1","notification":{"title":"Eve","body":"hi"},"data":{"type":"smart_notification",
      "conversationId":"c2","messageId":"5","recipientId":"ann","pushId":"p2","priority":"high","badge":"2"},
      "apns":{"headers":{"apns-collapse-id":"other"},"payload":{"aps":{"thread-id":"c2","sound":"default"}}}}}
      """#
    #expect(try await page.desk.send(other).status == 200)
    try await page.push("d", message: "5", in: "c1", title: nil, badge: 1, type: "deleted")
    #expect(try await page.phones().phones.first?.entries.map(\.thread) == ["c2"])
    page.desk.end()
  }

  @Test("The same port takes faults and tells counts, for tools without HTTP/2")
  func control() async throws {
    let page = try Page()
    func faults(_ body: String) async throws -> (status: Int, body: String) {
      var request = URLRequest(url: try #require(URL(string: page.url + "emulator/faults")))
      request.httpMethod = "POST"
      request.httpBody = Data(body.utf8)
      let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
      return (try #require(response as? HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
    }
    #expect(try await faults(#"{"faults": [{"answer": "UNAVAILABLE"}]}"#) == (200, "{\"faults\":1}\n"))
    #expect(try await page.desk.message(to: "t1").get().status == 503)
    let refused = try await faults(#"{"faults": [{"action": "explode"}]}"#)
    #expect(refused.status == 400 && refused.body.contains("no action is called explode"))
    #expect(try await faults(#"{"faults": []}"#).status == 200)
    #expect(try await page.desk.message(to: "t1").get().status == 200)
    let stats = try await page.get("emulator/stats")
    #expect(String(decoding: stats.body, as: UTF8.self) == page.desk.emulator.counters.json + "\n")
    #expect(page.desk.emulator.counters.requests == 2)
    #expect(try await page.get("emulator/tokens").status == 404)
    page.desk.end()
  }

  @Test("C6: where another account uses the phone, what the former one was shown is gone")
  func accountSwitch() async throws {
    let page = try Page()
    try await page.push("p1", message: "m1", in: "c1", badge: 1)
    try await page.push("p2", message: "m2", in: "c1", to: "eve", badge: 1)
    let phone = try #require(try await page.phones().phones.first)
    #expect(phone.owner == "eve")
    #expect(phone.entries.map(\.pushId) == ["p2"])
    page.desk.end()
  }

  @Test("Only what changed is told, as soon as it changes; a refused request changes nothing")
  func changes() async throws {
    let page = try Page()
    try await page.push("p1", message: "m1", in: "c1", badge: 1)
    try await page.push("p2", message: "m2", in: "c1", to: "bob", token: "t2", badge: 1)
    let before = try await page.phones()
    #expect(before.phones.map(\.number) == [1, 2])
    async let next = page.phones(after: before.version)
    _ = try await page.desk.send(#"{"message":{"token":"t1","data":{"k":1}}}"#)
    try await page.push("p3", message: "m3", in: "c1", to: "bob", token: "t2", badge: 2)
    let after = try await next
    #expect(after.version == before.version + 1)
    #expect(after.phones.map(\.number) == [2])
    #expect(try await page.get("phones?after=soon").status == 400)
    page.desk.end()
  }

  @Test("D10: a click tells the decision that made the push, the last one where it was decided twice")
  func decisions() async throws {
    let folder = try ScratchFolder()
    let lines = [
      #"{"pushId":"p1","text":"first"}"#, #"{"pushId":"p10","text":"another, after p1: \"p1\""}"#,
      #"{"pushId":"p1","text":"again"}"#, #"{"pushId":"p2","te"#,
    ]
    try lines.joined(separator: "\n").write(toFile: folder.file("d.jsonl"), atomically: true, encoding: .utf8)
    let page = try Page(decisions: folder.file("d.jsonl"))
    #expect(String(decoding: try await page.get("decisions/p1").body, as: UTF8.self) == lines[2])
    #expect(String(decoding: try await page.get("decisions/p10").body, as: UTF8.self) == lines[1])
    // Half written yet.
    #expect(try await page.get("decisions/p2").status == 404)
    #expect(try await page.get("decisions/p%201").status == 404)
    page.desk.end()
    try folder.remove()
    let without = try Page()
    let answer = try await without.get("decisions/p1")
    #expect(answer.status == 404)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("--decisions"))
    without.desk.end()
  }

  @Test("The page loads nothing from elsewhere, and runs nothing that came in a push")
  func policy() async throws {
    let page = try Page()
    let answer = try await page.get("")
    #expect(answer.status == 200)
    let policy = try #require(answer.headers["Content-Security-Policy"] as? String)
    #expect(policy.hasPrefix("default-src 'none'"))
    #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
    let html = String(decoding: answer.body, as: UTF8.self)
    #expect(html.contains("<title>Nudge · phones</title>"))
    #expect(html.firstMatch(of: /<script(?![^>]*src=)|<style|\son\w+=|style=/) == nil)
    // Each file is used, and holds to the policy.
    var (wanted, seen): ([String], Set<String>) = (html.matches(of: /(?:src|href)="([\w.]+)"/).map { String($0.1) }, [])
    while let name = wanted.popLast() {
      guard seen.insert(name).inserted else { continue }
      let file = try await page.get(name)
      #expect(file.status == 200, "\(name)")
      let text = String(decoding: file.body, as: UTF8.self)
      wanted += text.matches(of: /from "\.\/(\w+\.js)"/).map { String($0.1) }
      for forbidden in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://", "srcdoc",
      ] {
        #expect(!text.contains(forbidden), "\(name): \(forbidden)")
      }
    }
    #expect(seen.isSuperset(of: ["phones.css", "phones.js", "app.js", "live.js", "nudge.js"]))
    #expect(WebPages.phones.files.count == seen.count + 1, "a file is not used: \(WebPages.phones.files.keys.sorted())")
    #expect(try await page.get("pages.c").status == 404)
    // Apps run the code of docs/apps.md.
    for name in ["live.js", "nudge.js"] {
      #expect(try await page.get(name).body == Data(contentsOf: Repository.file("Schemas/app/web/\(name)")))
    }
    page.desk.end()
  }
}
