import Foundation

/// Flushes the output and ends the process without running the exit handlers of C libraries.
///
/// Threads of librdkafka or libcurl may still run, for example to verify a broker's certificate. The exit handlers would free memory that
/// OpenSSL is using, and the process would crash instead of ending with its status.
public func endProcess(_ status: Int32) -> Never {
  fflush(nil)
  _exit(status)
}
