import Testing

@testable import ServiceKit

@Suite("Help fits the terminal")
struct HelpLayoutTests {
  private let narrow = HelpLayout(width: 40)

  @Test("a text breaks between words, and later lines are indented")
  func wraps() {
    let text = "Prints every setting with where it came from, secrets masked, and ends."
    #expect(
      narrow.wrapped(text, indent: 4)
        == """
        Prints every setting with where it came
            from, secrets masked, and ends.
        """)
    #expect(narrow.wrapped("short") == "short")
    #expect(narrow.wrapped("") == "")
    #expect(narrow.wrapped("first\nsecond", indent: 2) == "first\n  second")
    let word = String(repeating: "x", count: 60)
    #expect(narrow.wrapped("a \(word) b") == "a\n\(word)\nb", "a word is never broken")
  }

  @Test("meanings stay in their column; a long name stands on its own line")
  func columns() {
    let rows = [
      ("--count N", "How many of them there may be at one time."), ("--a-name-that-is-longer-than-30", "Short."),
    ]
    let lines = HelpLayout(width: 60).columns(rows).split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "  --count N                       How many of them there may",
        "                                  be at one time.",
        "  --a-name-that-is-longer-than-30", "                                  Short.",
      ])
  }

  @Test("an example that is too long continues after a backslash, before a flag")
  func examples() {
    #expect(
      narrow.examples(["nudge tail decisions --user ann --since 1h --follow"])
        == "  nudge tail decisions --user ann \\\n      --since 1h --follow")
    #expect(narrow.examples(["nudge lag"]) == "  nudge lag")
  }

  @Test("COLUMNS sets the width, within bounds")
  func environment() {
    #expect(HelpLayout(environment: ["COLUMNS": "60"]).width == 60)
    #expect(HelpLayout(environment: ["COLUMNS": "5"]).width == 40)
    #expect(HelpLayout(environment: ["COLUMNS": "500"]).width == 120)
  }

  @Test("no line of a command's help is wider than the terminal", arguments: [50, 80, 120])
  func settingsHelp(_ width: Int) {
    let schema = SettingsSchema(
      program: "nudge-test", abstract: String(repeating: "many words ", count: 30), version: "1",
      settings: ServiceSettings.all,
      examples: ["nudge-test --state-dir /var/lib/nudge --instance test-0 --log-level debug"])
    for line in SettingsHelp.text(of: schema, layout: HelpLayout(width: width)).split(separator: "\n") {
      // A placeholder, a name of a variable or a list of values without blanks may be longer.
      let words = line.split(separator: " ")
      #expect(line.count <= width || words.contains { $0.count > width / 3 }, "\(line)")
    }
  }
}
