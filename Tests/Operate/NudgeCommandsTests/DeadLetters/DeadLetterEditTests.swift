import Foundation
import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("nudge dead-letters edit, without Kafka", .serialized)
struct DeadLetterEditTests {
  private static let now: Milliseconds = 1_795_275_600_000

  private func value(_ json: String) throws -> JSONValue { try JSONValue(Array(json.utf8)) }

  private func message(_ more: String = #""senderId":"ada""#, version: Int = 1) throws -> JSONValue {
    try value(
      #"{"schemaVersion":\#(version),"type":"message.created","eventId":"e-1","occurredAt":\#(Self.now),"#
        + #""conversationId":"c-1","messageId":"m-1","text":"hello",\#(more)}"#)
  }

  @Test("fields are set by their paths, as JSON or as text, and removed")
  func apply() throws {
    let before = try value(#"{"a":1,"b":{"c":"x","d":2},"e":"gone"}"#)
    let edit = DeadLetterEdit(
      set: ["a": "text, with = signs", "b.c": "true", "b.new.deep": "[1,2]", "n": #""7""#],
      remove: ["e", "b.d", "no.such"])
    #expect(
      try edit.apply(to: before)
        == value(#"{"a":"text, with = signs","b":{"c":true,"new":{"deep":[1,2]}},"n":"7"}"#))
    for path in ["a.b", "", "b..c"] {
      #expect(throws: CommandError.self) { try DeadLetterEdit(set: [path: "1"]).apply(to: before) }
    }
    #expect(DeadLetterEdit().isEmpty && !edit.isEmpty)
  }

  @Test("changed fields are named by their paths, without values")
  func changes() throws {
    let before = try value(#"{"a":1,"b":{"c":"x","d":2},"e":[1]}"#)
    #expect(
      DeadLetterEdit.changes(before, try value(#"{"a":1,"b":{"c":"y"},"e":[1],"f":null}"#)) == ["b.c", "b.d", "f"])
    #expect(DeadLetterEdit.changes(before, before) == [])
    #expect(DeadLetterEdit.changes(nil, before) == ["(the whole value)"])
  }

  private func refusal(
    _ value: JSONValue, was before: JSONValue?, key: String? = "c-1", _ topic: Topic = .chatEvents
  ) -> String? {
    do {
      _ = try EditedEvent(value, was: before, keyWas: key.map { Array($0.utf8) }, topic: topic, now: Self.now)
      return nil
    } catch { return (error as? EditedEvent.Refusal)?.reason ?? "\(error)" }
  }

  @Test("a correction is checked as ingest does before it is published; what only state can tell is not")
  func validation() throws {
    let wrong = try message(#""senderId":7"#)
    #expect(refusal(wrong, was: try message())?.contains("schema_violation: senderId") == true)
    #expect(refusal(try message(version: 9), was: wrong)?.contains("unsupported_version") == true)
    #expect(refusal(try message(), was: try message()) == "nothing changes in it")
    #expect(refusal(try value(#"{"a":1}"#), was: wrong) == "conversationId is missing")
    // The conversation is not known here, and may be at ingest.
    let event = try EditedEvent(
      try message(), was: wrong, keyWas: Array("c-1".utf8), topic: .chatEvents, now: Self.now)
    #expect(event.changed == ["senderId"] && event.key == Array("c-1".utf8) && event.topic == .chatEvents)
    #expect(try JSONValue(event.value) == message())
    let old = Self.now + 30 * 86_400_000
    #expect(throws: EditedEvent.Refusal.self) {
      try EditedEvent(message(), was: wrong, keyWas: nil, topic: .chatEvents, now: old)
    }
  }

  @Test("a missing or wrong key becomes that of the event, which counts as a change", arguments: [nil, "other"])
  func key(_ key: String?) throws {
    let event = try EditedEvent(
      message(), was: message(), keyWas: key.map { Array($0.utf8) }, topic: .chatEvents, now: Self.now)
    #expect(event.changed == ["(the key)"] && event.key == Array("c-1".utf8))
  }

  @Test("user events are checked and keyed by their person")
  func user() throws {
    let read = try value(
      #"{"schemaVersion":1,"type":"message.read","eventId":"e-1","occurredAt":\#(Self.now),"userId":"ben","#
        + #""conversationId":"c-1","messageId":"m-1"}"#)
    let event = try EditedEvent(read, was: nil, keyWas: nil, topic: .userEvents, now: Self.now)
    #expect(event.key == Array("ben".utf8) && event.changed.contains("(the whole value)"))
    #expect(refusal(read, was: nil, .chatEvents)?.contains("unknown_type") == true)
  }

  /// One for the process, as for the command.
  private static let interrupts = TextEditor.interrupts()

  @Test(
    "T4: a signal ends the editor, and its file goes, whether the editor heeds signals or not",
    arguments: ["", "trap '' TERM; "])
  func interrupted(_ trap: String) throws {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("edited-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: place) }
    let script = FileManager.default.temporaryDirectory.appendingPathComponent("editor-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: script) }
    // The signal comes while the editor is open. It tells where the file is.
    try "\(trap)echo \"$1\" > \(place.path); kill -INT \(getpid()); exec sleep 300".write(
      to: script, atomically: true, encoding: .utf8)
    let editor = try #require(TextEditor(["EDITOR": "sh \(script.path)"]))
    let start = ContinuousClock.now
    let error = #expect(throws: CommandError.self) { try editor.edit(Array("secret text".utf8), Self.interrupts) }
    #expect(error?.description.contains("interrupted") == true)
    #expect(start.duration(to: .now) < .seconds(120))
    let file = try String(contentsOf: place, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(file.hasSuffix("event.json") && !FileManager.default.fileExists(atPath: file))
  }

  @Test("an editor's text is read back, its file is gone, and its failure is an error")
  func editor() throws {
    #expect(TextEditor([:]) == nil && TextEditor(["EDITOR": "vi", "VISUAL": "code -w"])?.command == "code -w")
    let before = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
      .filter { $0.hasPrefix("nudge-edit-") }
    let editor = try #require(TextEditor(["EDITOR": "sed -i s/old/new/"]))
    #expect(
      String(decoding: try editor.edit(Array("an old text".utf8), Self.interrupts), as: UTF8.self) == "an new text")
    let failing = try #require(TextEditor(["EDITOR": "false"]))
    #expect(throws: CommandError.self) { try failing.edit([], Self.interrupts) }
    let after = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
      .filter { $0.hasPrefix("nudge-edit-") }
    #expect(after == before)
  }
}
