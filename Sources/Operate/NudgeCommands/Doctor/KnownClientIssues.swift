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
