// A static build of all targets, such as the image's, has no Testing.
#if canImport(Testing)
  public import Foundation
  import Glibc
  public import Testing

  /// The output of a process that still runs. One thread uses it.
  public final class PipeText {
    private let descriptor: Int32
    private let pipe: Pipe
    private var bytes: [UInt8] = []

    /// Reads from a pipe that nobody else reads.
    public init(_ pipe: Pipe) {
      self.pipe = pipe
      descriptor = pipe.fileHandleForReading.fileDescriptor
    }

    /// All that was read.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Reads until the text is enough, or the process has closed its end. Fails the test at the deadline.
    public func read(
      _ what: String, atMost seconds: Double = 60, sourceLocation: SourceLocation = #_sourceLocation,
      until isEnough: (String) -> Bool
    ) {
      let deadline = Date(timeIntervalSinceNow: seconds)
      while !isEnough(text) {
        guard Date() < deadline else {
          Issue.record("still waiting after \(seconds) s for \(what), have: \(text)", sourceLocation: sourceLocation)
          return
        }
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 100) > 0 else { continue }
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return }
        bytes += buffer[..<count]
      }
    }
  }
#endif
