/// A member of a consumer group, as its coordinator knows it.
public struct GroupMember: Sendable, Equatable {
  /// The member id, which changes with each join.
  public let memberID: String
  /// `group.instance.id`; nil for a dynamic member.
  public let instanceID: String?
  /// Its `client.id`.
  public let clientID: String
  /// The client's address, such as `/10.0.0.7`.
  public let host: String

  /// A member as an answer or a test has it.
  public init(memberID: String, instanceID: String?, clientID: String, host: String) {
    self.memberID = memberID
    self.instanceID = instanceID
    self.clientID = clientID
    self.host = host
  }
}
