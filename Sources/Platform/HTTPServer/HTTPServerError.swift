/// A server could not be made or started.
public enum HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is not a host and a port.
  case invalidAddress(String)
  /// The system refused to listen on the address.
  case cannotListen(address: String, reason: String)
  /// libmicrohttpd did not start.
  case cannotStart(address: String)
  /// A server can be started only once.
  case alreadyStarted

  /// The failure and its fix.
  public var description: String {
    switch self {
    case .invalidAddress(let text):
      "'\(text)' is not an address to listen on: use HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080"
    case .cannotListen(let address, let reason):
      "cannot listen on \(address): \(reason); choose another address or port, or stop the process that listens there"
    case .cannotStart(let address):
      "the HTTP server on \(address) did not start: look at the limits of threads and open files (ulimit -u, -n)"
    case .alreadyStarted: "an HTTP server can be started only once: make a new one"
    }
  }
}
