import Foundation
import TestSupport
import Testing

@testable import NudgeConsole

private struct NoAnswers: ConsoleAnswers {
  let facts = ConsoleFacts(
    version: "1", bootstrapServers: "kafka-1.of-the-console.example:9092,kafka-2.of-the-console.example:9092",
    topicPrefix: "", allowsActions: true, showsTexts: true, phones: "http://127.0.0.1:1/")

  func isAction(_ question: ConsoleQuestion) -> Bool { false }
  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws {}
}

@Suite(
  "The console's header", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
struct ConsoleHeaderTests {
  /// The links that a person cannot see or click where they are.
  private static let hidden = """
    [...document.querySelectorAll("nav a, .where button")].filter(item => {
      const place = item.getBoundingClientRect();
      const top = document.elementFromPoint((place.left + place.right) / 2, (place.top + place.bottom) / 2);
      return place.left < 0 || place.right > document.documentElement.clientWidth || !item.contains(top);
    }).map(item => item.textContent)
    """

  @Test("shows every page at any width from 360 pixels, and the page does not scroll sideways")
  func widths() throws {
    let console = try ConsoleServer(ConsoleAddress(host: "127.0.0.1", port: 0), answers: NoAnswers())
    try console.start()
    defer { console.stop() }
    let browser = try HeadlessBrowser(width: 1_300, height: 900)
    try browser.open(console.url)
    try browser.wait(until: "document.querySelectorAll('nav a').length === 9")
    for width in [360, 414, 600, 759, 761, 900, 979, 1_024, 1_280, 1_300, 1_439, 1_441, 1_920] {
      try browser.resize(width: width, height: 900, isDark: false)
      #expect(try browser.evaluate(Self.hidden) as? [String] == [], "at \(width)")
      #expect(
        try browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth") as? Bool
          == true, "at \(width)")
    }
  }
}
