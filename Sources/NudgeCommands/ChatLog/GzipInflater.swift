import CZlib

/// Inflates gzip as it comes, several members one after the other included. One thread uses it.
final class GzipInflater {
  /// What zlib said of data that is no gzip.
  struct Damage: Error {
    let reason: String
  }

  /// On the heap, and never moved: zlib's state points back at it.
  private let stream: UnsafeMutablePointer<z_stream>
  /// Whether all that was given so far ends where a member ends, so that nothing is missing.
  private(set) var isComplete = false

  /// Fails only where there is no memory.
  init() throws(Damage) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard czlib_inflate_init_gzip(stream) == Z_OK else {
      // `deinit` follows; `inflateEnd` takes a stream that was not initialised.
      throw Damage(reason: "no memory")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Inflates the next bytes of the file and appends what they give.
  func inflate(_ input: UnsafeMutableBufferPointer<UInt8>, appendingTo output: inout [UInt8]) throws(Damage) {
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
      switch status {
      case Z_OK: break
      case Z_STREAM_END:
        isComplete = true
        isOutputFull = false
      case Z_BUF_ERROR: isOutputFull = false  // it wants more input
      default: throw Damage(reason: stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
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
