import Foundation
import Kafka
import TestSupport
import Testing

@testable import NudgeLab

@Suite(
  "The console of a demo, in a browser", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"),
  .enabled(
    if: DemoEndToEndTests.programs != nil,
    "nudge and the services are not built beside the tests: swift build --build-tests")
)
struct ConsoleBrowserTests {
  @Test("each page says what the commands say, runs nothing that a record holds, and can be used by everybody")
  func pages() throws {
    let demo = try DemoWithConsole(programs: try #require(DemoEndToEndTests.programs))
    let tour = ConsoleTour(demo: demo, page: try page(of: demo))
    let first = try #require(try demo.records("decisions").first)
    try tour.person(try #require(first["userId"] as? String))
    try tour.message(
      try #require(first["messageId"] as? String), in: try #require(first["conversationId"] as? String))
    try tour.receipts(of: try tour.report())
    try tour.funnel()
    try tour.overview()
    try tour.live("from nudge.decisions")
    try tour.refuseOne()
    try tour.deadLetters()
    try tour.replays()
    try tour.policy()
    try tour.phones()
  }

  @Test("hostile texts, names and ids in every field and every link: nothing runs, nothing overflows")
  func hostile() throws {
    let demo = try DemoWithConsole(programs: try #require(DemoEndToEndTests.programs))
    let tour = ConsoleTour(demo: demo, page: try page(of: demo))
    for names in HostileNames.all {
      try names.fill(demo)
      try names.visit(tour, demo)
    }
    try tour.funnel()
  }

  @Test(
    "nudge console always has a token, and shows nothing without it", .timeLimit(.minutes(3)),
    arguments: ["0.0.0.0", "127.0.0.1", "localhost"])
  func token(_ address: String) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = try #require(DemoEndToEndTests.programs).appendingPathComponent("nudge")
    process.arguments = [
      "console", "--address", address, "--port", "0", "--bootstrap-servers", "kafka-of-the-console:9092",
    ]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let printed = PipeText(output)
    printed.read("the address") { $0.contains("Ctrl-C") }
    let text = printed.text
    let found = try #require(text.firstMatch(of: /http:\/\/[^:]+:(\d+)\/#token=([0-9a-f]{32})\n/), "\(text)")
    let client = try SocketClient(port: try #require(Int(found.1)))
    let refused = try client.request("GET", "/api/console")
    #expect(refused.status == 401 && !refused.body.contains("kafka-of-the-console"))
    let shown = try client.request("GET", "/api/console", headers: ["X-Nudge-Token: \(found.2)"])
    #expect(shown.status == 200 && shown.body.contains("kafka-of-the-console"))
    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }

  private func page(of demo: DemoWithConsole) throws -> ConsolePage {
    ConsolePage(browser: try HeadlessBrowser(width: 1_280, height: 900), url: demo.url)
  }
}

@Suite(
  "The console of a demo on Kafka, in a browser", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: LocalBroker.find() != nil, "set KAFKA_HOME=/path/to/kafka to run it"),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"),
  .enabled(
    if: DemoEndToEndTests.programs != nil,
    "nudge and the services are not built beside the tests: swift build --build-tests")
)
struct ConsoleOnKafkaTests {
  @Test("the pages say what explain and funnel say; what they correct, publish, replay and stop is done")
  func pages() throws {
    let demo = try DemoWithConsole(
      programs: try #require(DemoEndToEndTests.programs), kafkaHome: try #require(LocalBroker.find()).path,
      hasAPI: true)
    let page = ConsolePage(browser: try HeadlessBrowser(width: 1_280, height: 900), url: demo.url)
    let tour = ConsoleTour(demo: demo, page: page)
    let story = try tour.report()
    try tour.receipts(of: story)
    try tour.person(story.user)
    try tour.message(story.message, in: story.conversation)
    try tour.funnel()
    try tour.overview()
    try tour.live("by GET /v1/live")
    try tour.refuseOne()
    try tour.deadLetters()
    try tour.replays()
    try tour.replayStopped()
    try tour.policy()
  }
}
