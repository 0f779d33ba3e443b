import Dispatch
import Synchronization

extension HTTPClient {
  /// Sends a request and blocks until it ends, at most for the request's time-out. Must not be called in a completion: it would block the
  /// thread that receives the answer.
  public func response(to request: HTTPRequest) -> Result<HTTPResponse, HTTPTransportError> {
    let answer = Mutex<Result<HTTPResponse, HTTPTransportError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    send(request) { result in
      answer.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
      ?? .failure(HTTPTransportError(kind: .cancelled, message: "no answer", responseStarted: false))
  }
}
