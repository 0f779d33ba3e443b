import KafkaTransactions
import StreamRuntime

// Questions that librdkafka has no call for: the cluster's features, and the user's rights.
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

  /// Missing rights, a finding for each command that grants one.
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
