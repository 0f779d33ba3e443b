import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("Fields that an event's schema does not have")
struct KnownFieldsTests {
  private func unknown(_ known: KnownFields, _ text: String) -> [String] {
    known.unknown(in: Array(text.utf8)).map(\.description)
  }

  @Test(
    "none is in the examples of Schemas/, with every field there is",
    arguments: [EventType.preferencesUpdated, .deviceRegistered])
  func examples(type: EventType) throws {
    let known = try #require(KnownFields.settings(of: type))
    let folder = SchemaTexts.schemas.appendingPathComponent("user.events/examples/\(type)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.hasPrefix("valid-") }
    #expect(!files.isEmpty)
    for file in files where !file.lastPathComponent.contains("unknown") {
      #expect(try known.unknown(in: Array(Data(contentsOf: file))) == [], "\(file.lastPathComponent)")
    }
  }

  @Test("one is named with its place, at any depth, and the nearest known one or all of them")
  func names() {
    #expect(
      unknown(.preferencesUpdated, #"{"userId": "u", "preference": {}, "preferences": {"muted": [{}, {"untill": 1}]}}"#)
        == [
          "preference is not a known field: did you mean preferences?",
          "preferences.muted[1].untill is not a known field: did you mean until?",
        ])
    #expect(
      unknown(.preferencesUpdated, #"{"preferences": {"defaultLevels": {"channels": "all"}}}"#)
        == ["preferences.defaultLevels.channels is not a known field: use direct, group"])
    #expect(
      unknown(.deviceRegistered, #"{"webPush": {"endpont": "x"}, "apVersion": "1"}"#) == [
        "webPush.endpont is not a known field: did you mean endpoint?",
        "apVersion is not a known field: did you mean appVersion?",
      ])
    #expect(
      unknown(.conversationUpdated, #"{"members": [{"userId": "u", "displayname": "U"}]}"#)
        == ["members[0].displayname is not a known field: did you mean displayName?"])
  }

  @Test("a name is cut and has no control characters, and at most eight are reported")
  func bounds() {
    let long = String(repeating: "x", count: 10_000)
    let found = KnownFields.preferencesUpdated.unknown(in: Array(#"{"a\nb\#(long)": 1}"#.utf8))
    #expect(found.map(\.path) == ["ab" + long.prefix(62)])
    let many = (0..<100).map { #""zz\#($0)": 1"# }.joined(separator: ",")
    #expect(KnownFields.preferencesUpdated.unknown(in: Array("{\(many)}".utf8)).count == 8)
    #expect(KnownFields.preferencesUpdated.unknown(in: Array("{".utf8)) == [])
  }
}
