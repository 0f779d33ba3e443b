import Foundation

/// Ends the process once its output is written, without the handlers that C libraries have for that.
///
/// Threads of librdkafka or libcurl may still be in the middle of something, such as looking at a broker's certificate: those handlers
/// would free what OpenSSL is working with, and the process would crash instead of ending with its status.
public func endProcess(_ status: Int32) -> Never {
  fflush(nil)
  _exit(status)
}
