/// A producer's id and epoch, from the coordinator's last answer. Never computed: near its maximum, the epoch starts over with another
/// id.
struct ProducerIdentity: Equatable {
  var id: Int64
  var epoch: Int16

  /// The coordinator's answer without a producer.
  static let none = ProducerIdentity(id: -1, epoch: -1)
}
