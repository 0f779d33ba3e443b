import Foundation
import NudgeSchema
import Testing

@testable import Ingest

@Suite("Schemas over HTTP")
struct EventSchemasTests {
  @Test("the texts in the program are those of Schemas/")
  func texts() throws {
    let source = try SchemaTexts.source()
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_DOCS"] != nil {
      try Data(source.utf8).write(to: SchemaTexts.file)
    }
    #expect(
      try String(contentsOf: SchemaTexts.file, encoding: .utf8) == source,
      "write it anew with: NUDGE_WRITE_DOCS=1 swift test --filter EventSchemasTests")
  }

  @Test(
    "every type has a schema that is JSON and refers to nothing outside",
    arguments: (ChatEventBody.types + UserEventBody.types).map(\.rawValue))
  func complete(type: String) throws {
    let text = try #require(EventSchemas.schema(of: type))
    let schema = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: Any])
    for reference in text.components(separatedBy: "\"$ref\":\"").dropFirst() {
      let target = try #require(reference.split(separator: "\"").first)
      #expect(target.hasPrefix("#/$defs/"))
      #expect(definitions[String(target.dropFirst("#/$defs/".count))] != nil, "\(target)")
    }
    #expect(EventSchemas.schema(of: "no.such") == nil)
  }
}
