import CZlib

/// Why bytes could not be inflated.
public enum GzipError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The bytes are not gzip. The text is zlib's reason.
  case damaged(String)
  /// The inflated bytes would exceed the limit.
  case tooLarge(limit: Int)
  /// The bytes end in the middle of a member.
  case incomplete

  /// The reason in words.
  public var description: String {
    switch self {
    case .damaged(let reason): reason
    case .tooLarge(let limit): "it inflates to more than \(limit) bytes"
    case .incomplete: "the gzip data have no end"
    }
  }
}

/// Inflates a stream of gzip bytes with one or more members. Not thread-safe.
public final class GzipInflater {
  /// On the heap and never moved, because zlib's state points back to it.
  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether the input so far ends at the end of a member.
  public private(set) var isComplete = false

  /// Fails only if there is no memory.
  public init() throws(GzipError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard czlib_inflate_init_gzip(stream) == Z_OK else {
      // `deinit` runs after this. `inflateEnd` accepts a stream that was not initialised.
      throw .damaged("no memory")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Inflates a complete gzip text to at most `limit` bytes.
  public static func inflate(_ input: [UInt8], limit: Int) throws(GzipError) -> [UInt8] {
    let inflater = try GzipInflater()
    var output: [UInt8] = []
    var input = input
    try input.withUnsafeMutableBufferPointer { (input) throws(GzipError) in
      try inflater.inflate(input, appendingTo: &output, limit: limit)
    }
    guard inflater.isComplete else { throw .incomplete }
    return output
  }

  /// Inflates the next bytes of the file and appends the result.
  /// - Parameter limit: The greatest size of `output` in bytes. Gzip can inflate to a thousand times its size, so untrusted
  ///   input needs a limit.
  public func inflate(
    _ input: UnsafeMutableBufferPointer<UInt8>, appendingTo output: inout [UInt8], limit: Int = .max
  ) throws(GzipError) {
    stream.pointee.next_in = input.baseAddress
    stream.pointee.avail_in = UInt32(clamping: input.count)
    defer { stream.pointee.next_in = nil }
    var isOutputFull = false
    while stream.pointee.avail_in > 0 || isOutputFull {
      if isComplete {
        // Another member follows.
        inflateReset(stream)
        isComplete = false
      }
      let status = step(&output, &isOutputFull)
      guard output.count <= limit else { throw .tooLarge(limit: limit) }
      switch status {
      case Z_OK: break
      case Z_STREAM_END:
        isComplete = true
        isOutputFull = false
      case Z_BUF_ERROR: isOutputFull = false  // it wants more input
      default: throw .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
      }
    }
  }

  private static let stepSize = 1 << 16

  private func step(_ output: inout [UInt8], _ isFull: inout Bool) -> Int32 {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.stepSize) { room in
      stream.pointee.next_out = room.baseAddress
      stream.pointee.avail_out = UInt32(room.count)
      let status = CZlib.inflate(stream, Z_NO_FLUSH)
      output.append(contentsOf: room[..<(room.count - Int(stream.pointee.avail_out))])
      isFull = stream.pointee.avail_out == 0
      stream.pointee.next_out = nil
      return status
    }
  }
}
