public import Foundation

/// Uploads FCM's registration token for the signed-in user (C5). After a failure it tries again up to three times,
/// after 1, 2 and 4 s, and then not until the next launch. Failures are logged; the user does not see them.
///
/// It does no I/O: calls in, actions out. Create one at each launch, and pass it every token that FCM delivers.
///
/// ```swift
/// var upload = TokenUpload(device: device, makeId: { UUID().uuidString })
/// perform(upload.signedIn(as: "ann", at: Date()))
/// perform(upload.tokenReceived(token, at: Date()))
/// // When the event was accepted or failed:
/// perform(upload.finished(eventId: event.eventId, succeeded: false, at: Date()))
/// ```
public struct TokenUpload: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event, then call `finished(eventId:succeeded:at:)`. A retry publishes the same event.
    case publish(ClientEvent)
    /// Do not publish the event with this id if it has not been sent yet. Its result no longer matters.
    case cancel(eventId: String)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
    /// Write this line to the app's log. It does not contain the token.
    case log(String)
  }

  /// The seconds before the next attempt, after the first, second and third failure.
  public static let retryDelays: [TimeInterval] = [1, 2, 4]

  private enum Progress {
    case idle
    /// The event is being published, after this many failures.
    case uploading(ClientEvent, failures: Int)
    /// The next attempt is due at `until`.
    case waiting(ClientEvent, failures: Int, until: Date)
    /// The services have the token.
    case uploaded
    /// All attempts have failed.
    case failed

    /// Whether the services have the token, or will if an attempt succeeds.
    var mayReachServices: Bool {
      switch self {
      case .uploading, .waiting, .uploaded: true
      case .idle, .failed: false
      }
    }
  }

  private let device: Device
  private let makeId: @Sendable () -> String
  private var userId: String?
  private var address: Device.Address?
  private var progress = Progress.idle

  /// Uploads for this device. `makeId` returns a new id, such as a UUID, for each event.
  public init(device: Device, makeId: @escaping @Sendable () -> String) {
    self.device = device
    self.makeId = makeId
  }

  /// Whether a token waits for a user to sign in.
  public var isHeld: Bool { userId == nil && address != nil }

  /// FCM has delivered a token. It is held until a user signs in. A new token replaces the former one and cancels its
  /// upload. The same token has no effect during or after its upload; if all attempts have failed, it starts again.
  ///
  /// `sealing`: the device's keys (``PayloadKeys``), if texts are to be encrypted. Other keys replace the former ones.
  public mutating func tokenReceived(
    _ token: String, sealing: Device.SealingKeys? = nil, at now: Date
  ) -> [Action] { received(.token(token, sealing: sealing), at: now) }

  /// The browser, or a distributor of UnifiedPush, has delivered a subscription. It takes the place of a token: it is
  /// held, replaced and retried in the same way.
  public mutating func subscriptionReceived(_ subscription: Device.WebPushSubscription, at now: Date) -> [Action] {
    received(.webPush(subscription), at: now)
  }

  private mutating func received(_ address: Device.Address, at now: Date) -> [Action] {
    if address == self.address, progress.mayReachServices { return [] }
    self.address = address
    return cancel() + start(at: now)
  }

  /// A user has signed in: uploads the held token for them.
  public mutating func signedIn(as userId: String, at now: Date) -> [Action] {
    guard userId != self.userId else { return [] }
    self.userId = userId
    return cancel() + start(at: now)
  }

  /// The user has signed out: cancels their upload. The device keeps its token for the next user. `SignOut` removes the
  /// token from the services.
  public mutating func signedOut() -> [Action] {
    userId = nil
    return cancel()
  }

  /// FCM's token was deleted (`SignOut.Action.deleteToken`): forgets it. FCM will deliver another.
  public mutating func tokenDeleted() -> [Action] {
    address = nil
    return cancel()
  }

  /// The user has denied notifications (C8): forgets the token. If the services may have received it since this launch,
  /// it also unregisters the device.
  public mutating func permissionDenied(at now: Date) -> [Action] {
    let mayBeKnown = progress.mayReachServices
    address = nil
    var actions = cancel()
    if mayBeKnown, let userId {
      actions.append(
        .publish(
          ClientEvent(
            eventId: makeId(), occurredAt: now,
            .deviceUnregistered(.init(userId: userId, deviceId: device.deviceId)))))
    }
    return actions
  }

  /// The event was accepted, or publishing it failed. The result of a cancelled event is ignored.
  public mutating func finished(eventId: String, succeeded: Bool, at now: Date) -> [Action] {
    guard case .uploading(let event, let failures) = progress, event.eventId == eventId else { return [] }
    if succeeded {
      progress = .uploaded
      return []
    }
    guard failures < Self.retryDelays.count else {
      progress = .failed
      return [
        .log("the push token could not be uploaded in \(failures + 1) attempts; the next launch tries again")
      ]
    }
    let until = now.addingTimeInterval(Self.retryDelays[failures])
    progress = .waiting(event, failures: failures + 1, until: until)
    return [.wake(at: until)]
  }

  /// The time of the last `wake` has come. A call that is early or late is harmless.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard case .waiting(let event, let failures, let until) = progress else { return [] }
    guard now >= until else { return [.wake(at: until)] }
    progress = .uploading(event, failures: failures)
    return [.publish(event)]
  }

  private mutating func start(at now: Date) -> [Action] {
    guard let userId, let address else { return [] }
    let event = ClientEvent(
      eventId: makeId(), occurredAt: now, .deviceRegistered(.init(userId: userId, device: device, address: address)))
    progress = .uploading(event, failures: 0)
    return [.publish(event)]
  }

  private mutating func cancel() -> [Action] {
    defer { progress = .idle }
    switch progress {
    case .uploading(let event, _): return [.cancel(eventId: event.eventId)]
    case .waiting: return [.cancelWake]
    case .idle, .uploaded, .failed: return []
    }
  }
}
