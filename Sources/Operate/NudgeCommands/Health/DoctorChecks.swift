import Analyzer
import Dispatcher
import Foundation
import Ingest
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import StreamRuntime
import WebPush

/// Checks everything on which a pipeline depends. It only reads.
struct DoctorChecks {
  /// How long a request to the cluster may take.
  static let timeout: Duration = .seconds(8)
  /// If a record waits longer than this, something is wrong.
  private static let usualAge: Milliseconds = 60_000
  /// The tolerated difference between clocks.
  private static let clockTolerance: Milliseconds = 5_000

  let cluster: ClusterSettings
  /// A service account's file; nil to skip the check.
  let credentials: String?
  /// Files of VAPID keys; nil to skip the check.
  var vapidKey: String?
  /// The URL of a push service whose clock is compared; nil to skip the check.
  var pushService: String?
  var role = DoctorRole.oncall
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds

  /// Passes each finding to `found` when it is made. Stops after the first finding if no broker answers.
  func run(_ found: (Finding) -> Void) throws {
    KnownClientIssues.findings(
      cluster.properties, version: KafkaLibrary.versionNumber, name: "librdkafka \(KafkaLibrary.version)"
    ).forEach(found)
    if let credentials { found(examineCredentials(credentials)) }
    if let vapidKey { found(examineVAPIDKey(vapidKey)) }
    if let pushService { found(examineClock(of: pushService)) }
    let admin: Admin
    do {
      admin = try cluster.admin()
    } catch let error as NoBroker {
      found(
        .problem(
          "brokers", "\(error)",
          mend: "check the address, the brokers, and TLS and login in --kafka-property"))
      return
    }
    let brokers: [Admin.Broker]
    do throws(KafkaError) {
      brokers = try admin.brokers(timeout: Self.timeout)
    } catch {
      found(
        .problem(
          "brokers", "none of \(cluster.bootstrapServers) answers: \(error.reason)",
          mend: "check the address, the brokers, and TLS and login in --kafka-property"))
      return
    }
    found(
      .good("brokers", "\(brokers.count) up: \(brokers.map { "\($0.id) at \($0.address)" }.joined(separator: ", "))"))
    guard admin.hasController(timeout: Self.timeout) else {
      found(
        .problem(
          "brokers", "the cluster has no controller: topics cannot be made or described",
          mend: "start the controllers; librdkafka's mock broker has none"))
      return
    }
    guard examineProtocol(found), role.looks else { return }
    if let first = brokers.first { examineBroker(admin, first, of: brokers.count).forEach(found) }
    guard try examineTopics(admin, found) else { return }
    examineGroups().forEach(found)
    found(examineLevels())
    try examineRecords(found)
  }

  private func examineCredentials(_ file: String) -> Finding {
    do {
      let account = try ServiceAccount(file: file)
      return .good("FCM credentials", "\(account); 'nudge-dispatcher … --check' checks all settings together")
    } catch {
      return .problem("FCM credentials", "\(error)", mend: "create a key of the service account in Google's console")
    }
  }

  private func examineVAPIDKey(_ files: String) -> Finding {
    do {
      let keys = try VAPIDKey.keys(inFiles: VAPIDKey.paths(files)).map(\.publicKey)
      guard !keys.isEmpty else {
        return .problem("VAPID key", "no file is named", mend: "make a key: nudge vapid make FILE")
      }
      return .good(
        "VAPID key",
        "apps subscribe with \(keys[0])" + (keys.count > 1 ? "; former: \(keys[1...].joined(separator: ", "))" : ""))
    } catch {
      return .problem("VAPID key", error.description, mend: "make a key: nudge vapid make FILE")
    }
  }

  // MARK: Brokers and topics

  private func examineBroker(_ admin: Admin, _ broker: Admin.Broker, of count: Int) -> [Finding] {
    let settings: [String: String]
    do throws(KafkaError) {
      settings = try admin.describeBrokerConfiguration(broker.id, timeout: Self.timeout)
    } catch {
      return [
        .notice(
          "broker settings", "could not be read: \(error.reason)",
          mend: "grant this client DescribeConfigs on the cluster")
      ]
    }
    return Self.brokerFindings(settings, broker: broker.id, of: count)
  }

  /// How a broker's settings affect the pipeline.
  static func brokerFindings(_ settings: [String: String], broker: Int32, of count: Int) -> [Finding] {
    var findings: [Finding] = []
    let verification = "transaction.partition.verification.enable"
    if settings[verification] == "false" {
      findings.append(
        .problem(
          "broker settings",
          "\(verification)=false: a late record of an ended transaction can stop the readers of its partition for good",
          mend: "set it to true, its default"))
    }
    let cleanup = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    if let interval = settings[cleanup].flatMap({ Int($0) }), interval > 1_000 {
      findings.append(
        .notice(
          "broker settings",
          "\(cleanup)=\(interval): an open transaction of a dead process blocks every reader this much longer",
          mend: "set it to 1000"))
    }
    if settings["auto.create.topics.enable"] == "true" {
      findings.append(
        .notice(
          "broker settings", "auto.create.topics.enable=true: a topic created by accident has the wrong settings",
          mend: "set it to false, and use 'nudge topics create'"))
    }
    if count >= 3, let replicas = settings["min.insync.replicas"].flatMap({ Int($0) }), replicas < 2 {
      findings.append(
        .notice(
          "broker settings",
          "min.insync.replicas=\(replicas): losing one broker can lose acknowledged records",
          mend: "set it to 2, with topics of replication factor 3"))
    }
    return findings.isEmpty ? [.good("broker settings", "as they should be, on broker \(broker)")] : findings
  }

