/// What somebody may do with a resource, by the names of Kafka's access rules.
public enum AccessOperation: String, Sendable, CaseIterable, Comparable {
  /// Read records, or commit a group's offsets. It brings ``describe`` with it.
  case read = "Read"
  /// Write records, or use a transactional id. It brings ``describe`` with it.
  case write = "Write"
  /// See that it is there.
  case describe = "Describe"
  /// See its settings.
  case describeConfigs = "DescribeConfigs"

  /// Its bit in what brokers answer: `1 << AclOperation.code()`.
  private var bit: Int32 {
    switch self {
    case .read: 1 << 3
    case .write: 1 << 4
    case .describe: 1 << 8
    case .describeConfigs: 1 << 10
    }
  }

  /// Those that a broker's answer names.
  static func set(of bits: Int32) -> Set<AccessOperation> { Set(allCases.filter { bits & $0.bit != 0 }) }

  /// In the order of the cases.
  public static func < (left: AccessOperation, right: AccessOperation) -> Bool { left.bit < right.bit }
}

/// What a connection's user may do with one resource.
public enum ResourceAccess: Sendable, Equatable {
  /// These, of all that ``AccessOperation`` names.
  case operations(Set<AccessOperation>)
  /// The brokers do not tell.
  case unknown

  /// As a broker answers: a bit an operation, or the smallest number where it does not tell.
  init(bits: Int32) { self = bits == .min ? .unknown : .operations(AccessOperation.set(of: bits)) }
}
