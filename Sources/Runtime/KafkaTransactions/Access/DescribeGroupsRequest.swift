/// The members of a group, and the authorized operations on it, requested from its coordinator.
struct DescribeGroupsRequest: WireRequest {
  static let key: Int16 = 15
  static let version: Int16 = 5
  static let name = "DescribeGroups"

  var group: String

  struct Answer: Equatable {
    var groups: [Group]
  }

  struct Group: Equatable {
    var error: BrokerError
    var id: String
    var members: [GroupMember]
    /// A bit for each authorized operation.
    var operations: Int32
  }

  func encode(into writer: inout WireWriter) {
    writer.array([group]) { writer, group in writer.text(group) }
    // Include the authorized operations.
    writer.bool(true)
    writer.noTags()
  }

  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer {
    try reader.readThrottleTime()
    return Answer(
      groups: try reader.array { (reader) throws(WireError) in
        let (error, id) = (try reader.errorCode(), try reader.text())
        // State, kind of protocol, protocol.
        for _ in 0..<3 { _ = try reader.text() }
        let members = try reader.array { (reader) throws(WireError) in
          let member = GroupMember(
            memberID: try reader.text(), instanceID: try reader.nullableText(), clientID: try reader.text(),
            host: try reader.text())
          // Subscription and assignment.
          for _ in 0..<2 { _ = try reader.data() }
          try reader.tags()
          return member
        }
        let group = Group(error: error, id: id, members: members, operations: try reader.int32())
        try reader.tags()
        return group
      })
  }
}