  /// Returns whether all topics exist.
  private func examineTopics(_ admin: Admin, _ found: (Finding) -> Void) throws -> Bool {
    let report = try TopicCreation.report(on: admin, names: cluster.topics)
    let missing = report.topics.filter { $0.status == .missing }.map(\.name)
    if !missing.isEmpty {
      found(
        .problem(
          "topics", "missing: \(missing.joined(separator: ", "))",
          mend: "run 'nudge topics create', or correct --topic-prefix"))
    }
    for topic in report.topics where topic.status == .differs {
      found(
        .problem(
          "topics", "\(topic.name): \(topic.differences.joined(separator: "; "))",
          mend:
            "kafka-configs.sh --alter --entity-type topics --entity-name \(topic.name), by the plan of 'nudge topics check'"
        ))
    }
    if report.isGood { found(.good("topics", "all \(report.topics.count) exist and match the plan")) }
    return missing.isEmpty
  }

  // MARK: The pipeline

  static let stages = [IngestStage.definition, AnalyzerStage.definition, DispatcherStage.definition]

  private func examineGroups() -> [Finding] {
    Self.stages.map { stage in
      let group = stage.group(cluster.topics)
      do throws(TransactionalProducerError) {
        let members = try cluster.members(of: stage, timeout: Self.timeout)
        guard !members.isEmpty else {
          return .problem(
            "group \(group)", "has no members: no process of this stage runs", mend: "start nudge-\(stage.name)")
        }
        let names = Dictionary(grouping: members.compactMap(\.instanceID)) { $0 }.filter { $0.value.count > 1 }.keys
        guard names.isEmpty else {
          return .problem(
            "group \(group)", "two members are named \(names.sorted().joined(separator: ", "))",
            mend: "give each process its own --instance")
        }
        return .good("group \(group)", members.count.counted("member"))
      } catch {
        return .problem(
          "group \(group)", "\(error.reason)",
          mend: error.isAuthorization ? "grant this client Describe on the group" : "read the brokers' logs")
      }
    }
  }

  private func examineLevels() -> Finding {
    do {
      return Self.levels(try UpgradeCommand.report(on: cluster))
    } catch {
      return .notice(
        "level", "could not be read: \(error)",
        mend: "grant this client Read on the state topics, and Describe on the groups")
    }
  }

  /// The finding about the levels of the tasks and the running releases.
  static func levels(_ report: UpgradeReport) -> Finding {
    let releases = report.releases.joined(separator: "; ")
    let text =
      "level \(report.level) is in force, \(NudgeVersion.current) knows \(report.latest)"
      + (releases.isEmpty ? "" : "; members run \(releases)")
    guard report.level <= report.latest else {
      return .problem(
        "level", text,
        mend: "run the release that finalised the level, or a later one; services of this one end with 70")
    }
    guard !report.isDone else { return .good("level", text) }
    return .notice(
      "level", text + ": what the later level adds waits",
      mend: "once no rollback is wanted any more: nudge upgrade finalize (docs/operations.md, Upgrade and rollback)")
  }

  /// The finding about waiting pushes.
  static func delivery(_ pushes: LagReport.Pushes) -> Finding {
    guard pushes.isStanding else { return .good("delivery", pushes.text) }
    return .problem(
      "delivery", pushes.text,
      mend: "docs/runbook.md, NudgePushesStand; the dispatcher's log and /readyz say what FCM answers")
  }

  private func examineRecords(_ found: (Finding) -> Void) throws {
    let browser = try TopicBrowser(cluster)
    let lag = try LagReading(browser: browser, cluster: cluster).report(of: Self.stages, now: now, readsPushes: true)
    let late = lag.inputs.filter { $0.age > Self.usualAge }
    for input in late {
      found(
        .problem(
          "lag",
          "\(input.stage): \(input.records) unprocessed on \(input.topic), the oldest for "
            + Duration.seconds(input.age / 1_000).settingText,
          mend: "docs/runbook.md, NudgeBehind; 'nudge lag --partitions' lists the partitions"))
    }
    if late.isEmpty { found(.good("lag", "no record waits longer than a minute")) }
    if let pushes = lag.pushes { found(Self.delivery(pushes)) }
    let mend = "docs/runbook.md, NudgeAnalyzerStuck; read the analyzer's log and /readyz"
    if let held = lag.held, held.isStanding { found(.problem("held messages", held.text, mend: mend)) }
    if let catchUps = lag.catchUps {
      if catchUps.isStanding {
        found(.problem("catch-ups", catchUps.text, mend: mend))
      } else if catchUps.waiting > 0 {
        found(.good("catch-ups", catchUps.text))
      }
    }

    var letters = 0
    try browser.read(
      try browser.ranges(of: .deadLetters, from: now - 3_600_000), "reading \(browser.names(.deadLetters))"
    ) { _ in
      letters += 1
      return true
    }
    found(
      letters == 0
        ? .good("dead letters", "none in the last hour")
        : .notice("dead letters", "\(letters) in the last hour", mend: "'nudge dead-letters list' lists the reasons"))

    var ahead: Milliseconds = 0
    try browser.read(
      try browser.ranges(of: .timeline).map {
        PartitionRange(place: $0.place, from: max($0.from, $0.to - 64), to: $0.to)
      }, "reading \(browser.names(.timeline))"
    ) { record in
      ahead = max(ahead, record.timestamp - SystemClock.milliseconds())
      return true
    }
    found(
      ahead > Self.clockTolerance
        ? .problem(
          "clock", "records on \(browser.names(.timeline)) are \(ahead) ms ahead of this machine's clock",
          mend: "synchronise this machine and the services' hosts by NTP: freshness and quiet hours use the clock")
        : .good("clock", "no record is ahead of this machine's"))
  }
}
