import HTTPTransport

/// Sends HTTP requests: the clients, or a stand-in where a test is about what happens around it.
protocol HTTPSending: Sendable {
  /// Sends a request; `completion` is called exactly once, on any thread.
  func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion)

  /// Opens connections to the host of a URL ahead of the first request.
  func warmUp(_ url: String)
}

extension HTTPClientGroup: HTTPSending {}
