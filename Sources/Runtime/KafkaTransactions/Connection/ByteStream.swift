/// Bytes to and from a broker. Every call throws a `passing` error after its deadline or if the connection is lost.
protocol ByteStream: AnyObject {
  func write(_ bytes: [UInt8], deadline: Deadline) throws(TransactionalProducerError)
  /// Waits for at least one byte and returns at most `count`.
  func read(atMost count: Int, deadline: Deadline) throws(TransactionalProducerError) -> [UInt8]
  /// Whether the peer has closed the connection or sent unexpected bytes.
  var isStale: Bool { get }
}
