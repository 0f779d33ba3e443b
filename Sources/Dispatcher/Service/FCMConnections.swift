import ServiceKit

/// Gets access tokens and opens connections when the service starts, so that the first push waits for neither. What fails
/// here is found out again, and said, by the first push.
struct FCMWarmUp: Service {
  let name = "fcm warm-up"
  let client: FCMClient

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) { client.warmUp() }

  /// Nothing of it is left to end.
  func stop() {}
}
