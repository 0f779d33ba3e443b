import Kafka

/// The members of a stage's group, as its coordinator knows them. A fenced or dead static member may be listed for a session time-out.
struct GroupMembers {
  /// The end of the consumers' `client.id` in releases before handovers. Later ones go on with their version.
  static let formerSuffix = "-consumer"

  let members: [Admin.GroupMember]

  init(_ members: [Admin.GroupMember]) { self.members = members }

  init(_ settings: KafkaStreamSettings, timeout: Duration) throws(KafkaError) {
    let admin = try Admin(
      ClientConfiguration(bootstrapServers: settings.bootstrapServers).merging(overrides: settings.properties),
      name: "\(settings.transactionalID)-names", log: settings.log)
    members = try admin.members(ofGroup: settings.group, timeout: timeout)
  }

  /// The clients and hosts of those with a thread's name, for an operator who looks for a second process. Blocks for at most 5 s.
  static func description(_ settings: KafkaStreamSettings) -> String {
    do throws(KafkaError) {
      return try GroupMembers(settings, timeout: .seconds(5)).description(under: settings.transactionalID)
    } catch {
      return "unknown, the group could not be asked (\(error.name))"
    }
  }

  /// A member of a release that does not know handovers; nil: there is none. One with a `client.id` of the operator's own is taken for one
  /// of this release.
  /// - Parameter stage: the beginning of the transactional ids of the stage's threads.
  func former(of stage: String) -> Admin.GroupMember? {
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
