/// A topic as one producer knows it: made once by ``Producer/topic(_:)``, used for each record.
///
/// `@unchecked Sendable`: librdkafka's topic object is thread-safe; the pointer never changes, belongs to the client, and
/// is used only by the producer that made it, while its client lives.
public final class TopicHandle: @unchecked Sendable {
  public let name: String
  let pointer: OpaquePointer
  /// Identifies the client. Not the client itself, which its handles must not keep alive; nor its address, which a later client
  /// may have.
  let owner: Client.Lifetime

  init(name: String, pointer: OpaquePointer, owner: Client.Lifetime) {
    self.name = name
    self.pointer = pointer
    self.owner = owner
  }
}
