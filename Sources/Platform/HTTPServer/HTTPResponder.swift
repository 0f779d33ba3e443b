/// Answers one request, once, from any thread. A responder that is released without an answer answers with 500.
public final class HTTPResponder: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Sends the answer. Only the first call has an effect, and none after the server has stopped.
  public func respond(_ response: HTTPServerResponse) { exchange.answer(response) }

  deinit {
    exchange.answer(.error(500, code: "internal", message: "the request was dropped without an answer"))
  }
}
