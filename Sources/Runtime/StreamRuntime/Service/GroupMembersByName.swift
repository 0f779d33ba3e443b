import Kafka

/// The members of a stage's group with a thread's name, for an operator who looks for a second process.
struct GroupMembersByName {
  private let settings: KafkaStreamSettings

  init(_ settings: KafkaStreamSettings) { self.settings = settings }

  /// The clients and hosts of these members, by the group's coordinator. A fenced or dead static member may be listed for a session
  /// time-out. Blocks for at most 5 s.
  func description() -> String {
    do throws(KafkaError) {
      let admin = try Admin(
        ClientConfiguration(bootstrapServers: settings.bootstrapServers).merging(overrides: settings.properties),
        name: "\(settings.transactionalID)-names", log: settings.log)
      return Self.description(
        of: try admin.members(ofGroup: settings.group, timeout: .seconds(5)), under: settings.transactionalID)
    } catch {
      return "unknown, the group could not be asked (\(error.name))"
    }
  }

  /// A static member has the name as its instance id, a dynamic one in its client id.
  static func description(of members: [Admin.GroupMember], under name: String) -> String {
    let holders = members.filter { $0.instanceID == name || $0.clientID == "\(name)-consumer" }
    guard !holders.isEmpty else { return "nobody at this moment" }
    return holders.map { "\($0.clientID) at \($0.host)" }.sorted().joined(separator: ", ")
  }
}
