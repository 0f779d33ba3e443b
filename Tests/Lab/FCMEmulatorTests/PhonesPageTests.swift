@testable import FCMEmulator
import Foundation
import HTTPTransport
import TestSupport
import Testing

/// The page as a browser shows it.
@Suite(
  "The page with the phones, in a browser", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
struct PhonesPageTests {
  private func push(
    _ desk: Desk, _ id: String, message: String, in conversation: String, to owner: String, title: String = "Bob",
    body: String = "Hello", sound: Bool = true, badge: Int = 1
  ) async throws {
    var aps: [String: Any] = ["badge": badge, "thread-id": conversation]
    if sound { aps["sound"] = "default" }
    let request: [String: Any] = [
      "token": "token-of-\(owner)", "notification": ["title": title, "body": body],
      "data": [
        "type": "smart_notification", "conversationId": conversation, "messageId": message, "recipientId": owner,
        "pushId": id, "priority": sound ? "high" : "medium", "badge": "\(badge)",
      ],
      "apns": ["headers": ["apns-collapse-id": message], "payload": ["aps": aps]],
    ]
    let bytes = try JSONSerialization.data(withJSONObject: ["message": request])
    let response = try await desk.send(Array(bytes)).get()
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
  }

  @Test("Lock screens and badges are live, a click tells why, and what a message says is text, whatever it says")
  func live() async throws {
    let folder = try ScratchFolder()
    let decision =
      #"{"pushId":"p1","text":"Bob mentioned you","reason":"relevant","priority":"high","score":0.93,"#
      + #""checks":["duplicate",{"check":"quiet_hours","inputs":{"localTime":"12:00"}}],"#
      + #""words":{"checks":[{"name":"duplicate","suppresses":false,"text":"decided for the first time"},"#
      + #"{"name":"quiet_hours","suppresses":false,"text":"22:00 to 07:00; it was 12:00 there"}]},"#
      + #""signals":[{"name":"mentioned","value":1,"weight":2.3}]}"#
    try decision.write(toFile: folder.file("d.jsonl"), atomically: true, encoding: .utf8)
    let desk = try Desk(
      FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress(), decisionFile: folder.file("d.jsonl")))
    let browser = try HeadlessBrowser(width: 1_280, height: 900)
    try browser.open(try #require(desk.emulator.adminURL))
    try browser.wait(until: "document.getElementById('empty')?.textContent.includes('No push has come yet')")

    let evil = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"
    try await push(desk, "p1", message: "m1", in: "c1", to: "ann", title: "Bob in Lunch", body: evil)
    try browser.wait(until: "document.querySelectorAll('.phone').length === 1")
    #expect(try browser.evaluate("document.querySelector('.phone .who').textContent") as? String == "ann")
    #expect(try browser.evaluate("document.querySelector('.note .body').textContent") as? String == evil)
    #expect(try browser.evaluate("document.querySelectorAll('.phone img, .phone script').length") as? Int == 0)
    #expect(try browser.evaluate("document.querySelector('.badge').textContent") as? String == "1")
    #expect(
      try browser.evaluate("document.querySelector('.note .marks').textContent") as? String == "alert, with a sound")

    // Live: the next one is there without a reload, below the same conversation, and silent.
    try await push(desk, "p2", message: "m2", in: "c1", to: "ann", sound: false, badge: 2)
    try browser.wait(until: "document.querySelectorAll('.thread .note').length === 2")
    #expect(try browser.evaluate("document.querySelectorAll('.thread').length") as? Int == 1)
    #expect(try browser.evaluate("document.querySelectorAll('.note.silent').length") as? Int == 1)
    try browser.wait(until: "document.querySelector('.badge').textContent === '2'")
    try await push(desk, "p2b", message: "m2", in: "c1", to: "ann", body: "Edited", sound: false, badge: 2)
    try browser.wait(until: "document.querySelector('.note .marks').textContent.includes('replaced once')")

    _ = try browser.evaluate("[...document.querySelectorAll('.note')].at(-1).click()")
    try browser.wait(until: "document.querySelector('dialog[open] .why')?.textContent === 'Bob mentioned you'")
    let told = try browser.evaluate("document.querySelector('dialog').textContent") as? String ?? ""
    for part in [
      "quiet hours", "it was 12:00 there", "decided for the first time", "mentioned", "score 0.93", "push p1",
    ] {
      #expect(told.contains(part), "\(part): \(told)")
    }
    #expect(try browser.evaluate("window.hacked === undefined") as? Bool == true)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    desk.end()
    try folder.remove()
  }

  @Test("A push changes what it changes: the focus, the place in the list and the sum of all pushes stay right")
  func staysInPlace() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress()))
    let browser = try HeadlessBrowser(width: 1_280, height: 900)
    try browser.open(try #require(desk.emulator.adminURL))
    for number in 0..<12 {
      try await push(desk, "p\(number)", message: "m\(number)", in: "c\(number)", to: "ann", sound: number < 3)
    }
    try browser.wait(until: "document.querySelectorAll('.note').length === 12")
    // The reader has scrolled, and stands on a notification.
    _ = try browser.evaluate(
      "window.mine = document.querySelectorAll('.note')[8]; mine.focus(); document.querySelector('.list').scrollTop = 200"
    )
    let before = try browser.evaluate("mine.getBoundingClientRect().top") as? Double ?? 0
    try await push(desk, "p12", message: "m12", in: "c12", to: "ann")
    try browser.wait(until: "document.querySelectorAll('.note').length === 13")
    #expect(try browser.evaluate("document.activeElement === mine") as? Bool == true)
    let after = try browser.evaluate("mine.getBoundingClientRect().top") as? Double ?? 0
    #expect(abs(after - before) < 2, "\(before) to \(after)")
    // Its own text changes: the focus is on what took its place.
    try await push(desk, "p3b", message: "m3", in: "c3", to: "ann", body: "Edited", sound: false)
    try browser.wait(until: "[...document.querySelectorAll('.note .body')].some(body => body.textContent === 'Edited')")
    #expect(try browser.evaluate("document.activeElement.querySelector('.body').textContent") as? String == "Edited")

    let sum = try browser.evaluate("document.querySelector('.sum').textContent") as? String ?? ""
    #expect(sum == "14 pushes: 4 with a sound · 10 silent", "\(sum)")
    for kind in ["badge", "read"] {
      let data = [
        "type": kind, "conversationId": "c1", "messageId": "m1", "recipientId": "ann", "pushId": kind, "badge": "1",
      ]
      let aps: [String: Any] = ["badge": 1, "content-available": 1]
      let request: [String: Any] = ["token": "token-of-ann", "data": data, "apns": ["payload": ["aps": aps]]]
      let bytes = try JSONSerialization.data(withJSONObject: ["message": request])
      let answer = try await desk.send(Array(bytes)).get()
      #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    }
    try browser.wait(
      until:
        "document.querySelector('.sum').textContent === '16 pushes: 4 with a sound · 10 silent · 1 badge only · 1 read or deleted'"
    )

    // Nobody is called so: the page says it.
    _ = try browser.evaluate(
      "(f => { f.value = 'eve'; f.dispatchEvent(new Event('input', { bubbles: true })) })(document.getElementById('filter'))"
    )
    #expect(
      try browser.evaluate(
        "document.getElementById('nobody').checkVisibility() && document.getElementById('nobody').textContent")
        as? String == "No phone of “eve”. One phone has got a push.")
    // By day the page is light.
    try browser.resize(width: 1_280, height: 900, isDark: false)
    let light = try browser.evaluate("getComputedStyle(document.body).backgroundColor") as? String
    try browser.resize(width: 1_280, height: 900, isDark: true)
    #expect(try browser.evaluate("getComputedStyle(document.body).backgroundColor") as? String != light)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    desk.end()
  }

  @Test("A hundred phones are shown, found by their owner, and fill the window")
  func hundred() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(adminAddress: FCMEmulatorAddress()))
    let browser = try HeadlessBrowser(width: 1_280, height: 900)
    try browser.open(try #require(desk.emulator.adminURL))
    for number in 0..<100 {
      for message in 0...(number % 4) {
        try await push(
          desk, "p\(number)-\(message)", message: "m\(number)-\(message)", in: "c\(message % 2)",
          to: "person-\(number)",
          title: "Somebody in Hikers", body: "Message \(message) for number \(number)", sound: message == 0,
          badge: message + 1)
      }
    }
    try browser.wait(until: "document.querySelectorAll('.phone').length === 100")
    try browser.wait(until: "document.getElementById('pushes').textContent === '250'")
    #expect(try browser.evaluate("document.getElementById('phones').textContent") as? String == "100")
    // Nothing is wider than the window.
    #expect(try browser.evaluate("document.documentElement.scrollWidth <= innerWidth") as? Bool == true)
    _ = try browser.evaluate(
      "(f => { f.value = 'person-42'; f.dispatchEvent(new Event('input', { bubbles: true })) })(document.getElementById('filter'))"
    )
    try browser.wait(until: "[...document.querySelectorAll('.phone')].filter(p => p.offsetParent).length === 1")
    _ = try browser.evaluate(
      "(f => { f.value = ''; f.dispatchEvent(new Event('input', { bubbles: true })) })(document.getElementById('filter'))"
    )
    let picture = try browser.screenshot()
    #expect(picture.count > 20_000)
    #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    if let path = ProcessInfo.processInfo.environment["NUDGE_SCREENSHOT"] {
      try picture.write(to: URL(fileURLWithPath: path))
    }
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    desk.end()
  }
}
