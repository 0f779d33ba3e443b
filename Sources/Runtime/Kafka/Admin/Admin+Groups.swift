import CLibrdkafka

extension Admin {
  /// A member of a consumer group, as its coordinator knows it.
  public struct GroupMember: Sendable, Equatable {
    /// The member id, which changes with each join.
    public var memberID: String
    /// `group.instance.id`; nil for a dynamic member.
    public var instanceID: String?
    /// Its `client.id`.
    public var clientID: String
    /// The client's address, such as `/10.0.0.7`.
    public var host: String

    public init(memberID: String, instanceID: String?, clientID: String, host: String) {
      self.memberID = memberID
      self.instanceID = instanceID
      self.clientID = clientID
      self.host = host
    }
  }

  /// The members of a group; empty if there is no such group.
  public func members(ofGroup group: String, timeout: Duration) throws(KafkaError) -> [GroupMember] {
    try (ContinuousClock.now + timeout).attempts { (timeout) throws(KafkaError) in
      try membersOnce(ofGroup: group, timeout: timeout)
    }
  }

  private func membersOnce(ofGroup group: String, timeout: Duration) throws(KafkaError) -> [GroupMember] {
    let operation = "describe group \"\(group)\""
    let answer = try request(operation, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout: timeout) { options, queue in
      group.withCString { name in
        var names: [UnsafePointer<CChar>?] = [name]
        rd_kafka_DescribeConsumerGroups(client.pointer, &names, names.count, options, queue)
      }
    }
    return try answer.read { (event) throws(KafkaError) in
      var count = 0
      let results = rd_kafka_DescribeConsumerGroups_result_groups(
        rd_kafka_event_DescribeConsumerGroups_result(event), &count)
      var members: [GroupMember] = []
      for case .some(let result) in UnsafeBufferPointer(start: results, count: count) {
        if let error = rd_kafka_ConsumerGroupDescription_error(result) {
          let reason = rd_kafka_error_string(error).map { String(cString: $0) }
          throw KafkaError(operation, rd_kafka_error_code(error), reason: reason)
        }
        for index in 0..<rd_kafka_ConsumerGroupDescription_member_count(result) {
          guard let member = rd_kafka_ConsumerGroupDescription_member(result, index) else { continue }
          members.append(GroupMember(member))
        }
      }
      return members
    }
  }
}

extension Admin.GroupMember {
  fileprivate init(_ member: OpaquePointer) {
    memberID = rd_kafka_MemberDescription_consumer_id(member).map { String(cString: $0) } ?? ""
    instanceID = rd_kafka_MemberDescription_group_instance_id(member).map { String(cString: $0) }
    clientID = rd_kafka_MemberDescription_client_id(member).map { String(cString: $0) } ?? ""
    host = rd_kafka_MemberDescription_host(member).map { String(cString: $0) } ?? ""
  }
}
