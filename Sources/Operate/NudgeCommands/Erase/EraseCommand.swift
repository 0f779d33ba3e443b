import Foundation
import Kafka
import NudgeSchema
import ServiceKit

enum EraseCommand {
  private static let user = PublishCommand.required("user", "USER", "The person to erase.")
  private static let dryRun = Setting<Bool>(
    "dry-run", environment: .none, default: false, help: "Says where the person's data is, and changes nothing.")
  private static let messages = Setting<Bool>(
    "messages", environment: .none, default: false,
    help: "Counts the person's records on chat.events, too. Reads the whole topic.")
  private static let timeout = Setting<Duration>(
    "timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait until the state topics no longer name the person.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  static let command = Command(
    "erase", abstract: "Erases a person, and proves it by reading the state topics.",
    settings: ClusterSettings.all + [user, dryRun, messages, timeout, json],
    examples: [
      "nudge erase --user ann --dry-run --bootstrap-servers kafka:9092",
      "nudge erase --user ann --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let event = UserEvent(
      PublishCommand.envelope(input, "erase"), .deleted(UserDeleted(userId: input[user])))
    do throws(SchemaViolation) {
      try event.validate()
    } catch {
      throw SettingsError("--user: \(error.description)")
    }
    var search = PersonSearch(userId: input[user])
    try search.readState(browser)
    var report = ErasureReport(userId: input[user], isDryRun: input[dryRun])
    report.add(
      rows: search.rows, records: try search.records(browser, readsMessages: input[messages]),
      settings: settings(cluster), now: SystemClock.milliseconds())
    if !input[dryRun] {
      let writer = try AcknowledgedWriter(cluster)
      defer { writer.close() }
      try writer.add(try RecordCoder().encode(event), to: .userEvents, key: input[user])
      _ = try writer.flush()
      report.isProven = try wait(&search, browser, within: input[timeout])
      report.note(rowsLeft: search.rows)
    }
    if input[json] { try CommandOutput.print(json: report) } else { print(report.text) }
    return report.isProven == false ? ExitCode.failure : ExitCode.success
  }

  /// The topics' effective settings. The embedded broker has none, and the plan's stand.
  private static func settings(_ cluster: ClusterSettings) -> [Topic: [String: String]] {
    let names = Dictionary(uniqueKeysWithValues: Topic.allCases.map { (cluster.topics($0), $0) })
    guard let admin = try? cluster.admin(),
      let found = try? admin.describeTopicConfigurations(Array(names.keys), timeout: TopicBrowser.answerTimeout)
    else { return [:] }
    return found.reduce(into: [:]) { settings, entry in
      if let topic = names[entry.key] { settings[topic] = try? entry.value.get() }
    }
  }

  /// Reads on in the state topics until no row names the person, and none has for two looks: rows that ingest's tasks still write come
  /// in between.
  private static func wait(
    _ search: inout PersonSearch, _ browser: TopicBrowser, within limit: Duration
  ) throws -> Bool {
    let deadline = ContinuousClock.now + limit
    var clean = 0
    while ContinuousClock.now < deadline {
      Thread.sleep(forTimeInterval: 1)
      try search.readState(browser)
      clean = search.isErased ? clean + 1 : 0
      if clean == 2 { return true }
    }
    return false
  }
}
