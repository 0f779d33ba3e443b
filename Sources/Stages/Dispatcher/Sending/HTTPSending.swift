import HTTPTransport

/// Sends HTTP requests. Tests put a stand-in in place of the clients.
protocol HTTPSending: Sendable {
  /// Calls `completion` exactly once, on any thread.
  func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion)

  /// Opens connections to the host of a URL ahead of the first request.
  func warmUp(_ url: String)
}

extension HTTPClientGroup: HTTPSending {}
