import CLibrdkafka

/// Which member of which generation of a group commits offsets in a transaction. The coordinator fences by it.
///
/// `@unchecked Sendable`: librdkafka's object is never changed after it is made.
public final class ConsumerGroupMetadata: @unchecked Sendable {
  /// The group.
  public let groupID: String
  /// The group's generation this member belongs to; -1 while it belongs to none. **Never commit with -1**: the
  /// coordinator does not fence it.
  public let generation: Int32
  /// The member's id; empty while it has none.
  public let memberID: String
  /// `group.instance.id` of a static member.
  public let groupInstanceID: String?
  let pointer: OpaquePointer

  /// Takes over librdkafka's object.
  init(_ pointer: OpaquePointer) throws(KafkaError) {
    self.pointer = pointer
    var buffer: UnsafeMutableRawPointer?
    var size = 0
    do throws(KafkaError) {
      let operation = "read group metadata"
      try KafkaError.check(operation, rd_kafka_consumer_group_metadata_write(pointer, &buffer, &size))
      guard let buffer else { throw KafkaError(operation, RD_KAFKA_RESP_ERR__FAIL) }
      defer { rd_kafka_mem_free(nil, buffer) }
      guard let fields = Self.parse(UnsafeRawBufferPointer(start: buffer, count: size)) else {
        throw KafkaError(
          operation, RD_KAFKA_RESP_ERR__BAD_MSG,
          reason: "this version of librdkafka writes it in another format; tried with 2.0.2 and 2.16")
      }
      (generation, groupID, memberID, groupInstanceID) = fields
    } catch {
      rd_kafka_consumer_group_metadata_destroy(pointer)
      throw error
    }
  }

  deinit { rd_kafka_consumer_group_metadata_destroy(pointer) }

  /// librdkafka has no call that tells the generation; its serialized form does: "CGMDv2:", the generation (4 bytes, the
  /// machine's order), the group's id, the member's id, a byte that is 1 where no instance id follows, the instance id;
  /// all texts end with a zero.
  static func parse(_ bytes: UnsafeRawBufferPointer) -> (Int32, String, String, String?)? {
    let magic = "CGMDv2:".utf8
    guard bytes.count > magic.count + 4, bytes.starts(with: magic) else { return nil }
    let generation = bytes.loadUnaligned(fromByteOffset: magic.count, as: Int32.self)
    var rest = bytes[(magic.count + 4)...]
    func text() -> String? {
      guard let end = rest.firstIndex(of: 0) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return String(decoding: rest[..<end], as: UTF8.self)
    }
    guard let group = text(), let member = text(), let noInstance = rest.popFirst() else { return nil }
    var instance: String?
    if noInstance == 0 {
      instance = text()
      if instance == nil { return nil }
    }
    guard rest.isEmpty else { return nil }
    return (generation, group, member, instance)
  }
}
