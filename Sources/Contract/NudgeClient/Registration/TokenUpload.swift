public import Foundation

/// Uploads FCM's registration token for who is signed in (C5): one try and up to three more, 1, 2 and 4 s after a
/// failure, then no more until the next launch. A failure is logged and never shown.
///
/// It does no I/O: calls in, actions out. Make one at each launch, and give it the token each time FCM gives one.
public struct TokenUpload: Sendable {
  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event, then call `finished(eventId:succeeded:at:)`. A retry is the same event again.
    case publish(ClientEvent)
    /// Publish no more of the event with this id, if it has not left yet. What became of it does not matter.
    case cancel(eventId: String)
    /// Call `timeReached(at:)` at this time. There is one such time: a later one replaces it.
    case wake(at: Date)
    /// Do not call `timeReached(at:)`, unless another time is given.
    case cancelWake
    /// Write this line to the app's log. It has no token.
    case log(String)
  }

  /// The seconds to wait after the first, second and third failure.
  public static let retryDelays: [TimeInterval] = [1, 2, 4]

  private enum Progress {
    case idle
    /// Under way, after so many failures.
    case uploading(ClientEvent, failures: Int)
    /// To be tried again.
    case waiting(ClientEvent, failures: Int, until: Date)
    /// The services have it.
    case uploaded
    /// All tries have failed.
    case failed
  }

  private let device: Device
  private let makeId: @Sendable () -> String
  private var userId: String?
  private var token: String?
  private var progress = Progress.idle

  /// An upload for this device; `makeId` gives a new id, such as a UUID, for each event.
  public init(device: Device, makeId: @escaping @Sendable () -> String) {
    self.device = device
    self.makeId = makeId
  }

  /// Whether a token waits for somebody to sign in.
  public var isHeld: Bool { userId == nil && token != nil }

  /// FCM has given a token. Before anybody is signed in it is held; a newer one replaces an older one and ends its upload.
  /// The same token again changes nothing while it is being uploaded or has been; after all tries have failed it is a
  /// reason to try again.
  public mutating func tokenReceived(_ token: String, at now: Date) -> [Action] {
    if token == self.token {
      switch progress {
      case .uploading, .waiting, .uploaded: return []
      case .idle, .failed: break
      }
    }
    self.token = token
    return cancel() + start(at: now)
  }

  /// Somebody is signed in: the token that was held is theirs from now on.
  public mutating func signedIn(as userId: String, at now: Date) -> [Action] {
    guard userId != self.userId else { return [] }
    self.userId = userId
    return cancel() + start(at: now)
  }

  /// Nobody is signed in any more: an upload that is under way ends. The device keeps its token, and the next who signs
  /// in gets it. `SignOut` takes the token from the services.
  public mutating func signedOut() -> [Action] {
    userId = nil
    return cancel()
  }

  /// The user does not want notifications (C8): the token is forgotten. Where it was uploaded since the launch, or may have
  /// been, it is taken back.
  public mutating func permissionDenied(at now: Date) -> [Action] {
    let mayBeKnown =
      switch progress {
      case .uploading, .waiting, .uploaded: true
      case .idle, .failed: false
      }
    token = nil
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

  /// The event was accepted, or could not be published. Of an event that was cancelled it is ignored.
  public mutating func finished(eventId: String, succeeded: Bool, at now: Date) -> [Action] {
    guard case .uploading(let event, let failures) = progress, event.eventId == eventId else { return [] }
    if succeeded {
      progress = .uploaded
      return []
    }
    guard failures < Self.retryDelays.count else {
      progress = .failed
      return [
        .log("the push token could not be uploaded in \(failures + 1) tries; it is tried again at the next launch")
      ]
    }
    let until = now.addingTimeInterval(Self.retryDelays[failures])
    progress = .waiting(event, failures: failures + 1, until: until)
    return [.wake(at: until)]
  }

  /// The time of the last `wake` has come. Called too early it gives the time again; called for nothing it does no harm.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard case .waiting(let event, let failures, let until) = progress else { return [] }
    guard now >= until else { return [.wake(at: until)] }
    progress = .uploading(event, failures: failures)
    return [.publish(event)]
  }

  private mutating func start(at now: Date) -> [Action] {
    guard let userId, let token else { return [] }
    let event = ClientEvent(
      eventId: makeId(), occurredAt: now, .deviceRegistered(.init(userId: userId, device: device, token: token)))
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
