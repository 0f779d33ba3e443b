import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge erase`.
enum EraseCommand {
  private static let user = PublishCommand.required("user", "USER", "The person to erase.")
  private static let messages = Setting<Bool>(
    "messages", environment: .none, default: false,
    help: "Counts the person's records on chat.events, too. Reads the whole topic.")
  private static let timeout = Setting<Duration>(
    "timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait without any progress until the state topics no longer name the person.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  static let command = Command(
    "erase", abstract: "Erases a person, and proves it by reading the state topics.",
    discussion:
      "Without --yes, the command only says where the person's data is. With it user.deleted is published, together with an audit "
      + "record that has the hash of the id. Exits with 1 if nothing names the person, or rows still do at the end.",
    settings: ClusterSettings.all + [user, messages, timeout] + Writing.all + [json],
    examples: [
      "nudge erase --user ann --bootstrap-servers kafka:9092",
      "nudge erase --user ann --yes --why 'asked for by letter' --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let writes = try Writing.isAsked(input)
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
    var report = ErasureReport(userId: input[user], isDryRun: !writes)
    report.add(
      rows: search.rows, records: try search.records(browser, readsMessages: input[messages]),
      settings: settings(cluster), now: SystemClock.milliseconds())
    guard report.isKnown else {
      throw CommandError(
        "nothing names \(input[user]): no row of state, and no record\(input[messages] ? "" : " besides those of chat.events"). "
          + "Is the id right? Nothing was written")
    }
    if writes {
      report.auditId = try publish(event, why: input[Writing.why], cluster, browser)
      report.isProven = try wait(&search, browser, within: input[timeout])
      report.note(rowsLeft: search.rows)
    }
    if input[json] { try CommandOutput.print(json: report) } else { print(report.text) }
    return report.isProven == false ? ExitCode.failure : ExitCode.success
  }

  /// Publishes `user.deleted` and its audit, both or none. Returns the id that the audit has.
  private static func publish(
    _ event: UserEvent, why: String, _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> String {
    let userId = event.body.userId
    let key = Array(userId.utf8)
    return try AuditedWriter.write(
      "erase",
      [
        OutgoingRecord(
          topic: .userEvents,
          partition: Murmur2.partition(of: key, count: try browser.partitionCount(of: .userEvents)), key: key,
          value: try RecordCoder().encode(event), headers: [])
      ], why: why, details: ["user": TokenHash.of(userId)], cluster, browser)
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
  /// in between. Others may be erased before this person: as long as ingest's state changes, it waits on, up to ten times the limit.
  private static func wait(
    _ search: inout PersonSearch, _ browser: TopicBrowser, within limit: Duration
  ) throws -> Bool {
    var patience = ErasurePatience(limit: limit, rows: search.rows, reached: search.reached)
    var clean = 0
    var shown = ContinuousClock.now
    while patience.isLeft(now: .now) {
      Thread.sleep(forTimeInterval: 1)
      try search.readState(browser)
      patience.look(rows: search.rows, reached: search.reached, now: .now)
      clean = search.isErased ? clean + 1 : 0
      if clean == 2 { return true }
      if shown.duration(to: .now) >= .seconds(10) {
        shown = .now
        let left = search.rows.values.reduce(0, +)
        FileHandle.standardError.write(Data("\(left.counted("row still names", "rows still name")) the person\n".utf8))
      }
    }
    return false
  }
}

/// How long an erasure is waited for: a time without progress, and ten times that in all.
struct ErasurePatience {
  private let limit: Duration
  private let began: ContinuousClock.Instant
  private var movedAt: ContinuousClock.Instant
  private var rows: [StageName: Int]
  private var reached: Int64

  init(limit: Duration, rows: [StageName: Int], reached: Int64, now: ContinuousClock.Instant = .now) {
    self.limit = limit
    self.rows = rows
    self.reached = reached
    began = now
    movedAt = now
  }

  /// - Parameter reached: The sum of the offsets that ingest's state has reached.
  mutating func look(rows: [StageName: Int], reached: Int64, now: ContinuousClock.Instant) {
    if rows != self.rows || reached != self.reached { movedAt = now }
    (self.rows, self.reached) = (rows, reached)
  }

  func isLeft(now: ContinuousClock.Instant) -> Bool {
    movedAt.duration(to: now) < limit && began.duration(to: now) < limit * 10
  }
}
