import Dispatch
import Synchronization

extension HTTPClient {
  /// Sends a request and waits for its end, which the request's own time-out bounds. For a thread that has nothing else to do;
  /// never in a completion, whose thread is the one that would bring the answer.
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
