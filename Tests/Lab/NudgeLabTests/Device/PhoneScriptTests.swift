import Foundation
import NudgeClient
import ServiceKit
import TestSupport
import Testing
import VirtualPhone

@testable import NudgeCommands
@testable import NudgeLab

@Suite("Scripts for virtual phones")
struct PhoneScriptTests {
  @Test(
    "each step is parsed as the help says",
    arguments: [
      ("sign-in bob", .input(.signIn(userId: "bob"))), ("sign-out", .input(.signOut)), ("reinstall", .reinstall),
      ("open", .input(.open)), ("open c 1", .input(.openConversation("c 1"))), ("close", .input(.close)),
      ("back", .input(.closeConversation)), ("write c1 See you", .input(.write("See you", conversationId: "c1"))),
      ("mark-read c1", .input(.read(conversationId: "c1"))), ("tap", .input(.respond(.open, messageId: nil))),
      ("reply  At noon ", .input(.respond(.reply("At noon"), messageId: nil))),
      ("read", .input(.respond(.markRead, messageId: nil))),
      ("helpful", .input(.respond(.helpful, messageId: nil))),
      ("not-helpful", .input(.respond(.notHelpful, messageId: nil))),
      ("dismiss", .input(.respond(.dismiss, messageId: nil))), ("offline", .input(.network(false))),
      ("online", .input(.network(true))), ("allow", .input(.allowNotifications(true))),
      ("forbid", .input(.allowNotifications(false))), ("wait 1500ms", .wait(.milliseconds(1_500))),
      ("wait-for Lunch at noon", .waitForText("Lunch at noon")), ("wait-badge 0", .waitForBadge(0)),
      ("wait-registered", .waitForRegistration), ("wait-empty", .waitForNothing), ("show", .show),
    ] as [(String, PhoneScriptLine)])
  func steps(text: String, line: PhoneScriptLine) throws {
    #expect(try PhoneScript.line(text, number: 1) == line)
    let verb = try #require(text.split(separator: " ").first)
    #expect(PhoneScript.help.contains(verb), "the help must name \(verb)")
  }

  @Test("empty lines and comments are skipped; previews changes preferences")
  func others() throws {
    #expect(try PhoneScript.line("", number: 1) == nil)
    #expect(try PhoneScript.line("  # later", number: 1) == nil)
    var change = PreferencesChange()
    change.showPreviews = false
    #expect(try PhoneScript.line("previews off", number: 1) == .input(.prefer(change)))
  }

  @Test(
    "an invalid line is rejected with its number and the valid steps",
    arguments: [
      ("jump", "not a step of a script"), ("sign-in", "needs a user id"), ("reply", "needs a text"),
      ("write c1", "needs a conversation and a text"), ("wait soon", "not a duration"),
      ("wait-badge -1", "not a number"),
      ("close now", "takes no argument"), ("previews maybe", "needs on or off"),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: SettingsError.self) { try PhoneScript.line(text, number: 7) }
    #expect(
      error.map { "\($0)".contains("line 7") && "\($0)".contains(reason) } == true, "\(String(describing: error))")
  }

  @Test("lines of a file have numbers, the last may lack its line break; a missing file is an error")
  func lines() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/script"
    try Data("open\n\nclose".utf8).write(to: URL(fileURLWithPath: path))
    let lines = try ScriptLines(path: path)
    var read: [String] = []
    while let (text, number) = try lines.next(meanwhile: {}) { read.append("\(number) \(text)") }
    #expect(read == ["1 open", "2 ", "3 close"])
    #expect(throws: CommandError.self) { try ScriptLines(path: path + "-not-there") }
  }
}
