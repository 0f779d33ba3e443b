import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("The preferences of an explanation")
struct ExplainReportTests {
  private let noon: Milliseconds = 1_795_343_400_000

  private func text(_ preferences: String) throws -> String {
    var answer = ExplainAnswer(userId: "ann", since: nil)
    answer.preferences = try JSONValue(Array(preferences.utf8))
    return ExplainReport(answer).text
  }

  @Test("a preference that was set to null has what that means, and no raw structure")
  func null() throws {
    let stamp = #""stamp":{"occurredAt":\#(noon),"eventId":"e"}"#
    let text = try text(
      #"{"dailyAlerts":{\#(stamp),"value":null},"digestTimes":{\#(stamp),"value":null},"#
        + #""quietHours":{\#(stamp),"value":null},"badgeMode":{\#(stamp),"value":"messages"}}"#)
    for line in [
      "dailyAlerts: the operator's number, set \(RFC3339.text(noon))",
      "digestTimes: when quiet hours end, set \(RFC3339.text(noon))", "quietHours: none, set \(RFC3339.text(noon))",
      "badgeMode: messages, set \(RFC3339.text(noon))",
    ] {
      #expect(text.contains("  \(line)"), "\(line) is not in\n\(text)")
    }
    #expect(!text.contains("stamp") && !text.contains("eventId"))
  }

  @Test("a list that was only ever changed has the time of its last change")
  func changedList() throws {
    let text = try text(
      #"{"keywords":{"stamp":{"occurredAt":0,"eventId":""},"value":["release"]},"elements":["#
        + #"{"list":"keywords","key":1,"stamp":{"occurredAt":\#(noon),"eventId":"e"},"isRemoved":false},"#
        + #"{"list":"muted","key":2,"stamp":{"occurredAt":\#(noon + 9),"eventId":"f"},"isRemoved":true}]}"#)
    #expect(text.contains("keywords: [release], set \(RFC3339.text(noon))"), "\(text)")
    #expect(!text.contains("elements") && !text.contains("isRemoved"))
  }
}
