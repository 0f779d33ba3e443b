/// Properties of librdkafka that `--kafka-property` must not set, because exactly-once depends on Nudge's own values.
enum ReservedKafkaProperties {
  private static let position = "a task starts at the position in its changelog"
  private static let commits = "offsets are committed in the transaction that holds the outputs"
  private static let assignment = "a task is the same partition of every input, which the range assignor keeps together"
  private static let idempotence = "a producer's own retries must not write a record twice"
  private static let partitions = "every reader computes a key's partition with murmur2"
  private static let offsets = "only the transaction of the thread that owns a task may move its offsets"

  /// Why each is reserved, by name. Aliases of librdkafka are listed too.
  static let reasons: [String: String] = [
    "bootstrap.servers": "--bootstrap-servers names the brokers",
    "metadata.broker.list": "--bootstrap-servers names the brokers",
    "isolation.level": "inputs and restores must see committed records only",
    "group.id": "the stage names its consumer group, which fences former owners",
    "group.instance.id": "--instance names the static member",
    "group.protocol": "members need the classic protocol, in which a static member can leave its group",
    "group.remote.assignor": assignment,
    "partition.assignment.strategy": assignment,
    "enable.auto.commit": commits,
    "auto.commit.enable": commits,
    "auto.commit.interval.ms": commits,
    "enable.auto.offset.store": commits,
    "offset.store.method": offsets,
    "offset.store.path": offsets,
    "auto.offset.reset": position,
    "enable.partition.eof": "a restore ends where the changelog ends",
    "transactional.id": "--instance and the thread's number name the producer",
    "enable.idempotence": idempotence,
    "enable.gapless.guarantee": idempotence,
    "partitioner": partitions,
  ]

  /// What to do instead, where a property is reserved; nil: none is. Completes "use …".
  static func advice(for properties: [String: String]) -> String? {
    guard let name = properties.keys.sorted().first(where: { reasons[$0] != nil }), let reason = reasons[name] else {
      return nil
    }
    return "it without \(name): \(reason)"
  }
}
