import NudgeClient
import Testing
import VirtualPhone

@testable import NudgeLab

extension RightSoundScenario {
  static func taps(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "tp.bob")
    for number in 1...10 {
      try world.conversation("tp.c\(number)", ["tp.ann\(number)", "tp.bob"])
      try world.write("tp.m\(number)", in: "tp.c\(number)", from: "tp.ann\(number)", "Hey, are you free?")
    }
    for number in 1...10 { try world.see("tp.m\(number)", on: phone) }
    try world.tapAll(on: phone, "tp")
    try world.settle()
    return phone
  }
}

extension PhoneWorld {
  /// Taps ten notifications in another order than they came: each leads to its own conversation and message.
  func tapAll(on phone: Int, _ prefix: String) throws {
    for number in [7, 2, 10, 1, 5, 3, 9, 4, 8, 6] {
      try fleet.send(phone, .respond(.open, messageId: "\(prefix).m\(number)"))
      #expect(self.phone(phone).conversationId == "\(prefix).c\(number)")
      #expect(
        notes[phone]?.last { if case .highlighted = $0.note { true } else { false } }?.note
          == .highlighted(messageId: "\(prefix).m\(number)"))
      try fleet.send(phone, .close)
    }
    try wait(for: "an empty badge") { self.phone(phone).badge == 0 }
    #expect(self.phone(phone).lockScreen.entries.isEmpty)
  }
}
