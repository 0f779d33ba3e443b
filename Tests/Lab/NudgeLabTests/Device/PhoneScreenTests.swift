import Foundation
import NudgeClient
import Testing
import VirtualPhone

@testable import NudgeLab

@Suite("A virtual phone on a terminal")
struct PhoneScreenTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func phone(messages: Int = 2) throws -> VirtualPhone {
    var phone = VirtualPhone(
      device: Device(deviceId: "phone", platform: .android), token: "t", makeId: { UUID().uuidString })
    _ = phone.take(.signIn(userId: "ann"), at: now)
    for number in 1...max(1, messages) where messages > 0 {
      let json = #"""
        {"message":{"token":"t","notification":{"title":"Bob \#(number)","body":"two\nlines\u001b[2J"},
        "data":{"type":"smart_notification","conversationId":"c\#(number)","messageId":"m\#(number)","senderId":"bob",
        "recipientId":"ann","pushId":"p\#(number)","priority":"high","badge":"\#(number)"},
        "android":{"notification":{"tag":"m\#(number)","sound":"default"}}}}
        """#
      let message = try #require(DeliveredMessage(body: Array(json.utf8)))
      _ = phone.take(.delivery(message, takenAt: 0), at: now)
    }
    return phone
  }

  @Test("shows the user, the badge and the notifications, newest first, and fits any size")
  func lines() throws {
    let phone = try phone()
    var screen = PhoneScreen()
    let lines = screen.lines(of: phone, width: 60, height: 16, Paint(isOn: false))
    #expect(lines.count == 16)
    #expect(lines[0].contains("ann's phone") && lines[0].contains("💬 2"))
    let text = lines.joined(separator: "\n")
    let (first, second) = (try #require(text.range(of: "Bob 2")), try #require(text.range(of: "Bob 1")))
    #expect(first.lowerBound < second.lowerBound)
    // All keys are told on a terminal of 80 columns.
    #expect(lines.last == "s sign out · n network · i reinstall · q quit")
    #expect(lines.suffix(3).allSatisfy { $0.count <= 80 })
    // The terminal obeys nothing in a message.
    #expect(!text.contains("\u{1B}"))
    #expect(text.contains("two lines"))
    for (width, height) in [(1, 1), (10, 3), (200, 60), (0, 0)] {
      let lines = screen.lines(of: phone, width: width, height: height, Paint(isOn: true))
      #expect(lines.count <= height)
    }
    var empty = PhoneScreen()
    let emptyLines = empty.lines(of: try self.phone(messages: 0), width: 60, height: 16, Paint(isOn: false))
    #expect(emptyLines.contains("nothing on the lock screen"))
  }

  @Test("each key acts as the help lines say, on the selected notification")
  func keys() throws {
    var phone = try phone()
    var screen = PhoneScreen()
    func press(_ keys: PhoneScreen.Key...) -> PhoneScreen.Command? {
      var last: PhoneScreen.Command?
      for key in keys { last = screen.press(key, on: phone) }
      return last
    }
    #expect(press(.enter) == .input(.respond(.open, messageId: "m2")))
    #expect(press(.down, .character("m")) == .input(.respond(.markRead, messageId: "m1")))
    #expect(press(.down, .character("+")) == .input(.respond(.helpful, messageId: "m1")))
    #expect(press(.up, .character("-")) == .input(.respond(.notHelpful, messageId: "m2")))
    #expect(press(.character("x")) == .input(.respond(.dismiss, messageId: "m2")))
    #expect(press(.character("a")) == .input(.open))
    #expect(press(.character("n")) == .input(.network(false)))
    #expect(press(.character("i")) == .reinstall)
    #expect(press(.character("s")) == .input(.signOut))
    #expect(press(.character("q")) == .quit)
    #expect(press(.interrupt) == .quit)
    #expect(press(.character("w")) == nil)
    #expect(
      press(.character("r"), .character("q"), .character("é"), .character("!"), .backspace, .enter)
        == .input(.respond(.reply("qé"), messageId: "m2")))
    #expect(press(.character("r"), .enter) == nil)
    #expect(press(.character("r"), .character("x"), .escape) == nil)
    #expect(press(.character("c"), .character("c"), .character("1"), .enter) == .input(.openConversation("c1")))
    _ = phone.take(.openConversation("c1"), at: now)
    #expect(press(.character("w"), .character("h"), .enter) == .input(.write("h", conversationId: "c1")))
    _ = phone.take(.network(false), at: now)
    _ = phone.take(.signOut, at: now)
    #expect(press(.character("s"), .character("e"), .enter) == .input(.signIn(userId: "e")))
  }

  @Test("keys are decoded from a terminal's bytes, complete characters only; unknown sequences are skipped")
  func bytes() {
    var bytes = Array("aé👍\u{1B}[A\u{1B}OB\u{1B}[1;5C\r\u{7F}\u{3}".utf8)
    #expect(
      PhoneScreen.keys(in: &bytes) == [
        .character("a"), .character("é"), .character("👍"), .up, .down, .enter, .backspace, .interrupt,
      ])
    #expect(bytes.isEmpty)
    bytes = [0xC3]
    #expect(PhoneScreen.keys(in: &bytes).isEmpty)
    bytes.append(0xA9)
    #expect(PhoneScreen.keys(in: &bytes) == [.character("é")])
    bytes = [0x1B]
    #expect(PhoneScreen.keys(in: &bytes) == [.escape])
    // Nothing that comes hangs it.
    bytes = (0...255).map { UInt8($0) } + [0xF4, 0xFF, 0x1B, 0x5B]
    _ = PhoneScreen.keys(in: &bytes)
    #expect(bytes.count < 4)
  }
}
