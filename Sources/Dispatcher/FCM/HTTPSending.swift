import HTTPTransport

/// Sends HTTP requests: the client, or a stand-in where a test is about what happens around it.
protocol HTTPSending: Sendable {
  /// Sends a request; `completion` is called exactly once, on any thread.
  func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion)
}

extension HTTPClient: HTTPSending {}
