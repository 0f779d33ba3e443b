import Foundation
import Kafka
import NudgeSchema
import ServiceKit

enum PublishCommand {
  static let command = Command(
    "publish", abstract: "Publishes a message, a device or preferences.",
    subcommands: [PublishMessage.command, PublishDevice.command, PublishPreferences.command])

  // MARK: What all three take

  static let wait = Setting<Bool>(
    "wait", environment: .none, default: false,
    help: "Wait for the result: a message's decisions and outcomes, or ingest's acceptance.")
  static let timeout = Setting<Duration>(
    "timeout", environment: .none, default: .seconds(20), in: .seconds(1)...(.seconds(600)),
    help: "How long --wait waits.")
  static let eventId = Setting<String?>(
    "event-id", environment: .none, default: nil, placeholder: "ID",
    help: "The event's id; publishing it again has no second effect. Default: a new one.")

  static let json = CommandOutput.json

  static let common: [any AnySetting] = ClusterSettings.all + [wait, timeout, eventId, Writing.dryRun, json]

  static func required(_ name: String, _ placeholder: String, _ help: String) -> Setting<String> {
    Setting(
      required: name, environment: .none, placeholder: placeholder, help: help,
      check: { $0.isEmpty ? "some text" : nil })
  }

  static func optional(_ name: String, _ placeholder: String, _ help: String) -> Setting<String?> {
    Setting(name, environment: .none, default: nil, placeholder: placeholder, help: help)
  }

  static func envelope(_ input: CommandInput, _ prefix: String) -> Envelope {
    let now = SystemClock.milliseconds()
    return Envelope(eventId: input[eventId] ?? newID(prefix), occurredAt: now)
  }

  static func newID(_ prefix: String) -> String { "\(prefix)-\(UUID().uuidString.lowercased().prefix(13))" }

  // MARK: Publishing

  static func publish(_ event: ChatEvent, _ input: CommandInput, awaiting: Set<String> = []) throws -> Int32 {
    var fitting = event
    warn(of: fitting.normalize())
    try checked { () throws(SchemaViolation) in try event.validate() }
    return try publish(
      try RecordCoder().encode(event), event.body.type.rawValue, event.envelope, .chatEvents,
      key: event.body.conversationId,
      input
    ) { fate in
      // A large group's candidates are on several partitions and become visible one by one.
      fate.isMessageSettled && (fate.refusal != nil || fate.recipients.isSuperset(of: awaiting))
    }
  }

  static func publish(_ event: UserEvent, _ input: CommandInput) throws -> Int32 {
    var fitting = event
    warn(of: fitting.normalize())
    try checked { () throws(SchemaViolation) in try event.validate() }
    return try publish(
      try RecordCoder().encode(event), event.body.type.rawValue, event.envelope, .userEvents, key: event.body.userId,
      input
    ) { $0.isUserEventSettled }
  }

  private static func warn(of ignored: IgnoredFields) {
    guard !ignored.isEmpty else { return }
    CommandOutput.report("ingest will ignore what does not fit: \(ignored)")
  }

  private static func checked(_ validate: () throws(SchemaViolation) -> Void) throws {
    do throws(SchemaViolation) {
      try validate()
    } catch {
      throw SettingsError("ingest would reject this: \(error.description)")
    }
  }

  private static func publish(
    _ value: [UInt8], _ type: String, _ envelope: Envelope, _ topic: Topic, key: String, _ input: CommandInput,
    isSettled: (EventFate) -> Bool
  ) throws -> Int32 {
    var report = PublishReport(
      type: type, eventId: envelope.eventId, topic: ClusterSettings(input).topics(topic), key: key)
    let code = try publish(value, to: topic, input, &report, isSettled: isSettled)
    if input[json] { try CommandOutput.print(json: report) }
    return code
  }

  private static func publish(
    _ value: [UInt8], to topic: Topic, _ input: CommandInput, _ report: inout PublishReport,
    isSettled: (EventFate) -> Bool
  ) throws -> Int32 {
    let cluster = ClusterSettings(input)
    let say: (String) -> Void = { if !input[json] { print($0) } }
    if input[Writing.dryRun] {
      say(
        "\(report.type) \(report.eventId) would be published to \(report.topic), key \(report.key). Nothing was written."
      )
      return ExitCode.success
    }
    // The ends are read before the event is written, because its effects follow them.
    let browser = input[wait] ? try TopicBrowser(cluster) : nil
    let ends = try browser.map { browser in
      try browser.find(EventFate.topics)
      return try EventFate.topics.flatMap { try browser.ranges(of: $0) }
    }
    let writer = try AcknowledgedWriter(cluster)
    defer { writer.close() }
    let tag = try writer.add(value, to: topic, key: report.key)
    guard let position = try writer.flush()[tag] else {
      throw CommandError("Kafka did not return the event's position")
    }
    report.position = position
    say(
      "published \(report.type) \(report.eventId) to \(position.topic), partition \(position.partition), offset \(position.offset)"
    )
    guard let browser, let ends else { return ExitCode.success }
    let fate = try follow(EventFate(position: position), browser, ends, within: input[timeout], isSettled)
    report.fate = PublishReport.Fate(fate, isComplete: isSettled(fate))
    for line in fate.lines { say(line) }
    guard isSettled(fate) else {
      CommandOutput.report(
        "not all is known after \(input[timeout].settingText): do the services run ('nudge lag')? --timeout waits longer"
      )
      return ExitCode.failure
    }
    return fate.refusal == nil ? ExitCode.success : ExitCode.failure
  }

  private static func follow(
    _ event: EventFate, _ browser: TopicBrowser, _ ends: [PartitionRange], within limit: Duration,
    _ isSettled: (EventFate) -> Bool
  ) throws -> EventFate {
    var fate = event
    let deadline = ContinuousClock.now + limit
    try browser.follow(ends) { record in
      if let record, let topic = browser.names.topic(named: record.topic) {
        fate.read(record, of: topic)
        return ContinuousClock.now < deadline
      }
      // No further record has come for a moment, so the result can be judged.
      return !isSettled(fate) && ContinuousClock.now < deadline
    }
    return fate
  }
}

/// The output of `nudge publish --json`.
struct PublishReport: Encodable {
  var type: String
  var eventId: String
  var topic: String
  var key: String
  /// The event's position; nil if nothing was written.
  var position: RecordPosition?
  /// What happened to the event; nil without `--wait`.
  var fate: Fate?

  struct Fate: Encodable {
    struct Refusal: Encodable {
      var code: String
      var message: String
    }

    /// Whether everything that was awaited is known.
    var isComplete: Bool
    var refusal: Refusal?
    var decisions: [Decision]
    var outcomes: [Outcome]

    init(_ fate: EventFate, isComplete: Bool) {
      self.isComplete = isComplete
      refusal = fate.refusal.map { Refusal(code: $0.code, message: $0.message) }
      decisions = fate.decisions
      outcomes = fate.outcomes
    }
  }
}
