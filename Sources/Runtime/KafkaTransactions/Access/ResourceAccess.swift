/// An operation on a resource, named as in Kafka's ACLs.
public enum AccessOperation: String, Sendable, CaseIterable, Comparable {
  /// Read records, or commit a group's offsets. Implies ``describe``.
  case read = "Read"
  /// Write records, or use a transactional id. Implies ``describe``.
  case write = "Write"
  /// See that the resource exists.
  case describe = "Describe"
  /// See the resource's configuration.
  case describeConfigs = "DescribeConfigs"

  /// The bit in brokers' answers: `1 << AclOperation.code()`.
  private var bit: Int32 {
    switch self {
    case .read: 1 << 3
    case .write: 1 << 4
    case .describe: 1 << 8
    case .describeConfigs: 1 << 10
    }
  }

  /// The operations in a broker's answer.
  static func set(of bits: Int32) -> Set<AccessOperation> { Set(allCases.filter { bits & $0.bit != 0 }) }

  /// In the order of the cases.
  public static func < (left: AccessOperation, right: AccessOperation) -> Bool { left.bit < right.bit }
}

/// The authorized operations of the connection's user on a resource.
public enum ResourceAccess: Sendable, Equatable {
  /// The authorized ones among all ``AccessOperation``s.
  case operations(Set<AccessOperation>)
  /// The brokers do not return them.
  case unknown

  /// From a broker's answer: a bit for each operation, or the smallest number for unknown.
  init(bits: Int32) { self = bits == .min ? .unknown : .operations(AccessOperation.set(of: bits)) }
}
