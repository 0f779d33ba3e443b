/// Bytes to and from a broker. Every call has a deadline, and throws `passing` where it is past or the connection is gone.
protocol ByteStream: AnyObject {
  /// Writes all.
  func write(_ bytes: [UInt8], deadline: Deadline) throws(SinkError)
  /// Waits for bytes; at least one, at most `count`.
  func read(atMost count: Int, deadline: Deadline) throws(SinkError) -> [UInt8]
  /// Whether the peer has closed it, or sent what nobody asked for.
  var isStale: Bool { get }
}
