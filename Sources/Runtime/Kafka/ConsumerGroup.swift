import CLibrdkafka
import Synchronization

/// Rebalances from the callback that the owner has not yet seen or answered.
///
/// Used only by the polling thread (librdkafka calls back inside `rd_kafka_consumer_poll` and `rd_kafka_consumer_close`). The lock
/// satisfies the compiler and is never contended.
final class RebalanceInbox: Sendable {
  struct Rebalance {
    enum Kind { case assigned, revoked }
    let kind: Kind
    let partitions: [TopicPartition]
    var isLost: Bool
  }

  private struct State {
    var unseen: [Rebalance] = []
    /// The kinds of unanswered rebalances, in order. The unseen ones are its tail.
    var unanswered: [Rebalance.Kind] = []
    var answersAtOnce = false
    var lossIsKnown = false
  }

  private let state = Mutex(State())

  /// Whether the callback itself must answer, because the consumer is closing.
  var answersAtOnce: Bool {
    get { state.withLock { $0.answersAtOnce } }
    set { state.withLock { $0.answersAtOnce = newValue } }
  }

  func add(_ rebalance: Rebalance) {
    state.withLock {
      var rebalance = rebalance
      if rebalance.kind == .revoked {
        rebalance.isLost = rebalance.isLost || $0.lossIsKnown
        $0.lossIsKnown = false
      }
      $0.unseen.append(rebalance)
      $0.unanswered.append(rebalance.kind)
    }
  }

  /// Marks the assignment as lost, before the revocation that reports it.
  func recordLoss() { state.withLock { $0.lossIsKnown = true } }

  /// The oldest rebalance that the owner has not seen.
  func takeUnseen() -> Rebalance? {
    state.withLock { $0.unseen.isEmpty ? nil : $0.unseen.removeFirst() }
  }

  /// Takes the kind of the oldest unanswered rebalance, which counts as answered afterwards.
  func takeUnanswered() -> Rebalance.Kind? {
    state.withLock { $0.unanswered.isEmpty ? nil : $0.unanswered.removeFirst() }
  }
}

/// The group, generation and member for which a transaction commits offsets. The coordinator fences former owners by them.
///
/// `@unchecked Sendable`: librdkafka's object is never changed after it is made.
public final class ConsumerGroupMetadata: @unchecked Sendable {
  public let groupID: String
  /// The group generation of this member; -1 if it has none. **Never commit with -1**: the coordinator does not fence that.
  public let generation: Int32
  /// The member id. Empty before the member has joined.
  public let memberID: String
  /// `group.instance.id` of a static member. Absent for a dynamic one.
  public let groupInstanceID: String?
  let pointer: OpaquePointer

  /// Takes ownership of librdkafka's object.
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

  /// Parses librdkafka's serialized metadata, because librdkafka has no function for the generation. The format is "CGMDv2:", the generation
  /// (4 bytes, host byte order), the group id, the member id, a byte that is 1 if no instance id follows, and the instance id. All texts end
  /// with NUL.
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
    let instance = noInstance == 0 ? text() : nil
    guard noInstance != 0 || instance != nil, rest.isEmpty else { return nil }
    return (generation, group, member, instance)
  }
}

/// Wakes a consumer's poll from any thread. Has no effect once the consumer is closed.
public final class ConsumerWaker: Sendable {
  private let queue: Mutex<OpaqueBits?>

  init(_ queue: OpaquePointer?) { self.queue = Mutex(queue.map { OpaqueBits($0) }) }

  /// Makes a waiting poll return. If none waits, the next poll returns at once.
  public func wake() {
    queue.withLock { if let queue = $0 { rd_kafka_queue_yield(queue.pointer) } }
  }

  /// Releases the queue. Waking has no effect afterwards.
  func close() {
    queue.withLock {
      if let queue = $0 { rd_kafka_queue_destroy(queue.pointer) }
      $0 = nil
    }
  }
}
