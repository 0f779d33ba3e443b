import CLoops

/// The bare loop in C over the same requests.
enum RequestLoop {
  /// Runs on this thread until this many requests are answered.
  static func run(_ target: TransportTarget, requests: Int, inFlight: Int, connections: Int) throws -> TransportRun {
    var result = request_loop_result()
    var reason = [CChar](repeating: 0, count: 512)
    let lines = target.headers.map { "\($0.0): \($0.1)" }
    let status = target.url.withCString { url in
      target.caFile.withCString { caFile in
        String(decoding: target.body, as: UTF8.self).withCString { body in
          withCStrings(lines) { headers in
            var settings = request_loop_settings(
              url: url, ca_file: caFile, headers: headers, body: body, requests: requests, in_flight: Int32(inFlight),
              connections: Int32(connections))
            return request_loop(&settings, &result, &reason, reason.count)
          }
        }
      }
    }
    guard status == 0 else {
      let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BenchmarkFailure("C loop: \(String(decoding: text, as: UTF8.self))")
    }
    return TransportRun(
      answered: result.answered, failed: result.failed,
      cost: Cost(seconds: result.seconds, cpuSeconds: result.cpu_seconds))
  }

  /// Calls `body` with the texts as C strings, and a null pointer behind the last.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> Result
  ) rethrows -> Result {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for text in texts {
      starts.append(bytes.count)
      bytes += text.utf8CString
    }
    return try bytes.withUnsafeBufferPointer { bytes in
      let pointers = starts.map { bytes.baseAddress?.advanced(by: $0) } + [nil]
      return try pointers.withUnsafeBufferPointer { pointers in
        guard let first = pointers.baseAddress else { preconditionFailure("the list has its end at least") }
        return try body(first)
      }
    }
  }
}
