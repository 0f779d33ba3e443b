import HTTPTransport
import ServiceKit

/// The connections to FCM as a part of the process: opened when it starts, with an access token each, so that the first push waits
/// for neither, and closed when it ends. What fails at start is found out again, and said, by the first push.
struct FCMConnections: Service {
  let name = "fcm connections"
  let client: FCMClient
  let http: HTTPClientGroup

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) { client.warmUp() }

  /// Whoever sends has stopped by now, and was told of all answers it waited for.
  func stop() { http.shutdown(grace: .zero) }
}
