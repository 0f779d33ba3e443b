/// A transaction that is open in a partition, according to the leader. read_committed consumers cannot read past its first record.
public struct OpenTransaction: Sendable, Hashable {
  /// The partition's topic.
  public let topic: String
  public let partition: Int32
  /// The producer id, which belongs to a transactional id.
  public let producerID: Int64
  /// The producer's last epoch in the partition. With transactions of version 2, each transaction has its own epoch.
  public let epoch: Int16
  /// The coordinator epoch known to the leader.
  let coordinatorEpoch: Int32

  init(topic: String, partition: Int32, producerID: Int64, epoch: Int16, coordinatorEpoch: Int32) {
    self.topic = topic
    self.partition = partition
    self.producerID = producerID
    self.epoch = epoch
    self.coordinatorEpoch = coordinatorEpoch
  }
}
