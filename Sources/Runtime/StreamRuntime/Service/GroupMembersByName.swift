import Kafka

/// Who is in a stage's group under a thread's name, for the person who has to find a second process.
struct GroupMembersByName {
  private let settings: KafkaStreamSettings

  init(_ settings: KafkaStreamSettings) { self.settings = settings }

  /// In words: clients and hosts as the group's coordinator knows them. A static member that was fenced or has died may
  /// be among them for a session time-out. Blocks for at most 5 s.
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

  /// A static member is known by its instance id, a dynamic one by the client id that is made of the same name.
  static func description(of members: [Admin.GroupMember], under name: String) -> String {
    let holders = members.filter { $0.instanceID == name || $0.clientID == "\(name)-consumer" }
    guard !holders.isEmpty else { return "nobody at this moment" }
    return holders.map { "\($0.clientID) at \($0.host)" }.sorted().joined(separator: ", ")
  }
}
