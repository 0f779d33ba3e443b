import Dispatcher
import HTTPTransport
import KafkaTransactions
import NudgeSchema
import ServiceKit
import StreamRuntime

// Questions for which librdkafka has no call: the cluster's features, and the user's permissions.
extension DoctorChecks {
  /// Returns whether the other checks make sense.
  func examineProtocol(_ found: (Finding) -> Void) -> Bool {
    do throws(TransactionalProducerError) {
      let sink = try TransactionalProducer(
        TransactionalProducerConfiguration(
          bootstrapServers: cluster.bootstrapServers,
          properties: cluster.orderedProperties),
        transactionalIDs: [], topics: [], group: nil)
      defer { sink.close() }
      let level = try sink.transactionVersion(timeout: Self.timeout)
      found(Self.transactions(level, servers: cluster.bootstrapServers))
      _ = try sink.checkBroker(timeout: Self.timeout)
      let report = try AccessReport(on: role.rules(cluster.topics), asking: sink, timeout: Self.timeout)
      Self.access(report, role, servers: cluster.bootstrapServers, properties: cluster.properties).forEach(found)
      return report.missing.isEmpty
    } catch {
      found(
        error.kind == .refused
          ? .problem("transactions", "\(error)", mend: "docs/operations.md, Kafka, lists the supported settings")
          : .notice("access rules", "could not be checked: \(error)", mend: "try again; read the brokers' logs"))
      return true
    }
  }

  /// The finding for a level of the feature.
  static func transactions(_ level: Int, servers: String) -> Finding {
    guard level < 2 else { return .good("transactions", "transaction.version=\(level)") }
    return .notice(
      "transactions",
      "transaction.version=\(level): the services use transactions of version 1, which cost the brokers more",
      mend:
        "on Kafka 4.0 or later: kafka-features.sh --bootstrap-server \(servers) upgrade --feature transaction.version=2"
    )
  }

  /// Missing permissions, with one finding for each command that grants one.
  static func access(_ report: AccessReport, _ role: DoctorRole, servers: String, properties: [String: String])
    -> [Finding]
  {
    let principal = AccessReport.principal(properties)
    if let sentence = report.sentence {
      return [
        .problem(
          "access rules", "\(principal) lacks for --role \(role.rawValue): \(sentence)",
          mend: report.commands(servers: servers, principal: principal).joined(separator: "\n           "))
      ]
    }
    guard report.unknown.isEmpty else {
      return [
        .notice(
          "access rules", "the brokers do not say what \(principal) may do with \(report.unknown.count) resources",
          mend:
            "kafka-acls.sh --bootstrap-server \(servers) --list --principal '\(principal)', by docs/operations.md, Kafka"
        )
      ]
    }
    return [.good("access rules", "\(principal) may do all that --role \(role.rawValue) needs")]
  }
}

// Compares this machine's clock with a push service's, which refuses a token that has expired or is valid for more than 24 hours.
extension DoctorChecks {
  /// The tolerated difference between the clocks. A service's clock is right, but its date has whole seconds.
  static let pushServiceTolerance: Milliseconds = 60_000

  /// Asks the service for its date.
  func examineClock(of url: String) -> Finding {
    let subject = "push service"
    let name = PublicText.origin(of: url)
    do throws(HTTPTransportError) {
      let client = try HTTPClient(HTTPClientConfiguration(keptHeaders: ["date"], plainProtocol: .http1))
      defer { client.shutdown(grace: .zero) }
      let before = SystemClock.milliseconds()
      let answer = try client.response(to: HTTPRequest(method: .get, url: url, timeout: Self.timeout)).get()
      guard let date = answer.headers["date"], let time = HTTPDate.milliseconds(Array(date.utf8)) else {
        return .notice(subject, "\(name) says no date", mend: "name another one with --push-service")
      }
      return Self.clock(ahead: (before + SystemClock.milliseconds()) / 2 - time, of: name)
    } catch {
      let reason = "\(error.kind): \(error.message)"
      return .problem(
        subject, "\(name) cannot be reached: \(reason)",
        mend: "check DNS, the firewall and the proxy of the dispatcher's hosts")
    }
  }

  /// The finding for a clock that is ahead of a push service's by this much.
  static func clock(ahead: Milliseconds, of name: String) -> Finding {
    let seconds = abs(ahead) / 1_000
    guard abs(ahead) > pushServiceTolerance else {
      return .good("push service", "this machine's clock is that of \(name), within \(pushServiceTolerance / 1_000) s")
    }
    return .problem(
      "push service",
      "this machine's clock is \(seconds) s \(ahead > 0 ? "ahead of" : "behind") that of \(name): push services refuse tokens of a "
        + "clock that is 12 hours wrong, and waits that they ask for by date come out wrong",
      mend: "synchronise the dispatchers' hosts by NTP")
  }
}

/// Known problems with librdkafka's properties, by its version.
enum KnownClientIssues {
  /// Findings for the properties an operator has set.
  static func findings(_ properties: [String: String], version: Int32, name: String) -> [Finding] {
    let subject = "librdkafka"
    var findings: [Finding] = []
    let mechanism = (properties["sasl.mechanism"] ?? properties["sasl.mechanisms"] ?? "").uppercased()
    if mechanism.hasPrefix("SCRAM"), version < 0x0206_01ff {
      findings.append(
        .problem(
          subject,
          "\(name) cannot log in with \(mechanism) to brokers of Kafka 4: the brokers reject correct passwords",
          mend: "use sasl.mechanism=PLAIN over TLS, or mutual TLS; or librdkafka 2.6.1 or later"))
    }
    if properties["partition.assignment.strategy"]?.contains("cooperative") == true, version < 0x0204_00ff {
      findings.append(
        .problem(
          subject, "cooperative assignment loses partitions and hangs with \(name)",
          mend: "remove partition.assignment.strategy (the default is range)"))
    }
    let own = [
      "enable.auto.commit", "enable.auto.offset.store", "isolation.level", "auto.offset.reset", "enable.idempotence",
      "transactional.id", "partitioner", "acks", "group.id", "group.instance.id",
    ]
    for property in own.sorted() where properties[property] != nil {
      findings.append(
        .problem(
          subject, "\(property)=\(properties[property] ?? "") is set: exactly-once needs the default",
          mend: "remove it from --kafka-property and from the environment"))
    }
    if let protocolName = properties["security.protocol"]?.lowercased(), protocolName == "sasl_plaintext" {
      findings.append(
        .notice(
          subject, "passwords and tokens of devices cross the network unencrypted",
          mend: "use security.protocol=sasl_ssl"))
    }
    if findings.isEmpty { findings.append(.good(subject, "\(name), no known issue with its properties")) }
    return findings
  }
}
