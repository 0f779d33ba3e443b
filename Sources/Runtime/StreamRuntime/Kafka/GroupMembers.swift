public import KafkaTransactions

/// The members of a stage's group, as its coordinator knows them. A fenced or dead static member may be listed for a session time-out.
///
/// The wire client asks for them: librdkafka 2.0 may abort the process after it could not describe a group (librdkafka issue 4605).
public struct GroupMembers: Sendable {
  /// The end of the consumers' `client.id` in releases before handovers. Later ones go on with their version.
  static let formerSuffix = "-consumer"

  public let members: [GroupMember]

  init(_ members: [GroupMember]) { self.members = members }

  /// Asks the group's coordinator, for no longer than `timeout`.
  /// - Parameter properties: librdkafka's, in order.
  /// - Throws: `refused` if the brokers do not describe groups, as the embedded one, or do not allow it.
  public init(
    of group: String, bootstrapServers: String, properties: [(name: String, value: String)], timeout: Duration
  ) throws(TransactionalProducerError) {
    let client = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: bootstrapServers, properties: properties),
      transactionalIDs: [], topics: [], group: nil)
    defer { client.close() }
    members = try client.members(ofGroup: group, timeout: timeout)
  }

  init(_ settings: KafkaStreamSettings, timeout: Duration) throws(TransactionalProducerError) {
    try self.init(
      of: settings.group, bootstrapServers: settings.bootstrapServers, properties: settings.properties, timeout: timeout
    )
  }

  /// The clients and hosts of those with a thread's name, for an operator who looks for a second process. Blocks for at most 5 s.
  static func description(_ settings: KafkaStreamSettings) -> String {
    do throws(TransactionalProducerError) {
      return try GroupMembers(settings, timeout: .seconds(5)).description(under: settings.transactionalID)
    } catch {
      return "unknown, the group could not be asked (\(error.reason))"
    }
  }

  /// A member of a release that does not know handovers; nil: there is none. One with a `client.id` of the operator's own is taken for one
  /// of this release.
  /// - Parameter stage: the beginning of the transactional ids of the stage's threads.
  func former(of stage: String) -> GroupMember? {
    members.first { $0.clientID.hasPrefix(stage) && $0.clientID.hasSuffix(Self.formerSuffix) }
  }

  /// A static member has the name as its instance id, a dynamic one in its client id.
  func description(under name: String) -> String {
    let client = name + Self.formerSuffix
    let holders = members.filter {
      $0.instanceID == name || $0.clientID == client || $0.clientID.hasPrefix("\(client)-")
    }
    guard !holders.isEmpty else { return "nobody at this moment" }
    return holders.map { "\($0.clientID) at \($0.host)" }.sorted().joined(separator: ", ")
  }
}
