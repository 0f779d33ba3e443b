/// Answers one request, once, from any thread. If it goes away without an answer, the answer is 500.
public final class HTTPResponder: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Sends the answer. Only the first has an effect; after the server has stopped none has.
  public func respond(_ response: HTTPServerResponse) { exchange.answer(response) }

  deinit {
    exchange.answer(.error(500, code: "internal", message: "the request was dropped without an answer"))
  }
}
