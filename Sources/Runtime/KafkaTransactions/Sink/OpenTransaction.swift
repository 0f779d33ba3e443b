/// A transaction that is open in one partition, as the partition's leader says. While it is, no reader of committed records
/// gets past its first one.
public struct OpenTransaction: Sendable, Hashable {
  /// The partition's topic.
  public let topic: String
  /// The partition.
  public let partition: Int32
  /// The producer's id: stands for a transactional id.
  public let producerID: Int64
  /// The epoch of what the producer wrote last there. With transactions of version 2 each transaction has its own.
  public let epoch: Int16
  /// The coordinator's epoch that the leader knows of.
  let coordinatorEpoch: Int32

  /// An open transaction.
  init(topic: String, partition: Int32, producerID: Int64, epoch: Int16, coordinatorEpoch: Int32) {
    self.topic = topic
    self.partition = partition
    self.producerID = producerID
    self.epoch = epoch
    self.coordinatorEpoch = coordinatorEpoch
  }
}
